package story

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestImplausibleInputIsRefused: the directory or the server might accept each of these inputs, but no caller
// can intend them. The error names the field and the correct form.
func TestImplausibleInputIsRefused(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	s.Expect(http.StatusCreated, http.MethodPost, "/api/DnsReverseLookupZone/"+url.PathEscape("192.0.2.0/24"), nil)
	s.Expect(http.StatusCreated, http.MethodPost, "/api/DnsReverseLookupZone/"+url.PathEscape("2001:db8::/32"), nil)
	const v4, v6, forward = "2.0.192.in-addr.arpa", "8.b.d.0.1.0.0.2.ip6.arpa", "corp.example"
	const bad, cannot = http.StatusBadRequest, http.StatusUnprocessableEntity
	before := s.Snapshot()

	named := func(before, name, after string) systemtest.Call {
		return systemtest.Call{Method: http.MethodPost, Path: before + url.PathEscape(name) + after}
	}
	user := func(name string) systemtest.Call { return named("/api/ADUser/", name, "") }
	renamed := func(name string) systemtest.Call {
		return put("/api/ADUser/" + systemtest.SampleUser + "/Rename/" + url.PathEscape(name))
	}
	security := func(name string) systemtest.Call { return named("/api/ADGroups/", name, "/Security") }
	distribution := func(name string) systemtest.Call { return named("/api/ADGroups/", name, "/Distribution") }
	group := func(name string) systemtest.Call {
		return put("/api/ADGroups/Sales/Rename/" + url.PathEscape(name))
	}
	computer := func(name string) systemtest.Call { return named("/api/Computers/", name, "/Register") }
	record := func(kind, zone, owner, field, value string) systemtest.Call {
		return systemtest.Call{Method: http.MethodPost, Path: "/api/Dns" + kind + "Record",
			Params: map[string]any{"ZoneName": zone, "DNS_HostName": owner, field: value}}
	}
	ptr := func(zone, owner string) systemtest.Call {
		return record("Ptr", zone, owner, "DNS_TargetName", "web1.corp.example")
	}
	a := func(zone, owner string) systemtest.Call { return record("A", zone, owner, "IP_Address", "192.0.2.9") }
	txt := func(zone, owner string) systemtest.Call { return record("Txt", zone, owner, "Text", "x") }
	set := func(zone, owner string) systemtest.Call {
		return systemtest.Call{Method: http.MethodPut, Path: "/api/DnsRecordSet", Params: map[string]any{
			"ZoneName": zone, "DNS_HostName": owner, "Type": "A", "Data": []any{"192.0.2.9"}}}
	}
	child := func(zone, name string) systemtest.Call {
		return systemtest.Call{Method: http.MethodPost, Path: "/api/DnsDelegation", Params: map[string]any{
			"ZoneName": zone, "ChildName": name, "NameServer": "ns1.other.example", "IP_Address": "192.0.2.1"}}
	}
	zone := func(name string) systemtest.Call { return named("/api/DnsLookupZone/", name, "") }

	for _, c := range []struct {
		call         systemtest.Call
		status       int
		field, right string
	}{
		{user("john@corp"), cannot, "Username", `"john"`},
		{user("john@corp.example"), cannot, "Username", `"john"`},
		{user("a.very.long.name@corp.example"), cannot, "Username", `"a.very.long.name"`},
		{user("@corp"), cannot, "Username", "the account name alone"},
		{user(`CORP\john`), bad, "Username", `"john"`},
		{user("CORP/john"), bad, "Username", `"john"`},
		{user("CN=John Doe,OU=Staff,DC=corp,DC=example"), bad, "Username", "OUPath"},
		{renamed("john@corp"), cannot, "NewUsername", `"john"`},
		{renamed("john@corp.example"), cannot, "NewUsername", `"john"`},
		{renamed(`CORP\john`), bad, "NewUsername", `"john"`},
		{renamed("CN=john,DC=corp,DC=example"), bad, "NewUsername", `"john"`},
		{security("all@corp.example"), cannot, "GroupName", "GroupEmail"},
		{security(`CORP\Team`), bad, "GroupName", `"Team"`},
		{security("CN=Team,OU=Groups,DC=corp,DC=example"), bad, "GroupName", `"Team"`},
		{distribution("news@corp.example"), cannot, "GroupName", `"news"`},
		{distribution(`CORP\News`), bad, "GroupName", `"News"`},
		{group("all@corp.example"), cannot, "NewGroupName", `"all"`},
		{group(`CORP\All`), bad, "NewGroupName", `"All"`},
		{computer("pc1.corp.example"), bad, "ADComputerName", `"pc1"`},
		{computer("PC1$"), bad, "ADComputerName", `"PC1"`},
		{computer(`CORP\PC1`), bad, "ADComputerName", `"PC1"`},
		{computer("CN=PC1,OU=Servers,DC=corp,DC=example"), bad, "ADComputerName", `"PC1"`},
		{computer("10.0.0.5"), bad, "ADComputerName", "without a DNS domain"},
		{ptr(v4, "192.0.2.5"), cannot, "DNS_HostName", `"5"`},
		{ptr(v4, "198.51.100.5"), cannot, "DNS_HostName", "5.100.51.198.in-addr.arpa"},
		{ptr(v4, "300"), cannot, "DNS_HostName", "at most 255"},
		{ptr(v4, "256"), cannot, "DNS_HostName", "at most 255"},
		{ptr(v4, "99999999999999999999"), cannot, "DNS_HostName", "at most 255"},
		{ptr(v4, "5.1"), cannot, "DNS_HostName", "an address has 4"},
		{ptr(v4, "5.2.0"), cannot, "DNS_HostName", "an address has 4"},
		{ptr(v4, "005"), cannot, "DNS_HostName", "leading zeros"},
		{ptr(v4, "05"), cannot, "DNS_HostName", "leading zeros"},
		{ptr(v6, "1a"), cannot, "DNS_HostName", "one hexadecimal digit"},
		{ptr(v6, "0001.0000"), cannot, "DNS_HostName", "one hexadecimal digit"},
		{ptr(v6, "0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1"), cannot, "DNS_HostName", "an address has 32"},
		{txt(v4, "192.0.2.7"), cannot, "DNS_HostName", `"7"`},
		{txt(v4, "5.1"), cannot, "DNS_HostName", "an address has 4"},
		{txt(v4, "256"), cannot, "DNS_HostName", "at most 255"},
		{a(forward, "10.0.0.5"), cannot, "DNS_HostName", "not an address"},
		{txt(forward, "10.0.0.5"), cannot, "DNS_HostName", "not an address"},
		{record("CName", forward, "10.0.0.5", "DNS_HostName_Alias", "web1.corp.example"), cannot, "DNS_HostName", "not an address"},
		{record("CName", forward, "x", "DNS_HostName_Alias", "10.0.0.5"), cannot, "DNS_HostName_Alias", "not an address"},
		{set(forward, "10.0.0.5"), cannot, "DNS_HostName", "not an address"},
		{set(v4, "300"), cannot, "DNS_HostName", "at most 255"},
		{child(forward, "10.0.0.5"), cannot, "ChildName", "not an address"},
		{child(v4, "300"), cannot, "ChildName", "at most 255"},
		{zone("10.0.0.0"), bad, "ZoneName", "reverse lookup zone"},
		{zone("10.0.0.0/8"), bad, "ZoneName", "reverse lookup zone"},
		{zone("2.0.192.in-addr.arpa"), bad, "ZoneName", "forward lookup zone"},
	} {
		code := "unprocessable"
		if c.status == bad {
			code = "invalid_request"
		}
		answer := s.In(t).Rejects(c.call, c.status, code)
		text := string(answer.Body)
		assert.Equal(t, c.field, systemtest.FirstField(answer), "%s %v: %s", c.call.Path, c.call.Params, text)
		found := false
		for _, d := range answer.Envelope.Error.Details {
			found = found || assert.ObjectsAreEqual(c.field, d.Field) && strings.Contains(d.Message, c.right)
		}
		assert.True(t, found, "%s %v does not name %s: %s", c.call.Path, c.call.Params, c.right, text)
	}
	assert.Empty(t, before.Compare(s.Snapshot()))

	// Similar input that can be intended is accepted.
	for _, c := range []systemtest.Call{
		ptr(v4, "5"), ptr(v4, "0"), ptr(v4, "255"), txt(v4, "ns1"), txt(v4, "@"), ptr(v4, "7.0-25"),
		ptr(v6, "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0"), txt(v6, "cafe"), txt(forward, "10"),
		txt(forward, "10.0"), security("R&D @ Athens"), computer("PC-1"),
	} {
		s.OK(c, http.StatusCreated)
	}
}

