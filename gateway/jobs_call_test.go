package gateway

import (
	"context"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"adgateway/gateway/auth"
	"adgateway/gateway/keep"
	"adgateway/gateway/schema"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAnItemThatEndsTheGatewayIsNotCalledForEver: a call of an item that ended with the
// gateway before anything was announced is made again, but not more often than it may be;
// that of a client always is.
func TestAnItemThatEndsTheGatewayIsNotCalledForEver(t *testing.T) {
	for name, c := range map[string]struct {
		expires time.Time
		header  []string
		runs    int
	}{
		"an item":        {time.Now().Add(time.Hour), nil, mostAttempts + 1},
		"a client's own": {time.Time{}, []string{keyOfRome}, 2*mostAttempts + 2},
	} {
		kept := openKeys(t, filepath.Join(t.TempDir(), "state.db"))
		var claimed keep.Entry // as the store has it while the call runs
		runs := 0
		d := &oneUser{city: "Rom", at: func(point string) {
			if point != "claimed" {
				return
			}
			runs++
			require.NoError(t, kept.Range(t.Context(), keyKind, "", func(e keep.Entry) bool { claimed = e; return true }))
		}}
		runner := &fakeRunner{run: d.run}
		s := newTestServer(t, runner, func(o *Options) { o.Kept = kept })
		var code string
		for range 2*mostAttempts + 2 {
			ctx := auth.WithPrincipal(context.Background(), &auth.Principal{Name: "job", Kind: auth.KindToken, Scopes: []auth.Scope{auth.All}})
			if !c.expires.IsZero() {
				ctx = context.WithValue(ctx, itemCallKey{}, &itemCall{key: "jb.1", expires: c.expires})
			}
			r, err := http.NewRequestWithContext(ctx, http.MethodPut, "/api/ADUser/jdoe?City=Rome", nil)
			require.NoError(t, err)
			answer := read(t, serve(s, r, c.header...))
			if code = ""; answer.Error != nil {
				code = string(answer.Error.Code)
				continue
			}
			now, err := kept.Get(t.Context(), keyKind, claimed.Key) // back to where the end of the gateway leaves it
			require.NoError(t, err)
			_, err = kept.Apply(t.Context(), keep.Change{Kind: keyKind, Key: claimed.Key, Expect: now.Revision, Value: claimed.Value, Expires: now.Expires})
			require.NoError(t, err)
		}
		assert.Equal(t, c.runs, runs, name)
		if c.expires.IsZero() {
			assert.Empty(t, code, name)
		} else {
			assert.Equal(t, string(schema.Poison), code, name)
		}
	}
}
