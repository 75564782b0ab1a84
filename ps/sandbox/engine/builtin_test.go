package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/ps/cmdlets"
)

func TestBuiltinsAreThoseDeclared(t *testing.T) {
	declared := map[string]bool{}
	for _, b := range cmdlets.Builtins() {
		declared[b.Name] = true
		assert.Contains(t, bodies, b.Name, "%s is declared without a body", b.Name)
	}
	for name := range bodies {
		assert.True(t, declared[name], "%s is implemented, but not declared", name)
	}
	assert.Len(t, builtins(), len(declared))
}
