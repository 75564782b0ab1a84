package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/changes"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/harness"
)

// TestAGeneratedPasswordThatIsRefused: a generated password may happen to contain a part of the
// user's name, which the directory refuses. Another one is tried then, and the answer shows the one
// that was set. A password of the caller's is tried once.
func TestAGeneratedPasswordThatIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		given                    string
		refusals, status, passes int
	}{
		"once":           {`{"Generate":"words"}`, 1, 200, 2},
		"again":          {"{}", 3, 200, 4},
		"every one":      {"{}", 99, 422, 4},
		"the caller's":   {`{"newPassword":"Rose-1234-x"}`, 99, 422, 1},
		"it is accepted": {`{"Generate":"words"}`, 0, 200, 1},
	} {
		t.Run(name, func(t *testing.T) {
			store := harness.OpenStore(t, filepath.Join(t.TempDir(), "state.db"))
			history := changes.New(store, time.Hour, 1<<20)
			var passwords []string
			s := harness.New(t, &harness.Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
				if err := harness.Announce(req); err != nil {
					return nil, err
				}
				passwords = append(passwords, req.Args["Password"].Reveal())
				if len(passwords) <= c.refusals {
					return nil, &ps.Error{Kind: ps.KindScript, Code: "1325", Outcome: ps.OutcomeNone, Arg: "Password",
						Type: "Microsoft.ActiveDirectory.Management.ADPasswordComplexityException",
						ID:   "ActiveDirectoryServer:1325,Microsoft.ActiveDirectory.Management.Commands.SetADAccountPassword"}
				}
				return &ps.Result{Effect: ps.EffectChanged},
					req.Records(json.RawMessage("[" + harness.Sample(schema.User) + "]"))
			}}, func(o *gateway.Options) { o.Kept, o.History = store, history })
			w := harness.Call(s, http.MethodPut, "/api/ADUser/jdoe/ResetPassword", c.given,
				"Content-Type: application/json", harness.KeyOfRome)
			require.Equal(t, c.status, w.Code, w.Body)
			require.Len(t, passwords, c.passes)
			for i, password := range passwords[1:] {
				assert.NotEqual(t, passwords[i], password)
			}
			if c.status == 200 {
				assert.Contains(t, w.Body.String(), passwords[c.passes-1])
				_, err := history.Get(t.Context(), w.Header().Get(harness.ChangeHeader))
				require.NoError(t, err)
			}
			running, err := history.Running(t.Context())
			require.NoError(t, err)
			assert.Empty(t, running)
		})
	}
}
