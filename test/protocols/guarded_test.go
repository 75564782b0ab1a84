package protocols_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/zones/zonestest"
	"adgateway/test/systemtest"
)

// guardedName is the setting for a guarded name.
const guardedName = "limits.guardedNames=[pki.corp.example]"

// With the answer to a name's challenge, a client gets certificates for the name and for all names directly
// below it. The record therefore needs the same scope as the records of the name itself.
func TestChallengesOfGuardedNamesNeedPrivileged(t *testing.T) {
	s := systemtest.NewForDNS(t, `acme.accounts=[`+
		`{"subdomain":"dc1","credential":"acme","name":"_acme-challenge.dc1.corp.example"},`+
		`{"subdomain":"domain","credential":"all","name":"_acme-challenge.corp.example"}]`, guardedName)
	good := digest("x")
	refused := func(a systemtest.Answer, spoken string) {
		t.Helper()
		require.Equal(t, http.StatusForbidden, a.Status, "%s", a.Body)
		assert.Contains(t, a.Envelope.Output, "needs the scope 'privileged'")
		assert.Contains(t, a.Envelope.Output, spoken)
	}
	for fqdn, spoken := range map[string]string{
		"_acme-challenge.dc1.corp.example.":              "'dc1.corp.example', and it is the name of a domain controller",
		"_ACME-Challenge.DC1.Corp.Example":               "'dc1.corp.example', and it is the name of a domain controller",
		"_acme-challenge.dc1.corp.example.corp.example.": "it is the name of a domain controller",
		"_acme-challenge.corp.example.":                  "'corp.example', and it is the name of the domain",
		"_acme-challenge.wpad.corp.example.":             "browsers take their proxy from this name",
		"_acme-challenge.isatap.corp.example.":           "router of this name",
		"_acme-challenge.PKI.corp.example.":              "'pki.corp.example', and the settings of this gateway guard it",
	} {
		for _, action := range []string{present, cleanup} {
			refused(post(s, systemtest.AcmeUser, action, challenge(fqdn, good)), spoken)
			a := post(s, systemtest.EveryUser, action, challenge(fqdn, good))
			assert.Equal(t, http.StatusOK, a.Status, "%s %s: %s", action, fqdn, a.Body)
		}
	}
	raw := func(user, domain string) systemtest.Answer {
		return post(s, user, present, fmt.Sprintf(`{"domain":%q,"token":"t","keyAuth":"t.%s"}`, domain, good))
	}
	refused(raw(systemtest.AcmeUser, "*.corp.example"), "it is the name of the domain")
	refused(raw(systemtest.AcmeUser, "dc1.corp.example"), "it is the name of a domain controller")
	assert.Equal(t, http.StatusOK, raw(systemtest.AcmeUser, "*.apps.corp.example").Status)

	account := func(user, subdomain string) systemtest.Answer {
		return post(s, "", update, fmt.Sprintf(`{"subdomain":%q,"txt":%q}`, subdomain, good), "X-Api-User", user, "X-Api-Key", user)
	}
	assert.Equal(t, http.StatusUnauthorized, account(systemtest.AcmeUser, "dc1").Status,
		"acme-dns knows no other refusal")
	assert.Equal(t, http.StatusOK, account(systemtest.EveryUser, "domain").Status)
}

// ExternalDNS cannot write a record that affects a guarded name. The other sets are written.
func TestExternalDNSDoesNotSpeakForGuardedNames(t *testing.T) {
	s := systemtest.NewForDNS(t, guardedName)
	text := func(name string) set { return set{DNSName: name, RecordType: "TXT", Targets: []string{"x"}} }
	bad := []set{
		text("_acme-challenge.dc1.corp.example"), text("_acme-challenge.corp.example"), text("s1._domainkey.corp.example"),
		text("_acme-challenge.pki.corp.example"), {DNSName: "pki.corp.example", RecordType: "A", Targets: []string{"10.9.9.9"}},
		{DNSName: "_acme-challenge.dc2.corp.example", RecordType: "CNAME", Targets: []string{"elsewhere.example.net"}},
	}
	a := tell(s, systemtest.ClusterUser, "/records",
		map[string][]set{"create": append([]set{text("_acme-challenge.www.corp.example")}, bad...)})
	require.Equal(t, http.StatusInternalServerError, a.Status, "%s", a.Body)
	require.Len(t, a.Envelope.Error.Details, len(bad))
	for i, one := range bad {
		assert.Contains(t, a.Envelope.Error.Details[i].Message, "'"+one.DNSName+" "+one.RecordType+"'")
		assert.Contains(t, a.Envelope.Error.Details[i].Message, "needs the scope 'privileged'")
	}
	assert.Contains(t, sets(s, systemtest.ClusterUser), "_acme-challenge.www.corp.example TXT")
}

// Third-party protocols have no headers for a guard or a key. They need none, because a call removes only the
// values that it names, if they exist, and repeating a call changes nothing.
func TestProtocolsOverwriteNothingUnseen(t *testing.T) {
	s := systemtest.NewForDNS(t, `http.requireGuard=["*"]`, `http.requireKey=["*"]`)
	alias := func(target string) []set {
		return []set{{DNSName: "theirs.corp.example", RecordType: "CNAME", Targets: []string{target}}}
	}
	mine := []set{address("mine", "10.0.9.1")}
	applied(s, systemtest.ClusterUser, map[string][]set{"create": append(alias("theirs.example.net"), mine...)})
	for name, changes := range map[string]map[string][]set{
		"create over another's": {"create": alias("mine.example.net")},
		"update of a value that is not there": {
			"updateOld": alias("mine.example.net"), "updateNew": alias("other.example.net")},
	} {
		a := tell(s, systemtest.ClusterUser, "/records", changes)
		assert.Equal(t, http.StatusInternalServerError, a.Status, "%s: %s", name, a.Body)
	}
	applied(s, systemtest.ClusterUser, map[string][]set{"delete": alias("mine.example.net")})
	assert.Equal(t, []string{"theirs.example.net"},
		sets(s, systemtest.ClusterUser)["theirs.corp.example CNAME"].Targets)

	before := zonestest.Take(s.World.DNS)
	applied(s, systemtest.ClusterUser, map[string][]set{"create": mine})
	assert.Empty(t, zonestest.Compare(before, zonestest.Take(s.World.DNS)), "the same call again")
	for _, value := range []string{"one", "two", "two"} {
		require.Equal(t, http.StatusOK,
			post(s, systemtest.AcmeUser, present, challenge("_acme-challenge.www.corp.example", digest(value))).Status)
	}
	require.Equal(t, http.StatusOK,
		post(s, systemtest.AcmeUser, cleanup, challenge("_acme-challenge.www.corp.example", digest("one"))).Status)
	assert.Equal(t, []string{digest("two")}, s.Texts("_acme-challenge.www.corp.example", "corp.example"))
}
