package pages

import (
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/identity"
	"adgateway/test/systemtest"
)

var offeredOn = regexp.MustCompile(`(?:action|href)="/ui/do/([a-zA-Z]+\.[a-zA-Z]+)["?]`)

// TestNothingIsOfferedThatAGuardRefuses: for each role, the pages of guarded and other objects offer an
// action if and only if the API does not refuse it.
func TestNothingIsOfferedThatAGuardRefuses(t *testing.T) {
	every := identity.Scopes()
	but := slices.DeleteFunc(slices.Clone(every), func(s identity.Scope) bool {
		return s == identity.Privileged || s == identity.All
	})
	s := startWith(t, func(p *app.People) {
		p.Roles = []signin.Role{
			p.Roles[0], {Group: "group of operator", Name: "Not privileged", Scopes: but},
			{Group: "group of berlin", Name: "Privileged", Scopes: every},
		}
	}, "audit.file="+t.TempDir()+"/audit.jsonl")
	guid := func(path string) string { return s.Get(path).Envelope.Result[0]["guid"].(string) }
	kinds := map[string]struct {
		param string
		tries map[string][]string
	}{
		"people": {"Username", map[string][]string{
			"user.update": {"JobTitle", "Painter"}, "user.resetPassword": {"Generate", "words"}, "user.delete": nil,
			"membership.add": {"GroupName", finance}, "user.protect": {"IsProtected", "true"},
			"user.rename": {"NewUsername", "another.name"}, "membership.copy": {"From", "aschmidt"},
		}},
		"groups": {"GroupName", map[string][]string{
			"group.update": {"GroupDescription", "x"}, "group.delete": nil, "membership.add": {"Username", "aschmidt"},
			"membership.addMembers": {"Members", "aschmidt"}, "group.rename": {"NewGroupName", "Another"},
			"group.protect": {"IsProtected", "true"},
		}},
		"computers": {"ADComputerName", map[string][]string{
			"computer.update": {"ComputerDescription", "x"}, "computer.delete": nil, "computer.disable": nil,
			"computer.move": {"OUPath", formerStaff}, "computer.protect": {"IsProtected", "true"},
		}},
	}
	pages := map[string]struct {
		kind    string
		guarded bool
	}{
		guid("/api/ADUser/Administrator/Details"): {"people", true}, guid("/api/ADUser/krbtgt/Details"): {"people", true},
		lea: {"people", false}, finance: {"groups", false},
		guid("/api/ADGroups/Domain Admins"): {"groups", true}, guid("/api/ADGroups/Server Operators"): {"groups", true},
		guid("/api/Computers/DC1"): {"computers", true}, guid("/api/Computers/PC01"): {"computers", false},
	}
	for _, who := range []string{"helpdesk", "operator", "berlin"} {
		b := s.browser(t)
		b.signIn(who)
		for id, of := range pages {
			page := "/ui/" + of.kind + "/" + id
			require.Equal(t, 200, b.get(page), "%s %s", who, page)
			shown, offered := html.UnescapeString(b.page), map[string]bool{}
			for _, m := range offeredOn.FindAllStringSubmatch(shown, -1) {
				offered[m[1]] = true
			}
			delete(offered, "change.undo")
			privileged := who == "berlin"
			if of.guarded && !privileged {
				for operation := range offered { // the guard of the group applies
					free := of.kind == "people" && strings.HasPrefix(operation, "membership.")
					assert.True(t, free, "%s %s", page, operation)
				}
				assert.NotContains(t, shown, "/reveal", "%s %s", who, page)
				assert.Equal(t, who == "operator" || of.kind != "computers",
					regexp.MustCompile(`Your role may not change this: it is `).MatchString(shown), "%s %s", who, page)
			} else {
				assert.NotContains(t, shown, "Your role may not change this", "%s %s", who, page)
			}
			for operation, pairs := range kinds[of.kind].tries {
				require.Equal(t, 200, b.get(page))
				status := b.sent(operation, kinds[of.kind].param, id, pairs...)
				if offered[operation] {
					assert.NotEqual(t, 403, status, "%s %s %s: %s", who, page, operation, b.path)
				} else {
					assert.Contains(t, []int{403, 409, 422}, status, "%s %s %s", who, page, operation)
				}
			}
		}
	}
}

