package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// OpenStore opens a store of keys in a file. The store is closed at the end of the test.
func OpenStore(t *testing.T, path string) *store.Sealed {
	t.Helper()
	file, aside, err := store.Open(store.Options{Path: path})
	require.NoError(t, err)
	require.Empty(t, aside)
	t.Cleanup(func() { assert.NoError(t, file.Close()) })
	key, err := store.NewKey(make([]byte, store.KeyLength))
	require.NoError(t, err)
	sealed, err := store.Seal(file, key)
	require.NoError(t, err)
	return sealed
}

// OneUser is a directory with one user and one property that can be changed.
type OneUser struct {
	City       string
	Changes    int
	Unreadable bool
	At         func(point string) // called at each point of a script
}

// Run runs the scripts that change the user or settle a change.
func (d *OneUser) Run(_ context.Context, req ps.Request) (*ps.Result, error) {
	record := Sample(schema.User)
	if !req.Write {
		if d.Unreadable {
			return nil, &ps.Error{Kind: ps.KindUnavailable}
		}
		return &ps.Result{Effect: ps.EffectNone}, req.Records(json.RawMessage(
			`[{"guid":"g-1","dn":"CN=j","age":1,"state":{"exists":"True","l":"` + d.City + `"},"record":` + record + `}]`))
	}
	d.At("claimed")
	city := cmp.Or(TextArg(req, "City"), "Rome")
	intent := ps.Intent{Effect: ps.EffectChanged, Server: "dc9", Objects: []ps.Intended{
		{GUID: "g-1", DN: "CN=j", Changes: []ps.IntendedChange{{Name: "l", Before: d.City, After: city}}}}}
	if err := req.Announced(intent); err != nil {
		return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
	}
	d.At("announced")
	d.City = city
	d.Changes++
	d.At("changed")
	return &ps.Result{Effect: ps.EffectChanged, Server: "dc9"}, req.Records(json.RawMessage("[" + record + "]"))
}

// TextArg returns a text argument of a script, or "" if there is no text argument with that name.
func TextArg(req ps.Request, name string) (text string) {
	raw, _ := req.Args[name].MarshalJSON() // a text can always be encoded
	_ = json.Unmarshal(raw, &text)
	return text
}

// KeyOfRome is the header with the idempotency key of [ToRome].
const KeyOfRome = "Idempotency-Key: key-of-rome"

// ToRome changes the city of a user to Rome, always with the same idempotency key.
func ToRome(s *gateway.Server) (int, Reply, http.Header) {
	w := Call(s, http.MethodPut, "/api/ADUser/jdoe", `{"City":"Rome"}`, "Content-Type: application/json", KeyOfRome)
	var got Reply
	_ = json.Unmarshal(w.Body.Bytes(), &got)
	return w.Code, got, w.Header()
}

// ItemToRome returns the call of a job item that makes the change of [ToRome], under the given key.
func ItemToRome(key string) jobs.Call {
	return jobs.Call{
		Job: &jobs.Job{
			Caller: jobs.Caller{Kind: identity.KindToken, Name: "all"}, Expires: time.Now().Add(time.Hour),
		},
		Spec: &jobs.Spec{
			Operation: "user.update", Parameters: map[string]any{"UserName": "jdoe", "City": "Rome"},
			Key: key, RequestID: key,
		},
	}
}

// WrittenThen returns a runner that makes a change and then fails with fails, as if the connection to the
// server had broken.
func WrittenThen(d *OneUser, fails ps.Error) *Runner {
	return &Runner{Do: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		if !req.Write {
			return d.Run(ctx, req)
		}
		req.Records = func(json.RawMessage) error { return nil }
		if _, err := d.Run(ctx, req); err != nil {
			return nil, err
		}
		copied := fails
		return nil, &copied
	}}
}

// DiedWriting returns a gateway that died while it wrote a change of the user. run returns the runner of its
// next life.
func (d *OneUser) DiedWriting(t *testing.T) (g *Gateway, run func(at func(string) bool) ps.Runner) {
	t.Helper()
	run = func(at func(string) bool) ps.Runner {
		d.At = func(point string) { at(point) }
		return &Runner{Do: d.Run}
	}
	g = NewGateway(t, run)
	g.Life.Begin(5)
	ToRome(g.Server)
	died, during := g.Life.Dead()
	require.True(t, died)
	require.Equal(t, 1, d.Changes, during)
	return g, run
}
