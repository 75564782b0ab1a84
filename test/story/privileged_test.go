package story

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine"
	"adgateway/test/systemtest"
)

const (
	controllersOU    = "OU=Domain Controllers,DC=corp,DC=example"
	administrationOU = "OU=Administration,OU=Corp,DC=corp,DC=example"
)

// needsPrivilege sends a change with every scope but privileged, which must be refused for
// the given reason, and then with that scope.
func needsPrivilege(s *systemtest.System, c systemtest.Call, why string) {
	s.T.Helper()
	a := s.Rejects(c.As(systemtest.PlainToken), http.StatusForbidden, "forbidden")
	assert.Contains(s.T, a.Envelope.Output, "needs the scope 'privileged'", "%s %s", c.Method, c.Path)
	assert.Contains(s.T, a.Envelope.Output, why, "%s %s", c.Method, c.Path)
	a = s.Do(c)
	assert.False(s.T, a.Status == http.StatusForbidden, "%s %s: %s", c.Method, c.Path, a.Body)
}

func put(path string, pairs ...string) systemtest.Call {
	return withParams(http.MethodPut, path, pairs)
}

func post(path string, pairs ...string) systemtest.Call {
	return withParams(http.MethodPost, path, pairs)
}

func withParams(method, path string, pairs []string) systemtest.Call {
	c := systemtest.Call{Method: method, Path: path, Params: map[string]any{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		c.Params[pairs[i]] = pairs[i+1]
	}
	return c
}

// TestGroupsThatLeadToTheDomain: groups that AdminSDHolder does not protect, groups of the
// gateway itself, groups nested in them, and their current members are guarded.
func TestGroupsThatLeadToTheDomain(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1,
		Account: engine.Account{Domain: "CORP", User: "svc-adgateway", Machine: "FS1"}})
	for _, group := range []string{"adgateway-rights", "adgateway-hosts", "outer", "inner"} {
		s.OK(post(systemtest.GroupPath(group, "/Security"), "OUPath", systemtest.SecurityOU), http.StatusCreated)
	}
	s.OK(post(systemtest.UserInGroupPath("svc-adgateway", "adgateway-rights")), http.StatusCreated)
	s.SetAttribute("CN=adgateway-hosts,"+systemtest.SecurityOU, "member", "CN=FS1,"+systemtest.ServersOU)
	s.OK(post(systemtest.GroupInGroupPath("inner", "outer")), http.StatusCreated)
	s.SetAttribute("CN=DnsAdmins,"+systemtest.UsersContainer, "member", "CN=outer,"+systemtest.SecurityOU)

	for group, why := range map[string]string{
		"DnsAdmins": "load a DLL", "DnsUpdateProxy": "DNS records", "adgateway-rights": "rights of the gateway",
		"adgateway-hosts": "rights of the gateway", "outer": "DnsAdmins", "inner": "DnsAdmins",
	} {
		needsPrivilege(s, post(systemtest.UserInGroupPath(systemtest.SampleUser, group)), why)
		needsPrivilege(s, systemtest.Call{Method: http.MethodDelete,
			Path: systemtest.UserInGroupPath(systemtest.SampleUser, group)}, why)
	}
	s.OK(post(systemtest.UserInGroupPath(systemtest.SampleUser, "Project Phoenix")).As(systemtest.PlainToken),
		http.StatusCreated)

	// A new member is guarded immediately, without adminCount.
	reset := put("/api/ADUser/"+systemtest.SampleUser+"/ResetPassword", "newPassword", systemtest.GoodPassword)
	s.OK(reset.As(systemtest.PlainToken), http.StatusOK)
	s.OK(post(systemtest.UserInGroupPath(systemtest.SampleUser, "inner")), http.StatusCreated)
	needsPrivilege(s, reset, "DnsAdmins")
	s.OK(systemtest.Call{Method: http.MethodDelete,
		Path: systemtest.UserInGroupPath(systemtest.SampleUser, "inner")}, http.StatusOK)
	s.OK(post(systemtest.UserInGroupPath(systemtest.SampleUser, "Domain Admins")), http.StatusCreated)
	s.SetAttribute(systemtest.SampleUserDN, "adminCount") // the directory itself sets it within an hour
	needsPrivilege(s, reset, "Domain Admins")
	needsPrivilege(s, put("/api/ADUser/"+systemtest.SampleUser+"/Disable"), "Domain Admins")
	// A membership by primary group, which memberOf omits, counts as well.
	s.SetAttribute(systemtest.SampleUserDN, "primaryGroupID", 512)
	needsPrivilege(s, put("/api/ADUser/"+systemtest.SampleUser+"/Disable"), "Domain Admins")
}

