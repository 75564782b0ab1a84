package negotiatetest

import (
	"encoding/binary"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/stretchr/testify/require"
)

// Account is the account data of Active Directory in a ticket (MS-PAC).
type Account struct {
	Name, Domain string // sAMAccountName, and NetBIOS name
	DomainSID    string
	ID           uint32   // relative to the domain
	Groups       []uint32 // of the domain
	Extra        []string // SIDs of groups of other domains, and of groups that have no id in the domain

	// Local lists groups of the service's domain. They are in a separate part of the data, because a domain
	// controller that compresses groups puts all domain-local groups there.
	LocalDomain string
	Local       []uint32
}

// Data returns account data, signed with the key of the service.
func (a *Authority) Data(t testing.TB, of Account) []byte {
	t.Helper()
	return a.Sign(t, a.Unsigned(t, of))
}

// Unsigned returns account data whose signature was not made with the key of the service.
func (a *Authority) Unsigned(t testing.TB, of Account) []byte {
	t.Helper()
	client := append(make([]byte, 8), 0, 0)
	text := utf16.Encode([]rune(of.Name))
	binary.LittleEndian.PutUint16(client[8:], uint16(2*len(text)))
	for _, unit := range text {
		client = binary.LittleEndian.AppendUint16(client, unit)
	}
	const aes256 = 16
	signature := append(binary.LittleEndian.AppendUint32(nil, aes256), make([]byte, 12)...)
	return assemble([]part{
		{1, of.encode(t)}, {10, client}, {serverSignature, signature}, {kdcSignature, signature},
	})
}

// Kinds of parts that contain signatures.
const (
	serverSignature = 6
	kdcSignature    = 7
)

// part is a buffer of account data.
type part struct {
	kind uint32
	data []byte
}

func assemble(parts []part) []byte {
	text := binary.LittleEndian.AppendUint64(nil, uint64(len(parts))) // and version 0
	at := len(text) + 16*len(parts)
	var data []byte
	for _, p := range parts {
		text = binary.LittleEndian.AppendUint32(text, p.kind)
		text = binary.LittleEndian.AppendUint32(text, uint32(len(p.data)))
		text = binary.LittleEndian.AppendUint64(text, uint64(at+len(data)))
		data = append(data, p.data...)
		data = append(data, make([]byte, -len(data)&7)...)
	}
	return append(text, data...)
}

// Sign signs account data with the key of the service. The signature with the authority's own key,
// which a service cannot check, is left empty.
func (a *Authority) Sign(t testing.TB, data []byte) []byte {
	t.Helper()
	text := append([]byte(nil), data...)
	own := 0
	for i := range int(binary.LittleEndian.Uint32(text)) {
		entry := text[8+16*i:]
		at := int(binary.LittleEndian.Uint64(entry[8:]))
		switch binary.LittleEndian.Uint32(entry) {
		case serverSignature:
			own = at
			clear(text[at+4:][:12])
		case kdcSignature:
			clear(text[at+4:][:binary.LittleEndian.Uint32(entry[4:])-4])
		}
	}
	const aes256 = 16
	binary.LittleEndian.PutUint32(text[own:], aes256)
	key := a.Key(t)
	kind, err := crypto.GetEtype(key.KeyType)
	require.NoError(t, err)
	sum, err := kind.GetChecksumHash(key.KeyValue, text, keyusage.KERB_NON_KERB_CKSUM_SALT)
	require.NoError(t, err)
	copy(text[own+4:], sum[:12])
	return text
}

// ndr encodes RPC data: a structure, followed by the data that its pointers refer to.
type ndr struct{ text, behind []byte }

func (n *ndr) u16(values ...uint16) {
	for _, v := range values {
		n.text = binary.LittleEndian.AppendUint16(n.text, v)
	}
}

func (n *ndr) u32(values ...uint32) {
	for _, v := range values {
		n.text = binary.LittleEndian.AppendUint32(n.text, v)
	}
}

const pointer = 0x20004 // any value but 0

func (n *ndr) follows(values ...uint32) {
	for _, v := range values {
		n.behind = binary.LittleEndian.AppendUint32(n.behind, v)
	}
}

// name is an RPC_UNICODE_STRING.
func (n *ndr) name(text string) {
	units := utf16.Encode([]rune(text))
	n.u16(uint16(2*len(units)), uint16(2*len(units)))
	n.u32(pointer)
	n.follows(uint32(len(units)), 0, uint32(len(units)))
	for _, unit := range units {
		n.behind = binary.LittleEndian.AppendUint16(n.behind, unit)
	}
	n.behind = append(n.behind, make([]byte, -len(n.behind)&3)...)
}

const enabled = 7 // attributes of an enabled group

// groups writes the number of groups and their ids.
func (n *ndr) groups(ids []uint32) {
	n.u32(uint32(len(ids)))
	if len(ids) == 0 {
		n.u32(0)
		return
	}
	n.u32(pointer)
	n.follows(uint32(len(ids)))
	for _, id := range ids {
		n.follows(id, enabled)
	}
}

func (n *ndr) sid(t testing.TB, text string) {
	if text == "" {
		n.u32(0)
		return
	}
	n.u32(pointer)
	n.behind = append(n.behind, sidOf(t, text)...)
}

// sidOf returns a SID preceded by the number of its parts.
func sidOf(t testing.TB, text string) []byte {
	var numbers []uint32
	for _, part := range strings.Split(text, "-")[2:] { // without S-1
		number, err := strconv.ParseUint(part, 10, 32)
		require.NoError(t, err, text)
		numbers = append(numbers, uint32(number))
	}
	subs := numbers[1:]
	data := binary.LittleEndian.AppendUint32(nil, uint32(len(subs)))
	data = append(data, 1, byte(len(subs)), 0, 0)
	data = binary.BigEndian.AppendUint32(data, numbers[0])
	for _, sub := range subs {
		data = binary.LittleEndian.AppendUint32(data, sub)
	}
	return data
}

// encode returns a KERB_VALIDATION_INFO.
func (of Account) encode(t testing.TB) []byte {
	n := &ndr{}
	n.u32(make([]uint32, 12)...) // times
	for _, name := range []string{of.Name, of.Name, "", "", "", ""} {
		n.name(name)
	}
	n.u16(1, 0)
	n.u32(of.ID, 513)
	n.groups(of.Groups)
	const extra, resource = 0x20, 0x200
	n.u32(extra | resource)
	n.u32(make([]uint32, 4)...) // session key
	n.name("DC1")
	n.name(of.Domain)
	n.sid(t, of.DomainSID)
	n.u32(0, 0, 0x10, 0)
	n.u32(make([]uint32, 6)...)
	n.u32(uint32(len(of.Extra)))
	if len(of.Extra) == 0 {
		n.u32(0)
	} else {
		n.u32(pointer)
		n.follows(uint32(len(of.Extra)))
		for range of.Extra {
			n.follows(pointer, enabled)
		}
		for _, sid := range of.Extra {
			n.behind = append(n.behind, sidOf(t, sid)...)
		}
	}
	n.sid(t, of.LocalDomain)
	n.groups(of.Local)
	text := append(binary.LittleEndian.AppendUint32(nil, pointer), append(n.text, n.behind...)...)
	text = append(text, make([]byte, -len(text)&7)...)
	header := []byte{1, 0x10, 8, 0, 0xcc, 0xcc, 0xcc, 0xcc}
	header = binary.LittleEndian.AppendUint32(header, uint32(len(text)))
	return append(append(header, 0, 0, 0, 0), text...)
}
