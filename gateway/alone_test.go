package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/audit"
	"adgateway/gateway/authn"
	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/keep"
	"adgateway/gateway/ledger"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/thorough"
)

// lonely is a gateway that shares its store with nobody, and dies while it does a deed for a
// caller with hourly limits.
type lonely struct {
	*oneGateway
	*scene
	header  []string
	account string
	file    string // of the audit
	log     *audit.Log
	quotas  *quotas
	plan    string
	item    bool
	undoing string // identity of the change that the deed takes back; empty: none
	during  string
}

func newAlone(t *testing.T, what *deed, how string) *lonely {
	t.Helper()
	a := &lonely{scene: newScene(t, what), file: filepath.Join(t.TempDir(), "audit.jsonl"), quotas: newQuotas(t)}
	a.quotas.now = time.Now()
	_, header := a.quotas.stored(authn.Rights{Scopes: []string{string(identity.All)}, Quota: &identity.Quota{DeletionsPerHour: number(9), ChangesPerHour: number(9)}})
	a.header = []string{header}
	a.oneGateway = &oneGateway{t: t, store: keep.NewMemory(nil)}
	a.restart()
	p, err := a.Auth.Authenticate(t.Context(), authn.Credential{AuthToken: []string{strings.TrimPrefix(header, "Auth-Token: ")}})
	require.NoError(t, err)
	a.account = p.ID
	if what.undoes != nil {
		past := &changes.Record{ID: changes.NewID(), Time: time.Now(), Operation: what.undoes.op,
			Intent: ps.Intent{Effect: what.undoes.effect, Objects: what.undoes.objects}}
		require.NoError(t, a.History.Complete(t.Context(), past, ps.OutcomeDone))
		a.undoing = past.ID
	}
	switch how {
	case "item":
		a.item = true
	case "plan":
		a.plan = planID(t, a.asks(map[string]any{ops.DryRun: true}).Body.Bytes())
	}
	if how == "key" || how == "plan" {
		a.header = append(a.header, "Idempotency-Key: key-of-the-deed")
	}
	return a
}

// restart starts the gateway, again if it runs.
func (a *lonely) restart() {
	if a.log != nil {
		require.NoError(a.t, a.log.Close())
	}
	var err error
	a.log, err = audit.Open(audit.Options{File: a.file})
	require.NoError(a.t, err)
	a.t.Cleanup(func() { _ = a.log.Close() }) // it may be closed before
	a.start(a.run, func(o *Options) {
		own, err := authn.OpenStore(authn.StoreOptions{File: a.quotas.file, Now: a.quotas.clock})
		require.NoError(a.t, err)
		o.Auth, o.Quotas, o.Audit = own, identity.NewMeters(identity.Quota{}, a.quotas.clock), a.log
	})
}

// asks asks for the deed.
func (a *lonely) asks(also map[string]any) *httptest.ResponseRecorder {
	values := required(a.row)
	if a.op == "user.update" {
		values["City"] = "Rome"
	}
	if a.plan != "" {
		values[ops.PlanID] = a.plan
	}
	maps.Copy(values, also)
	method, path := a.row.Method, target(a.row, "", "")
	if a.undoing != "" {
		method, path, values = http.MethodPut, "/api/Changes/"+a.undoing+"/Undo", map[string]any{}
	}
	request := httptest.NewRequest(method, path, bytes.NewReader(encode(values)))
	if a.item {
		item := &itemCall{key: "key-of-the-item", expires: time.Now().Add(time.Hour)}
		request = request.WithContext(context.WithValue(request.Context(), itemCallKey{}, item))
	}
	return serve(a.Server, request, append(a.header, "Content-Type: application/json")...)
}

// TestAGatewayAloneDiesAtEachStep: of a call with a key, by a plan or as an item of a job. When
// it has been started again, everything says one and the same of the change, whether that is
// settled first, or its key is repeated, or both at once, also twice.
func TestAGatewayAloneDiesAtEachStep(t *testing.T) {
	for _, what := range slices.Concat(deeds, undos) {
		ways := []string{"key", "item", "plan"}
		if what.undoes != nil {
			ways = []string{"key", "item"}
		}
		for _, how := range ways {
			for first, order := range []string{"settled first", "repeated first", "all at once"} {
				t.Run(what.op+", "+how+", "+order, func(t *testing.T) {
					for step := 1; ; step++ {
						require.Less(t, step, 40, "the call has no end")
						if !thorough.OneOf(10, t.Name(), fmt.Sprint(step)) {
							if step < 14 {
								continue
							}
							return
						}
						if !aloneDies(t, &what, how, first, step) {
							return
						}
					}
				})
			}
		}
	}
}

