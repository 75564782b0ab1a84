package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"adgateway/gateway/audit"
	"adgateway/gateway/auth"
	"adgateway/gateway/changes"
	"adgateway/gateway/keep"
	"adgateway/gateway/keep/keeptest"
	"adgateway/gateway/members"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// forsaken is a cluster whose first gateway can lose the store, and goes on without it.
type forsaken struct {
	*sharers
	way     *losable
	journal *changes.History
	changes []ps.IntendedChange // that the next script announces
	begun   int                 // scripts that may change something
	runs    int                 // of them, that were allowed to
	also    []ps.Intended       // that it announces, too
}

func (f *forsaken) run(_ context.Context, req ps.Request) (*ps.Result, error) {
	shape := schema.User
	for _, op := range ops.Table() {
		if op.Script == req.Script && op.Reply.Shape != nil {
			shape = op.Reply.Shape
			break
		}
	}
	if !req.Write {
		return &ps.Result{Effect: ps.EffectNone}, req.Records(json.RawMessage(
			`[{"guid":"g-1","dn":"CN=j","age":1,"state":{"exists":"True","l":"Rome"},"record":` + sample(schema.User) + `}]`))
	}
	f.begun++
	intent := ps.Intent{Effect: ps.EffectChanged, Server: "dc1", Objects: append([]ps.Intended{{GUID: "g-1", DN: "CN=j", Changes: f.changes}}, f.also...)}
	if err := req.Announced(intent); err != nil {
		return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
	}
	f.runs++
	return &ps.Result{Effect: ps.EffectChanged, Server: "dc1"}, req.Records(json.RawMessage("[" + sample(shape) + "]"))
}

func newForsaken(t *testing.T, change func(o *Options)) *forsaken {
	f := &forsaken{way: &losable{}, changes: []ps.IntendedChange{{Name: "l", Before: "Oslo", After: "Rome"}}}
	own := keeptest.Seal(t, keep.NewMemory(nil))
	t.Cleanup(func() { assert.NoError(t, own.Close()) })
	var err error
	f.journal, err = changes.Open(t.Context(), own, time.Hour, 1<<20)
	require.NoError(t, err)
	store := keep.NewMemory(nil)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	f.way.Store = store
	f.sharers = newClusterOver(t, store, func(n int) keep.Store {
		if n == 0 {
			return f.way
		}
		return store
	}, func(int) ps.Runner { return &fakeRunner{run: f.run} }, func(n int, o *Options) {
		if n == 0 {
			o.Degraded, o.Journal = true, f.journal
			if change != nil {
				change(o)
			}
		}
	})
	return f
}

// lose cuts the first gateway off, and lets so much time pass that the others count it as gone.
func (f *forsaken) lose() {
	f.way.lost.Store(true)
	f.pass(members.Lapse+time.Second, 0, 1, 2)
}

