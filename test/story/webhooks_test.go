package story

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/ps/sandbox"
	"adgateway/test/freeport"
	"adgateway/test/systemtest"
)

// delivery is a message received by a receiver.
type delivery struct {
	id, body string
	secrets  []int // numbers of the secrets that signed the message
}

// verify checks a message as the standard requires, with an HMAC over id, time and body whose key follows
// whsec_ in the secret. It shares no code with the signer.
func verify(r *http.Request, body []byte, secrets ...string) (by []int, fault string) {
	seconds, err := strconv.ParseInt(r.Header.Get("webhook-timestamp"), 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return nil, "the timestamp is wrong"
	}
	for i, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			return nil, err.Error()
		}
		sum := hmac.New(sha256.New, key)
		_, _ = io.WriteString(sum, strings.Join([]string{r.Header.Get("webhook-id"),
			r.Header.Get("webhook-timestamp"), string(body)}, "."))
		for signature := range strings.FieldsSeq(r.Header.Get("webhook-signature")) {
			version, value, _ := strings.Cut(signature, ",")
			raw, err := base64.StdEncoding.DecodeString(value)
			if version == "v1" && err == nil && hmac.Equal(raw, sum.Sum(nil)) {
				by = append(by, i)
			}
		}
	}
	if by == nil {
		return nil, "nobody has signed it"
	}
	return by, ""
}

// inbox is a receiver that keeps its address while it is down.
type inbox struct {
	t       *testing.T
	address string
	secrets []string
	got     chan delivery
	server  *httptest.Server
}

func newInbox(t *testing.T, secrets ...string) *inbox {
	t.Helper()
	b := &inbox{t: t, address: freeport.Addresses(t, 1)[0], secrets: secrets, got: make(chan delivery, 100)}
	b.up()
	t.Cleanup(b.down)
	return b
}

func (b *inbox) up() {
	b.t.Helper()
	listener, err := net.Listen("tcp", b.address)
	require.NoError(b.t, err)
	b.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		by, fault := verify(r, body, b.secrets...)
		if err != nil || fault != "" {
			http.Error(w, fault, http.StatusUnauthorized)
			b.got <- delivery{body: fault}
			return
		}
		b.got <- delivery{r.Header.Get("webhook-id"), string(body), by}
	}))
	_ = b.server.Listener.Close()
	b.server.Listener = listener
	b.server.Start()
}

func (b *inbox) down() { b.server.Close() }

func (b *inbox) next() delivery {
	b.t.Helper()
	select {
	case d := <-b.got:
		return d
	case <-time.After(systemtest.Patience):
		require.Fail(b.t, "no message came")
	}
	return delivery{}
}

const (
	storySecret = "whsec_c3Rvcnktc2VjcmV0LW9mLXRoZS1yZWNlaXZlcg=="
	freshSecret = "whsec_YW5vdGhlci1zZWNyZXQtb2YtdGhlLXJlY2VpdmVy"
)

