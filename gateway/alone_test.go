package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/audit"
	"adgateway/gateway/authn"
	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs"
	"adgateway/gateway/ops"
	"adgateway/gateway/quota"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/store"
	"adgateway/ps"
	"adgateway/test/harness"
	"adgateway/test/thorough"
)

// lonely is a gateway with a separate store. It dies while it performs a deed for a caller with hourly
// limits.
type lonely struct {
	*harness.Gateway
	*harness.Scene
	header  []string
	account string
	file    string // path of the audit file
	log     *audit.Log
	quotas  *quotas
	plan    string
	item    bool
	undoing string // id of the change that the deed undoes; empty if it undoes none
	during  string
}

func newAlone(t *testing.T, what *harness.Deed, how string) *lonely {
	t.Helper()
	a := &lonely{Scene: harness.NewScene(t, what), file: filepath.Join(t.TempDir(), "audit.jsonl"),
		quotas: newQuotas(t)}
	a.quotas.now = time.Now()
	_, header := a.quotas.stored(authn.Rights{Scopes: []string{string(identity.All)},
		Quota: &identity.Quota{DeletionsPerHour: number(30), ChangesPerHour: number(30)}})
	a.header = []string{header}
	a.Gateway = &harness.Gateway{T: t, Store: store.NewMemory(nil)}
	a.restart()
	p, err := a.Auth.Authenticate(t.Context(),
		authn.Credential{AuthToken: []string{strings.TrimPrefix(header, "Auth-Token: ")}})
	require.NoError(t, err)
	a.account = p.ID
	if what.Undoes != nil {
		past := &changes.Record{ID: changes.NewID(), Time: time.Now(), Operation: what.Undoes.Op,
			Intent: ps.Intent{Effect: what.Undoes.Effect, Objects: what.Undoes.Objects}}
		require.NoError(t, a.History.Complete(t.Context(), past, ps.OutcomeDone))
		a.undoing = past.ID
	}
	switch how {
	case "item":
		a.item = true
	case "plan":
		a.plan = planID(t, a.sends(map[string]any{ops.DryRun: true}).Body.Bytes())
	}
	if how == "key" || how == "plan" {
		a.header = append(a.header, "Idempotency-Key: key-of-the-deed")
	}
	return a
}

// restart starts the gateway, or restarts it.
func (a *lonely) restart() {
	if a.log != nil {
		require.NoError(a.T, a.log.Close())
		a.Life.Bury(a.T)
	}
	var err error
	a.log, err = audit.Open(audit.Options{File: a.file})
	require.NoError(a.T, err)
	a.T.Cleanup(func() { _ = a.log.Close() }) // the test may have closed it
	a.Start(a.Run, func(o *gateway.Options) {
		own, err := authn.OpenStore(authn.StoreOptions{File: a.quotas.file, Now: a.quotas.clock})
		require.NoError(a.T, err)
		o.Auth, o.Quotas, o.Audit = own, identity.NewMeters(identity.Quota{}, a.quotas.clock), a.log
	})
}

// told is the information that a caller or a job gets about the deed.
type told struct {
	made, open, partial, replayed bool // open means that the caller has to ask again
	change                        string
	said                          string // for failure messages
}

// asks requests the deed, as a caller or as a job.
func (a *lonely) asks() told {
	if a.item {
		return a.asItem()
	}
	w := a.sends(nil)
	var got harness.Reply
	_ = json.Unmarshal(w.Body.Bytes(), &got) // a dying gateway may answer anything
	return told{
		made: w.Code/100 == 2, open: w.Code == http.StatusServiceUnavailable || w.Code == http.StatusConflict,
		partial: w.Code == http.StatusMultiStatus || got.Error != nil &&
			got.Error.Outcome == string(ps.OutcomePartial),
		replayed: w.Header().Get(harness.ReplayedHeader) == "true", change: w.Header().Get(harness.ChangeHeader),
		said: fmt.Sprint(w.Code, ": ", w.Body),
	}
}

// values are the parameters of the deed.
func (a *lonely) values() map[string]any {
	values := required(a.Row)
	if a.Op == "user.update" {
		values["City"] = "Rome"
	}
	if a.plan != "" {
		values[ops.PlanID] = a.plan
	}
	return values
}

