package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/changes"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
	"adgateway/test/harness"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAKilledGatewayRunsAKeyOnce: a gateway is killed at each point of a change with a key. Another
// gateway over the file, as it was on disk, gets the same call and does not make the change again.
func TestAKilledGatewayRunsAKeyOnce(t *testing.T) {
	folder := t.TempDir()
	first := filepath.Join(folder, "state.db")
	left := func(point string) string { return filepath.Join(folder, point+".db") }
	copied := func(point string) { storetest.Killed(t, first, left(point)) }
	directory := &harness.OneUser{City: "Oslo", At: copied}
	s := harness.New(t, &harness.Runner{Do: directory.Run},
		func(o *gateway.Options) { o.Kept = harness.OpenStore(t, first) })
	status, _, _ := harness.ToRome(s)
	require.Equal(t, http.StatusOK, status)
	copied("answered")

	for name, c := range map[string]struct {
		point    string
		city     string // in the directory at the end
		runs     int    // number of runs at the second gateway
		replayed bool
	}{
		"before the announcement":            {"claimed", "Oslo", 1, false},
		"before the change":                  {"announced", "Oslo", 1, false},
		"after the change":                   {"changed", "Rome", 0, false},
		"after the answer":                   {"answered", "Rome", 0, true},
		"after the answer, and changed back": {"answered", "Oslo", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			directory := &harness.OneUser{City: c.city, At: func(string) {}}
			s := harness.New(t, &harness.Runner{Do: directory.Run}, func(o *gateway.Options) {
				o.Kept, o.Policy.SettlePause = harness.OpenStore(t, left(c.point)), time.Millisecond
			})
			for range 2 {
				status, got, header := harness.ToRome(s)
				require.Equal(t, http.StatusOK, status, "%+v", got)
				require.Len(t, got.Result, 1)
				assert.Equal(t, c.replayed, header.Get("Idempotency-Replayed") == "true")
				assert.Equal(t, c.runs, directory.Changes)
				assert.Equal(t, "dc9", header.Get("X-Directory-Server"))
				c.replayed = true // the second gateway only replays the answer
			}
		})
	}
}

func TestAChangeOfUnknownOutcomeIsNotRepeated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	keys := harness.OpenStore(t, path)
	directory := &harness.OneUser{City: "Oslo", At: func(string) {}}
	cut := true
	runner := &harness.Runner{Do: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		result, err := directory.Run(ctx, req)
		if req.Write && cut { // the session dies before it can answer
			return nil, &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Server: "dc9", Intent: &ps.Intent{
				Effect: ps.EffectChanged, Objects: []ps.Intended{{GUID: "g-1",
					Changes: []ps.IntendedChange{{Name: "l", Before: "Oslo", After: "Rome"}}}}}}
		}
		return result, err
	}}
	s := harness.New(t, runner, func(
		o *gateway.Options) {
		o.Kept, o.Policy.SettlePause = keys, time.Millisecond
	})
	directory.Unreadable = true
	for _, expected := range []int{http.StatusGatewayTimeout, http.StatusServiceUnavailable} {
		status, got, header := harness.ToRome(s)
		assert.Equal(t, expected, status)
		assert.Equal(t, "unknown", got.Error.Outcome)
		assert.Empty(t, header.Get("Idempotency-Replayed"))
		assert.Equal(t, expected == http.StatusServiceUnavailable, header.Get("Retry-After") != "")
	}
	assert.Equal(t, 1, directory.Changes, "it is not run again while that is unknown")
	directory.Unreadable, cut = false, false
	status, _, _ := harness.ToRome(s)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, 1, directory.Changes)
	_, _, header := harness.ToRome(s)
	assert.Equal(t, "true", header.Get("Idempotency-Replayed"))
}

