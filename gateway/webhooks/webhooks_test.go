package webhooks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs"
	"adgateway/gateway/store"
	"adgateway/ps"
)

const (
	oldSecret = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	newSecret = "bmV3LXNlY3JldC1vZi10aGUtc3RvcnktdGVzdHM="
)

// place is a store with a history, and a file with a secret.
type place struct {
	t       *testing.T
	store   *store.Sealed
	history *changes.History
	secret  string
	at      time.Time // time of the last change; later changes get later times
}

func newPlace(t *testing.T) *place {
	t.Helper()
	key, err := store.NewKey(make([]byte, store.KeyLength))
	require.NoError(t, err)
	sealed, err := store.Seal(store.NewMemory(time.Now), key)
	require.NoError(t, err)
	h := changes.New(sealed, 90*24*time.Hour, 1<<30)
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("whsec_"+oldSecret+"\n"), 0o600))
	return &place{t: t, store: sealed, history: h, secret: secret}
}

func (p *place) open(targets ...Target) *Webhooks {
	p.t.Helper()
	w, err := Open(p.t.Context(),
		Options{Targets: targets, Store: p.store, History: p.history, Log: func(string, map[string]any) {}})
	require.NoError(p.t, err)
	return w
}

func (p *place) target(types ...Type) Target {
	return Target{Name: "chat", URL: "https://hooks.corp.example/secret-path", SecretFile: p.secret,
		Types: types}
}

// change adds a finished change.
func (p *place) change(guids ...string) string {
	p.t.Helper()
	if p.at = p.at.Add(time.Millisecond); p.at.Before(time.Now()) {
		p.at = time.Now()
	}
	c := &changes.Record{ID: changes.NewID(), RequestID: "r1", Time: p.at.UTC(),
		Author:    changes.AuthorOf(identity.Who{Name: "portal", Kind: identity.KindToken, ID: "4f0c"}),
		Operation: "user.update", Server: "dc1"}
	c.Intent.Effect = ps.EffectChanged
	for _, guid := range guids {
		c.Intent.Objects = append(c.Intent.Objects,
			ps.Intended{GUID: guid, DN: "CN=" + guid,
				Changes: []ps.IntendedChange{{Name: "l", Before: "Bonn", After: "Rome"}}})
	}
	require.NoError(p.t, p.history.Complete(p.t.Context(), c, ps.OutcomeDone))
	return c.ID
}

// job appends a finished job.
func (p *place) job(record string) {
	p.t.Helper()
	_, err := p.store.Apply(p.t.Context(), store.Change{Log: jobs.Log, Value: []byte(`{"type":"job","data":` + record + `}`)})
	require.NoError(p.t, err)
}

// receiver answers the requests for a target.
type receiver struct {
	mu     sync.Mutex
	answer func(try int) (*http.Response, error)
	tries  []time.Time
	got    []*http.Request
	bodies [][]byte
}

func (r *receiver) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries, r.got, r.bodies = append(r.tries, time.Now()), append(r.got, request), append(r.bodies, body)
	if r.answer == nil {
		return status(http.StatusNoContent), nil
	}
	return r.answer(len(r.tries))
}

func status(code int) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}
}

// ids returns the ids of the received messages.
func (r *receiver) ids() (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, request := range r.got {
		ids = append(ids, request.Header.Get("webhook-id"))
	}
	return ids
}

// times returns the times of all attempts.
func (r *receiver) times() []time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.tries)
}