// sends sends the call that performs the deed.
func (a *lonely) sends(also map[string]any) *httptest.ResponseRecorder {
	values := a.values()
	maps.Copy(values, also)
	method, path := a.Row.Method, target(a.Row, "", "")
	if a.undoing != "" {
		method, path, values = http.MethodPut, "/api/Changes/"+a.undoing+"/Undo", map[string]any{}
	}
	return harness.Call(a.Server, method, path, string(harness.JSON(values)),
		append(a.header, "Content-Type: application/json")...)
}

// asItem performs the deed as an item of a job.
func (a *lonely) asItem() told {
	spec := &jobs.Spec{Operation: a.Op, Parameters: a.values(), Key: "key-of-the-item", RequestID: "test-1"}
	for i := range a.Row.Params {
		if p := &a.Row.Params[i]; p.Path != "" {
			spec.Parameters[p.Name] = goodValue(p.Name)
		}
	}
	if a.undoing != "" {
		spec.Operation, spec.Parameters = "change.undo", map[string]any{ops.ChangeIDParam: a.undoing}
	}
	job := &jobs.Job{Caller: jobs.Caller{ID: a.account, Kind: identity.KindToken, Name: "portal"},
		Expires: time.Now().Add(time.Hour)}
	answer := a.Jobs().Items.Call(a.T.Context(), jobs.Call{Job: job, Spec: spec})
	return told{
		made: answer.State == jobstate.Made, open: answer.Again || answer.Hold != "",
		partial:  answer.Code == string(schema.Partial),
		replayed: true, change: answer.ChangeID, said: fmt.Sprintf("%+v", answer),
	}
}

