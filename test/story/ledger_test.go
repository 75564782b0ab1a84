package story

import (
	"context"
	"net/http"
	"path/filepath"
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

// TestARestartGivesNothingBack: the amount of its hourly limit that a credential has used still counts at
// another gateway with the same folder.
func TestARestartGivesNothingBack(t *testing.T) {
	folder, now, most := t.TempDir(), time.Now(), 2
	ctx, cancel := context.WithTimeout(context.Background(), systemtest.Patience)
	defer cancel()
	w, err := sandbox.NewWorld(ctx, sandbox.Options{Seed: 1})
	require.NoError(t, err)
	file := authn.File{Path: filepath.Join(folder, "credentials.json")}
	var token string
	require.NoError(t, file.Edit(ctx, func(d *authn.Document) error {
		a := authn.NewAccount("portal", now,
			authn.Rights{Scopes: []string{"user:write", "user:delete"},
				Quota: &identity.Quota{DeletionsPerHour: &most}})
		token = a.AddToken(now, now)
		d.Tokens = append(d.Tokens, a)
		return nil
	}))
	start := func(t *testing.T) *systemtest.System {
		accounts, err := authn.OpenStore(authn.StoreOptions{File: file})
		require.NoError(t, err)
		return systemtest.NewWith(t, w, session.Config{Starter: w.Starter()},
			func(o *app.Options) { o.Auth = accounts }, "store.file="+filepath.Join(folder, "state.db"))
	}
	user := func(method, name string) systemtest.Call {
		return systemtest.Call{Method: method, Path: "/api/ADUser/" + name, Token: token}
	}
	t.Run("before", func(t *testing.T) {
		s := start(t)
		for _, name := range []string{"spent.one", "spent.two", "spent.three"} {
			s.OK(user(http.MethodPost, name), http.StatusCreated)
		}
		s.OK(user(http.MethodDelete, "spent.one"), http.StatusOK)
		assert.Equal(t, http.StatusNotFound, s.Do(user(http.MethodDelete, "spent.nobody")).Status,
			"which costs nothing")
	})
	t.Run("after", func(t *testing.T) {
		start(t).OK(user(http.MethodDelete, "spent.two"), http.StatusOK)
	})
	t.Run("later", func(t *testing.T) {
		s := start(t)
		refused := s.Do(user(http.MethodDelete, "spent.three"))
		assert.Equal(t, http.StatusTooManyRequests, refused.Status)
		assert.Contains(t, refused.Envelope.Output, "may remove 2 objects an hour and has 0 left")
		assert.NotEmpty(t, refused.Header.Get("Retry-After"))
	})
}
