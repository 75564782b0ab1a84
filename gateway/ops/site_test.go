package ops

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/attributes"
	"adgateway/gateway/filter"
	"adgateway/gateway/schema"
)

// TestASiteAddsNoSecondNameOfAField: a name that is already used by records of users, their attributes,
// filters or rows is refused, in any letter case, both as a site's attribute and as its field.
func TestASiteAddsNoSecondNameOfAField(t *testing.T) {
	names := map[string]bool{}
	for _, f := range schema.User.Fields {
		names[f.Name], names[f.Input], names[f.Attribute] = true, true, true
	}
	for _, name := range filter.Users.Names() {
		names[name] = true
	}
	for _, op := range table {
		if op.Reply.Shape != schema.User {
			continue
		}
		for i := range op.Params {
			names[op.Params[i].Name], names[op.Params[i].Path] = true, true
		}
	}
	delete(names, "")
	assert.Greater(t, len(names), 100)
	for name := range names {
		field := strings.ToLower(name[:1]) + name[1:]
		for _, site := range []attributes.Site{
			{LDAP: name}, {LDAP: strings.ToUpper(name)}, {LDAP: "acmeThing", Field: field},
		} {
			assert.NotEmpty(t, attributes.CheckSite([]attributes.Site{site}), "%+v", site)
		}
	}
}