// start makes a target send to a receiver until stop is called.
func start(w *Webhooks, r *receiver) (stop func()) {
	w.targets[0].client.Transport = r
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.Run(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}

func TestMessagesComeSignedAndInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := newPlace(t), &receiver{}
		p.change("before")
		w := p.open(p.target())
		stop := start(w, r)
		defer stop()
		one := p.change("g-1", "g-2", "g-1")
		p.job(`{"id":"job_7","state":"done","ended":"` + p.at.Add(time.Millisecond).Format(time.RFC3339Nano) + `"}`)
		p.at = p.at.Add(time.Second)
		two := p.change("g-3")
		synctest.Wait()
		assert.Equal(t, []string{one, "job_7_1", two}, r.ids(), "what was there before is not told")

		sent := r.got[0]
		assert.Equal(t, "application/json", sent.Header.Get("Content-Type"))
		mac := hmac.New(sha256.New, decode(t, oldSecret))
		fmt.Fprintf(mac, "%s.%s.%s", sent.Header.Get("webhook-id"), sent.Header.Get("webhook-timestamp"),
			r.bodies[0])
		assert.Equal(t, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)), sent.Header.Get("webhook-signature"))
		var body struct {
			Type, Timestamp string
			Data            map[string]any
		}
		require.NoError(t, json.Unmarshal(r.bodies[0], &body))
		assert.Equal(t, "change", body.Type)
		delete(body.Data, "time")
		assert.Equal(t, map[string]any{
			"changeId": one, "requestId": "r1", "caller": "portal", "callerKind": "token", "callerId": "4f0c", "operation": "user.update", "effect": "changed", "outcome": "done", "server": "dc1",
			"objects": []any{"g-1", "g-2"},
		}, body.Data)
		assert.NotContains(t, string(r.bodies[0]), "Rome", "values are not told")
		assert.Contains(t, string(r.bodies[1]), `{"type":"job","timestamp":"`)
		assert.Contains(t, string(r.bodies[1]), `"state":"done"`)
		assert.Equal(t, uint64(3), w.Status()[0].Delivered)
		assert.Zero(t, w.Status()[0].Waiting)
	})
}

func decode(t *testing.T, secret string) []byte {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(secret)
	require.NoError(t, err)
	return raw
}

