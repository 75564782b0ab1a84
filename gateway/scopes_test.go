package gateway_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops/opstest"
	"adgateway/gateway/schema"
	"adgateway/test/harness"
)

// TestTheMatrixOfScopes: each row is called with every scope alone, and with all scopes but one. Only the
// row's scope, or one of its alternatives, gives access. Without it, no script runs.
func TestTheMatrixOfScopes(t *testing.T) {
	runner := harness.Answering(harness.OK, "[]")
	auth := harness.Auth(t)
	var scopes []identity.Scope
	for _, scope := range identity.Scopes() {
		if scope == identity.All {
			continue
		}
		scopes = append(scopes, scope)
		only := &identity.Principal{Name: "only " + string(scope), Scopes: []identity.Scope{scope}}
		without := &identity.Principal{Name: "not " + string(scope)}
		for _, other := range identity.Scopes() {
			if other != identity.All && other != scope {
				without.Scopes = append(without.Scopes, other)
			}
		}
		require.NoError(t, auth.AddToken("token-with-only-"+string(scope), only))
		require.NoError(t, auth.AddToken("token-without-the-"+string(scope), without))
	}
	s := harness.New(t, runner, func(o *gateway.Options) { o.Auth = auth })
	tries := 0
	for _, op := range opstest.Own() {
		require.True(t, slices.Contains(scopes, op.Scope), op.ID)
		opening := append([]identity.Scope{op.Scope}, op.Or...)
		for _, scope := range scopes {
			for token, opens := range map[string]bool{
				"token-with-only-" + string(scope):   slices.Contains(opening, scope),
				"token-without-the-" + string(scope): len(opening) > 1 || scope != op.Scope,
			} {
				tries++
				before := runner.Count()
				w := harness.Call(s, op.Method, target(op, "", ""), "", "Auth-Token: Bearer "+token)
				if opens {
					assert.NotContains(t, w.Body.String(), "needs the scope '"+string(op.Scope)+"'", "%s %s", op.ID, token)
					continue
				}
				got := harness.Read(t, w)
				require.NotNil(t, got.Error, "%s %s", op.ID, token)
				assert.Equal(t, schema.Forbidden, got.Error.Code, "%s %s", op.ID, token)
				assert.Contains(t, got.Error.Message, "'"+string(op.Scope)+"'", "%s %s", op.ID, token)
				assert.Equal(t, before, runner.Count(), "%s %s", op.ID, token)
			}
		}
	}
	t.Logf("%d tries", tries)
	assert.Greater(t, tries, 9000)
}