func TestOutcomesThatAreKept(t *testing.T) {
	partial := ps.Error{Kind: ps.KindScript, Code: "5", Type: "Microsoft.ActiveDirectory.Management.ADException",
		Outcome: ps.OutcomePartial, Remains: []ps.Object{{GUID: "g"}}}
	for name, c := range map[string]struct {
		runner *harness.Runner
		status int
		kept   bool
	}{
		"done":          {harness.Answering(ps.Result{Effect: ps.EffectChanged}, "["+harness.Sample(schema.User)+"]"), 200, true},
		"nothing to do": {harness.Answering(harness.OK, "["+harness.Sample(schema.User)+"]"), 200, true},
		"partial":       {harness.Failing(partial), 403, true},
		"no records":    {harness.Answering(ps.Result{Effect: ps.EffectChanged}), 200, true},
		"refused":       {harness.Failing(ps.Error{Kind: ps.KindScript, Gateway: "protected", Message: "No."}), 409, false},
		"overloaded":    {harness.Failing(ps.Error{Kind: ps.KindOverloaded}), 503, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := harness.New(t, c.runner,
				func(o *gateway.Options) { o.Kept = harness.OpenStore(t, filepath.Join(t.TempDir(), "state.db")) })
			status, _, _ := harness.ToRome(s)
			require.Equal(t, c.status, status)
			again, _, header := harness.ToRome(s)
			assert.Equal(t, c.status, again)
			assert.Equal(t, c.kept, header.Get("Idempotency-Replayed") == "true")
		})
	}
}

// failingStore fails after a given number of changes.
type failingStore struct {
	store.Store
	left int
}

func (f *failingStore) Apply(ctx context.Context, changes ...store.Change) (store.Revision, error) {
	if f.left--; f.left < 0 {
		return 0, errors.New("the disk is full")
	}
	return f.Store.Apply(ctx, changes...)
}

func TestAKeyThatCannotBeKept(t *testing.T) {
	for name, c := range map[string]struct {
		works, status, changes int
	}{
		"at the announcement":       {0, 503, 0},
		"before the answer is sent": {1, 200, 1},
	} {
		t.Run(name, func(t *testing.T) {
			directory := &harness.OneUser{City: "Oslo", At: func(string) {}}
			keys := harness.OpenStore(t, filepath.Join(t.TempDir(), "state.db"))
			keys.Store = &failingStore{keys.Store, c.works}
			s := harness.New(t, &harness.Runner{Do: directory.Run},
				func(o *gateway.Options) { o.Kept, o.Policy.SettlePause = keys, time.Millisecond })
			status, got, header := harness.ToRome(s)
			require.Equal(t, c.status, status)
			assert.Equal(t, c.changes, directory.Changes)
			if status == http.StatusServiceUnavailable {
				assert.Contains(t, got.Output, "without Idempotency-Key")
				assert.NotEmpty(t, header.Get("Retry-After"))
			}
			if c.changes > 0 {
				status, got, header = harness.ToRome(s)
				require.Equal(t, http.StatusServiceUnavailable, status, "its answer is stored first")
				assert.Equal(t, schema.InProgress, got.Error.Code)
				assert.NotEmpty(t, header.Get("Retry-After"))
			}
			keys.Store.(*failingStore).left = 100
			status, _, header = harness.ToRome(s)
			assert.Equal(t, http.StatusOK, status, "the disk has room again")
			assert.Equal(t, c.changes > 0, header.Get(harness.ReplayedHeader) == "true",
				"as it was answered, and not judged again")
			assert.Equal(t, 1, directory.Changes)
		})
	}
}

// TestAKeyOfACallThatChangesNothing: the store gets the key only together with the answer. If the answer
// cannot be stored, the call fails.
func TestAKeyOfACallThatChangesNothing(t *testing.T) {
	directory := &harness.OneUser{City: "Rome", At: func(string) {}}
	keys := harness.OpenStore(t, filepath.Join(t.TempDir(), "state.db"))
	failing := &failingStore{keys.Store, 0}
	keys.Store = failing
	s := harness.New(t, &harness.Runner{Do: directory.Run}, func(o *gateway.Options) { o.Kept = keys })
	status, got, header := harness.ToRome(s)
	require.Equal(t, http.StatusServiceUnavailable, status)
	assert.Equal(t, schema.Unavailable, got.Error.Code)
	assert.NotEmpty(t, header.Get("Retry-After"))
	failing.left = 1
	for _, replayed := range []bool{false, true} {
		status, _, header = harness.ToRome(s)
		require.Equal(t, http.StatusOK, status)
		assert.Equal(t, replayed, header.Get(harness.ReplayedHeader) == "true")
	}
	assert.Zero(t, failing.left)
}

