package gateway

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
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
	*cluster
	*scene
	lives   []*life
	caller  []string // header lines
	account string   // of the caller
	plan    string   // that is applied; empty: none
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

// newDying returns them before the deed, which is asked for with a key, by a plan or neither.
func newDying(t *testing.T, what *deed, how string) *dying {
	t.Helper()
	d := &dying{scene: newScene(t, what)}
	q := newQuotas(t)
	q.now = time.Now()
	_, header := q.stored(auth.Rights{Scopes: []string{string(auth.All)}, Quota: &auth.Quota{
		DeletionsPerHour: number(max(1, d.spends(auth.Deletion))), ChangesPerHour: number(max(1, d.spends(auth.Change))),
	}})
	d.cluster, d.lives = mortals(t, d.scene, func(_ int, o *Options) {
		own, err := auth.OpenStore(auth.StoreOptions{File: q.file, Now: q.clock})
		require.NoError(t, err)
		o.Auth = either{own, testAuth(t)}
	})
	d.caller = []string{header}
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request.Header.Set("Auth-Token", strings.TrimPrefix(header, "Auth-Token: "))
	p, err := d.servers[2].Auth.Authenticate(request, netip.Addr{})
	require.NoError(t, err)
	d.account = p.ID
	switch how {
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
	maps.Copy(values, also)
	return call(d.servers[n], d.row.Method, target(d.row, "", ""), string(encode(values)), append(header, "Content-Type: application/json")...)
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
// started again, is what is in the directory, and frees all that the change had (many W2,
// W11-W14).
func TestAGatewayDiesAtEachStep(t *testing.T) {
	for i := range deeds {
		for _, how := range []string{"key", "plan", "neither"} {
			for _, settles := range []string{"another gateway", "the same gateway"} {
				t.Run(deeds[i].op+", "+how+", "+settles, func(t *testing.T) {
					diesAtEachStep(t, &deeds[i], how, settles == "the same gateway")
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
			if how == "key" {
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
	keyed := len(d.caller) > 1
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

// isFree checks that nothing of what the change had of objects and names is left.
func (d *dying) isFree(left ps.Outcome) {
	require.NoError(d.t, d.store.Range(d.t.Context(), leaseKind, "", func(e keep.Entry) bool {
		var of lease
		require.NoError(d.t, json.Unmarshal(e.Value, &of))
		assert.True(d.t, of.Ended, "%s: an object is leased", d.during)
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
	assert.Contains(d.t, got.Error.Message, "the change ch_", "%s: the plan names the change", d.during)
}
