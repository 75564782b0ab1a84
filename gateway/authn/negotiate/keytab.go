package negotiate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana"
	"github.com/jcmturner/gokrb5/v8/iana/addrtype"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/msgtype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// Keytab checks tickets with the keys in a file. It is a [Mechanism].
type Keytab struct {
	keys     *keytab.Keytab
	bindings Bindings
}

// service is the first part of the SPN that browsers use.
const service = "HTTP"

// ReadKeytab reads a keytab. It fails if the file cannot be read, or has no key for a name HTTP/....
func ReadKeytab(path string, bindings Bindings) (*Keytab, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		var fault *fs.PathError
		if errors.As(err, &fault) {
			err = fault.Err
		}
		return nil, fmt.Errorf("the keytab %s cannot be read: %w", path, err)
	}
	keys, err := parseKeytab(text)
	if err != nil {
		return nil, fmt.Errorf("%s is no keytab: %w", path, err)
	}
	k := &Keytab{keys: keys, bindings: bindings}
	if len(k.Names()) == 0 {
		return nil, fmt.Errorf("the keytab %s has no key of a name that begins with %s/", path, service)
	}
	return k, nil
}

// parseKeytab reads a keytab. The library panics on some truncated files.
func parseKeytab(text []byte) (keys *keytab.Keytab, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = errors.New("it is damaged")
		}
	}()
	keys = keytab.New()
	return keys, keys.Unmarshal(text)
}