// TestAJobWhoseKeyCannotBeKept: no matter where the store fails, an error in answer to a submission under a
// key means that there is no job. A repetition of the submission does not create a second job.
func TestAJobWhoseKeyCannotBeKept(t *testing.T) {
	for works := 0; ; works++ {
		keys := harness.OpenStore(t, filepath.Join(t.TempDir(), "state.db"))
		failing := &failingStore{keys.Store, 1000}
		keys.Store = failing
		s := harness.New(t, harness.Answering(ps.Result{Effect: ps.EffectChanged}),
			func(o *gateway.Options) { o.Kept, o.History = keys, changes.New(keys, time.Hour, 1<<20) })
		submit := func() *httptest.ResponseRecorder {
			return harness.Call(s, http.MethodPost, "/api/Jobs",
				"Operation,UserName\nuser.disable,jdoe\n", "Content-Type: text/csv", harness.KeyOfRome)
		}
		jobs := func() int {
			return len(harness.Read(t, harness.Call(s, http.MethodGet, "/api/Jobs", "")).Result)
		}
		failing.left = works
		first := submit()
		status := first.Code
		complete := failing.left >= 0
		failing.left = 1000
		if status/100 != 2 {
			require.Equal(t, http.StatusServiceUnavailable, status, "%d: %s", works, first.Body)
			require.Zero(t, jobs(), works)
		}
		require.Equal(t, http.StatusAccepted, submit().Code, works)
		require.Equal(t, 1, jobs(), works)
		if complete {
			require.Positive(t, works)
			return
		}
	}
}

func TestLongAnswersAreKeptWithoutTheirRecords(t *testing.T) {
	record := strings.Replace(harness.Sample(schema.Computer), `"text"`, `"`+strings.Repeat("x", 1000)+`"`, 1)
	batch := "[" + strings.Repeat(record+",", 299) + record + "]"
	s := harness.New(t, harness.Answering(ps.Result{Effect: ps.EffectRemoved,
		Counts: map[string]int{"computers": 300}}, batch), func(o *gateway.Options) {
		o.Kept = harness.OpenStore(t, filepath.Join(t.TempDir(), "state.db"))
	})
	remove := func() harness.Reply {
		return harness.Read(t, harness.Call(s, http.MethodDelete, "/api/Computers/Remove?WildCard=pc*", "",
			harness.KeyOfRome))
	}
	first := remove()
	require.Len(t, first.Result, 300)
	second := remove()
	assert.Equal(t, first.Output, second.Output)
	assert.Empty(t, second.Result)
	require.Len(t, second.Warnings, 1)
	assert.Equal(t, "records_not_replayed", second.Warnings[0].Code)
}

func TestReplaysAreInTheAudit(t *testing.T) {
	runner := harness.Answering(ps.Result{Effect: ps.EffectChanged}, "["+harness.Sample(schema.User)+"]")
	s, _, lines := harness.Audited(t, runner, false, func(o *gateway.Options) {
		o.Kept = harness.OpenStore(t, filepath.Join(t.TempDir(), "state.db"))
	})
	harness.ToRome(s)
	harness.ToRome(s)
	all := lines()
	require.Len(t, all, 3)
	assert.Equal(t, "done", all[1].Outcome)
	assert.Equal(t, "none", all[2].Outcome)
	assert.Zero(t, all[2].Intent)
}

// FuzzKey: a key is either accepted unchanged or refused.
func FuzzKey(f *testing.F) {
	for _, text := range []string{"12345678", `"12345678"`, `"1234567`, "", "a b c d e f", strings.Repeat("k", 129)} {
		f.Add(text)
	}
	user := "[" + harness.Sample(schema.User) + "]"
	f.Fuzz(func(t *testing.T, text string) {
		s := harness.New(t, harness.Answering(ps.Result{Effect: ps.EffectChanged}, user), func(o *gateway.Options) {
			o.Kept = storetest.Seal(t, store.NewMemory(nil))
		})
		with := func(key string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodPut, "/api/ADUser/jdoe/Disable", nil)
			r.Header["Idempotency-Key"] = []string{key}
			return harness.Serve(s, r)
		}
		if w := with(text); w.Code != http.StatusOK {
			require.Equal(t, http.StatusBadRequest, w.Code, w.Body)
			return
		}
		key := strings.Trim(text, `"`)
		require.GreaterOrEqual(t, len(key), 8)
		require.Equal(t, "true", with(`"`+key+`"`).Header().Get(harness.ReplayedHeader), "it is the same key")
	})
}
