package ops

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/filter"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

// shownAs maps a filter field to the shape and field that show the compared value, if it is not a
// field of the record itself.
var shownAs = map[string]struct {
	shape *schema.Shape
	field string
}{
	"user:read accountExpired":       {schema.User, "accountExpires"},
	"user:read passwordExpired":      {schema.LogonState, "passwordExpires"},
	"user:read passwordExpires":      {schema.LogonState, "passwordExpires"},
	"user:read smartcardRequired":    {schema.LogonState, "verdicts"},
	"user:read lastLogonApprox":      {schema.LastLogon, "lastLogon"},
	"user:read neverLoggedOn":        {schema.LastLogon, "lastLogon"},
	"user:read proxyAddress":         {schema.User, "proxyAddresses"},
	"user:read servicePrincipalName": {schema.User, "servicePrincipalNames"},
	"computer:read lastLogonApprox":  {schema.Computer, "lastLogon"},
	"computer:read stale":            {schema.Computer, "lastLogon"},
}

// TestWhatIsFilteredByIsShown: a value that a filter compares is also shown by a read that needs the same
// scope as the list, so filters do not reveal more. Memberships need a separate scope.
func TestWhatIsFilteredByIsShown(t *testing.T) {
	members := []string{"memberOf", "memberOfNested", "noGroups", "empty"}
	compared := 0
	for _, c := range []struct {
		class *filter.Class
		shape *schema.Shape
		scope identity.Scope
	}{
		{filter.Users, schema.User, identity.UserRead}, {filter.Groups, schema.Group, identity.GroupRead},
		{filter.Computers, schema.Computer, identity.ComputerRead},
	} {
		for _, name := range c.class.Names() {
			if slices.Contains(members, name) {
				continue
			}
			shape, field := c.shape, name
			if other, is := shownAs[string(c.scope)+" "+name]; is {
				shape, field = other.shape, other.field
			}
			has := func(f schema.Field) bool { return f.Name == field }
			assert.True(t, slices.ContainsFunc(shape.Fields, has), "%s %s", c.scope, name)
			shows := func(op *Operation) bool {
				opens := op.Scope == c.scope || slices.Contains(op.Or, c.scope)
				return op.Effect == Read && op.Reply.Shape == shape && opens
			}
			assert.True(t, slices.ContainsFunc(Table(), shows), "%s %s", c.scope, name)
			compared++
		}
	}
	assert.Greater(t, compared, 60)
}
