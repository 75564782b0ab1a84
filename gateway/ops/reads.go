package ops

import (
	"strings"

	"adgateway/gateway/identity"
)

// ReadScope returns the scope that is required to read the objects of a row. For a read this is the scope of
// the row, and for a change the scope for reading its resource. It is empty if any caller may read the
// objects.
func (op *Operation) ReadScope() identity.Scope {
	resource, _, found := strings.Cut(string(op.Scope), ":")
	if !op.Effect.Writes() || !found {
		return op.Scope
	}
	if op.Scope == identity.LapsExpire {
		return identity.ComputerRead // the row is about a computer
	}
	return identity.Scope(resource + ":read")
}
