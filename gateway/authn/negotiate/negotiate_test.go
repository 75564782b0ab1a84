package negotiate

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/spnego"
	"github.com/jcmturner/gokrb5/v8/test/testdata"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/authn/negotiate/negotiatetest"
)

var tickets = flag.String("tickets", "", "folder for a keytab, and for tokens; empty: none are written")

var oidNTLM = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 2, 2, 10}

// acceptor returns an acceptor for an authority's tickets.
func acceptor(t testing.TB, a *negotiatetest.Authority, bindings Bindings) *Acceptor {
	t.Helper()
	keys, err := ReadKeytab(a.Keytab, bindings)
	require.NoError(t, err)
	return &Acceptor{Mechanism: keys, Domains: keys.Realms()}
}

// reasonOf returns the reason for a refusal, and checks its messages for the person and for the log.
func reasonOf(t *testing.T, err error) Reason {
	t.Helper()
	var refused *Refusal
	require.ErrorAs(t, err, &refused)
	assert.NotEmpty(t, refused.Error(), "the person is told")
	assert.NotEmpty(t, refused.Cause, "the log is told")
	return refused.Reason
}

func TestTicketsThatAreAccepted(t *testing.T) {
	authority := negotiatetest.New(t)
	here := acceptor(t, authority, Required)
	for name, ticket := range map[string]negotiatetest.Ticket{
		"a plain one":            {},
		"not wrapped":            {Bare: true},
		"a name in capitals":     {Service: "http/GATEWAY.corp.example"},
		"a clock four min ahead": {Clock: 4 * time.Minute},
		"ended a minute ago":     {Begins: -time.Hour, Ends: -time.Minute},
		"Kerberos, then NTLM":    {Mechanisms: []asn1.ObjectIdentifier{gssapi.OIDKRB5.OID(), oidNTLM}},
	} {
		t.Run(name, func(t *testing.T) {
			person, err := here.Accept(t.Context(), Token{Value: authority.Token(t, ticket)})
			require.NoError(t, err)
			assert.Equal(t, "lweber", person.Account)
			assert.Equal(t, []string{negotiatetest.Realm}, person.Domains)
			assert.Empty(t, person.SID, "only Active Directory names it")
			assert.Nil(t, person.Groups)
		})
	}
}

func TestTicketsThatAreRefused(t *testing.T) {
	authority := negotiatetest.New(t)
	here := acceptor(t, authority, Required)
	for name, c := range map[string]struct {
		ticket negotiatetest.Ticket
		want   Reason
	}{
		"for another service":      {negotiatetest.Ticket{Service: "cifs/gateway.corp.example"}, OtherService},
		"for another host":         {negotiatetest.Ticket{Service: "HTTP/other.corp.example"}, OtherService},
		"with another key":         {negotiatetest.Ticket{OtherKey: true}, OtherService},
		"expired":                  {negotiatetest.Ticket{Begins: -11 * time.Hour, Ends: -time.Hour}, Expired},
		"not yet valid":            {negotiatetest.Ticket{Begins: time.Hour, Ends: 2 * time.Hour}, NotYet},
		"a clock an hour ahead":    {negotiatetest.Ticket{Clock: time.Hour}, ClockOff},
		"a clock six minutes slow": {negotiatetest.Ticket{Clock: -6 * time.Minute}, ClockOff},
		"of another realm":         {negotiatetest.Ticket{Realm: "OTHER.EXAMPLE"}, OtherDomain},
		"a name with an at sign":   {negotiatetest.Ticket{Name: "lweber@other.example"}, NoPerson},
		"a name with a backslash":  {negotiatetest.Ticket{Name: `OTHER\lweber`}, NoPerson},
		"a name of two parts":      {negotiatetest.Ticket{Parts: []string{"lweber", "admin"}}, NoPerson},
		"an enterprise name":       {negotiatetest.Ticket{Name: "lweber", NameType: 10}, NoPerson},
		"a computer":               {negotiatetest.Ticket{Name: "PC1$"}, NoPerson},
		"no name":                  {negotiatetest.Ticket{Parts: []string{""}}, NoPerson},
		"a wildcard":               {negotiatetest.Ticket{Name: "*"}, NoPerson},
		"no service at all":        {negotiatetest.Ticket{Service: "/"}, OtherService},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := here.Accept(t.Context(), Token{Value: authority.Token(t, c.ticket)})
			assert.Equal(t, c.want, reasonOf(t, err))
		})
	}
}

