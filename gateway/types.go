package gateway

import (
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// A search over types is for callers that may read at least one of them.

// readScopes are the scopes for reading objects of a type.
var readScopes = map[string]identity.Scope{"user": identity.UserRead, "group": identity.GroupRead, "computer": identity.ComputerRead}

// checkTypes decides which types of objects the caller may read. One that was asked for
// and may not be read is refused, others are left out.
func checkTypes(r *request) error {
	if len(r.op.Or) == 0 {
		return nil
	}
	asked := r.bound.Text(ops.TypeName)
	r.readable = nil
	for _, name := range schema.HitTypes {
		wanted := asked == "" || slices.Contains(strings.Split(asked, ","), name)
		failed := call.Authorise(r.principal, readScopes[name])
		switch {
		case !wanted:
		case failed == nil:
			r.readable = append(r.readable, name)
		case asked != "":
			return failed
		default:
			r.unread = append(r.unread, ps.Warning{Code: "scope_missing", Target: name,
				Message: fmt.Sprintf("Objects of the type %s were left out: they need the scope '%s', which the credential does not have.", name, readScopes[name])})
		}
	}
	return nil
}

// createScopes are the scopes for creating objects of a type.
var createScopes = map[string]identity.Scope{"user": identity.UserWrite, "group": identity.GroupWrite, "computer": identity.ComputerWrite, "ou": identity.OUWrite}

// creatable returns the types of directory objects that a caller may create.
func creatable(p *identity.Principal) []string {
	types := []string{}
	for _, name := range schema.DeletedTypes {
		if p.Has(createScopes[name]) {
			types = append(types, name)
		}
	}
	return types
}
