package ops

import (
	"strings"

	"adgateway/gateway/identity"
)

// ReadScope returns the scope that is required to read the objects of a row. For a read that is its
// own scope; for a change it is the scope that reads its resource. It is empty if any caller may.
func (op *Operation) ReadScope() identity.Scope {
	resource, _, found := strings.Cut(string(op.Scope), ":")
	if !op.Effect.Writes() || !found {
		return op.Scope
	}
	if op.Scope == identity.LapsExpire {
		return identity.ComputerRead // it is about a computer
	}
	return identity.Scope(resource + ":read")
}