func aloneDies(t *testing.T, what *deed, how string, order, step int) (died bool) {
	a := newAlone(t, what, how)
	a.life.begin(step)
	a.asks(nil)
	died, a.during = a.life.dead()
	if died && step%2 == 0 {
		cutOutcome(t, a.file)
	}
	a.restart()
	settle := func() {
		left, err := a.SettleHistory(t.Context())
		assert.NoError(t, err, a.during)
		assert.Zero(t, left, a.during)
	}
	switch order {
	case 0:
		settle()
	case 2:
		var all sync.WaitGroup
		all.Go(settle)
		for range 3 {
			all.Go(func() {
				w := a.asks(nil)
				assert.Contains(t, []int{200, 201, 202, 204, 207, 409, 503}, w.Code, "%s: %s", a.during, w.Body)
			})
		}
		all.Wait()
	}
	first := a.asks(nil)
	again := a.asks(nil)
	settle()
	var got reply
	require.NoError(t, json.Unmarshal(first.Body.Bytes(), &got))
	if a.outcome() != ps.OutcomePartial {
		require.Equal(t, 2, first.Code/100, "%s: %s", a.during, first.Body)
	} else if got.Error != nil {
		require.Equal(t, string(ps.OutcomePartial), got.Error.Outcome, a.during)
	}
	assert.Equal(t, first.Code, again.Code, a.during)
	assert.Equal(t, "true", again.Header().Get(replayedHeader), a.during)
	assert.Equal(t, first.Header().Get(changeHeader), again.Header().Get(changeHeader), a.during)
	a.saysTheSame(first.Header().Get(changeHeader))
	return died
}

// TestAGatewayAloneDiesWithoutAKey: at each step of a call that cannot be repeated. What it has
// done is settled when the gateway has been started again, and everything says so.
func TestAGatewayAloneDiesWithoutAKey(t *testing.T) {
	for _, what := range slices.Concat(deeds, undos) {
		t.Run(what.op, func(t *testing.T) {
			for step := 1; ; step++ {
				require.Less(t, step, 40, "the call has no end")
				if step < 14 && !thorough.OneOf(4, t.Name(), fmt.Sprint(step)) {
					continue
				}
				a := newAlone(t, &what, "once")
				a.life.begin(step)
				a.asks(nil)
				died, during := a.life.dead()
				a.during = during
				if died && step%2 == 0 {
					cutOutcome(t, a.file)
				}
				a.restart()
				left, err := a.SettleHistory(t.Context())
				require.NoError(t, err, during)
				require.Zero(t, left, during)
				id := a.recorded()
				if id == "" {
					require.Equal(t, ps.OutcomeNone, a.outcome(), during)
				} else {
					a.saysTheSame(id)
				}
				if !died {
					require.Equal(t, ps.OutcomeDone, a.outcome())
					return
				}
			}
		})
	}
}

// recorded returns the identity of the change in the history; empty: there is none.
func (a *lonely) recorded() (id string) {
	a.t.Helper()
	require.NoError(a.t, a.History.Newest(a.t.Context(), time.Time{}, "", func(c *changes.Record) bool {
		if c.ID != a.undoing {
			require.Empty(a.t, id, "%s: there are two changes", a.during)
			id = c.ID
		}
		return true
	}))
	return id
}

// saysTheSame checks that everything says of the change what is in the directory.
func (a *lonely) saysTheSame(id string) {
	a.t.Helper()
	t, left := a.t, a.outcome()
	assert.LessOrEqual(t, a.writes, a.once(), a.during)
	outcomes := map[string]string{}
	require.NoError(t, a.History.Newest(t.Context(), time.Time{}, "", func(c *changes.Record) bool {
		assert.False(t, c.Running, a.during)
		if c.ID != a.undoing {
			outcomes[c.ID] = string(c.Outcome)
		}
		return true
	}))
	require.Equal(t, map[string]string{id: string(left)}, outcomes, a.during)
	lines := 0
	require.NoError(t, audit.Read(a.file, nil, audit.Filter{}, func(r *audit.Record) error {
		if r.Call().Change == "" || r.Intent == nil && r.Outcome.Outcome == string(ps.OutcomeNone) {
			return nil // it is about a repetition
		}
		require.NotNil(t, r.Outcome, "%s: %+v", a.during, r.Intent)
		require.NotNil(t, r.Intent, "%s: %+v", a.during, r.Outcome)
		if r.Outcome.Change != id {
			assert.Equal(t, string(ps.OutcomeNone), r.Outcome.Outcome, a.during)
			return nil
		}
		lines++
		assert.Equal(t, string(left), r.Outcome.Outcome, a.during)
		return nil
	}))
	assert.Equal(t, 1, lines, "%s: lines about the change", a.during)
	require.NoError(t, a.removePaid(t.Context()))
	require.NoError(t, a.Kept.Range(t.Context(), dueKind, "", func(e keep.Entry) bool {
		assert.Fail(t, "a line is still due", "%s: %s", a.during, e.Key)
		return true
	}))
	for _, impact := range []identity.Impact{identity.Deletion, identity.Change} {
		spent, budgeted := 0, ledger.Budget{Account: a.account, Impact: impact.String()}
		all, err := a.ledger.Spent(t.Context(), budgeted)
		require.NoError(t, err)
		for _, one := range all {
			spent += one.N
		}
		if left == ps.OutcomeDone {
			assert.Equal(t, a.spends(impact), spent, "%s: %s", a.during, impact)
		}
	}
	if a.plan != "" {
		p, err := a.plans.Get(t.Context(), a.plan)
		require.NoError(t, err)
		require.NotNil(t, p.Used, a.during)
		assert.Equal(t, id, p.Used.ChangeID, a.during)
	}
	assert.Empty(t, a.locks.queues, a.during)
	assert.Empty(t, a.locks.begins, a.during)
	assert.Empty(t, a.doubts.all, a.during)
}

