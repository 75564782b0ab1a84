package write

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/audit"
	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
	"adgateway/gateway/settle"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// script is a runner whose script announces a change of one object, and makes it if allowed.
type script struct{ runs, made int }

func (s *script) Run(_ context.Context, req ps.Request) (*ps.Result, error) {
	s.runs++
	err := req.Announced(ps.Intent{Effect: ps.EffectChanged, Objects: []ps.Intended{{
		GUID: "g", Changes: []ps.IntendedChange{{Name: "l", Before: "Oslo", After: "Rome"}},
	}}})
	if err != nil {
		return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
	}
	s.made++
	return &ps.Result{Effect: ps.EffectChanged}, nil
}

// writing returns a writer with a history, and its runner.
func writing(t *testing.T) (*Writer, *script) {
	t.Helper()
	key, err := store.NewKey(make([]byte, store.KeyLength))
	require.NoError(t, err)
	db, err := store.Seal(store.NewMemory(time.Now), key)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	history := changes.New(db, time.Hour, 1<<20)
	log, runner := logrus.New(), &script{}
	log.SetOutput(t.Output())
	w, err := New(Options{
		Runner: runner, Log: log, Store: db, History: history,
		Settler: func() *settle.Settler { return &settle.Settler{} },
	})
	require.NoError(t, err)
	return w, runner
}

// entryOf returns the function that makes the log entries of a call.
func entryOf(w *Writer) func() *logrus.Entry {
	return func() *logrus.Entry { return logrus.NewEntry(w.Log) }
}

// changing returns a change with the participant with, or with none if it is nil.
func changing(w *Writer, with Participant) Change {
	return Change{
		Op: &ops.Operation{ID: "user.set"}, Bound: &ops.Bound{}, Log: entryOf(w),
		Record: changes.Record{RequestID: "r", Author: changes.Author{Caller: "c"}},
		Zone:   func(*ps.Intent) string { return "" },
		Holds:  func(*ps.Intent) error { return nil },
		Parts: func(*ps.Intent, *changes.Record) []Participant {
			if with == nil {
				return nil
			}
			return []Participant{with}
		},
		Lines:   func(*ps.Intent) []audit.Call { return nil },
		Refused: func(why error) error { return why },
	}
}

func TestAChangeIsRecordedBeforeItIsMade(t *testing.T) {
	w, runner := writing(t)
	r := w.Prepare(changing(w, nil))
	_, err := r.Do(t.Context(), ps.Request{Write: true, Limit: time.Minute})
	require.NoError(t, err)
	assert.Equal(t, 1, runner.made)
	c, err := w.History.Get(t.Context(), r.ID())
	require.NoError(t, err)
	assert.True(t, c.Running)
	closed := w.Close(r, CallEnd{Verdict: Verdict{Outcome: ps.OutcomeDone}, Log: entryOf(w)})
	assert.Equal(t, Closed{Record: closed.Record}, closed)
	c, err = w.History.Get(t.Context(), r.ID())
	require.NoError(t, err)
	assert.Equal(t, ps.OutcomeDone, c.Outcome)
}

// late is a participant that refuses a change temporarily, as often as refuses says.
type late struct {
	refuses int
	may     bool // Wait returns true
	waited  int
}

var errLate = errors.New("not now")

func (l *late) Begin(*store.Tx, *Attempt) error {
	if l.refuses == 0 {
		return nil
	}
	l.refuses--
	return &Later{Cause: errLate, Wait: func(context.Context) bool { l.waited++; return l.may }}
}

func (l *late) Begun() {}

// TestARunWaitsOutsideItsSession: a change that is refused temporarily waits, and then runs again
// or is refused for good.
func TestARunWaitsOutsideItsSession(t *testing.T) {
	for name, may := range map[string]bool{"it may run again": true, "it may not": false} {
		t.Run(name, func(t *testing.T) {
			w, runner := writing(t)
			part := &late{refuses: 1, may: may}
			r := w.Prepare(changing(w, part))
			_, err := r.Do(t.Context(), ps.Request{Write: true, Limit: time.Minute})
			assert.Equal(t, 1, part.waited)
			if may {
				require.NoError(t, err)
				assert.Equal(t, []int{2, 1}, []int{runner.runs, runner.made})
				return
			}
			require.ErrorIs(t, err, errLate)
			assert.Equal(t, []int{1, 0}, []int{runner.runs, runner.made})
			assert.False(t, r.Running(), "nothing is recorded")
			assert.Equal(t, []int{0, 0, 0}, w.locks.left(), "nothing stays locked")
		})
	}
}

// TestARunOfNothing: a call that changes nothing has no record and no lines.
func TestARunOfNothing(t *testing.T) {
	var r *Run
	assert.Nil(t, r.Intent())
	assert.Empty(t, r.Shown(ps.OutcomeDone))
	assert.False(t, r.Running() || r.Outcomes(nil) != nil)
	r.Audited()
}
