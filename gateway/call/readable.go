package call

import (
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/change"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// A caller may search over several types if it may read at least one of them.

// readScopes are the scopes needed to read objects of each type.
var readScopes = map[string]identity.Scope{
	"user": identity.UserRead, "group": identity.GroupRead, "computer": identity.ComputerRead, "ou": identity.OURead,
}

// typesOf returns the types of objects that a row finds: those that its scopes open.
func typesOf(op *ops.Operation) []string {
	return slices.DeleteFunc(append(slices.Clone(schema.HitTypes), "ou"), func(name string) bool {
		return op.Scope != readScopes[name] && !slices.Contains(op.Or, readScopes[name])
	})
}

// readableTypes returns the types that a search may find, and warnings about those left out. It
// refuses a type that was requested explicitly if the caller may not read it, and leaves out other
// such types.
func readableTypes(p *identity.Principal, b *ops.Bound) (readable []string, unread []ps.Warning, err error) {
	if len(b.Op.Or) == 0 {
		return nil, nil, nil
	}
	asked := b.Text(ops.TypeName)
	for _, name := range typesOf(b.Op) {
		wanted := asked == "" || slices.Contains(strings.Split(asked, ","), name)
		refused := Authorize(p, readScopes[name])
		switch {
		case !wanted:
		case refused == nil:
			readable = append(readable, name)
		case asked != "":
			return nil, nil, refused
		default:
			unread = append(unread, ps.Warning{Code: change.ScopeMissing, Target: name, Message: fmt.Sprintf(
				"Objects of the type %s were left out: they require the scope '%s', which the credential does not have.",
				name, readScopes[name])})
		}
	}
	return readable, unread, nil
}

// createScopes are the scopes needed to create objects of each type.
var createScopes = map[string]identity.Scope{
	"user": identity.UserWrite, "group": identity.GroupWrite, "computer": identity.ComputerWrite,
	"ou": identity.OUWrite,
}

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
