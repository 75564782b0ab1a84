package systemtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/zones"
	"adgateway/ps/session"
)

// Names of the users of a system started by NewForDNS. The password of each user is the user's name.
const (
	AcmeUser    = "acme"   // dns:acme, in corp.example
	HostUser    = "host"   // dns:acme, for the records of LimitedName
	WriteUser   = "writer" // dns:read, dns:write and dns:delete
	ClusterUser = "k8s"    // the same, in corp.example
	UpsertUser  = "upsert" // as ClusterUser, without dns:delete
	EveryUser   = "all"    // every scope
)

// NewForDNS starts a system for DNS clients that send a name and a password. AllToken is also valid.
func NewForDNS(t testing.TB, overrides ...string) *System {
	t.Helper()
	w, err := sandbox.NewWorld(t.Context(), sandbox.Options{})
	require.NoError(t, err)
	static := authn.NewStatic(authn.Header{})
	inZone := identity.Limits{Zones: []string{limitedZone}}
	dns := []identity.Scope{identity.DNSRead, identity.DNSWrite, identity.DNSDelete}
	for name, p := range map[string]*identity.Principal{
		AcmeUser:    {Scopes: []identity.Scope{identity.DNSAcme}, Limits: inZone},
		HostUser:    {Scopes: []identity.Scope{identity.DNSAcme}, Limits: identity.Limits{Names: []string{LimitedName}}},
		WriteUser:   {Scopes: dns},
		ClusterUser: {Scopes: dns, Limits: inZone},
		UpsertUser:  {Scopes: dns[:2], Limits: inZone},
		EveryUser:   {Scopes: []identity.Scope{identity.All}},
	} {
		p.Name = name
		require.NoError(t, static.AddUser(name, p))
	}
	require.NoError(t, static.AddToken(AllToken,
		&identity.Principal{Name: AllToken, Scopes: identity.Everything()}))
	return NewWith(t, w, session.Config{Starter: w.Starter()}, func(o *app.Options) { o.Auth = static },
		overrides...)
}

// Texts returns the sorted texts in a name's TXT records, from a zone of the first server.
func (s *System) Texts(name, zone string) []string {
	s.T.Helper()
	server, err := s.World.DNS.Server(s.World.Directory.DCs()[0].HostName())
	require.NoError(s.T, err)
	records, err := server.Records(zone, zones.Query{})
	require.NoError(s.T, err)
	found := []string{}
	for _, record := range records {
		header := record.RR.Header()
		if text, isText := strings.CutPrefix(record.RR.String(), header.String()); isText &&
			header.Rrtype == typeTXT &&
			strings.EqualFold(strings.TrimSuffix(header.Name, "."), strings.TrimSuffix(name, ".")) {
			found = append(found, strings.Trim(text, `"`))
		}
	}
	slices.Sort(found)
	return found
}

// typeTXT is the number of the type TXT (RFC 1035, 3.2.2).
const typeTXT = 16
