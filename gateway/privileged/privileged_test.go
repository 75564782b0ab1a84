package privileged_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/gateway/privileged"
)

// TestEveryKindIsKnownToTheScripts: the scripts, which refuse changes, have a sentence for every kind and an
// argument that accepts it.
func TestEveryKindIsKnownToTheScripts(t *testing.T) {
	scripts := filepath.Join("..", "..", "scripts")
	guards, err := os.ReadFile(filepath.Join(scripts, "prelude.guards.ps1"))
	require.NoError(t, err)
	preludes := map[string]string{}
	for arg, file := range map[string]string{
		privileged.GroupArg: "ad/prelude.privilege.ps1", privileged.NameArg: "dns/prelude.ps1",
	} {
		text, err := os.ReadFile(filepath.Join(scripts, filepath.FromSlash(file)))
		require.NoError(t, err)
		preludes[arg] = string(text)
	}
	for _, source := range privileged.Sources() {
		assert.Regexp(t, `(?m)^    `+string(source.Kind)+` += @\{`, string(guards))
		assert.Contains(t, preludes[source.Arg], "$"+source.Arg, "%s", source.Kind)
		assert.NotEmpty(t, source.From)
	}
}

func TestArguments(t *testing.T) {
	set := privileged.Set{privileged.Role: {"S-1-5-21-1"}, privileged.Limit: {"B"}}.With(
		privileged.Set{privileged.Limit: {"A", "B"}, privileged.Named: {"pki.corp.example"}}, nil)
	const groups, names = privileged.GroupArg, privileged.NameArg
	limited := identity.Limits{Groups: []string{"A"}}
	all := []string{"role:S-1-5-21-1", "limit:A", "limit:B"}
	assert.Equal(t, all, set.Argument(groups, identity.Limits{}))
	assert.Equal(t, all[:1], set.Argument(groups, limited))
	assert.Equal(t, []string{"named:pki.corp.example"}, set.Argument(names, limited))
	assert.Empty(t, privileged.Set(nil).Argument(groups, identity.Limits{}))
	assert.Nil(t, privileged.Set{privileged.Own: {}}.With(nil, privileged.Set{privileged.Named: nil}))
}

func TestNames(t *testing.T) {
	assert.Equal(t, []string{"api.corp.example", "gw1.corp.example"}, privileged.Names(
		"GW1.corp.example.", "gw1.corp.example:7443", "api.corp.example:443", "", ":8080", "10.0.0.1:8080",
		"[fe80::1]:443", "fe80::1", "localhost", "*.corp.example"))
}