func TestChangesWithoutTheSharedStore(t *testing.T) {
	const form = "Content-Type: application/json"
	for name, c := range map[string]struct {
		method, path, body string
		headers            []string
		changes            []ps.IntendedChange // nil: of the city
		refused            string              // part of the reason; empty: it is made
	}{
		"an update":               {http.MethodPut, "/api/ADUser/jdoe", `{"City":"Rome"}`, nil, nil, ""},
		"an unlock":               {http.MethodPut, "/api/ADUser/jdoe/Unlock", "", nil, nil, ""},
		"an enable":               {http.MethodPut, "/api/ADUser/jdoe/Enable", "", nil, nil, ""},
		"a disable":               {http.MethodPut, "/api/ADUser/jdoe/Disable", "", nil, nil, ""},
		"a password":              {http.MethodPut, "/api/ADUser/jdoe/ResetPassword", `{"newPassword":"Correct-Horse-7"}`, nil, nil, ""},
		"a membership":            {http.MethodPost, "/api/ADUser/jdoe/Group/Staff", "", nil, nil, ""},
		"the end of a membership": {http.MethodDelete, "/api/ADUser/jdoe/Group/Staff", "", nil, nil, ""},
		"a computer":              {http.MethodPut, "/api/Computers/pc1/Update", `{"Description":"x"}`, nil, nil, ""},
		"a key":                   {http.MethodPut, "/api/ADUser/jdoe", `{"City":"Rome"}`, []string{"Idempotency-Key: key-of-jdoe"}, nil, "an Idempotency-Key"},
		"a plan":                  {http.MethodPut, "/api/ADUser/jdoe?PlanId=pl_01890a5d-ac96-774b-bcce-b302099a8057", `{"City":"Rome"}`, nil, nil, "PlanId"},
		"a dry run":               {http.MethodPut, "/api/ADUser/jdoe?DryRun=true", `{"City":"Rome"}`, nil, nil, "a dry run"},
		"a guard":                 {http.MethodPost, "/api/ADUser/jdoe/Group/Staff", "", []string{"If-None-Match: *"}, nil, "If-None-Match"},
		"a creation":              {http.MethodPost, "/api/ADUser/jdoe", `{}`, nil, nil, "this call"},
		"a removal":               {http.MethodDelete, "/api/ADUser/jdoe", "", nil, nil, "this call"},
		"a renaming":              {http.MethodPut, "/api/ADUser/jdoe/Rename/jd", "", nil, nil, "this call"},
		"an update that moves":    {http.MethodPut, "/api/ADUser/jdoe", `{"City":"Rome"}`, nil, []ps.IntendedChange{{Name: "parent", Before: "OU=A", After: "OU=B"}}, "gives a name"},
		"an update that names":    {http.MethodPut, "/api/ADUser/jdoe", `{"City":"Rome"}`, nil, []ps.IntendedChange{{Name: "userPrincipalName", Before: "a@x", After: "b@x"}}, "gives a name"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newForsaken(t, nil)
			f.lose()
			if c.changes != nil {
				f.changes = c.changes
			}
			w := call(f.servers[0], c.method, c.path, c.body, append(c.headers, form)...)
			var got struct {
				Degraded bool
				Warnings []ps.Warning
				Error    errorBody
			}
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
			unsent, err := f.journal.Running(t.Context())
			require.NoError(t, err)
			assert.Empty(t, unsent)
			if c.refused != "" {
				require.Equal(t, http.StatusServiceUnavailable, w.Code, "%s", w.Body)
				assert.Equal(t, schema.StoreLost, got.Error.Code)
				assert.Equal(t, ps.OutcomeNone, got.Error.Outcome)
				assert.Contains(t, got.Error.Message, c.refused)
				assert.NotEmpty(t, w.Header().Get("Retry-After"))
				assert.Zero(t, f.runs)
				assert.Zero(t, f.unsent(t))
				return
			}
			require.Equal(t, 2, w.Code/100, "%s", w.Body)
			assert.True(t, got.Degraded)
			require.Len(t, got.Warnings, 1)
			assert.Equal(t, "degraded", got.Warnings[0].Code)
			assert.Equal(t, 1, f.runs)
			assert.Equal(t, 1, f.unsent(t))
		})
	}
}

// unsent returns how many changes the journal has.
func (f *forsaken) unsent(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, f.journal.Newest(t.Context(), time.Time{}, "", func(*changes.Record) bool { n++; return true }))
	return n
}

func (f *forsaken) toRome() int {
	return call(f.servers[0], http.MethodPut, "/api/ADUser/jdoe", `{"City":"Rome"}`, "Content-Type: application/json").Code
}

// TestAnElectionIsNoLoss: a store that does not answer for a moment is waited for.
func TestAnElectionIsNoLoss(t *testing.T) {
	f := newForsaken(t, nil)
	f.way.lost.Store(true)
	f.pass(members.Lapse-members.Beat, 0, 1, 2)
	assert.Equal(t, http.StatusServiceUnavailable, f.toRome())
	f.pass(2*members.Beat, 0, 1, 2)
	assert.Equal(t, http.StatusOK, f.toRome())
}

// TestALossThatIsClosed: without the setting nothing is changed, and a journal that is left
// from when there was one is sent all the same.
func TestALossThatIsClosed(t *testing.T) {
	f := newForsaken(t, func(o *Options) { o.Degraded = false })
	require.NoError(t, f.journal.Save(t.Context(), &changes.Record{ID: changes.NewID(), Time: time.Now(), Operation: "user.update", Outcome: ps.OutcomeDone, Degraded: true}))
	f.lose()
	assert.Equal(t, http.StatusServiceUnavailable, f.toRome())
	f.way.lost.Store(false)
	left, err := f.servers[0].SendJournal(t.Context())
	require.NoError(t, err)
	assert.Zero(t, left+f.unsent(t))
}

// rewound is a store that has lost what it acknowledged.
type rewound struct {
	keep.Store
	noticed atomic.Bool
}

func (r *rewound) Apply(ctx context.Context, changes ...keep.Change) (keep.Revision, error) {
	if r.noticed.Load() {
		return 0, keep.ErrRewound
	}
	return r.Store.Apply(ctx, changes...)
}

func (r *rewound) State() keep.State {
	state := r.Store.State()
	if r.noticed.Load() {
		state.Rewound = keep.ErrRewound
	}
	return state
}

