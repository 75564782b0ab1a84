package fleet

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/setup"
	"adgateway/gateway/cluster/trust"
	"adgateway/test/thorough"
)

// askState asks the gateway of a host for its view of the cluster, in the same way as another gateway.
func (f *fleet) askState(h *host, as *trust.Identity, list trust.Members) (status int, err error) {
	return f.askWith(h, as.Client(func() trust.Members { return list }, h.name))
}

func (f *fleet) askWith(h *host, settings *tls.Config) (status int, err error) {
	ctx, cancel := context.WithTimeout(f.t.Context(), 10*time.Second)
	defer cancel()
	url := "https://" + h.hop + "/cluster/state"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	require.NoError(f.t, err)
	response, err := (&http.Transport{TLSClientConfig: settings, DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

// copyFiles copies the files of a store.
func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(from, "state.db*"))
	require.NoError(t, err)
	for _, path := range all {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, filepath.Base(path)), text, 0o600))
	}
}

// TestWrongStoresAndListsAreRefused: a gateway with a wrong store or member list is refused with a reason and
// a remedy, and the other gateways continue to serve. Only a thorough run also restores a leader from a
// backup.
func TestWrongStoresAndListsAreRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t, quick...)
	f.makeUsers()
	leader := f.awaitLeader()
	var followers []*host
	for _, h := range f.hosts {
		if h != leader {
			followers = append(followers, h)
		}
	}
	changes := 0
	change := func(h *host) string {
		changes++
		value := fmt.Sprintf("wrong%03d", changes)
		body := fmt.Sprintf(`{"City":%q}`, value)
		a := f.must(h, http.MethodPut, "/api/ADUser/shared00", body, "fleet-key-"+value, nil)
		return a.header.Get("X-Change-Id")
	}
	list, err := leader.trust().List()
	require.NoError(t, err)
	own, err := followers[0].trust().Identity()
	require.NoError(t, err)
	status, err := f.askState(leader, own, list.Members())
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)

	t.Run("of another cluster", func(t *testing.T) {
		other := newDomain(t)
		_, err := setup.Init(t.Context(), other.options(other.hosts[0]), cluster, other.named())
		require.NoError(t, err)
		stranger, err := other.hosts[0].trust().Identity()
		require.NoError(t, err)
		_, err = f.askState(leader, stranger, list.Members())
		require.Error(t, err)
		settings := own.Client(list.Members, leader.name)
		pretended := stranger.Client(list.Members, leader.name)
		settings.Certificates = pretended.Certificates
		settings.GetClientCertificate = pretended.GetClientCertificate
		status, err := f.askWith(leader, settings)
		require.Error(t, err, status)
	})
	t.Run("no key", func(t *testing.T) {
		h := followers[0]
		h.gateway.kill()
		path := h.trust().SecretFile()
		require.NoError(t, os.Rename(path, path+".away"))
		said := h.gateway.refused()
		assert.Contains(t, said, path)
		assert.Contains(t, said, "backup")
		change(followers[1])
		require.NoError(t, os.Rename(path+".away", path))
		h.gateway.start()
		f.ready(h)
	})
	for name, h := range map[string]*host{"a follower taken back": followers[0], "a leader taken back": leader} {
		if h == leader && !thorough.All() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			h.gateway.kill()
			copyFiles(t, h.folder, folder)
			h.gateway.start()
			f.ready(h)
			id := change(h)
			h.gateway.kill()
			copyFiles(t, folder, h.folder)
			h.gateway.start()
			f.whole()
			f.must(h, http.MethodGet, "/api/Changes/"+id, "", "", nil)
			change(h)
			require.NoFileExists(t, h.store()+".damaged")
		})
	}
	t.Run("another log", func(t *testing.T) {
		h := followers[1]
		h.gateway.kill()
		path := filepath.Join(h.trust().Path, "log.json")
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		wrong := strings.Replace(string(text), `"journal":"0`, `"journal":"1`, 1)
		require.NotEqual(t, string(text), wrong)
		require.NoError(t, os.WriteFile(path, []byte(wrong), 0o600))
		h.gateway.start()
		await(t, "it does not say that the log is another one", func() bool {
			return strings.Contains(f.call(h, http.MethodGet, "/readyz", "", "").text, "log cannot be used")
		})
		assert.Equal(t, http.StatusOK, f.call(h, http.MethodGet, "/api/Changes", "", "").status)
		change(leader)
		h.gateway.kill()
		require.NoError(t, os.WriteFile(path, text, 0o600))
		h.gateway.start()
		f.ready(h)
	})
	t.Run("off the list", func(t *testing.T) {
		at, h := f.awaitLeader(), followers[0]
		if at == h {
			h = leader
		}
		_, _, err := setup.Leave(t.Context(), f.options(at), h.name)
		require.NoError(t, err)
		id, err := h.trust().Identity()
		require.NoError(t, err)
		await(t, "it is let in", func() bool {
			_, err := f.askState(at, id, list.Members())
			return err != nil
		})
		var a answer
		await(t, "its changes are made", func() bool {
			a = f.call(h, http.MethodPut, "/api/ADUser/shared01", `{"City":"off"}`, "fleet-key-off")
			return a.status != 0 && a.status/100 != 2
		})
		assert.Equal(t, "not_leader", a.code())
		assert.Equal(t, http.StatusServiceUnavailable, a.status, a.text)
		assert.Equal(t, http.StatusOK, f.call(h, http.MethodGet, "/api/ADUser/shared00/Details", "", "").status)
		change(at)
	})
}
