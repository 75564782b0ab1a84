package story

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/ps/sandbox"
	"adgateway/ps/session"
	"adgateway/test/systemtest"
)

// newWithAccounts starts a system whose credentials are accounts in a file.
func newWithAccounts(t *testing.T, accounts ...*authn.Account) (*systemtest.System, authn.File) {
	t.Helper()
	file := authn.File{Path: filepath.Join(t.TempDir(), "credentials.json")}
	require.NoError(t, file.Edit(t.Context(), func(d *authn.Document) error {
		d.Tokens = append(d.Tokens, accounts...)
		return nil
	}))
	store, err := authn.OpenStore(authn.StoreOptions{File: file})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		store.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	w, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	return systemtest.NewWith(t, w, session.Config{Starter: w.Starter()},
		func(o *app.Options) { o.Auth = store }), file
}

// TestJobIsHeldByItsCallersLimits: items count against the hourly limits of the caller that submitted the
// job. An item that exceeds a limit waits instead of failing. If a credential is restricted or revoked, its
// job is held before the next item.
func TestJobIsHeldByItsCallersLimits(t *testing.T) {
	t.Parallel()
	three := 3
	clerk := authn.NewAccount("clerk", time.Now(),
		authn.Rights{Scopes: []string{"*"}, Quota: &identity.Quota{ChangesPerHour: &three}})
	guest := authn.NewAccount("guest", time.Now(), authn.Rights{Scopes: []string{"*"}})
	chief := authn.NewAccount("chief", time.Now(), authn.Rights{Scopes: []string{"*"}})
	clerkToken, guestToken, chiefToken := clerk.AddToken(time.Now(), time.Now()), guest.AddToken(time.Now(),
		time.Now()), chief.AddToken(time.Now(), time.Now())
	s, file := newWithAccounts(t, clerk, guest, chief)
	show := func(id string) map[string]any {
		a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/Jobs/" + id, Token: chiefToken})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		return a.Envelope.Result[0]
	}
	held := func(id, why string) map[string]any {
		t.Helper()
		require.Eventually(t, func() bool {
			job := show(id)
			return job["state"] == "held" && job["why"] == why && job["running"] == 0.0
		}, systemtest.Patience, 10*time.Millisecond, "%v", why)
		return show(id)
	}
	disable := "UserName\naschmidt\nlweber\njkrueger\nahoffmann\nfschneider\n"
	limited := submitted(s, submit(csvMedia, disable, "Operation", "user.disable").As(clerkToken))
	job := held(limited, "budget")
	assert.Equal(t, 3.0, job["done"])
	assert.Zero(t, job["failed"])

	var slow strings.Builder
	slow.WriteString("UserName,City\n")
	for i := range 600 {
		fmt.Fprintf(&slow, "mwagner,City %d\n", i)
	}
	id := submitted(s, submit(csvMedia, slow.String(), "Operation", "user.update").As(guestToken))
	require.Eventually(t, func() bool { return show(id)["done"].(float64) > 0 }, systemtest.Patience,
		time.Millisecond)
	change := func(edit func(d *authn.Document)) {
		require.NoError(t, file.Edit(t.Context(), func(d *authn.Document) error { edit(d); return nil }))
	}
	rights := func(scopes ...string) func(d *authn.Document) {
		return func(d *authn.Document) {
			for _, a := range d.Tokens {
				if a.Name == "guest" {
					a.Scopes = scopes
				}
			}
		}
	}
	change(rights("job:submit", "job:read", "user:read"))
	narrowed := held(id, "credential")
	change(rights("*"))
	require.Eventually(t, func() bool { return show(id)["done"].(float64) > narrowed["done"].(float64) },
		systemtest.Patience, 10*time.Millisecond, "it goes on")
	change(func(d *authn.Document) {
		d.Tokens = slices.DeleteFunc(d.Tokens, func(a *authn.Account) bool { return a.Name == "guest" })
	})
	revoked := held(id, "credential")
	assert.Zero(t, revoked["failed"])
	assert.Less(t, revoked["done"], 600.0)
}