// TestGuardedGroupsThatAreSet: limits.guardedGroups replaces the groups that the gateway determines itself.
func TestGuardedGroupsThatAreSet(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "limits.guardedGroups=[VPN Users]")
	needsPrivilege(s, post(systemtest.UserInGroupPath("jmueller", "VPN Users")), "rights of the gateway")
	needsPrivilege(s, put("/api/ADUser/"+systemtest.SampleUser+"/Disable"), "rights of the gateway")
}

// TestTheGatewaysOwnAccount: the account of the gateway is guarded, regardless of the kind of account.
func TestTheGatewaysOwnAccount(t *testing.T) {
	for name, account := range map[string]engine.Account{
		"user":            {Domain: "CORP", User: "svc-adgateway", Machine: "GW1"},
		"virtual account": {Domain: "NT SERVICE", User: "adgateway", Machine: "FS1"},
		"local system":    {Domain: "NT AUTHORITY", User: "SYSTEM", Machine: "FS1"},
		"network service": {Domain: "NT-AUTORITÄT", User: "NETZWERKDIENST", Machine: "fs1"},
		"gMSA":            {Domain: "corp", User: "gmsa-web$", Machine: "FS1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1, Account: account})
			rights := post(systemtest.GroupPath("rights", "/Security"), "OUPath", systemtest.SecurityOU)
			s.OK(rights, http.StatusCreated)
			switch name {
			case "user":
				needsPrivilege(s, put("/api/ADUser/svc-adgateway", "City", "x"), "the gateway runs as")
				s.OK(put(systemtest.ComputerPath("FS1")+"/Update", "ComputerDescription", "x").As(systemtest.PlainToken),
					http.StatusOK)
				return
			case "gMSA":
				s.SetAttribute("CN=rights,"+systemtest.SecurityOU, "member",
					"CN=gmsa-web,CN=Managed Service Accounts,DC=corp,DC=example")
			default:
				s.SetAttribute("CN=rights,"+systemtest.SecurityOU, "member", "CN=FS1,"+systemtest.ServersOU)
			}
			needsPrivilege(s, post(systemtest.UserInGroupPath(systemtest.SampleUser, "rights")),
				"rights of the gateway")
			needsPrivilege(s, put(systemtest.ComputerPath("FS1")+"/Update", "ComputerDescription", "x"),
				"the computer the gateway runs on")
			a := s.Do(systemtest.RemoveComputers("WildCard", "FS1*", "Recursive", "true").As(systemtest.PlainToken))
			require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
			assert.NotContains(t, systemtest.NamesOfComputers(a), "FS1")
			require.NotEmpty(t, a.Envelope.Warnings)
			assert.Equal(t, "forbidden", a.Envelope.Warnings[0].Code)
			needsPrivilege(s, put(systemtest.ComputerPath("FS1")+"/Rename/FS1-OLD"),
				"the computer the gateway runs on")
			s.OK(put(systemtest.ComputerPath("WEB1")+"/Update", "ComputerDescription", "x").As(systemtest.PlainToken),
				http.StatusOK)
		})
	}
}