// TestAStartLocksWhatIsOpen: what an earlier process has left open keeps its objects locked
// from the first call on, and only its own key tells what became of it.
func TestAStartLocksWhatIsOpen(t *testing.T) {
	directory := &oneUser{city: "Oslo", at: func(string) {}}
	run := func(at func(string) bool) ps.Runner {
		directory.at = func(point string) { at(point) }
		return &fakeRunner{run: directory.run}
	}
	g := newOneGateway(t, run)
	g.life.begin(7) // when it is written
	toRome(g.Server)
	died, during := g.life.dead()
	require.True(t, died)
	require.Equal(t, 1, directory.changes, during)
	directory.unreadable = true
	g.start(run)
	require.ErrorIs(t, g.claims("g-1"), errContended)
	status, got, _ := toRome(g.Server)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, schema.InProgress, got.Error.Code)
	require.ErrorIs(t, g.claims("g-1"), errContended)
	directory.unreadable = false
	left, err := g.SettleHistory(t.Context())
	require.NoError(t, err)
	require.Zero(t, left)
	require.NoError(t, g.claims("g-1"))
	status, _, _ = toRome(g.Server)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, 1, directory.changes)
}

// TestAChangeThatRunsIsLeftAlone: whatever the clock says, what is running here was not left
// by an earlier process.
func TestAChangeThatRunsIsLeftAlone(t *testing.T) {
	directory := &oneUser{city: "Oslo"}
	g := newOneGateway(t, func(func(string) bool) ps.Runner { return &fakeRunner{run: directory.run} })
	g.startedAt = time.Now().Add(time.Hour) // the clock was set back
	directory.at = func(string) {
		left, err := g.SettleHistory(t.Context())
		assert.NoError(t, err)
		assert.Zero(t, left)
	}
	status, _, header := toRome(g.Server)
	require.Equal(t, http.StatusOK, status)
	record, err := g.History.Get(t.Context(), header.Get(changeHeader))
	require.NoError(t, err)
	assert.Equal(t, ps.OutcomeDone, record.Outcome)
}

// TestRepetitionsWhileAnEndWaits: of a call whose end the store does not take at first. Whoever
// repeats it, however often at once, gets its answer as soon as there is one, and it runs once.
func TestRepetitionsWhileAnEndWaits(t *testing.T) {
	directory := &oneUser{city: "Oslo"}
	var g *oneGateway
	directory.at = func(point string) { g.full.full.Store(point == "changed") }
	g = newOneGateway(t, func(func(string) bool) ps.Runner { return &fakeRunner{run: directory.run} })
	status, _, header := toRome(g.Server)
	require.Equal(t, http.StatusOK, status)
	id := header.Get(changeHeader)
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for {
				status, got, header := toRome(g.Server)
				if status == http.StatusServiceUnavailable {
					assert.Equal(t, schema.InProgress, got.Error.Code)
					if n == 0 {
						g.full.full.Store(false)
					}
					g.closeOpen(t.Context())
					continue
				}
				assert.Equal(t, http.StatusOK, status)
				assert.Equal(t, "true", header.Get(replayedHeader))
				assert.Equal(t, id, header.Get(changeHeader))
				return
			}
		})
	}
	all.Wait()
	assert.Equal(t, 1, directory.changes)
	assert.Empty(t, g.unstored.waiting)
	assert.Empty(t, g.keys.active)
}

// TestTheNextChangeComesAfterAnEndThatWaits: the store never has a change of an object without
// the end of the one before, so that this is not judged by what the next one writes.
func TestTheNextChangeComesAfterAnEndThatWaits(t *testing.T) {
	directory := &oneUser{city: "Oslo"}
	var g *oneGateway
	fills := true
	directory.at = func(point string) { g.full.full.Store(fills && point == "changed") }
	g = newOneGateway(t, func(func(string) bool) ps.Runner { return &fakeRunner{run: directory.run} })
	_, _, header := toRome(g.Server)
	id := header.Get(changeHeader)
	fills = false
	g.full.full.Store(false)
	directory.at = func(point string) {
		if point == "announced" {
			record, err := g.History.Get(t.Context(), id)
			if assert.NoError(t, err) {
				assert.False(t, record.Running)
			}
		}
	}
	directory.city = "Oslo"
	w := call(g.Server, http.MethodPut, "/api/ADUser/jdoe?City=Rome", "")
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
}

// TestAMissingLineIsWrittenOnce: by whoever of several settles the change first.
func TestAMissingLineIsWrittenOnce(t *testing.T) {
	a := newAlone(t, &toRomeOf, "key")
	id := a.asks(nil).Header().Get(changeHeader)
	require.NotEmpty(t, id)
	cutOutcome(t, a.file)
	a.restart()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { assert.NoError(t, a.recordDue(t.Context())) })
	}
	all.Wait()
	a.saysTheSame(id)
}