// Names returns the names of the keytab's keys, such as HTTP/gateway.corp.example@CORP.EXAMPLE.
func (k *Keytab) Names() []string {
	var names []string
	for _, entry := range k.keys.Entries {
		name := strings.Join(entry.Principal.Components, "/") + "@" + entry.Principal.Realm
		if isService(entry.Principal.Components) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Realms returns the realms of these names.
func (k *Keytab) Realms() []string {
	var realms []string
	for _, name := range k.Names() {
		if realm := name[strings.LastIndexByte(name, '@')+1:]; !slices.Contains(realms, realm) {
			realms = append(realms, realm)
		}
	}
	return realms
}

func isService(components []string) bool {
	return len(components) == 2 && strings.EqualFold(components[0], service)
}

// Check implements [Mechanism].
func (k *Keytab) Check(_ context.Context, token Token) (person *Person, err error) {
	defer func() {
		// The library panics on some truncated ciphertexts.
		if reason := recover(); reason != nil {
			person, err = nil, refuse(Unreadable, fmt.Sprintf("the ticket is damaged: %v", reason))
		}
	}()
	req, err := parseRequest(token.Value)
	if err != nil {
		return nil, err
	}
	name, err := k.nameOf(req.Ticket)
	if err != nil {
		return nil, err
	}
	if _, err := req.Verify(k.keys, Skew, hostOf(token.Client), &name); err != nil {
		return nil, verifyFault(req.Ticket, err)
	}
	checksum := req.Authenticator.Cksum
	if checksum.CksumType != checksumGSS || len(checksum.Checksum) < flagsEnd {
		return nil, refuse(Unreadable, "the authenticator has no checksum of GSS")
	}
	if err := k.bindings.bound(checksum.Checksum, token.Bindings); err != nil {
		return nil, err
	}
	if person, err = k.personOf(req, name); err != nil {
		return nil, err
	}
	asked := types.IsFlagSet(&req.APOptions, flags.APOptionMutualRequired)
	if asked || checksum.Checksum[bindingsEnd]&flagMutual != 0 {
		person.Reply, err = proof(req)
	}
	return person, err
}

// nameOf returns the name in the keytab that a ticket is for. Service names are case-insensitive.
func (k *Keytab) nameOf(ticket messages.Ticket) (types.PrincipalName, error) {
	asked := ticket.SName.NameString
	for _, entry := range k.keys.Entries {
		has := entry.Principal
		same := has.Realm == ticket.Realm && slices.EqualFunc(has.Components, asked, strings.EqualFold)
		if same && isService(has.Components) {
			return types.PrincipalName{NameType: ticket.SName.NameType, NameString: has.Components}, nil
		}
	}
	cause := fmt.Sprintf("the ticket is for %q; the keytab has %s",
		strings.Join(asked, "/")+"@"+ticket.Realm, strings.Join(k.Names(), ", "))
	return types.PrincipalName{}, refuse(OtherService, cause)
}

// hostOf returns an address in the form of tickets.
func hostOf(client netip.Addr) types.HostAddress {
	client = client.Unmap()
	kind := addrtype.IPv4
	if client.Is6() {
		kind = addrtype.IPv6
	}
	return types.HostAddress{AddrType: kind, Address: client.AsSlice()}
}

// reasons maps Kerberos error codes to reasons.
var reasons = map[int32]Reason{
	errorcode.KRB_AP_ERR_TKT_EXPIRED:   Expired,
	errorcode.KRB_AP_ERR_TKT_NYV:       NotYet,
	errorcode.KRB_AP_ERR_SKEW:          ClockOff,
	errorcode.KRB_AP_ERR_BADADDR:       Relayed,
	errorcode.KRB_AP_ERR_BADMATCH:      Invalid,
	errorcode.KRB_AP_ERR_BAD_INTEGRITY: Invalid,
}

// verifyFault returns the refusal of a ticket that could not be verified.
func verifyFault(ticket messages.Ticket, err error) error {
	var kerberos messages.KRBError
	if errors.As(err, &kerberos) {
		if reason, known := reasons[kerberos.ErrorCode]; known {
			return refuse(reason, kerberos.Error())
		}
	}
	const cause = "the ticket is not encrypted with a key of the keytab (version %d, type %d): " +
		"the key was changed, or the SPN is on another account: %v"
	return refuse(OtherService, fmt.Sprintf(cause, ticket.EncPart.KVNO, ticket.EncPart.EType, err))
}

// personOf returns the person in a ticket.
func (k *Keytab) personOf(req *messages.APReq, name types.PrincipalName) (*Person, error) {
	part := req.Ticket.DecryptedEncPart
	if !strings.EqualFold(req.Authenticator.CRealm, part.CRealm) {
		return nil, refuse(Invalid, "the authenticator and the ticket name different realms")
	}
	sealed := req.Ticket.EncPart
	key, _, err := k.keys.GetEncryptionKey(name, req.Ticket.Realm, sealed.KVNO, sealed.EType)
	if err != nil {
		return nil, errors.Join(errCheck, err)
	}
	person := &Person{Account: strings.Join(part.CName.NameString, "/"), Domains: []string{part.CRealm}}
	const enterprise = 10 // NT-ENTERPRISE (RFC 6806)
	if part.CName.NameType == enterprise {
		return nil, refuse(NoPerson, "the ticket names its account by an enterprise name")
	}
	return person, addAccount(person, part.AuthorizationData, key)
}

// apReply is the encrypted part of an AP-REP without a subkey.
type apReply struct {
	CTime          time.Time `asn1:"generalized,explicit,tag:0"`
	Cusec          int       `asn1:"explicit,tag:1"`
	SequenceNumber int64     `asn1:"optional,explicit,tag:3"`
}

// proof returns the context token that proves to a client that the gateway has the key of the
// ticket's service.
func proof(req *messages.APReq) ([]byte, error) {
	part, err := asn1.Marshal(apReply{
		CTime: req.Authenticator.CTime.UTC(), Cusec: req.Authenticator.Cusec,
		SequenceNumber: req.Authenticator.SeqNumber,
	})
	if err != nil {
		return nil, errors.Join(errCheck, err)
	}
	part = asn1tools.AddASNAppTag(part, asnAppTag.EncAPRepPart)
	sealed, err := crypto.GetEncryptedData(part, req.Ticket.DecryptedEncPart.Key, keyusage.AP_REP_ENCPART, 0)
	if err != nil {
		return nil, errors.Join(errCheck, err)
	}
	message, err := asn1.Marshal(messages.APRep{PVNO: iana.PVNO, MsgType: msgtype.KRB_AP_REP, EncPart: sealed})
	if err != nil {
		return nil, errors.Join(errCheck, err)
	}
	return frame(asn1tools.AddASNAppTag(message, asnAppTag.APREP)), nil
}