// TestTreesAndPlacesThatAreGuarded: without the scope privileged, nobody can move or rename
// a container of guarded objects, or put anything below OU=Domain Controllers.
func TestTreesAndPlacesThatAreGuarded(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	needsPrivilege(s, systemtest.MoveOU(systemtest.CorpOU, controllersOU), "below it")
	s.OK(systemtest.MoveOU("OU=Corp,"+controllersOU, "DC=corp,DC=example"), http.StatusOK)
	needsPrivilege(s, systemtest.RenameOU(administrationOU, "Renamed"), "guarded objects lie below it")
	needsPrivilege(s, systemtest.MoveOU("OU=Renamed,"+systemtest.CorpOU, systemtest.EmptyOU),
		"guarded objects lie below it")
	needsPrivilege(s, systemtest.MoveOU(systemtest.ProtectedOU, controllersOU), "policies of domain controllers")
	needsPrivilege(s, systemtest.RenameOU("OU=Protected empty,"+controllersOU, "sub"),
		"policies of domain controllers")
	needsPrivilege(s, systemtest.CreateOU("below", "OU=sub,"+controllersOU), "policies of domain controllers")
	needsPrivilege(s, systemtest.RegisterComputer("EVIL1", "OUPath", controllersOU),
		"policies of domain controllers")
	needsPrivilege(s, put("/api/ADUser/"+systemtest.SampleUser, "OUPath", controllersOU),
		"policies of domain controllers")
	needsPrivilege(s, put("/api/ADUser/"+systemtest.SampleUser+"/Disable"), "policies of domain controllers")
	needsPrivilege(s, post("/api/ADUser/evil", "OUPath", controllersOU), "policies of domain controllers")
	needsPrivilege(s, post(systemtest.GroupPath("evil group", "/Security"), "OUPath", controllersOU),
		"policies of domain controllers")
	s.OK(systemtest.RenameOU(systemtest.LimitedOU, "Ordinary people").As(systemtest.PlainToken), http.StatusOK)
}

// TestGuardedNamesInDNS: the names by which clients find domain controllers and proxies are guarded.
func TestGuardedNamesInDNS(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	cname := func(method, name, target, zone string) systemtest.Call {
		return withParams(method, "/api/DnsCNameRecord",
			[]string{"DNS_HostName", name, "DNS_HostName_Alias", target, "ZoneName", zone})
	}
	const evil, zone = "evil.example.com", "corp.example"
	for name, why := range map[string]string{
		"*": "wildcard", "*.sub": "wildcard", "wpad.sub": "proxy", "WPAD.other.corp.example.": "proxy", "isatap": "router",
		"x._msdcs": "find each other", "_ldap._tcp.elsewhere": "find domain controllers", "x.DomainDnsZones": "find domain controllers", "dc1": "name of a domain controller",
	} {
		a := s.Rejects(cname(http.MethodPost, name, evil, zone).As(systemtest.PlainToken), http.StatusForbidden,
			"forbidden")
		assert.Contains(t, a.Envelope.Output, why, name)
	}
	for _, c := range []systemtest.Call{
		cname(http.MethodDelete, "5b1f3e0a-6c1d-4a57-9d0e-2f6a1c9b7e11", "dc1.corp.example", "_msdcs.corp.example"),
		cname(http.MethodPost, "x", evil, "_msdcs.corp.example"),
		cname(http.MethodDelete, "wpad", "proxy1.corp.example", zone),
		cname(http.MethodDelete, "*.apps", "app1.corp.example", zone),
		{Method: http.MethodDelete, Path: "/api/DnsReverseLookupZone/" + url.PathEscape("10.0.0.0/8")},
	} {
		needsPrivilege(s, c, "needs the scope")
	}
	text := func(name string) systemtest.Call {
		return withParams(http.MethodPost, "/api/DnsTxtRecord",
			[]string{"DNS_HostName", name, "Text", "x", "ZoneName", zone})
	}
	needsPrivilege(s, text("@"), "it is the name of the domain")
	needsPrivilege(s, text("_sip._tcp"), "find domain controllers")
	needsPrivilege(s, text("x.site1._sites"), "find domain controllers")
	s.OK(cname(http.MethodPost, "apps-2", evil, zone).As(systemtest.PlainToken), http.StatusCreated)
	s.OK(cname(http.MethodPost, "mywpad", evil, zone).As(systemtest.PlainToken), http.StatusCreated)
	s.OK(systemtest.Call{Method: http.MethodDelete,
		Path: "/api/DnsReverseLookupZone/" + url.PathEscape("192.168.1.0/24"), Token: systemtest.PlainToken},
		http.StatusOK)
}