// TestAStoreThatWasTakenBack: no change is begun, whatever cluster.loss says, before an
// administrator has recovered it; reads go on.
func TestAStoreThatWasTakenBack(t *testing.T) {
	f := newForsaken(t, nil)
	store := &rewound{Store: f.way.Store}
	f.way.Store = store
	store.noticed.Store(true)
	for range 2 {
		for _, path := range []string{"/api/ADUser/jdoe", "/api/ADUser/jdoe?DryRun=true"} {
			w := call(f.servers[0], http.MethodPut, path, `{"City":"Rome"}`, "Content-Type: application/json")
			var got reply
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
			require.Equal(t, http.StatusServiceUnavailable, w.Code)
			assert.Equal(t, schema.StoreRewound, got.Error.Code)
			assert.Equal(t, "none", got.Error.Outcome)
		}
		f.pass(members.Lapse+time.Second, 0, 1, 2) // the others count it as gone
	}
	assert.Zero(t, f.runs)
	assert.Zero(t, f.begun)
	assert.Zero(t, f.unsent(t))
	assert.Equal(t, http.StatusOK, call(f.servers[0], http.MethodGet, "/api/Changes", "").Code)
	store.noticed.Store(false)
	f.pass(members.Beat, 0, 1, 2)
	assert.Equal(t, http.StatusOK, f.toRome())
}

// TestALimitedCredentialNeedsTheStore: what it may still spend is known there only.
func TestALimitedCredentialNeedsTheStore(t *testing.T) {
	q := newQuotas(t)
	q.now = time.Now()
	accounts, header := q.stored(auth.Rights{Scopes: []string{"user:write"}, Quota: &auth.Quota{ChangesPerHour: number(50)}})
	f := newForsaken(t, func(o *Options) { o.Auth = accounts })
	f.lose()
	w := call(f.servers[0], http.MethodPut, "/api/ADUser/jdoe/Disable", "", header)
	assert.Equal(t, http.StatusServiceUnavailable, w.Code)
	assert.Contains(t, w.Body.String(), "a credential with hourly limits")
	w = call(f.servers[0], http.MethodPut, "/api/ADUser/jdoe", `{"City":"Rome"}`, header, "Content-Type: application/json") // is not counted
	assert.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
}

// TestAnObjectThatAnotherGatewayHad: its change may still go on, as far as is known.
func TestAnObjectThatAnotherGatewayHad(t *testing.T) {
	f := newForsaken(t, nil)
	other := f.servers[1]
	value, err := keep.Encode(f.store, lease{Run: "another", Owner: other.owner(time.Minute)})
	require.NoError(t, err)
	_, err = f.store.Apply(t.Context(), keep.Change{Kind: leaseKind, Key: other.leaseKey("g-1"), Value: value, Expires: f.now().Add(time.Hour)})
	require.NoError(t, err)
	f.lose()
	w := call(f.servers[0], http.MethodPut, "/api/ADUser/jdoe", `{"City":"Rome"}`, "Content-Type: application/json")
	assert.Equal(t, http.StatusConflict, w.Code)
	assert.Contains(t, w.Body.String(), `"busy"`)
	f.pass(3*time.Minute, 1, 2)
	assert.Equal(t, http.StatusOK, f.toRome())
}

// TestAnObjectThatAnotherGatewayShared: a change of the object waits for those that share it,
// unless they have ended; a change that shares it, too, does not.
func TestAnObjectThatAnotherGatewayShared(t *testing.T) {
	member := []ps.IntendedChange{{Name: memberChange, Before: "False", After: "True"}}
	for name, c := range map[string]struct {
		ended   bool
		changes []ps.IntendedChange // nil: of the object itself
		status  int
	}{
		"a change of the object":        {false, nil, http.StatusConflict},
		"a change that shares it":       {false, member, http.StatusOK},
		"a change after they had ended": {true, nil, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			f := newForsaken(t, nil)
			other := f.servers[1]
			var all []keep.Change
			for object, one := range map[string]lease{
				"g-1":            {Sharers: []sharer{{Run: "another", Key: other.leaseKey("member g-1 u-9"), Until: f.now().Add(time.Minute)}}},
				"member g-1 u-9": {Run: "another", Owner: other.owner(time.Minute), Ended: c.ended},
			} {
				value, err := keep.Encode(f.store, one)
				require.NoError(t, err)
				all = append(all, keep.Change{Kind: leaseKind, Key: other.leaseKey(object), Value: value, Expires: f.now().Add(time.Hour)})
			}
			_, err := f.store.Apply(t.Context(), all...)
			require.NoError(t, err)
			f.lose()
			if c.changes != nil {
				f.changes, f.also = c.changes, []ps.Intended{{GUID: "u-1", DN: "CN=u"}}
			}
			w := call(f.servers[0], http.MethodPut, "/api/ADUser/jdoe", `{"City":"Rome"}`, "Content-Type: application/json")
			assert.Equal(t, c.status, w.Code, "%s", w.Body)
		})
	}
}