// TestOddPrincipalNames: a UPN that Microsoft Entra refuses is accepted with a warning.
func TestOddPrincipalNames(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for name, odd := range map[string]bool{
		"j doe": true, "müller": true, "a&b": true, "a..b": true, "j.doe": false, "o'neil": false, "jd-2_x": false,
	} {
		for _, dry := range []string{"true", "false"} {
			call := systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/" + url.PathEscape(name), Params: map[string]any{"DryRun": dry}}
			answer := s.Do(call)
			codes := []string{}
			for _, w := range answer.Envelope.Warnings {
				codes = append(codes, w.Code)
			}
			if odd {
				assert.Contains(t, codes, "upn_odd", "%s, dry run %s: %s", name, dry, answer.Body)
			} else {
				assert.NotContains(t, codes, "upn_odd", "%s, dry run %s: %s", name, dry, answer.Body)
			}
		}
	}
}

// TestRenamesKeepOtherPrincipalNames: a rename keeps a UPN that was not derived from the user name.
func TestRenamesKeepOtherPrincipalNames(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for _, c := range []struct {
		upn, after string
		warned     bool
	}{
		{"first@corp.example", "second@corp.example", false},
		{"FIRST@mail.example", "second@mail.example", false},
		{"first.last@mail.example", "first.last@mail.example", true},
		{"first@x@mail.example", "first@x@mail.example", true},
		{"other@corp.example", "other@corp.example", true},
	} {
		s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/first"}, http.StatusCreated)
		s.SetAttribute("CN=first,"+usersDN, "userPrincipalName", c.upn)
		for _, dry := range []string{"true", "false"} {
			answer := s.Do(put("/api/ADUser/first/Rename/second", "DryRun", dry))
			assert.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
			warned := false
			for _, w := range answer.Envelope.Warnings {
				warned = warned || w.Code == "upn_kept" && strings.Contains(w.Message, "'"+c.upn+"'")
			}
			assert.Equal(t, c.warned, warned, "%s, dry run %s: %s", c.upn, dry, answer.Body)
		}
		read := s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/second/Details"}, http.StatusOK)
		assert.Equal(t, c.after, read["userPrincipalName"])
		s.OK(systemtest.Call{Method: http.MethodDelete, Path: "/api/ADUser/second"}, http.StatusOK)
	}
}
