package cluster

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAScriptMayBeginToWrite(t *testing.T) {
	failed := errors.New("not stored")
	for name, c := range map[string]struct {
		storing, waiting time.Duration
		jump             time.Duration // of the wall clock during the run
		err, want        error
	}{
		"at once":                                    {0, 0, 0, nil, nil},
		"a little later":                             {goAfterStoring, goAfterStoring, 0, nil, nil},
		"not long after it was stored":               {0, goAfterStoring + 1, 0, nil, ErrLate},
		"not long after it was sent":                 {goAfterSending - goAfterStoring + 1, goAfterStoring, 0, nil, ErrLate},
		"not if the wall clock says that it is late": {0, 0, goAfterStoring + 1, nil, ErrLate},
		"if the wall clock was set back":             {0, 0, -time.Hour, nil, nil},
		"not if it was not stored":                   {0, 0, 0, failed, ErrLate},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 1, func(t *testing.T, w *world) {
				a := w.startAll()
				run, err := a.running().m.Begin(time.Second)
				require.NoError(t, err)
				defer run.End()
				err = run.Store(func() error {
					time.Sleep(c.storing)
					return c.err
				})
				assert.Equal(t, c.err, err)
				time.Sleep(c.waiting)
				a.mu.Lock()
				a.wall = func() time.Time { return time.Now().Add(c.jump) }
				a.mu.Unlock()
				assert.ErrorIs(t, run.Go(), c.want)
			})
		})
	}
}

func TestNoScriptBeginsAfterItsTerm(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		a := w.startAll()
		m := a.running().m
		run, err := m.Begin(time.Second)
		require.NoError(t, err)
		defer run.End()
		require.NoError(t, run.Store(func() error { return nil }))
		m.mu.Lock()
		m.see(2)
		m.mu.Unlock()
		assert.ErrorIs(t, run.Go(), ErrNotLeader)
		_, err = m.Begin(time.Second)
		assert.ErrorIs(t, err, ErrNotLeader)
		_, err = m.Append(t.Context(), nil, time.Now())
		assert.ErrorIs(t, err, ErrNotLeader)
	})
}