func TestTokensThatAreNoTickets(t *testing.T) {
	authority := negotiatetest.New(t)
	here := acceptor(t, authority, Required)
	whole := authority.Token(t, negotiatetest.Ticket{})
	for name, c := range map[string]struct {
		token []byte
		want  Reason
	}{
		"nothing":          {nil, Unreadable},
		"garbage":          {[]byte("let me in"), Unreadable},
		"NTLM":             {append([]byte("NTLMSSP\x00"), 1, 0, 0, 0), NotKerberos},
		"NTLM, wrapped":    {negotiatetest.Wrap(t, []byte("NTLMSSP\x00\x01"), oidNTLM), NotKerberos},
		"NTLM as Kerberos": {negotiatetest.Wrap(t, []byte("NTLMSSP\x00\x01"), gssapi.OIDKRB5.OID()), NotKerberos},
		"NTLM preferred":   {authority.Token(t, negotiatetest.Ticket{Mechanisms: []asn1.ObjectIdentifier{oidNTLM, gssapi.OIDKRB5.OID()}}), NotKerberos},
		"no mechanism":     {authority.Token(t, negotiatetest.Ticket{Mechanisms: []asn1.ObjectIdentifier{}}), Unreadable},
		"no ticket":        {negotiatetest.Wrap(t, nil, gssapi.OIDKRB5.OID()), NotKerberos},
		"64 kB":            {make([]byte, 64<<10), TooLong},
		"half a token":     {whole[:len(whole)/2], Unreadable},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := here.Accept(t.Context(), Token{Value: c.token})
			assert.Equal(t, c.want, reasonOf(t, err))
		})
	}
	for end := range whole {
		_, err := here.Accept(t.Context(), Token{Value: whole[:end]})
		var refused *Refusal
		require.ErrorAs(t, err, &refused, "the first %d bytes of a token", end)
	}
	_, err := here.Accept(t.Context(), Token{Value: whole})
	require.NoError(t, err)
}

// TestTokensThatWereChanged: changing a single octet of a token never makes it valid for another person.
func TestTokensThatWereChanged(t *testing.T) {
	authority := negotiatetest.New(t)
	whole := authority.Token(t, negotiatetest.Ticket{})
	for at := range whole {
		changed := append([]byte(nil), whole...)
		changed[at] ^= 0x41
		person, err := acceptor(t, authority, Required).Accept(t.Context(), Token{Value: changed})
		if err == nil {
			assert.Equal(t, "lweber", person.Account, "octet %d", at)
			continue
		}
		var refused *Refusal
		require.ErrorAs(t, err, &refused, "octet %d", at)
	}
}

// TestUsesAreToldApart: an authenticator is the same use in any wrapping, and different
// authenticators are different uses.
func TestUsesAreToldApart(t *testing.T) {
	authority := negotiatetest.New(t)
	here := acceptor(t, authority, Required)
	useOf := func(token []byte) []byte {
		person, err := here.Accept(t.Context(), Token{Value: token})
		require.NoError(t, err)
		return person.Use
	}
	bare := authority.Token(t, negotiatetest.Ticket{Bare: true})
	first := useOf(bare)
	require.NotEmpty(t, first)
	wrapped := negotiatetest.Wrap(t, bare, gssapi.OIDKRB5.OID(), oidNTLM)
	assert.Equal(t, first, useOf(wrapped))
	assert.NotEqual(t, first, useOf(authority.Token(t, negotiatetest.Ticket{})))
}

func TestBindings(t *testing.T) {
	authority := negotiatetest.New(t)
	own := EndPoint(&x509.Certificate{Raw: []byte("own"), SignatureAlgorithm: x509.SHA256WithRSA})
	other := EndPoint(&x509.Certificate{Raw: []byte("other"), SignatureAlgorithm: x509.SHA256WithRSA})
	for _, c := range []struct {
		bindings   Bindings
		sent, have []byte
		accepted   bool
	}{
		{Required, own, own, true}, {Required, other, own, false}, {Required, nil, own, false}, {Required, own, nil, true},
		{IfSent, own, own, true}, {IfSent, other, own, false}, {IfSent, nil, own, true},
		{Ignored, own, own, true}, {Ignored, other, own, true}, {Ignored, nil, own, true},
	} {
		_, err := acceptor(t, authority, c.bindings).Accept(t.Context(),
			Token{Value: authority.Token(t, negotiatetest.Ticket{Bindings: c.sent}), Bindings: c.have})
		if c.accepted {
			assert.NoError(t, err, "%+v", c)
		} else {
			assert.Equal(t, Relayed, reasonOf(t, err), "%+v", c)
		}
	}
}

