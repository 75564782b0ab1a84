package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/auth"
	"adgateway/gateway/changes"
	"adgateway/gateway/keep"
	"adgateway/gateway/ledger"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/thorough"
)

// dying are three gateways, of which the first dies while it does a deed, for a caller who
// may do it once in an hour.
type dying struct {
	*sharers
	*scene
	lives   []*life
	caller  []string // header lines
	account string   // of the caller
	plan    string   // that is applied; empty: none
	item    bool     // of a job
	past    string   // the change that is taken back; empty: none
	during  string   // the step at which the first gateway died
}

// either authenticates callers by one or the other.
type either []auth.Authenticator

func (e either) Authenticate(r *http.Request, client netip.Addr) (p *auth.Principal, err error) {
	for _, one := range e {
		if p, err = one.Authenticate(r, client); err == nil {
			break
		}
	}
	return p, err
}

// newDying returns them before the deed, which is asked for with a key, as an item of a job,
// by a plan or by none of these.
func newDying(t *testing.T, what *deed, how string) *dying {
	t.Helper()
	d := &dying{scene: newScene(t, what)}
	q := newQuotas(t)
	q.now = time.Now()
	_, header := q.stored(auth.Rights{Scopes: []string{string(auth.All)}, Quota: &auth.Quota{
		DeletionsPerHour: number(max(1, d.spends(auth.Deletion))), ChangesPerHour: number(max(1, d.spends(auth.Change))),
	}})
	d.sharers, d.lives = mortals(t, d.run, func(_ int, o *Options) {
		own, err := auth.OpenStore(auth.StoreOptions{File: q.file, Now: q.clock})
		require.NoError(t, err)
		o.Auth, o.Quotas = either{own, testAuth(t)}, auth.NewMeters(auth.Quota{}, q.clock)
	})
	d.caller = []string{header}
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request.Header.Set("Auth-Token", strings.TrimPrefix(header, "Auth-Token: "))
	p, err := d.servers[2].Auth.Authenticate(request, netip.Addr{})
	require.NoError(t, err)
	d.account = p.ID
	if what.undoes != nil {
		d.begin(t, what.undoes)
		w := d.asks(2, nil)
		require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
		d.past = w.Header().Get(changeHeader)
		d.pass(5*time.Minute, 0, 1, 2) // nobody leases the object any more
		d.begin(t, what)
	}
	switch how {
	case "item":
		d.item = true
	case "key":
		d.caller = append(d.caller, "Idempotency-Key: key-of-the-deed")
	case "plan":
		d.plan = planID(t, d.asks(2, map[string]any{ops.DryRun: true}, header).Body.Bytes())
	}
	return d
}

// spends returns how much of a budget the deed takes.
func (d *dying) spends(of auth.Impact) int {
	bound, _ := d.row.Bind(ops.Given{})
	if !slices.ContainsFunc(bound.Impacts(), func(i ops.Impact) bool { return i.Kind == of }) {
		return 0
	}
	result := &ps.Result{Effect: d.effect, Counts: map[string]int{d.row.Extent: d.extent}}
	for range d.once() {
		result.Changes = append(result.Changes, ps.Change{After: map[string]json.RawMessage{"x": nil}})
		if d.effect == ps.EffectRemoved {
			result.Changes[len(result.Changes)-1].After = nil
		}
	}
	return affected(of, d.row, result, nil)
}

// asks asks a gateway for the deed.
func (d *dying) asks(n int, also map[string]any, header ...string) *httptest.ResponseRecorder {
	values := required(d.row)
	if d.op == "user.update" {
		values["City"] = "Rome"
	}
	method, path := d.row.Method, target(d.row, "", "")
	if d.past != "" {
		method, path, values = http.MethodPut, "/api/Changes/"+d.past+"/Undo", map[string]any{}
	}
	maps.Copy(values, also)
	request := httptest.NewRequest(method, path, bytes.NewReader(encode(values)))
	if d.item {
		item := &itemCall{key: "key-of-the-item", expires: d.now().Add(time.Hour)}
		request = request.WithContext(context.WithValue(request.Context(), itemCallKey{}, item))
	}
	return serve(d.servers[n], request, append(header, "Content-Type: application/json")...)
}

// ask asks a gateway for the deed as the caller does each time.
func (d *dying) ask(n int) (*httptest.ResponseRecorder, reply) {
	also := map[string]any{}
	if d.plan != "" {
		also[ops.PlanID] = d.plan
	}
	w := d.asks(n, also, d.caller...)
	var got reply
	_ = json.Unmarshal(w.Body.Bytes(), &got) // who is dead answers anything
	return w, got
}

// TestAGatewayDiesAtEachStep: before and after each write to the store, and anywhere in the
// script, whatever is changed. What another one settles, or the same one when it has been
// started again, is what is in the directory, and frees all that the change had.
func TestAGatewayDiesAtEachStep(t *testing.T) {
	for _, what := range append(deeds, undos...) {
		name := what.op
		if what.undoes != nil {
			name = "undo of " + what.undoes.op
		}
		for _, how := range []string{"key", "item", "plan", "none"} {
			for _, settles := range []string{"another gateway", "the same gateway"} {
				t.Run(name+", "+how+", "+settles, func(t *testing.T) {
					diesAtEachStep(t, &what, how, settles == "the same gateway")
				})
			}
		}
	}
}