// TestTheSignatureOfTheStandard uses the example in the tests of Standard Webhooks.
func TestTheSignatureOfTheStandard(t *testing.T) {
	secrets, err := parseSecrets("whsec_" + oldSecret)
	require.NoError(t, err)
	assert.Equal(t, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
		secrets.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`)))
}

func TestAReceiverThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := newPlace(t), &receiver{}
		var down atomic.Bool
		down.Store(true)
		r.answer = func(int) (*http.Response, error) {
			if down.Load() {
				return nil, errors.New("connection refused")
			}
			return status(http.StatusOK), nil
		}
		w := p.open(p.target(Change))
		stop := start(w, r)
		first := p.change("g-1")
		synctest.Wait()
		second := p.change("g-2")
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		var gaps []time.Duration
		for i := 1; i < len(r.times()); i++ {
			gaps = append(gaps, r.times()[i].Sub(r.times()[i-1]))
		}
		assert.Equal(t, []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute,
			time.Hour, time.Hour}, gaps)
		state := w.Status()[0]
		assert.Equal(t, len(r.times()), state.Tries)
		assert.Equal(t, uint64(len(r.times())), state.Failed)
		assert.Equal(t, r.times()[0], state.Failing.Local())
		assert.Contains(t, state.Reason, "connection refused")
		assert.NotContains(t, state.Reason, "secret-path")
		assert.NotZero(t, state.Waiting)

		stop() // a restart continues at once
		tried := len(r.times())
		w = p.open(p.target(Change))
		assert.Equal(t, tried, w.Status()[0].Tries, "it is known to have failed")
		stop = start(w, r)
		synctest.Wait()
		assert.Len(t, r.times(), tried+1)
		down.Store(false)
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, []string{first, second}, r.ids()[tried+1:])
		assert.Zero(t, w.Status()[0].Tries)
		assert.Zero(t, w.Status()[0].Dropped)
		stop()

		stop = start(p.open(p.target(Change)), r)
		third := p.change("g-3")
		synctest.Wait()
		assert.Equal(t, []string{first, second, third}, r.ids()[tried+1:], "what was delivered does not come again")
		stop()
	})
}

func TestMessagesAreGivenUpAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := newPlace(t), &receiver{}
		var down atomic.Bool
		down.Store(true)
		r.answer = func(int) (*http.Response, error) {
			if down.Load() {
				return status(http.StatusServiceUnavailable), nil
			}
			return status(http.StatusOK), nil
		}
		w := p.open(p.target())
		defer start(w, r)()
		old := []string{p.change("g-1"), p.change("g-2")}
		synctest.Wait()
		time.Sleep(20 * time.Hour)
		young := p.change("g-3")
		time.Sleep(giveUpAfter - 20*time.Hour - time.Minute)
		synctest.Wait()
		assert.Zero(t, w.Status()[0].Dropped)
		assert.Equal(t, 28, len(r.times()), "5 tries, then each hour")
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		assert.Equal(t, uint64(2), w.Status()[0].Dropped)
		assert.Equal(t, "it answered 503", w.Status()[0].Reason)
		down.Store(false)
		time.Sleep(time.Hour)
		synctest.Wait()
		ids := r.ids()
		assert.Equal(t, young, ids[len(ids)-1])
		assert.NotContains(t, ids[28+2:], old[0])
		assert.Equal(t, uint64(1), w.Status()[0].Delivered)
	})
}

func TestWhatAReceiverAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answer *http.Response
		reason string
		pause  time.Duration
	}{
		"created":        {status(http.StatusCreated), "", 0},
		"an error":       {status(http.StatusInternalServerError), "it answered 500", 5 * time.Second},
		"a redirect":     {status(http.StatusFound), "it answered 302: redirects are not followed", 5 * time.Second},
		"busy":           {busy("120"), "it answered 429", 2 * time.Minute},
		"busy for ever":  {busy("99999999"), "it answered 429", time.Hour},
		"no such header": {busy("soon"), "it answered 429", 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlace(t)
				r := &receiver{answer: func(try int) (*http.Response, error) {
					if try == 1 {
						return c.answer, nil
					}
					return status(http.StatusOK), nil
				}}
				w := p.open(p.target())
				defer start(w, r)()
				p.change("g-1")
				synctest.Wait()
				assert.Equal(t, c.reason, w.Status()[0].Reason)
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				if c.pause == 0 {
					assert.Len(t, r.times(), 1)
					return
				}
				require.Len(t, r.times(), 2)
				assert.Equal(t, c.pause, r.times()[1].Sub(r.times()[0]))
			})
		})
	}
}

func busy(wait string) *http.Response {
	r := status(http.StatusTooManyRequests)
	r.Header.Set("Retry-After", wait)
	return r
}

func TestAReceiverThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		r := &receiver{answer: func(int) (*http.Response, error) { return status(http.StatusGone), nil }}
		w := p.open(p.target())
		stop := start(w, r)
		missed := p.change("g-1")
		synctest.Wait()
		p.change("g-2")
		time.Sleep(48 * time.Hour)
		synctest.Wait()
		assert.Len(t, r.times(), 1)
		assert.True(t, w.Status()[0].Stopped)
		stop()

		w = p.open(p.target())
		assert.True(t, w.Status()[0].Stopped, "also after a restart")
		r.answer = nil
		elsewhere := p.target()
		elsewhere.URL = "https://other.corp.example/"
		stop = start(p.open(elsewhere), r)
		synctest.Wait()
		assert.Equal(t, missed, r.ids()[1], "with another URL it goes on where it was")
		stop()

		p.open() // without the target
		w = p.open(p.target())
		assert.False(t, w.Status()[0].Stopped, "it is a new one")
		stop = start(w, r)
		synctest.Wait()
		assert.Len(t, r.times(), 3)
		stop()
	})
}

// TestRotation: messages are signed with both secrets, and a new file takes effect without a
// restart.
func TestRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := newPlace(t), &receiver{}
		w := p.open(p.target())
		defer start(w, r)()
		signatures := func(text string) []string {
			require.NoError(t, os.WriteFile(p.secret, []byte(text), 0o600))
			p.change("g-1")
			synctest.Wait()
			return strings.Fields(r.got[len(r.got)-1].Header.Get("webhook-signature"))
		}
		both := signatures("whsec_" + newSecret + "\r\nwhsec_" + oldSecret + "\r\n")
		assert.Len(t, both, 2)
		assert.NotEqual(t, both[0], both[1])
		assert.Len(t, signatures("whsec_"+newSecret), 1)

		require.NoError(t, os.Remove(p.secret))
		p.change("g-1")
		synctest.Wait()
		assert.Contains(t, w.Status()[0].Reason, "secretFile")
		assert.Equal(t, 1, w.Status()[0].Tries)
	})
}

// TestWhatIsNoLongerKept: a target that was down for a long time continues with the messages that are still
// stored.
func TestWhatIsNoLongerKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := newPlace(t), &receiver{}
		p.open(p.target())
		for range 4 {
			p.change("g-1")
		}
		left := p.change("g-5")
		_, err := p.store.Apply(t.Context(), store.Change{Log: changes.Log, Through: 4})
		require.NoError(t, err)
		w := p.open(p.target())
		stop := start(w, r)
		synctest.Wait()
		assert.Equal(t, []string{left}, r.ids())
		assert.Equal(t, uint64(4), w.Status()[0].Dropped)
		stop()

		fresh := newPlace(t) // the store was lost
		fresh.at = p.at
		value, err := p.store.Get(t.Context(), kind, "chat")
		require.NoError(t, err)
		_, err = fresh.store.Apply(t.Context(), store.Change{Kind: kind, Key: "chat", Value: value.Value})
		require.NoError(t, err)
		w = fresh.open(fresh.target())
		defer start(w, r)()
		synctest.Wait()
		after := fresh.change("g-6")
		synctest.Wait()
		assert.Equal(t, []string{left, after}, r.ids())
	})
}

func TestLongRecordsOfJobsAreCut(t *testing.T) {
	long := strings.Repeat(`{"line":1,"message":"x"},`, 20000)
	m, err := ofJob([]byte(`{"type":"job","data":{"id":"j1","state":"rejected","ended":"2026-11-22T12:40:00Z","problems":[`+strings.TrimSuffix(long, ",")+`]}}`), store.Position{Sequence: 3})
	require.NoError(t, err)
	assert.Equal(t, "j1_3", m.id)
	assert.JSONEq(t, `{"type":"job","timestamp":"2026-11-22T12:40:00Z","data":{"id":"j1","state":"rejected","ended":"2026-11-22T12:40:00Z","leftOut":["problems"]}}`, string(m.body))

	c := &changes.Record{ID: changes.NewID()}
	for i := range 5000 {
		c.Intent.Objects = append(c.Intent.Objects, ps.Intended{GUID: fmt.Sprintf("%036d", i)})
	}
	m, err = ofChange(c, store.Position{})
	require.NoError(t, err)
	assert.Less(t, len(m.body), bodyLimit)
	assert.Contains(t, string(m.body), `"moreObjects":4000`)
}

func TestSecretsThatCannotBeUsed(t *testing.T) {
	short, long := base64.StdEncoding.EncodeToString(make([]byte, 23)), base64.StdEncoding.EncodeToString(
		make([]byte, 65))
	for text, why := range map[string]string{
		"":                                  "it has 0 secrets",
		"\n\n":                              "it has 0 secrets",
		oldSecret:                           "line 1 is not whsec_ and base64",
		"whsec_" + oldSecret + "\nwhsec_??": "line 2 is not whsec_ and base64",
		"whsec_" + short:                    "line 1: the secret has 23 bytes, not 24 to 64",
		"\nwhsec_" + long:                   "line 2: the secret has 65 bytes, not 24 to 64",
		strings.Repeat("whsec_"+oldSecret+"\n", 3): "it has 3 secrets",
	} {
		_, err := parseSecrets(text)
		require.ErrorContains(t, err, why)
		assert.NotContains(t, err.Error(), oldSecret)
	}
	_, err := ReadSecrets(t.TempDir())
	require.Error(t, err)
}

// FuzzSecrets checks that secrets are read exactly as they appear in the text.
func FuzzSecrets(f *testing.F) {
	f.Add("whsec_" + oldSecret)
	f.Add("\ufeffwhsec_" + oldSecret + "\r\n whsec_" + newSecret + " \n\n")
	f.Fuzz(func(t *testing.T, text string) {
		secrets, err := parseSecrets(text)
		if err != nil {
			assert.Empty(t, secrets)
			return
		}
		assert.True(t, len(secrets) == 1 || len(secrets) == 2)
		for _, secret := range secrets {
			assert.True(t, len(secret) >= 24 && len(secret) <= 64)
			assert.Contains(t, strings.NewReplacer("\r", "", "\n", "").Replace(text),
				"whsec_"+base64.StdEncoding.EncodeToString(secret)[:32])
		}
	})
}

// FuzzJob checks that a message is JSON within the size limit, no matter what the log of jobs contains.
func FuzzJob(f *testing.F) {
	f.Add([]byte(`{"type":"job","data":{"id":"job_1","state":"done","ended":"2026-11-22T12:40:00Z"}}`))
	f.Add([]byte(`{"type":"job","data":{"id":"job.1"}}`))
	f.Add([]byte(`{"type":"change","data":null}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		m, err := ofJob(value, store.Position{Sequence: 1})
		if err != nil {
			return
		}
		assert.True(t, json.Valid(m.body))
		assert.NotContains(t, m.id, ".")
		assert.False(t, bytes.ContainsAny([]byte(m.id), "\r\n "))
		assert.Less(t, len(m.body), bodyLimit+1024)
	})
}
