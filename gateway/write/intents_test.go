package write

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/audit"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// committing is a store that decides an update first, and then calls commit.
type committing struct {
	store.Store
	commit func() error
}

func (c *committing) Update(ctx context.Context, f func(*store.Tx) error) error {
	if err := c.Store.(store.Updater).Update(ctx, f); err != nil {
		return err
	}
	return c.commit()
}

// auditing returns a writer with an audit, and its store, whose commits a test controls.
func auditing(t *testing.T) (w *Writer, runner *script, db *committing, file string) {
	t.Helper()
	w, runner = writing(t)
	file = filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(audit.Options{File: file})
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() }) // a test may have closed it
	w.Audit = log
	db = &committing{Store: w.Store.Store, commit: func() error { return nil }}
	w.Store.Store = db
	return w, runner, db, file
}

// announcing returns a change with one line in the audit.
func announcing(w *Writer, with Participant) Change {
	c := changing(w, with)
	c.Lines = func(*ps.Intent) []audit.Call { return []audit.Call{{RequestID: "r", Operation: "user.set"}} }
	return c
}

// events returns the events of the calls in an audit file, with their outcomes.
func events(t *testing.T, file string) (all []string) {
	t.Helper()
	require.NoError(t, audit.Each(file, nil, func(line audit.Placed) error {
		if line.RequestID != "" {
			all = append(all, string(line.Event)+" "+line.Outcome)
		}
		return nil
	}))
	return all
}

func outcome(of ps.Outcome) func(audit.Call) audit.Result {
	return func(audit.Call) audit.Result { return audit.Result{Outcome: string(of)} }
}

// TestTheIntentIsWrittenWhileTheStoreCommits: a change waits for the store and the audit concurrently, not
// first for one and then for the other.
func TestTheIntentIsWrittenWhileTheStoreCommits(t *testing.T) {
	w, runner, db, file := auditing(t)
	db.commit = func() error {
		assert.Eventually(t, func() bool { return len(events(t, file)) == 1 }, time.Minute, time.Millisecond)
		assert.Zero(t, runner.made)
		return nil
	}
	r := w.Prepare(announcing(w, nil))
	_, err := r.Do(t.Context(), ps.Request{Write: true, Limit: time.Minute})
	require.NoError(t, err)
	assert.Equal(t, 1, runner.made)
	require.NoError(t, r.Outcomes(outcome(ps.OutcomeDone))(false))
	assert.Equal(t, []string{"intent ", "outcome done"}, events(t, file))
}

// TestAChangeNeedsBoth: a change needs both its record and its intent. If only one of them is
// written, the script is stopped, and the written one gets the outcome that nothing was changed.
func TestAChangeNeedsBoth(t *testing.T) {
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		fail   func(w *Writer, db *committing)
		with   Participant
		want   error
		events []string
	}{
		"the store does not commit": {
			fail: func(_ *Writer, db *committing) { db.commit = func() error { return refused } },
			want: refused, events: []string{"intent ", "outcome none"},
		},
		"the audit is closed": {
			fail: func(w *Writer, _ *committing) { _ = w.Audit.Close() },
			want: ErrUnaudited,
		},
		"a participant refuses": {
			fail: func(*Writer, *committing) {}, with: &late{refuses: 1}, want: errLate,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, runner, db, file := auditing(t)
			c.fail(w, db)
			r := w.Prepare(announcing(w, c.with))
			_, err := r.Do(t.Context(), ps.Request{Write: true, Limit: time.Minute})
			require.ErrorIs(t, err, c.want)
			assert.Zero(t, runner.made)
			if put := r.Outcomes(outcome(ps.OutcomeNone)); put != nil {
				require.NoError(t, put(false))
			}
			assert.Equal(t, c.events, events(t, file))
			db.commit = func() error { return nil }
			w.Close(r, CallEnd{Verdict: Verdict{Outcome: ps.OutcomeNone}, Failed: true, Log: entryOf(w)})
			open, err := w.History.Running(t.Context())
			require.NoError(t, err)
			if name != "the store does not commit" { // a stored commit is settled at the next start
				assert.Empty(t, open)
			}
		})
	}
}

// TestAnIntentIsWrittenWithoutAHistory: the intent is written even without a history, and only once
// if the store is asked several times.
func TestAnIntentIsWrittenWithoutAHistory(t *testing.T) {
	w, runner, db, file := auditing(t)
	db.commit = func() error { return store.ErrUnsure }
	change := announcing(w, nil)
	change.Refused = func(why error) error {
		require.ErrorIs(t, why, store.ErrUnsure)
		return nil
	}
	r := w.Prepare(change)
	_, err := r.Do(t.Context(), ps.Request{Write: true, Limit: time.Minute})
	require.NoError(t, err)
	assert.Equal(t, 1, runner.made)
	assert.Empty(t, r.ID())
	assert.Equal(t, []string{"intent "}, events(t, file))
}