// TestWhatWasChangedWithoutTheStoreIsSent: once, in the order of the changes, to the history
// of all gateways, where it can be followed and undone.
func TestWhatWasChangedWithoutTheStoreIsSent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(audit.Options{File: file})
	require.NoError(t, err)
	f := newForsaken(t, func(o *Options) { o.Audit = log })
	f.lose()
	var ids []string
	for range 3 {
		w := call(f.servers[0], http.MethodPut, "/api/ADUser/jdoe", `{"City":"Rome"}`, "Content-Type: application/json")
		require.Equal(t, http.StatusOK, w.Code)
		ids = append(ids, w.Header().Get(changeHeader))
	}
	w := call(f.servers[0], http.MethodGet, "/api/Changes/"+ids[0], "")
	assert.Equal(t, http.StatusOK, w.Code, "the gateway that made it knows it at once")
	left, err := f.servers[0].SendJournal(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 3, left)
	f.way.lost.Store(false)
	for range 2 { // the second time there is nothing to send
		left, err = f.servers[0].SendJournal(t.Context())
		require.NoError(t, err)
		assert.Zero(t, left)
	}
	assert.Zero(t, f.unsent(t))
	var logged []string
	require.NoError(t, f.store.Log(t.Context(), changes.Log, keep.Position{}, func(a keep.Appended) bool { logged = append(logged, string(a.Value)); return true }))
	assert.Equal(t, ids, logged)
	for _, id := range ids {
		w := call(f.servers[1], http.MethodGet, "/api/Changes/"+id, "")
		require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
		assert.Contains(t, w.Body.String(), `"degraded":true`)
		assert.Contains(t, w.Body.String(), `"undo":"full"`)
	}
	f.pass(members.Beat, 0, 1, 2)
	assert.Equal(t, http.StatusOK, f.toRome())
	assert.Zero(t, f.unsent(t), "the store is back")
	require.NoError(t, log.Close())
	var degraded []bool
	require.NoError(t, audit.Read(file, nil, audit.Filter{}, func(r *audit.Record) error {
		if call := r.Call(); call.Operation != "" {
			degraded = append(degraded, call.Degraded)
		}
		return nil
	}))
	assert.Equal(t, []bool{true, true, true, false}, degraded)
}

// TestAJournalThatWasCutOff: what a gateway was changing when it ended is settled before it is
// sent, and what it had sent is not sent twice.
func TestAJournalThatWasCutOff(t *testing.T) {
	f := newForsaken(t, nil)
	record := func(outcome ps.Outcome, before, value string) *changes.Record {
		return &changes.Record{ID: changes.NewID(), Time: time.Now().Add(-time.Minute), Operation: "user.update", Parameters: map[string]string{"Username": "jdoe", "City": value}, Server: "dc1",
			Running: outcome == "", Outcome: outcome, Degraded: true,
			Intent: ps.Intent{Effect: ps.EffectChanged, Server: "dc1", Objects: []ps.Intended{{GUID: "g-1", DN: "CN=j", Changes: []ps.IntendedChange{{Name: "l", Before: before, After: value}}}}}}
	}
	made, notMade, sent := record("", "Oslo", "Rome"), record("", "Rome", "Bern"), record(ps.OutcomeDone, "Oslo", "Rome")
	for _, r := range []*changes.Record{made, notMade, sent} {
		require.NoError(t, f.journal.Save(t.Context(), r))
	}
	require.NoError(t, f.servers[0].History.Adopt(t.Context(), sent, f.now()))
	left, err := f.servers[0].SendJournal(t.Context())
	require.NoError(t, err)
	assert.Zero(t, left+f.unsent(t))
	found, err := f.servers[2].History.Get(t.Context(), made.ID)
	require.NoError(t, err)
	assert.Equal(t, ps.OutcomeDone, found.Outcome)
	_, err = f.servers[2].History.Get(t.Context(), notMade.ID)
	assert.ErrorIs(t, err, changes.ErrAbsent)
	logged := map[string]int{}
	require.NoError(t, f.store.Log(t.Context(), changes.Log, keep.Position{}, func(a keep.Appended) bool { logged[string(a.Value)]++; return true }))
	assert.Equal(t, map[string]int{made.ID: 1, sent.ID: 1}, logged)
}
