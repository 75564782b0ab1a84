package cli

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/freeport"
)

// TestTheRelayOfTheManual: the manual's relay passes messages from a gateway to a chat channel.
func TestTheRelayOfTheManual(t *testing.T) {
	needs(t, "python3")
	all := allBlocks(t)
	at := slices.IndexFunc(all, func(b *block) bool { return b.mark == "relay" })
	require.GreaterOrEqual(t, at, 0)
	texts := make(chan string, 10)
	chat := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var message struct{ Text string }
		if json.NewDecoder(r.Body).Decode(&message) != nil || r.URL.RawQuery != "key=secret" {
			w.WriteHeader(http.StatusBadRequest)
		}
		texts <- message.Text
	}))
	t.Cleanup(chat.Close)
	address := freeport.Addresses(t, 1)[0]
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	secret := filepath.Join(t.TempDir(), "chat.secret")
	require.NoError(t, os.WriteFile(secret, []byte("whsec_c3Rvcnktc2VjcmV0LW9mLXRoZS1yZWNlaXZlcg==\n"), 0o600))

	relay := exec.CommandContext(t.Context(), "python3", "-c", all[at].text)
	relay.Env = append(os.Environ(), "SECRET_FILE="+secret, "CHAT_URL="+chat.URL+"/?key=secret", "PORT="+port)
	relay.Stderr = &lockedBuilder{}
	require.NoError(t, relay.Start())
	t.Cleanup(func() {
		_ = relay.Process.Kill()
		_ = relay.Wait() // it was killed
	})
	require.Eventually(t, func() bool {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			_ = connection.Close()
		}
		return err == nil
	}, patience, 10*time.Millisecond, "%v", relay.Stderr)

	s := startSandbox(t, "--token", "t", "--set",
		fmt.Sprintf("events.webhooks=[{name: chat, url: 'http://%s/', secretFile: '%s'}]", address, secret))
	status, body, err := send(t.Context(), http.MethodPut, s.url+"/api/ADUser/aschmidt/Disable",
		http.Header{"Auth-Token": {"Bearer t"}}, "")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, body)
	select {
	case text := <-texts:
		assert.Regexp(t, `^.+: user\.disable is done \(ch_[0-9a-f-]+\)$`, text)
	case <-time.After(patience):
		assert.Fail(t, "nothing was posted", "%v", relay.Stderr)
	}

	forged, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/",
		strings.NewReader(`{"type":"change"}`))
	require.NoError(t, err)
	forged.Header.Set("webhook-timestamp", fmt.Sprint(time.Now().Unix()))
	forged.Header.Set("webhook-signature", "v1,AAAA")
	answer, err := http.DefaultClient.Do(forged)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	assert.Equal(t, http.StatusUnauthorized, answer.StatusCode)
}