func TestEndPointUsesTheHashOfTheCertificate(t *testing.T) {
	for algorithm, length := range map[x509.SignatureAlgorithm]int{
		x509.SHA1WithRSA: 32, x509.SHA256WithRSA: 32, x509.ECDSAWithSHA384: 48, x509.SHA512WithRSA: 64, x509.PureEd25519: 32,
	} {
		text := EndPoint(&x509.Certificate{Raw: []byte("certificate"), SignatureAlgorithm: algorithm})
		assert.Len(t, text, len("tls-server-end-point:")+length, algorithm)
	}
}

func TestTheGatewayProvesItself(t *testing.T) {
	authority := negotiatetest.New(t)
	person, err := acceptor(t, authority, Required).Accept(t.Context(),
		Token{Value: authority.Token(t, negotiatetest.Ticket{Mutual: true})})
	require.NoError(t, err)
	isInit, read, err := spnego.UnmarshalNegToken(person.Reply)
	require.NoError(t, err)
	require.False(t, isInit)
	done := read.(spnego.NegTokenResp)
	assert.Equal(t, spnego.NegStateAcceptCompleted, done.State())
	assert.True(t, done.SupportedMech.Equal(gssapi.OIDMSLegacyKRB5.OID()), "the one that the client preferred")
	var inner spnego.KRB5Token
	require.NoError(t, inner.Unmarshal(done.ResponseToken))
	assert.True(t, inner.IsAPRep())
}

// data returns the account data of a real domain, signed with the key of the service.
func data(t *testing.T, a *negotiatetest.Authority) []byte {
	t.Helper()
	text, err := hex.DecodeString(testdata.MarshaledPAC_AD_WIN2K_PAC)
	require.NoError(t, err)
	return a.Sign(t, text)
}

func TestTheDomainNamesAccountAndGroups(t *testing.T) {
	authority := negotiatetest.New(t)
	here := acceptor(t, authority, Required)
	signed := data(t, authority)
	person, err := here.Accept(t.Context(), Token{Value: authority.Token(t, negotiatetest.Ticket{Data: signed})})
	require.NoError(t, err)
	const domain = "S-1-5-21-3167651404-3865080224-2280184895"
	assert.Equal(t, "testuser1", person.Account, "not the name that was used to sign in")
	assert.Equal(t, domain+"-1105", person.SID)
	assert.Equal(t, []string{negotiatetest.Realm, "TEST"}, person.Domains)
	for _, group := range []string{"513", "1108", "1109", "1115", "1116"} {
		assert.Contains(t, person.Groups, domain+"-"+group)
	}
	forged := append([]byte(nil), signed...)
	forged[len(forged)/2] ^= 1
	_, err = here.Accept(t.Context(), Token{Value: authority.Token(t, negotiatetest.Ticket{Data: forged})})
	assert.Equal(t, Invalid, reasonOf(t, err))
	short := authority.Token(t, negotiatetest.Ticket{Data: []byte{5, 0, 0}})
	_, err = here.Accept(t.Context(), Token{Value: short})
	assert.Equal(t, Invalid, reasonOf(t, err))
}

// TestGroupsAreInThreePlaces: groups of the domain are found by their ids, groups of other domains
// by their SIDs, and local groups of the service's domain in a part of their own.
func TestGroupsAreInThreePlaces(t *testing.T) {
	authority := negotiatetest.New(t)
	here := acceptor(t, authority, Required)
	const corp, other = "S-1-5-21-1-2-3", "S-1-5-21-7-8-9"
	account := negotiatetest.Account{
		Name: "lweber", Domain: "CORP", DomainSID: corp, ID: 1105, Groups: []uint32{513, 1201},
		Extra: []string{other + "-1301", "S-1-18-1"}, LocalDomain: corp, Local: []uint32{1401, 1402},
	}
	signed := authority.Data(t, account)
	person, err := here.Accept(t.Context(), Token{Value: authority.Token(t, negotiatetest.Ticket{Data: signed})})
	require.NoError(t, err)
	assert.Equal(t, corp+"-1105", person.SID)
	assert.Equal(t, []string{
		corp + "-513", corp + "-1201", other + "-1301", "S-1-18-1", corp + "-1401", corp + "-1402",
	}, person.Groups)

	foreign := negotiatetest.Account{Name: "lweber", Domain: "OTHER", DomainSID: other, ID: 1105}
	ticket := negotiatetest.Ticket{Realm: "OTHER.EXAMPLE", Data: authority.Data(t, foreign)}
	_, err = here.Accept(t.Context(), Token{Value: authority.Token(t, ticket)})
	assert.Equal(t, OtherDomain, reasonOf(t, err))
}

