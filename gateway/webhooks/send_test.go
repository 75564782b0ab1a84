package webhooks

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
	"adgateway/test/freeport"
)

// TestTheReceiverMustBeTheRightOne: only a receiver whose certificate was issued by the configured
// authorities gets messages, and redirects are not followed.
func TestTheReceiverMustBeTheRightOne(t *testing.T) {
	got := make(chan string, 10)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.URL.Path
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			return
		}
		_, _ = fmt.Fprint(w, strings.Repeat("x", 10*answerLimit)) // only a part of it is read
	}))
	defer server.Close()
	server.Config.ErrorLog = nil
	own := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(own,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	p := newPlace(t)
	m, err := newMessage(Change, "ch_1", p.at, store.Position{}, map[string]string{})
	require.NoError(t, err)
	send := func(path, ca string) (reach, sent error) {
		settings := p.target()
		settings.URL, settings.CAFile = server.URL+path, ca
		w := p.open(settings)
		defer w.targets[0].client.CloseIdleConnections()
		return Reach(t.Context(), settings), w.targets[0].send(t.Context(), m)
	}
	reach, sent := send("/hook", own)
	require.NoError(t, reach)
	require.NoError(t, sent)
	assert.Equal(t, "/hook", <-got)

	reach, sent = send("/moved", own)
	require.NoError(t, reach)
	require.ErrorContains(t, sent, "redirects are not followed")
	assert.Equal(t, "/moved", <-got)

	reach, sent = send("/hook?key=in-the-url", "")
	require.ErrorContains(t, reach, "certificate")
	require.ErrorContains(t, sent, "certificate")
	assert.NotContains(t, sent.Error(), "in-the-url")
	assert.Empty(t, got)

	_, err = ReadCA(p.secret)
	require.ErrorContains(t, err, "no certificate")
	settings := p.target()
	settings.CAFile = p.secret
	require.ErrorContains(t, Reach(t.Context(), settings), "no certificate")
	settings = p.target()
	settings.URL = "http://" + freeport.Addresses(t, 1)[0] + "/"
	require.Error(t, Reach(t.Context(), settings))
}
