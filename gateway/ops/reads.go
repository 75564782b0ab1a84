package ops

import (
	"strings"

	"adgateway/gateway/identity"
)

// ReadScope returns the scope that is required to read what the row is about. A read requires its
// own scope; a change is about what its resource can be read by. It is empty if any caller may.
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