// TestAGatewayAloneDiesAtEachStep: a gateway dies at each step of a call that has a key, applies a plan, or
// is an item of a job. After a restart, history, audit and plan agree about the change, whether it is settled
// first, its key is repeated first, or both happen at once, and also if that happens twice.
func TestAGatewayAloneDiesAtEachStep(t *testing.T) {
	t.Parallel()
	for _, what := range slices.Concat(harness.Deeds, harness.Undos) {
		ways := []string{"key", "item", "plan"}
		if what.Undoes != nil {
			ways = []string{"key", "item"}
		}
		for _, how := range ways {
			for first, order := range []string{"settled first", "repeated first", "all at once"} {
				t.Run(what.Op+", "+how+", "+order, func(t *testing.T) {
					for step := 1; ; step++ {
						require.Less(t, step, 40, "the call has no end")
						if !thorough.OneOf(20, t.Name(), fmt.Sprint(step)) {
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

func aloneDies(t *testing.T, what *harness.Deed, how string, order, step int) (died bool) {
	a := newAlone(t, what, how)
	a.Life.Begin(step)
	a.Life.Audits(filepath.Dir(a.file))
	a.asks()
	died, a.during = a.Life.Dead()
	a.restart()
	settle := func() {
		left, err := a.Writer().SettleHistory(t.Context())
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
				got := a.asks()
				assert.True(t, got.made || got.open || got.partial, "%s: %s", a.during, got.said)
			})
		}
		all.Wait()
	}
	first, again := a.asks(), a.asks()
	settle()
	require.Equal(t, a.Outcome() == ps.OutcomePartial, first.partial, "%s: %s", a.during, first.said)
	require.True(t, first.made || first.partial, "%s: %s", a.during, first.said)
	assert.Equal(t, []bool{first.made, first.partial}, []bool{again.made, again.partial}, a.during)
	assert.True(t, again.replayed, a.during)
	assert.Equal(t, first.change, again.change, a.during)
	a.saysTheSame(first.change)
	return died
}

// TestAGatewayAloneDiesWithoutAKey: a gateway dies at each step of a call that cannot be repeated. After a
// restart the change is settled, and history, audit and plan agree about it.
func TestAGatewayAloneDiesWithoutAKey(t *testing.T) {
	t.Parallel()
	for _, what := range slices.Concat(harness.Deeds, harness.Undos) {
		t.Run(what.Op, func(t *testing.T) {
			for step := 1; ; step++ {
				require.Less(t, step, 40, "the call has no end")
				if step < 14 && !thorough.OneOf(8, t.Name(), fmt.Sprint(step)) {
					continue
				}
				a := newAlone(t, &what, "once")
				a.Life.Begin(step)
				a.Life.Audits(filepath.Dir(a.file))
				a.asks()
				died, during := a.Life.Dead()
				a.during = during
				a.restart()
				left, err := a.Writer().SettleHistory(t.Context())
				require.NoError(t, err, during)
				require.Zero(t, left, during)
				id := a.recorded()
				if id == "" {
					require.Equal(t, ps.OutcomeNone, a.Outcome(), during)
				} else {
					a.saysTheSame(id)
				}
				if !died {
					require.Equal(t, ps.OutcomeDone, a.Outcome())
					return
				}
			}
		})
	}
}

// recorded returns the id of the change in the history, or "" if there is none.
func (a *lonely) recorded() (id string) {
	a.T.Helper()
	require.NoError(a.T, a.History.Newest(a.T.Context(), time.Time{}, "", nil, func(c *changes.Record) bool {
		if c.ID != a.undoing {
			require.Empty(a.T, id, "%s: there are two changes", a.during)
			id = c.ID
		}
		return true
	}))
	return id
}

// saysTheSame checks that history, audit and plan agree with the directory about the change.
func (a *lonely) saysTheSame(id string) {
	a.T.Helper()
	t, left := a.T, a.Outcome()
	assert.LessOrEqual(t, a.Writes, a.Once(), a.during)
	outcomes := map[string]string{}
	require.NoError(t, a.History.Newest(t.Context(), time.Time{}, "", nil, func(c *changes.Record) bool {
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
			return nil // the line is about a repetition
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
	a.CloseOpen()
	require.NoError(t, a.Kept.Range(t.Context(), harness.Due, "", func(e store.Entry) bool {
		assert.Fail(t, "a line is still due", "%s: %s", a.during, e.Key)
		return true
	}))
	for _, impact := range []identity.Impact{identity.Deletion, identity.Change} {
		spent, budgeted := 0, quota.Budget{Account: a.account, Impact: impact.String()}
		all, err := quota.NewLedger(a.Kept, false).Spent(t.Context(), budgeted)
		require.NoError(t, err)
		for _, one := range all {
			spent += one.N
		}
		if left == ps.OutcomeDone {
			assert.Equal(t, a.Spends(impact), spent, "%s: %s", a.during, impact)
		}
	}
	if a.plan != "" {
		w := harness.Call(a.Server, http.MethodGet, "/api/Plans/"+a.plan, "", a.header[0])
		assert.Contains(t, w.Body.String(), `"change":"`+id+`"`, a.during)
	}
	a.lockedNothing()
}

// lockedNothing checks that no object of the deed is still locked, so the deed can be repeated.
func (a *lonely) lockedNothing() {
	a.T.Helper()
	values := a.values()
	delete(values, ops.PlanID)
	a.undoing, a.plan, a.header = "", "", a.header[:1]
	w := a.sends(values)
	assert.Equal(a.T, 2, w.Code/100, "%s: %s", a.during, w.Body)
}

// TestAStartLocksWhatIsOpen: changes that an earlier process left open lock their objects from the
// first call on. Only a call with the same key learns their outcome.
func TestAStartLocksWhatIsOpen(t *testing.T) {
	directory := &harness.OneUser{City: "Oslo"}
	g, run := directory.DiedWriting(t)
	directory.Unreadable = true
	g.Start(run)
	require.True(t, lockedUser(g.Server))
	status, got, _ := harness.ToRome(g.Server)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, schema.InProgress, got.Error.Code)
	require.True(t, lockedUser(g.Server))
	directory.Unreadable = false
	left, err := g.Writer().SettleHistory(t.Context())
	require.NoError(t, err)
	require.Zero(t, left)
	status, _, _ = harness.ToRome(g.Server)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, 1, directory.Changes)
	require.False(t, lockedUser(g.Server))
}

// TestAChangeThatRunsIsLeftAlone: a change that runs in this process is not mistaken for one that
// an earlier process left open.
func TestAChangeThatRunsIsLeftAlone(t *testing.T) {
	directory := &harness.OneUser{City: "Oslo"}
	g := harness.NewGateway(t, func(func(string) bool) ps.Runner { return &harness.Runner{Do: directory.Run} })
	directory.At = func(string) {
		left, err := g.Writer().SettleHistory(t.Context())
		assert.NoError(t, err)
		assert.Zero(t, left)
	}
	status, _, header := harness.ToRome(g.Server)
	require.Equal(t, http.StatusOK, status)
	record, err := g.History.Get(t.Context(), header.Get(harness.ChangeHeader))
	require.NoError(t, err)
	assert.Equal(t, ps.OutcomeDone, record.Outcome)
}

// TestRepetitionsWhileAnEndWaits: the store does not accept the end of a call at first. Any number of
// simultaneous repetitions get the answer as soon as it exists, and the change is made once.
func TestRepetitionsWhileAnEndWaits(t *testing.T) {
	t.Parallel()
	directory := &harness.OneUser{City: "Oslo"}
	var g *harness.Gateway
	directory.At = func(point string) { g.Full.Fill(point == "changed") }
	g = harness.NewGateway(t, func(func(string) bool) ps.Runner { return &harness.Runner{Do: directory.Run} })
	status, _, header := harness.ToRome(g.Server)
	require.Equal(t, http.StatusOK, status)
	id := header.Get(harness.ChangeHeader)
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for {
				status, got, header := harness.ToRome(g.Server)
				if status == http.StatusServiceUnavailable {
					assert.Equal(t, schema.InProgress, got.Error.Code)
					if n == 0 {
						g.Full.Fill(false)
					}
					g.CloseOpen()
					continue
				}
				assert.Equal(t, http.StatusOK, status)
				assert.Equal(t, "true", header.Get(harness.ReplayedHeader))
				assert.Equal(t, id, header.Get(harness.ChangeHeader))
				return
			}
		})
	}
	all.Wait()
	assert.Equal(t, 1, directory.Changes)
	assert.False(t, lockedUser(g.Server))
}

// TestTheNextChangeComesAfterAnEndThatWaits: the store gets the end of a change before the next change of the
// same object begins. Otherwise the first change would be judged by the values that the second one writes.
func TestTheNextChangeComesAfterAnEndThatWaits(t *testing.T) {
	directory := &harness.OneUser{City: "Oslo"}
	var g *harness.Gateway
	fills := true
	directory.At = func(point string) { g.Full.Fill(fills && point == "changed") }
	g = harness.NewGateway(t, func(func(string) bool) ps.Runner { return &harness.Runner{Do: directory.Run} })
	_, _, header := harness.ToRome(g.Server)
	id := header.Get(harness.ChangeHeader)
	fills = false
	g.Full.Fill(false)
	directory.At = func(point string) {
		if point == "announced" {
			record, err := g.History.Get(t.Context(), id)
			if assert.NoError(t, err) {
				assert.False(t, record.Running)
			}
		}
	}
	directory.City = "Oslo"
	w := harness.Call(g.Server, http.MethodPut, "/api/ADUser/jdoe?City=Rome", "")
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
}

// TestAMissingLineIsWrittenOnce: a missing audit line is written once, even if the history is settled several
// times at once.
func TestAMissingLineIsWrittenOnce(t *testing.T) {
	a := newAlone(t, &harness.RomeDeed, "key")
	id := a.asks().change
	require.NotEmpty(t, id)
	cutOutcome(t, a.file)
	a.restart()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			_, err := a.Writer().SettleHistory(t.Context())
			assert.NoError(t, err)
		})
	}
	all.Wait()
	a.saysTheSame(id)
}

// cutOutcome removes the last outcome line, and all lines after it, from an audit file.
func cutOutcome(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	if at := bytes.LastIndex(text, []byte(`"event":"outcome"`)); at >= 0 {
		start := bytes.LastIndexByte(text[:at], '\n') + 1
		require.NoError(t, os.WriteFile(file, text[:start], 0o600))
	}
}
