package gateway

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adgateway/gateway/keep"
	"adgateway/gateway/schema"
	"adgateway/ps"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAKilledGatewayRunsAKeyOnce kills a gateway at each point of a change with a key,
// leaving the file as it is on the disk then, and repeats the call on another one.
func TestAKilledGatewayRunsAKeyOnce(t *testing.T) {
	folder := t.TempDir()
	first := filepath.Join(folder, "state.db")
	left := func(point string) string { return filepath.Join(folder, point+".db") }
	copied := func(point string) {
		text, err := os.ReadFile(first)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(left(point), text, 0o600))
	}
	directory := &oneUser{city: "Oslo", at: copied}
	s := newTestServer(t, &fakeRunner{run: directory.run}, func(o *Options) { o.Kept = openKeys(t, first) })
	status, _, _ := toRome(s)
	require.Equal(t, http.StatusOK, status)
	copied("answered")

	for name, c := range map[string]struct {
		point    string
		city     string // in the directory
		runs     int    // of the change on the second gateway
		replayed bool
	}{
		"before the announcement":            {"claimed", "Oslo", 1, false},
		"before the change":                  {"announced", "Oslo", 1, false},
		"after the change":                   {"changed", "Rome", 0, false},
		"after the answer":                   {"answered", "Rome", 0, true},
		"after the answer, and changed back": {"answered", "Oslo", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			directory := &oneUser{city: c.city, at: func(string) {}}
			s := newTestServer(t, &fakeRunner{run: directory.run}, func(o *Options) {
				o.Kept, o.Policy.SettlePause = openKeys(t, left(c.point)), time.Millisecond
			})
			for range 2 {
				status, got, header := toRome(s)
				require.Equal(t, http.StatusOK, status, "%+v", got)
				require.Len(t, got.Result, 1)
				assert.Equal(t, c.replayed, header.Get("Idempotency-Replayed") == "true")
				assert.Equal(t, c.runs, directory.changes)
				assert.Equal(t, "dc9", header.Get("X-Directory-Server"))
				c.replayed = true // from now on
			}
		})
	}
}

func TestAChangeThatNobodyCanTellOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	keys := openKeys(t, path)
	directory := &oneUser{city: "Oslo", at: func(string) {}}
	cut := true
	runner := &fakeRunner{run: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		result, err := directory.run(ctx, req)
		if req.Write && cut { // the session dies before it can answer
			return nil, &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Server: "dc9", Intent: &ps.Intent{
				Effect: ps.EffectChanged, Objects: []ps.Intended{{GUID: "g-1", Changes: []ps.IntendedChange{{Name: "l", Before: "Oslo", After: "Rome"}}}}}}
		}
		return result, err
	}}
	s := newTestServer(t, runner, func(o *Options) { o.Kept, o.Policy.SettlePause = keys, time.Millisecond })
	directory.unreadable = true
	for _, expected := range []int{http.StatusGatewayTimeout, http.StatusServiceUnavailable} {
		status, got, header := toRome(s)
		assert.Equal(t, expected, status)
		assert.Equal(t, "unknown", got.Error.Outcome)
		assert.Empty(t, header.Get("Idempotency-Replayed"))
		assert.Equal(t, expected == http.StatusServiceUnavailable, header.Get("Retry-After") != "")
	}
	assert.Equal(t, 1, directory.changes, "it is not run again while that is unknown")
	directory.unreadable, cut = false, false
	status, _, _ := toRome(s)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, 1, directory.changes)
	_, _, header := toRome(s)
	assert.Equal(t, "true", header.Get("Idempotency-Replayed"))
}

func TestOutcomesThatAreKept(t *testing.T) {
	partial := ps.Error{Kind: ps.KindScript, Code: "5", Type: "Microsoft.ActiveDirectory.Management.ADException", Outcome: ps.OutcomePartial, Remains: []ps.Object{{GUID: "g"}}}
	for name, c := range map[string]struct {
		runner *fakeRunner
		status int
		kept   bool
	}{
		"done":          {answering(ps.Result{Effect: ps.EffectChanged}, "["+sample(schema.User)+"]"), 200, true},
		"nothing to do": {answering(okResult, "["+sample(schema.User)+"]"), 200, true},
		"partial":       {failing(partial), 403, true},
		"no records":    {answering(ps.Result{Effect: ps.EffectChanged}), 200, true},
		"refused":       {failing(ps.Error{Kind: ps.KindScript, Gateway: "protected", Message: "No."}), 409, false},
		"overloaded":    {failing(ps.Error{Kind: ps.KindOverloaded}), 503, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestServer(t, c.runner, func(o *Options) { o.Kept = openKeys(t, filepath.Join(t.TempDir(), "state.db")) })
			status, _, _ := toRome(s)
			require.Equal(t, c.status, status)
			again, _, header := toRome(s)
			assert.Equal(t, c.status, again)
			assert.Equal(t, c.kept, header.Get("Idempotency-Replayed") == "true")
		})
	}
}

