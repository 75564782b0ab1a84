package story

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/scripts"
	"adgateway/test/systemtest"
)

// TestAllFieldsAndSomeAreTheSame: different lines of the script write a record of all fields and a
// record of some.
func TestAllFieldsAndSomeAreTheSame(t *testing.T) {
	names := schema.User.All().Names()
	assert.Contains(t, string(scripts.Prelude(ps.Directory).Text), fmt.Sprintf("$Field.Length -eq %d ", len(names)), "what the script takes for all fields")

	s := systemtest.New(t, sandbox.Options{Seed: 1, Users: 50})
	list := func(fields ...string) []map[string]any {
		a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/ListUsers/All?ShowFields=" + strings.Join(fields, ",")})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		return a.Envelope.Result
	}
	all, half, rest := list("*"), list(names[:23]...), list(names[23:]...)
	require.Greater(t, len(all), 50)
	for i := range all {
		maps.Copy(half[i], rest[i])
		require.Equal(t, half[i], all[i])
	}
}
