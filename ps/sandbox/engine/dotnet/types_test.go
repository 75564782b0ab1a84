package dotnet

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEveryRegisteredTypeBuilds(t *testing.T) {
	for _, typ := range Types() {
		assert.NotPanics(t, typ.ready, typ.Name)
	}
	for _, name := range []string{"System.Collections.Generic.List[string]", "Collections.Generic.Dictionary[string,object]",
		"System.Collections.Generic.HashSet[int]", "Nullable[bool]", "System.Collections.Generic.Stack[object]", "int[]", "string[][]"} {
		if typ := Lookup(name); assert.NotNil(t, typ, name) {
			assert.NotPanics(t, typ.ready, name)
		}
	}
	for name, typ := range registry.byName {
		assert.NotPanics(t, typ.ready, name)
	}
}
