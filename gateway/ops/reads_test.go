package ops_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
)

// TestTheScopeForReading: ReadScope returns only existing scopes, and returns a scope for every change.
func TestTheScopeForReading(t *testing.T) {
	for _, op := range ops.Table() {
		if scope := op.ReadScope(); scope != "" {
			assert.Contains(t, identity.Scopes(), scope, op.ID)
		}
		if op.Effect.Writes() {
			assert.NotEmpty(t, op.ReadScope(), op.ID)
		}
	}
	for id, want := range map[string]identity.Scope{
		"user.resetPassword": identity.UserRead, "membership.copy": identity.MemberRead,
		"acme.present": identity.DNSRead, "computer.deleteMany": identity.ComputerRead,
		"bin.restore": identity.BinRead, "change.undo": identity.ChangeRead, "group.members": identity.MemberRead,
	} {
		assert.Equal(t, want, ops.Find(ops.Table(), id).ReadScope(), id)
	}
}