// TestDataWithAnotherSignature: account data with a wrong signature, or with none, gives no rights.
func TestDataWithAnotherSignature(t *testing.T) {
	authority := negotiatetest.New(t)
	here := acceptor(t, authority, Required)
	account := negotiatetest.Account{
		Name: "lweber", Domain: "CORP", DomainSID: "S-1-5-21-1-2-3", ID: 1105, Groups: []uint32{1201},
	}
	own := authority.Data(t, account)
	number := func(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
	changed := bytes.Replace(own, number(1201), number(512), 1)
	require.NotEqual(t, own, changed)
	for name, c := range map[string]struct {
		data []byte
		want Reason
	}{
		"of another key": {authority.Unsigned(t, account), Invalid}, "changed": {changed, Invalid}, "a byte": {own[:1], Invalid},
		"half": {own[:len(own)/2], Unreadable}, "many parts": {append([]byte{255, 255, 0, 0}, own[4:]...), Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := here.Accept(t.Context(), Token{Value: authority.Token(t, negotiatetest.Ticket{Data: c.data})})
			assert.Equal(t, c.want, reasonOf(t, err))
		})
	}
}

// TestTicketsForOthers writes tokens for another implementation to check, both plain and as a
// client sends them.
func TestTicketsForOthers(t *testing.T) {
	authority := negotiatetest.New(t)
	for name, ticket := range map[string]negotiatetest.Ticket{
		"valid":   {Name: "helpdesk"},
		"expired": {Name: "helpdesk", Begins: -11 * time.Hour, Ends: -time.Hour},
		"clock":   {Name: "helpdesk", Clock: -6 * time.Minute},
		"service": {Name: "helpdesk", Service: "cifs/gateway.corp.example"},
		"key":     {Name: "helpdesk", OtherKey: true},
	} {
		ticket.Bare = true
		bare := authority.Token(t, ticket)
		wrapped := base64.StdEncoding.EncodeToString(negotiatetest.Wrap(t, bare, gssapi.OIDKRB5.OID()))
		if *tickets != "" {
			require.NoError(t, os.WriteFile(filepath.Join(*tickets, name), bare, 0o600))
			header := []byte("Negotiate " + wrapped)
			require.NoError(t, os.WriteFile(filepath.Join(*tickets, name+".header"), header, 0o600))
		}
		_, err := acceptor(t, authority, Required).Accept(t.Context(), Token{Value: bare})
		assert.Equal(t, name == "valid", err == nil, name)
	}
	if *tickets != "" {
		keys, err := os.ReadFile(authority.Keytab)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(*tickets, "keytab"), keys, 0o600))
	}
}

func TestKeytabsThatCannotBeUsed(t *testing.T) {
	folder := t.TempDir()
	_, err := ReadKeytab(filepath.Join(folder, "none"), Required)
	assert.ErrorIs(t, err, os.ErrNotExist)
	authority := negotiatetest.New(t)
	text, err := os.ReadFile(authority.Keytab)
	require.NoError(t, err)
	contents := map[string][]byte{"empty": nil, "text": []byte("keys"), "half": text[:len(text)/2]}
	for name, content := range contents {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		_, err := ReadKeytab(path, Required)
		assert.ErrorContains(t, err, path, name)
	}
}

type broken struct{}

func (broken) Check(context.Context, Token) (*Person, error) { return nil, errors.New("no domain") }

func TestWhatCannotBeCheckedIsNoRefusal(t *testing.T) {
	here := &Acceptor{Mechanism: broken{}}
	_, err := here.Accept(t.Context(), Token{Value: negotiatetest.New(t).Token(t, negotiatetest.Ticket{})})
	var refused *Refusal
	require.Error(t, err)
	assert.False(t, errors.As(err, &refused))
}

func TestEveryReasonHasASentence(t *testing.T) {
	for _, reason := range []Reason{
		NotKerberos, Unreadable, TooLong, OtherService, Replayed, Expired, NotYet, ClockOff, OtherDomain, NoPerson,
		Relayed, Invalid, NotAllowed,
	} {
		assert.NotEmpty(t, sentences[reason], reason)
	}
	assert.Len(t, sentences, 13)
}

func FuzzTokens(f *testing.F) {
	authority := negotiatetest.New(f)
	whole := authority.Token(f, negotiatetest.Ticket{})
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(authority.Token(f, negotiatetest.Ticket{Bare: true}))
	f.Add([]byte("NTLMSSP\x00\x01"))
	f.Add(negotiatetest.Wrap(f, nil, oidNTLM))
	f.Fuzz(func(t *testing.T, value []byte) {
		person, err := acceptor(t, authority, Required).Accept(t.Context(), Token{Value: value})
		if err == nil && person.Account != "lweber" {
			t.Errorf("let in as %s", person.Account)
		}
		var refused *Refusal
		if err != nil && !errors.As(err, &refused) {
			t.Error(fmt.Errorf("not a refusal: %w", err))
		}
	})
}