// TestNamesThatSpeakForGuardedNames: names that can be used in place of guarded names are guarded as well,
// regardless of the purpose of their records and of the spelling of the names.
func TestNamesThatSpeakForGuardedNames(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "jobs.rate=0")
	const zone = "corp.example"
	text := func(name string) systemtest.Call {
		return withParams(http.MethodPost, "/api/DnsTxtRecord",
			[]string{"DNS_HostName", name, "Text", "x", "ZoneName", zone})
	}
	const controller, domain = "'dc1.corp.example', and it is the name of a domain controller", "'corp.example', and it is the name of the domain"
	for name, why := range map[string]string{
		"_acme-challenge.dc1": controller, "_ACME-Challenge.DC1": controller, "_acme-challenge.dc1.corp.example.": controller,
		"_acme-challenge.dc1.corp.example.corp.example.": "it is the name of a domain controller",
		"_key._acme-challenge.dc1":                       controller, "a.b._dnsauth.dc1": controller, "_validation-contactemail.dc1": controller,
		"_acme-challenge": domain, "_dmarc": domain, "s1._domainkey": domain, "_mta-sts": domain, "_smtp._tls": domain,
		"_acme-challenge.wpad": "browsers take their proxy", "_acme-challenge.isatap.sub": "router of this name",
	} {
		needsPrivilege(s, text(name), why)
	}
	for _, name := range []string{"_acme-challenge.www", "s1._domainkey.mail", "_sip._tcp.voice",
		"acme-challenge.dc1", "under_score"} {
		s.OK(text(name).As(systemtest.PlainToken), http.StatusCreated)
	}
	cname := []string{"DNS_HostName", "_acme-challenge.dc2", "DNS_HostName_Alias", "x.acme.example.net.",
		"ZoneName", zone}
	needsPrivilege(s, withParams(http.MethodPost, "/api/DnsCNameRecord", cname),
		"it speaks for the name behind it")
	needsPrivilege(s, post("/api/DnsLookupZone/_acme-challenge.dc1.corp.example"),
		"it speaks for the name behind it")
	needsPrivilege(s, post("/api/DnsDelegation", "ZoneName", zone, "ChildName", "_mta-sts.dc2", "NameServer",
		"ns.example.net", "IP_Address", "10.0.0.9"), "it speaks for the name behind it")

	// An undo, and an item of a job, have the rights of their caller.
	made := s.Do(text("_dnsauth.dc2"))
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Body)
	needsPrivilege(s, undoChange(made.Header.Get("X-Change-Id"), nil),
		"'dc2.corp.example', and it is the name of a domain controller")
	c := submit(jsonLines, `{"parameters":{"DNS_HostName":"_dnsauth.dc2","Text":"x","ZoneName":"corp.example"}}`, "Operation", "txt.create")
	job := submitted(s, c.As(systemtest.PlainToken))
	reached(s, job, "done")
	assert.Equal(t, "forbidden", itemsOf(s, job)[0]["code"], "the others would run")
}

// TestNamesThatLookLikeOthers: no caller may use names that look like other names.
func TestNamesThatLookLikeOthers(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for name, want := range map[string]struct {
		status int
		code   string
	}{
		"DC1": {409, "conflict"}, "ca1": {409, "conflict"}, "admin$": {422, "unprocessable"},
		"Administrator ": {409, "conflict"}, "krb tgt": {409, "conflict"}, "ｋｒｂｔｇｔ": {409, "conflict"},
		"krb\u00adtgt": {400, "invalid_request"}, "Admini\u2003strator": {400, "invalid_request"},
	} {
		s.Rejects(post("/api/ADUser/"+url.PathEscape(name)), want.status, want.code)
		s.Rejects(put("/api/ADUser/"+systemtest.SampleUser+"/Rename/"+url.PathEscape(name)), want.status, want.code)
	}
	s.OK(post("/api/ADUser/"+url.PathEscape("jane doe")), http.StatusCreated)
	s.OK(put("/api/ADUser/"+systemtest.SampleUser+"/Rename/ASCHMIDT"), http.StatusOK)
}
