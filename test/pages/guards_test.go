package pages

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/identity"
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