// failingStore fails from a change on.
type failingStore struct {
	keep.Store
	left int
}

func (f *failingStore) Apply(ctx context.Context, changes ...keep.Change) (keep.Revision, error) {
	if f.left--; f.left < 0 {
		return 0, errors.New("the disk is full")
	}
	return f.Store.Apply(ctx, changes...)
}

func TestAKeyThatCannotBeKept(t *testing.T) {
	for name, c := range map[string]struct {
		works, status, changes int
	}{
		"before the run":            {0, 503, 0},
		"at the announcement":       {1, 503, 0},
		"before the answer is sent": {2, 200, 1},
	} {
		t.Run(name, func(t *testing.T) {
			directory := &oneUser{city: "Oslo", at: func(string) {}}
			keys := openKeys(t, filepath.Join(t.TempDir(), "state.db"))
			keys.Store = &failingStore{keys.Store, c.works}
			s := newTestServer(t, &fakeRunner{run: directory.run}, func(o *Options) { o.Kept, o.Policy.SettlePause = keys, time.Millisecond })
			status, got, header := toRome(s)
			require.Equal(t, c.status, status)
			assert.Equal(t, c.changes, directory.changes)
			if status == http.StatusServiceUnavailable {
				assert.Contains(t, got.Output, "without Idempotency-Key")
				assert.NotEmpty(t, header.Get("Retry-After"))
			}
			if c.changes > 0 {
				status, got, header = toRome(s)
				require.Equal(t, http.StatusServiceUnavailable, status, "its answer is stored first")
				assert.Equal(t, schema.InProgress, got.Error.Code)
				assert.NotEmpty(t, header.Get("Retry-After"))
			}
			keys.Store.(*failingStore).left = 100
			status, _, header = toRome(s)
			assert.Equal(t, http.StatusOK, status, "the disk has room again")
			assert.Equal(t, c.changes > 0, header.Get(replayedHeader) == "true", "as it was answered, and not judged again")
			assert.Equal(t, 1, directory.changes)
		})
	}
}

func TestLongAnswersAreKeptWithoutTheirRecords(t *testing.T) {
	record := strings.Replace(sample(schema.Computer), `"text"`, `"`+strings.Repeat("x", 1000)+`"`, 1)
	batch := "[" + strings.Repeat(record+",", 299) + record + "]"
	s := newTestServer(t, answering(ps.Result{Effect: ps.EffectRemoved, Counts: map[string]int{"computers": 300}}, batch), func(o *Options) {
		o.Kept = openKeys(t, filepath.Join(t.TempDir(), "state.db"))
	})
	remove := func() reply {
		return read(t, call(s, http.MethodDelete, "/api/Computers/Remove?WildCard=pc*", "", keyOfRome))
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
	s, _, lines := audited(t, answering(ps.Result{Effect: ps.EffectChanged}, "["+sample(schema.User)+"]"), false)
	s.Kept = openKeys(t, filepath.Join(t.TempDir(), "state.db"))
	s.keys = newKeys(s.Kept, time.Hour)
	toRome(s)
	toRome(s)
	all := lines()
	require.Len(t, all, 3)
	assert.Equal(t, "done", all[1].Outcome)
	assert.Equal(t, "none", all[2].Outcome)
	assert.Zero(t, all[2].Intent)
}

// FuzzKey: a key is taken as it is, or refused.
func FuzzKey(f *testing.F) {
	for _, text := range []string{"12345678", `"12345678"`, `"1234567`, "", "a b c d e f", strings.Repeat("k", 129)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, failed := keyOf([]string{text})
		if failed != nil {
			require.Empty(t, key)
			return
		}
		require.Equal(t, strings.Trim(text, `"`), key)
		require.GreaterOrEqual(t, len(key), 8)
		again, failed := keyOf([]string{`"` + key + `"`})
		require.Nil(t, failed)
		require.Equal(t, key, again)
	})
}
