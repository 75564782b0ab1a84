package gateway_test

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
	"adgateway/test/harness"
)

// namedAll returns an authenticator with an account for each token. All accounts are named "all",
// like the first one of harness.Auth.
func namedAll(t *testing.T, tokens ...string) *authn.Static {
	static := authn.NewStatic(authn.Header{})
	for _, token := range tokens {
		p := &identity.Principal{ID: "id of " + token, Name: "all", Scopes: []identity.Scope{identity.All}}
		require.NoError(t, static.AddToken(token, p))
	}
	return static
}

func disabling(t *testing.T, auth *authn.Static, kept *store.Sealed) *gateway.Server {
	runner := harness.Answering(ps.Result{Effect: ps.EffectChanged}, "["+harness.Sample(schema.User)+"]")
	return harness.New(t, runner, func(o *gateway.Options) { o.Auth, o.Kept = auth, kept })
}

const disableOne = "/api/ADUser/jdoe/Disable"

// TestKeysAndPlansStoredByNameAreFound: a key and a plan that were stored by a version that knew callers
// only by name are found.
func TestKeysAndPlansStoredByNameAreFound(t *testing.T) {
	text, err := os.ReadFile("testdata/kept_by_name.json")
	require.NoError(t, err)
	var all map[store.Kind]map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &all))
	kept := storetest.Seal(t, store.NewMemory(nil))
	var plan string
	for kind, values := range all {
		for key, value := range values {
			put := store.Change{Kind: kind, Key: key, Value: value, Expires: time.Now().Add(time.Hour)}
			_, err := kept.Apply(t.Context(), put)
			require.NoError(t, err)
			if kind == harness.Plans {
				plan = key
			}
		}
	}
	s := disabling(t, namedAll(t, harness.AllToken), kept)
	for range 2 {
		w := harness.Call(s, http.MethodPut, disableOne, "", "Idempotency-Key: kept-by-name-1")
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		assert.Equal(t, "true", w.Header().Get(harness.ReplayedHeader))
	}
	assert.Equal(t, http.StatusOK, harness.Call(s, http.MethodGet, "/api/Plans/"+plan, "").Code)
	w := harness.Call(s, http.MethodPut, disableOne+"?PlanId="+plan, "")
	assert.Equal(t, http.StatusOK, w.Code, w.Body)
}

// TestAnAccountOfTheSameNameIsAnother: a token that was made after another token of the same name
// was removed is a different account.
func TestAnAccountOfTheSameNameIsAnother(t *testing.T) {
	kept := storetest.Seal(t, store.NewMemory(nil))
	s := disabling(t, namedAll(t, harness.AllToken, harness.WriteToken), kept)
	other := "Auth-Token: Bearer " + harness.WriteToken
	replayed := func(headers ...string) string {
		headers = append(headers, "Idempotency-Key: kept-by-name-1")
		w := harness.Call(s, http.MethodPut, disableOne, "", headers...)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		return w.Header().Get(harness.ReplayedHeader)
	}
	assert.Empty(t, replayed())
	assert.Empty(t, replayed(other), "the key is that of another account")
	assert.Equal(t, "true", replayed())
	assert.Equal(t, "true", replayed(other))

	w := harness.Call(s, http.MethodPut, disableOne+"?DryRun=true", "")
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	plan := planID(t, w.Body.Bytes())
	apply := disableOne + "?PlanId=" + plan
	assert.Equal(t, http.StatusForbidden, harness.Call(s, http.MethodPut, apply, "", other).Code)
	assert.Equal(t, http.StatusOK, harness.Call(s, http.MethodPut, apply, "").Code)
}