func diesAtEachStep(t *testing.T, what *deed, how string, again bool) {
	const fewest, most = 7, 20 // (B) and (C), before and after, and three in the script, at least
	for step := 1; step <= most; step++ {
		if !thorough.OneOf(40, t.Name(), fmt.Sprint(step)) {
			continue
		}
		d := newDying(t, what, how)
		d.lives[0].begin(step)
		w, got := d.ask(0)
		died := false
		died, d.during = d.lives[0].dead()
		settler := 1
		switch {
		case !died:
			require.Greater(t, step, fewest)
			require.Equal(t, 2, w.Code/100, "%+v", got)
			settler = 0
		case again:
			settler = 0
			d.lives[0].begin(0)
			d.start(0)
			left, err := d.servers[0].SettleHistory(t.Context())
			require.NoError(t, err)
			require.Zero(t, left)
			d.tick(0, 1, 2)
		default:
			if how == "key" || how == "item" {
				if w, got := d.ask(1); w.Code/100 != 2 { // it may still run
					require.Equal(t, schema.InProgress, got.Error.Code, d.during)
				}
			}
			d.pass(20*time.Second, 1, 2)
			d.pass(5*time.Minute, 1, 2)
		}
		d.isSettled(settler, step)
		if !died {
			return
		}
	}
	require.False(t, thorough.All(), "the call has no end")
}

// isSettled checks that everybody says what is in the directory, once a gateway has settled
// what the first one has left.
func (d *dying) isSettled(settler, step int) {
	t := d.t
	t.Helper()
	keyed := d.item || len(d.caller) > 1
	if settler > 0 && (!keyed || step%2 == 0) { // else the call that repeats the key does it
		left, err := d.servers[settler].TakeOver(t.Context())
		require.NoError(t, err, d.during)
		require.Zero(t, left, d.during)
	}
	if keyed {
		d.isAnswered()
	}
	left := d.outcome()
	d.isRecorded(left)
	d.isFree(left)
	for _, impact := range []auth.Impact{auth.Deletion, auth.Change} {
		spent := 0
		all, err := d.servers[2].ledger.Spent(t.Context(), ledger.Budget{Account: d.account, Impact: impact.String()})
		require.NoError(t, err)
		for _, one := range all {
			spent += one.N
		}
		switch left {
		case ps.OutcomeNone:
			assert.Zero(t, spent, "%s: %s of a change that was not made", d.during, impact)
		case ps.OutcomeDone:
			assert.Equal(t, d.spends(impact), spent, "%s: %s", d.during, impact)
		}
	}
	if left == ps.OutcomeNone || d.plan != "" {
		d.canBeDone(left)
	}
	assert.LessOrEqual(t, d.writes, d.once(), d.during)
}

// isAnswered repeats the key, at each of the gateways.
func (d *dying) isAnswered() {
	first, got := d.ask(1)
	if d.outcome() == ps.OutcomePartial {
		if first.Code/100 != 2 || len(got.Warnings) == 0 { // a list tells of the others in details
			require.NotNil(d.t, got.Error, "%s: %s", d.during, first.Body)
			require.Equal(d.t, string(ps.OutcomePartial), got.Error.Outcome, d.during)
		}
	} else {
		require.Equal(d.t, 2, first.Code/100, "%s: %s", d.during, first.Body)
	}
	again, _ := d.ask(2)
	assert.Equal(d.t, first.Code, again.Code, d.during)
	assert.Equal(d.t, "true", again.Header().Get(replayedHeader), d.during)
	assert.Equal(d.t, first.Header().Get(changeHeader), again.Header().Get(changeHeader), d.during)
}

// isRecorded checks that the history has what is in the directory, and nothing else.
func (d *dying) isRecorded(left ps.Outcome) {
	history := d.servers[2].History
	running, err := history.Running(d.t.Context())
	require.NoError(d.t, err, d.during)
	assert.Empty(d.t, running, d.during)
	var logged []string
	require.NoError(d.t, d.store.Log(d.t.Context(), changes.Log, keep.Position{}, func(a keep.Appended) bool {
		logged = append(logged, string(a.Value))
		return true
	}))
	if d.past != "" {
		require.NotEmpty(d.t, logged, d.during)
		require.Equal(d.t, d.past, logged[0], d.during)
		logged = logged[1:]
	}
	if left == ps.OutcomeNone {
		assert.Empty(d.t, logged, d.during)
		return
	}
	if assert.Len(d.t, logged, 1, d.during) {
		record, err := history.Get(d.t.Context(), logged[0])
		require.NoError(d.t, err, d.during)
		assert.Equal(d.t, left, record.Outcome, d.during)
	}
}