// TestPagesOfGuardedPlacesSayWhy: on the pages of units, zones and records, an action is offered if and
// only if no guard keeps the person from it. The page says why.
func TestPagesOfGuardedPlacesSayWhy(t *testing.T) {
	every := identity.Scopes()
	but := slices.DeleteFunc(slices.Clone(every), func(s identity.Scope) bool {
		return s == identity.Privileged || s == identity.All
	})
	s := startWith(t, func(p *app.People) {
		p.Roles = []signin.Role{
			{Group: "group of operator", Name: "Not privileged", Scopes: but},
			{Group: "group of berlin", Name: "Privileged", Scopes: every},
		}
	})
	const says, domain = "Your role may not change this: ", "DC=corp,DC=example"
	const corp, controllers = "/ui/ous/OU=Corp," + domain, "/ui/ous/OU=Domain Controllers," + domain
	record := func(zone, name, kind string) string {
		return "/ui/zones/" + zone + "/records/" + name + "/" + kind
	}
	pages := map[string]struct {
		offers, withholds []string
		why               string // empty if nothing is withheld
	}{
		corp: {[]string{"user.create", "ou.create", "ou.update"}, []string{"ou.rename", "ou.move", "ou.delete"},
			"guarded objects lie below it"},
		"/ui/ous/" + formerStaff: {[]string{"user.create", "ou.update", "ou.rename", "ou.delete"}, nil, ""},
		controllers: {nil, []string{"user.create", "ou.create", "ou.update", "ou.rename", "ou.delete"},
			"the policies of domain controllers apply there"},
		"/ui/zones/corp.example": {[]string{"a.create", "cname.create"}, []string{"zone.setAging"},
			"records that are not refreshed in time are removed"},
		"/ui/zones/_msdcs.corp.example": {nil, []string{"a.create", "cname.create", "zone.setAging"},
			"domain controllers find each other by the names in it"},
		record("corp.example", "web1", "A"): {[]string{"a.create", "a.change", "a.delete"}, nil, ""},
		record("corp.example", "dc1", "A"): {nil, []string{"a.create", "a.change", "a.delete"},
			"it is the name of a domain controller"},
		record("10.in-addr.arpa", "10.0.0", "PTR"): {[]string{"ptr.create"}, []string{"ptr.delete"},
			"the record points to a guarded name"},
	}
	for _, who := range []string{"operator", "berlin"} {
		b := s.browser(t)
		b.signIn(who)
		for page, of := range pages {
			require.Equal(t, 200, b.get(strings.ReplaceAll(page, " ", "%20")), "%s %s", who, page)
			shown, offered := html.UnescapeString(b.page), map[string]bool{}
			for _, m := range offeredOn.FindAllStringSubmatch(shown, -1) {
				offered[m[1]] = true
			}
			for _, operation := range of.offers {
				assert.True(t, offered[operation], "%s %s %s", who, page, operation)
			}
			for _, operation := range of.withholds {
				assert.Equal(t, who == "berlin", offered[operation], "%s %s %s", who, page, operation)
			}
			if who == "berlin" || of.why == "" {
				assert.NotContains(t, shown, "Your role may not", "%s %s", who, page)
			} else {
				assert.Contains(t, shown, says+of.why, "%s %s", who, page)
			}
		}
	}
}

// TestGuardedGroupsOfAPersonSayWhy: the list of a person's groups offers Remove for the groups whose members
// the reader may change. For guarded groups, it shows the reason instead.
func TestGuardedGroupsOfAPersonSayWhy(t *testing.T) {
	scopes := slices.DeleteFunc(identity.Scopes(), func(s identity.Scope) bool {
		return s == identity.Privileged || s == identity.All
	})
	s := startWith(t, func(p *app.People) {
		p.Roles = []signin.Role{{Group: "group of operator", Name: "Not privileged", Scopes: scopes}}
	})
	s.OK(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupPath("Backup Operators", "/Members"),
		Params: map[string]any{"Members": "lweber"}}, http.StatusCreated)
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/people/"+lea))
	rows := map[string]string{}
	for _, row := range strings.Split(b.between(`id="groups"`, "</section>"), "<tr>") {
		for _, name := range []string{"Backup Operators", "Sales"} {
			if strings.Contains(row, ">"+name+"</a>") {
				rows[name] = html.UnescapeString(row)
			}
		}
	}
	assert.NotContains(t, rows["Backup Operators"], "membership.remove")
	assert.Contains(t, rows["Backup Operators"], "Guarded: it is a critical system object.")
	assert.Contains(t, b.page, "/ui/do/membership.remove", "beside other groups")
}
