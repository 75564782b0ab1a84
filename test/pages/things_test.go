package pages

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
)

// TestRecordsHavePages: the records with a name and type can be viewed, created, changed and deleted.
func TestRecordsHavePages(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/zones/corp.example"))
	const makes = "a.create cname.create txt.create mx.create srv.create zone.setAging"
	for operation := range strings.FieldsSeq(makes) {
		assert.Contains(t, b.page, "/ui/do/"+operation+"?", operation)
	}
	assert.NotContains(t, b.page, "/ui/do/ptr.create")
	assert.Contains(t, b.page, `href="/ui/zones/corp.example/records/%2A.apps/CNAME"`)

	// Create an alias with the form on the zone's page, its preview and the button.
	require.Equal(t, 200, b.get("/ui/do/cname.create?back=%2Fui%2Fzones%2Fcorp.example&ZoneName=corp.example"))
	alias := []string{
		"ZoneName", "corp.example", "DNS_HostName", "tries", "DNS_HostName_Alias", "app1.corp.example",
		"Reason", "INC-1",
	}
	b.preview("cname.create", alias...)
	b.confirm()
	// A change that was confirmed with a plan and a reason can be undone.
	undo := regexp.MustCompile(`action="(/ui/do/change\.undo\?[^"]*)"`).FindStringSubmatch(b.page)
	require.Len(t, undo, 2, b.page)
	require.Equal(t, 303, b.post(html.UnescapeString(undo[1]), b.form("/ui/signout")))
	require.Equal(t, 200, b.follow())
	b.confirm()
	require.Equal(t, 200, b.get("/ui/do/cname.create?back=%2Fui%2Fzones%2Fcorp.example&ZoneName=corp.example"))
	b.preview("cname.create", alias...)
	b.confirm()

	page := "/ui/zones/corp.example/records/tries/CNAME"
	require.Equal(t, 200, b.get(page))
	assert.Contains(t, b.page, "app1.corp.example")
	assert.Contains(t, b.page, "CNAME records of tries.corp.example")

	// The form for changes is filled in with the values that identify the record.
	edit := "/ui/do/cname.change?" + url.Values{
		"DNS_HostName": {"tries"}, "DNS_HostName_Alias": {"app1.corp.example"}, "ZoneName": {"corp.example"},
		"back": {page},
	}.Encode()
	assert.Contains(t, b.page, `href="`+html.EscapeString(edit)+`"`)
	require.Equal(t, 200, b.get(edit))
	b.preview("cname.change", append(alias[:6:6], "TimeToLive", "600")...)
	b.confirm()
	require.Equal(t, 200, b.get(page))
	assert.Contains(t, b.page, `>600</td>`)
	require.Equal(t, 303, b.submit("/ui/do/cname.delete"))
	require.Equal(t, 200, b.follow())
	b.confirm()
	require.Equal(t, 200, b.get(page))
	assert.Contains(t, b.page, "There are no such records.")

	for path, offered := range map[string]bool{
		"/ui/zones/corp.example/records/@/MX": true, "/ui/zones/corp.example/records/_gc._tcp/SRV": true,
		"/ui/zones/corp.example/records/@/TXT": true, "/ui/zones/corp.example/records/dc1/AAAA": true,
		"/ui/zones/corp.example/records/@/SOA": false, "/ui/zones/corp.example/records/@/TYPE65400": false,
	} {
		require.Equal(t, 200, b.get(path), path)
		if offered {
			assert.Contains(t, b.page, ".change?", path)
			assert.Contains(t, b.page, `.delete"`, path)
		} else {
			assert.NotContains(t, b.page, "/ui/do/", path)
		}
	}
	desk := s.browser(t)
	desk.signIn("helpdesk")
	assert.Equal(t, 403, desk.get("/ui/zones/corp.example/records/@/MX"))
}

// TestRecordsOfRareTypesAreEdited: the values in the list suffice for the form to identify each record.
func TestRecordsOfRareTypesAreEdited(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	hash := strings.Repeat("ab", 32)
	for path, change := range map[string][2]string{
		"@/CAA": {"NewValue", "pki.example"}, "_443._tcp.pay/TLSA": {"NewCertificateAssociationData", hash},
		"pay/SSHFP": {"NewFingerprint", hash}, "old/DNAME": {"NewDNS_TargetName", "shop3.example"},
	} {
		page := "/ui/zones/shop.example/records/" + path
		require.Equal(t, 200, b.get(page), path)
		_, kind, _ := strings.Cut(strings.ToLower(path), "/")
		found := regexp.MustCompile(`href="(/ui/do/` + kind + `\.change\?[^"]*)"`).FindStringSubmatch(b.page)
		require.Len(t, found, 2, b.page)
		edit := html.UnescapeString(found[1])
		require.Equal(t, 200, b.get(edit))
		at, err := url.Parse(edit)
		require.NoError(t, err)
		pairs := []string{change[0], change[1]}
		for name, values := range at.Query() {
			pairs = append(pairs, name, values[0])
		}
		b.preview(kind+".change", pairs...)
		b.confirm()
		require.Equal(t, 200, b.get(page), path)
		assert.Contains(t, b.page, change[1], path)
		assert.Contains(t, b.page, `action="/ui/do/`+kind+`.delete"`, path)
	}
}

// TestUnitsHaveActions: the page of an OU offers actions. The page of a container offers only actions that
// create objects in it.
func TestUnitsHaveActions(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	b.signIn("operator")
	at := func(dn string) string { return "/ui/ous/" + url.PathEscape(dn) }
	require.Equal(t, 200, b.get(at("OU=Sales,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example")))
	const offered = "user.create group.createSecurity computer.register ou.create " +
		"ou.update ou.rename ou.move ou.delete"
	for operation := range strings.FieldsSeq(offered) {
		assert.Contains(t, b.page, "/ui/do/"+operation, operation)
	}
	desk := s.browser(t)
	desk.signIn("helpdesk")
	desk.get(at("OU=Sales,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"))
	assert.NotContains(t, desk.page, "/ui/do/ou.")
}

// TestTheBinRestores: deleted objects are restored from their page and from the list.
func TestTheBinRestores(t *testing.T) {
	s := start(t)
	for _, name := range []string{"karl.alt", "never.set"} {
		s.OK(systemtest.Call{Method: "DELETE", Path: "/api/ADUser/" + name}, 200)
	}
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/bin"))
	assert.Contains(t, b.page, `value="restore"`)
	guids := map[string]string{}
	for _, r := range s.Get("/api/RecycleBin").Envelope.Result {
		guids[r["account"].(string)] = r["guid"].(string)
	}
	page := "/ui/bin/" + guids["karl.alt"]
	assert.Contains(t, b.page, `href="`+page+`"`)
	require.Equal(t, 200, b.get(page))
	assert.Contains(t, b.page, "/ui/do/bin.restore?Guid=")
	require.Equal(t, 200, b.get("/ui/do/bin.restore?Guid="+guids["karl.alt"]))
	b.preview("bin.restore", "Guid", guids["karl.alt"])
	b.confirm()
	assert.Equal(t, 200, s.Get("/api/ADUser/karl.alt/Details").Status)

	require.Equal(t, 200, b.get("/ui/bin"))
	many := url.Values{"who": {guids["never.set"]}, "many": {"restore"}}
	many.Set("form", b.form("/ui/signout").Get("form"))
	require.Equal(t, 303, b.post("/ui/bin", many), b.page)
	require.Equal(t, 200, b.follow())
	assert.Contains(t, b.page, "Restore")
}