// isFree checks that nothing of what the change had of objects and names is left. Who shared
// an object has ended if a lease says so that it had alone, and so was met, too.
func (d *dying) isFree(left ps.Outcome) {
	require.NoError(d.t, d.store.Range(d.t.Context(), leaseKind, "", func(e keep.Entry) bool {
		var of lease
		require.NoError(d.t, json.Unmarshal(e.Value, &of))
		assert.True(d.t, of.Ended || len(of.Sharers) > 0, "%s: an object is leased", d.during)
		return true
	}))
	if left == ps.OutcomeNone {
		require.NoError(d.t, d.store.Range(d.t.Context(), nameKind, "", func(e keep.Entry) bool {
			assert.Fail(d.t, "a name is held that was not given", d.during)
			return true
		}))
	}
}

// canBeDone does the deed, if it was not done, and its plan was not used up.
func (d *dying) canBeDone(left ps.Outcome) {
	w, got := d.ask(2)
	if left == ps.OutcomeNone {
		require.Equal(d.t, 2, w.Code/100, "%s: %s", d.during, w.Body)
		return
	}
	require.Equal(d.t, schema.PlanUsed, got.Error.Code, "%s: %s", d.during, w.Body)
	assert.Regexp(d.t, "the change '?ch_", got.Error.Message, "%s: the plan names the change", d.during)
}

// bin is a directory to which removed objects come back, each by a call of its own. One that
// comes back twice is made twice.
type bin struct {
	mu   sync.Mutex
	back map[string]int // how often, by GUID
}

func (b *bin) times() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.back)
}

// run is what the scripts do; at is as in [scene.on].
func (b *bin) run(at func(point string) (dies bool)) ps.Runner {
	return &fakeRunner{run: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		text, _ := req.Args["Guid"].MarshalJSON() // a text can always be encoded
		var guid string
		if err := json.Unmarshal(text, &guid); err != nil {
			return nil, err
		}
		record := json.RawMessage(sample(schema.RestoredObject))
		if req.Settles {
			state := map[string]string{existence: map[bool]string{true: "True", false: "False"}[b.times()[guid] > 0]}
			return &ps.Result{Effect: ps.EffectNone}, req.Records(encode([]map[string]any{{"guid": guid, "dn": "CN=" + guid, "age": 1, "state": state, "record": record}}))
		}
		intent := ps.Intent{Effect: ps.EffectCreated, Server: "dc9", Objects: []ps.Intended{changed(guid, existence, "False", "True")}}
		if err := req.Announced(intent); err != nil {
			return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
		}
		if at("announced") {
			return nil, &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Intent: &intent, Server: "dc9"}
		}
		b.mu.Lock()
		b.back[guid]++
		b.mu.Unlock()
		at("written")
		made := ps.Change{GUID: guid, DN: "CN=" + guid, After: map[string]json.RawMessage{"x": nil}}
		return &ps.Result{Effect: ps.EffectCreated, Server: "dc9", Changes: []ps.Change{made}}, req.Records(encode([]json.RawMessage{record}))
	}}
}

// TestAnUndoOfSeveralCallsIsCompleted: a gateway dies at each step of it. Whoever the key
// comes to next makes those of its calls that were not made, and answers with all of them.
func TestAnUndoOfSeveralCallsIsCompleted(t *testing.T) {
	const other = "0a3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f11"
	for step := 1; ; step++ {
		b := &bin{back: map[string]int{}}
		c, lives := mortals(t, b.run, nil)
		past := &changes.Record{ID: changes.NewID(), Time: time.Now(), Operation: "computer.deleteMany", Server: "dc9",
			Intent: ps.Intent{Effect: ps.EffectRemoved, Objects: []ps.Intended{removed(guid, schema.Computer), removed(other, schema.Computer)}}}
		require.NoError(t, c.servers[2].History.Complete(t.Context(), past, ps.OutcomeDone))
		undo := func(n int) (*httptest.ResponseRecorder, []struct{ ID string }) {
			w := call(c.servers[n], http.MethodPut, "/api/Changes/"+past.ID+"/Undo", "", "Idempotency-Key: key-of-the-undo")
			var got struct{ Result []struct{ ID string } }
			_ = json.Unmarshal(w.Body.Bytes(), &got) // who is dead answers anything
			return w, got.Result
		}
		lives[0].begin(step)
		undo(0)
		died, during := lives[0].dead()
		if died {
			c.pass(20*time.Second, 1, 2)
			c.pass(5*time.Minute, 1, 2)
		}
		first, made := undo(1)
		require.Equal(t, http.StatusOK, first.Code, "%s: %s", during, first.Body)
		require.Len(t, made, 2, "%s: %s", during, first.Body)
		require.Equal(t, map[string]int{guid: 1, other: 1}, b.times(), during)
		again, same := undo(2)
		require.Equal(t, http.StatusOK, again.Code, during)
		require.Equal(t, made, same, during)
		record, err := c.servers[2].History.Get(t.Context(), past.ID)
		require.NoError(t, err)
		require.Len(t, record.UndoneBy, 2, during)
		if !died {
			require.Greater(t, step, 12)
			return
		}
	}
}