// TestWebhooksReportChanges: a receiver that is down for a while misses no change, even if the gateway
// restarts meanwhile. A secret can be replaced without losing a message.
func TestWebhooksReportChanges(t *testing.T) {
	before := goleak.IgnoreCurrent()
	folder := t.TempDir()
	secret := filepath.Join(folder, "secret")
	require.NoError(t, os.WriteFile(secret, []byte(storySecret+"\n"), 0o600))
	chat := newInbox(t, storySecret, freshSecret)
	settings := []string{
		"store.file=" + filepath.Join(folder, "state.db"),
		fmt.Sprintf("events.webhooks=[{name: chat, url: 'http://%s/hook?key=in-the-url', secretFile: '%s', types: [change]}]", chat.address, secret),
	}
	ctx, cancel := context.WithTimeout(context.Background(), systemtest.Patience)
	defer cancel()
	w, err := sandbox.NewWorld(ctx, sandbox.Options{Seed: 1})
	require.NoError(t, err)
	var missed []string
	t.Run("before", func(t *testing.T) {
		s := systemtest.NewOn(t, w, w.Starter(), settings...)
		one := setCity(s, "Rome")
		got := chat.next()
		assert.Equal(t, one, got.id)
		assert.Equal(t, []int{0}, got.secrets)
		var body struct {
			Type      string
			Timestamp time.Time
			Data      struct {
				ChangeID, Caller, Operation, Outcome string
				Objects                              []string
			}
		}
		require.NoError(t, json.Unmarshal([]byte(got.body), &body))
		shown := changesIn(s, s.Do(getChange(one, nil)))[0]
		assert.Equal(t, "change", body.Type)
		assert.Equal(t, []string{one, shown.Caller, shown.Operation, shown.Outcome, *shown.Objects[0].GUID},
			append([]string{body.Data.ChangeID, body.Data.Caller, body.Data.Operation, body.Data.Outcome},
				body.Data.Objects...))
		assert.NotContains(t, got.body, "Rome")

		chat.down()
		missed = append(missed, setCity(s, "Bonn"), setCity(s, "Ulm"))
		require.Eventually(t, func() bool {
			return strings.Contains(s.Log.String(), "a message of a webhook could not be delivered")
		}, systemtest.Patience, 10*time.Millisecond)
		assert.NotContains(t, s.Log.String(), "in-the-url", "a URL may hold a secret")
		assert.Contains(t, string(s.Get("/readyz").Body), `{"name":"webhooks","ok":true`)
	})
	chat.up()
	t.Run("after", func(t *testing.T) {
		s := systemtest.NewOn(t, w, w.Starter(), settings...)
		for _, id := range missed {
			assert.Equal(t, id, chat.next().id)
		}
		require.NoError(t, os.WriteFile(secret, []byte(freshSecret+"\n"+storySecret+"\n"), 0o600))
		setCity(s, "Jena")
		assert.Equal(t, []int{0, 1}, chat.next().secrets)
		require.NoError(t, os.WriteFile(secret, []byte(freshSecret+"\n"), 0o600))
		setCity(s, "Gera")
		assert.Equal(t, []int{1}, chat.next().secrets)

		chat.down() // the receiver comes back while the gateway is running
		id := setCity(s, "Rome")
		require.Eventually(t, func() bool {
			return strings.Contains(s.Log.String(), "a message of a webhook could not be delivered")
		}, systemtest.Patience, 10*time.Millisecond)
		chat.up()
		assert.Equal(t, id, chat.next().id)
		var metrics string
		assert.Eventually(t, func() bool { // the message is counted after the answer
			metrics = figures(s)
			return strings.Contains(metrics, `adgateway_webhook_delivered_total{webhook="chat"} 5`)
		}, systemtest.Patience, 10*time.Millisecond)
		assert.Contains(t, metrics, `adgateway_webhook_failures_total{webhook="chat"} 1`)
		assert.Contains(t, metrics, `adgateway_webhook_dropped_total{webhook="chat"} 0`)
	})
	chat.down()
	systemtest.NoGoroutinesLeft(t, before)
}

// figures returns the text of the metrics.
func figures(s *systemtest.System) string {
	// no credential is needed on this machine
	request, err := http.NewRequest(http.MethodGet, s.URL+"/metrics", nil)
	if err != nil {
		return err.Error()
	}
	return string(s.Send(request).Body)
}

// TestWebhooksReportJobs: the message about the end of a job contains the record of the job. A receiver for
// certain types gets only messages of these types.
func TestWebhooksReportJobs(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte(storySecret), 0o600))
	chat := newInbox(t, storySecret)
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast,
		fmt.Sprintf("events.webhooks=[{name: jobs, url: 'http://%s/', secretFile: '%s', types: [job]}]",
			chat.address, secret))
	id := submitted(s, submit(csvMedia, "UserName,City\n"+systemtest.SampleUser+",Rome\nnobody.here,Bonn\n",
		"Operation", "user.update"))
	got := chat.next()
	assert.True(t, strings.HasPrefix(got.id, id), "%s", got.id)
	var told struct {
		Type string
		Data map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(got.body), &told))
	assert.Equal(t, "job", told.Type)
	assert.Equal(t, jobOf(s, id), told.Data)
	assert.Equal(t, []any{1.0, 1.0}, []any{told.Data["done"], told.Data["failed"]})
	assert.Empty(t, chat.got)
}
