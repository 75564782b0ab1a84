// Package negotiatetest issues tickets for tests, without an authority.
package negotiatetest

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/chksumtype"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/spnego"
	"github.com/jcmturner/gokrb5/v8/types"
	"github.com/stretchr/testify/require"
)

const (
	// Realm is the realm of the tickets.
	Realm = "CORP.EXAMPLE"
	// Service is the service that the tickets are for.
	Service = "HTTP/gateway.corp.example"
	keyType = etypeID.AES256_CTS_HMAC_SHA1_96
)

// Authority issues tickets.
type Authority struct {
	Keytab string // path of the file with the key of the service

	keys *keytab.Keytab
}

// New returns an authority with a new key.
func New(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{Keytab: filepath.Join(t.TempDir(), "gateway.keytab"), keys: keytab.New()}
	const password = "the key of the service"
	require.NoError(t, a.keys.AddEntry(Service, Realm, password, time.Now(), 1, keyType))
	text, err := a.keys.Marshal()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(a.Keytab, text, 0o600))
	return a
}

// Ticket describes a ticket and its token. The zero value is a valid ticket of lweber.
type Ticket struct {
	Name     string   // empty means lweber
	Parts    []string // parts of the name; nil means Name alone
	NameType int32    // 0 means a principal
	Realm    string   // realm of the account; empty means the service's
	Service  string   // empty means the service whose key is in the keytab
	OtherKey bool     // the ticket is encrypted with another key

	// relative to now; if both are 0, the ticket began a minute ago and ends in ten hours
	Begins, Ends time.Duration
	Clock        time.Duration // how far the client's clock is ahead
	Bindings     []byte        // of the connection; nil for a client without bindings
	Data         []byte        // account data (MS-PAC), or nil
	Mutual       bool          // the gateway must prove itself, too
	Bare         bool          // the token is not wrapped in SPNEGO
	Mechanisms   []asn1.ObjectIdentifier
}

// Header returns an Authorization header with a new token.
func (a *Authority) Header(t testing.TB, ticket Ticket) string {
	t.Helper()
	return "Negotiate " + base64.StdEncoding.EncodeToString(a.Token(t, ticket))
}

// Token returns a new token.
func (a *Authority) Token(t testing.TB, k Ticket) []byte {
	t.Helper()
	issued, session := a.issue(t, &k)
	now := time.Now().UTC().Add(k.Clock)
	auth, err := types.NewAuthenticator(k.Realm, types.PrincipalName{NameType: k.NameType, NameString: k.Parts})
	require.NoError(t, err)
	auth.CTime = now
	auth.Cksum = types.Checksum{CksumType: chksumtype.GSSAPI, Checksum: checksum(k)}
	req, err := messages.NewAPReq(issued, session, auth)
	require.NoError(t, err)
	if k.Mutual {
		types.SetFlag(&req.APOptions, flags.APOptionMutualRequired)
	}
	message, err := req.Marshal()
	require.NoError(t, err)
	mech, err := asn1.Marshal(gssapi.OIDKRB5.OID())
	require.NoError(t, err)
	framed := asn1tools.AddASNAppTag(append(append(mech, 1, 0), message...), 0)
	if k.Bare {
		return framed
	}
	if k.Mechanisms == nil {
		k.Mechanisms = []asn1.ObjectIdentifier{gssapi.OIDMSLegacyKRB5.OID(), gssapi.OIDKRB5.OID()}
	}
	return Wrap(t, framed, k.Mechanisms...)
}

// Wrap wraps a token of a mechanism in SPNEGO.
func Wrap(t testing.TB, token []byte, mechanisms ...asn1.ObjectIdentifier) []byte {
	t.Helper()
	offered := spnego.NegTokenInit{MechTypes: mechanisms, MechTokenBytes: token}
	inner, err := offered.Marshal()
	require.NoError(t, err)
	mech, err := asn1.Marshal(gssapi.OIDSPNEGO.OID())
	require.NoError(t, err)
	return asn1tools.AddASNAppTag(append(mech, inner...), 0)
}

// checksum returns the bindings and the flags of an authenticator (RFC 4121, 4.1.1).
func checksum(k Ticket) []byte {
	sum := make([]byte, 24)
	binary.LittleEndian.PutUint32(sum, 16)
	if k.Bindings != nil {
		text := binary.LittleEndian.AppendUint32(make([]byte, 16), uint32(len(k.Bindings)))
		hashed := md5.Sum(append(text, k.Bindings...))
		copy(sum[4:], hashed[:])
	}
	if k.Mutual {
		sum[20] = gssapi.ContextFlagMutual
	}
	return sum
}

// issue returns a ticket with its session key, and completes k.
func (a *Authority) issue(t testing.TB, k *Ticket) (messages.Ticket, types.EncryptionKey) {
	t.Helper()
	defaults(k)
	kind, err := crypto.GetEtype(keyType)
	require.NoError(t, err)
	session, err := types.GenerateEncryptionKey(kind)
	require.NoError(t, err)
	now := time.Now().UTC().Truncate(time.Second)
	part := messages.EncTicketPart{
		Flags: types.NewKrbFlags(), Key: session, CRealm: k.Realm,
		CName:    types.PrincipalName{NameType: k.NameType, NameString: k.Parts},
		AuthTime: now.Add(k.Begins), StartTime: now.Add(k.Begins), EndTime: now.Add(k.Ends),
	}
	if k.Data != nil {
		inner, err := asn1.Marshal(types.AuthorizationData{{ADType: 128, ADData: k.Data}}) // AD-WIN2K-PAC
		require.NoError(t, err)
		part.AuthorizationData = types.AuthorizationData{{ADType: 1, ADData: inner}} // AD-IF-RELEVANT
	}
	text, err := asn1.Marshal(part)
	require.NoError(t, err)
	key := a.Key(t)
	if k.OtherKey {
		key, err = types.GenerateEncryptionKey(kind)
		require.NoError(t, err)
	}
	text = asn1tools.AddASNAppTag(text, asnAppTag.EncTicketPart)
	sealed, err := crypto.GetEncryptedData(text, key, keyusage.KDC_REP_TICKET, 1)
	require.NoError(t, err)
	name, _ := types.ParseSPNString(k.Service)
	return messages.Ticket{TktVNO: iana.PVNO, Realm: Realm, SName: name, EncPart: sealed}, session
}

func defaults(k *Ticket) {
	if k.Name == "" {
		k.Name = "lweber"
	}
	if k.Parts == nil {
		k.Parts = []string{k.Name}
	}
	if k.NameType == 0 {
		k.NameType = nametype.KRB_NT_PRINCIPAL
	}
	if k.Realm == "" {
		k.Realm = Realm
	}
	if k.Service == "" {
		k.Service = Service
	}
	if k.Begins == 0 && k.Ends == 0 {
		k.Begins, k.Ends = -time.Minute, 10*time.Hour
	}
}

// Key returns the key of the service.
func (a *Authority) Key(t testing.TB) types.EncryptionKey {
	t.Helper()
	name, _ := types.ParseSPNString(Service)
	key, _, err := a.keys.GetEncryptionKey(name, Realm, 1, keyType)
	require.NoError(t, err)
	return key
}
