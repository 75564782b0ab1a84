package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counted counts how often a file is synced.
type counted struct {
	file
	syncs *int
}

func (c counted) Sync() error { *c.syncs++; return nil }

// TestLinesOfOneCallShareTheWait: a call with several lines waits for the disk once before its change and
// once after it.
func TestLinesOfOneCallShareTheWait(t *testing.T) {
	var syncs, told int
	path := newFile(t)
	l := open(t, Options{
		File: path, Recorded: func(Call, *Line) { told++ },
		open: func(path string) (file, error) {
			f, err := openFile(path)
			return counted{f, &syncs}, err
		},
	})
	record(t, l, "before") // starts the file
	syncs, told = 0, 0
	entries, err := l.Intents(callFor("a"), callFor("b"), callFor("c"))
	require.NoError(t, err)
	require.Len(t, entries, 3)
	assert.Equal(t, 1, syncs)
	require.NoError(t, l.Outcomes(entries, []Result{done("a"), done("b"), done("c")}, 0))
	assert.Equal(t, []int{2, 3}, []int{syncs, told})
	none, err := l.Intents()
	assert.Empty(t, none)
	assert.NoError(t, errors.Join(err, l.Outcomes(nil, nil, 0)))
	assert.Equal(t, 2, syncs)
	require.NoError(t, l.Close())

	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var lines []Line
	for part := range bytes.Lines(text) {
		var line Line
		require.NoError(t, json.Unmarshal(part, &line))
		if line.Event == EventIntent || line.Event == EventOutcome {
			lines = append(lines, line)
		}
	}
	require.Len(t, lines, 2+2*3)
	for i, user := range []string{"a", "b", "c"} {
		intent, outcome := lines[2+i], lines[5+i]
		assert.Equal(t, []any{EventIntent, user}, []any{intent.Event, intent.Parameters["Username"]})
		assert.Equal(t, []any{EventOutcome, intent.Seq}, []any{outcome.Event, outcome.Intent})
	}
}

// TestAPatientOutcomeSharesTheWait: a patient outcome is written with the next line, or alone if none comes.
func TestAPatientOutcomeSharesTheWait(t *testing.T) {
	path := newFile(t)
	const patience = 10 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		var syncs int
		l := open(t, Options{
			File: path, open: func(path string) (file, error) {
				f, err := openFile(path)
				return counted{f, &syncs}, err
			},
		})
		entries, err := l.Intents(callFor("a"), callFor("b"))
		require.NoError(t, err)
		written := make(chan error, 1)
		outcome := func(i int) {
			go func() { written <- l.Outcomes(entries[i:i+1], []Result{done("x")}, patience) }()
			synctest.Wait()
		}
		before, began := syncs, time.Now()
		outcome(0)
		assert.Equal(t, before, syncs)
		_, err = l.Intents(callFor("c"))
		require.NoError(t, err)
		require.NoError(t, <-written)
		assert.Equal(t, before+1, syncs)
		assert.Zero(t, time.Since(began))
		outcome(1)
		require.NoError(t, <-written)
		assert.Equal(t, before+2, syncs)
		assert.Equal(t, patience, time.Since(began))
		require.NoError(t, l.Close())
	})
}

// TestIntentsWithoutAnOutcome: Unended returns the changes of intents that an earlier process has
// written in its last minutes and that have no outcome.
func TestIntentsWithoutAnOutcome(t *testing.T) {
	path, at := newFile(t), time.Now().Add(-48*time.Hour)
	o := Options{File: path, now: func() time.Time { return at }}
	l := open(t, o)
	intend := func(change string) *Entry {
		c := callFor(change)
		c.Change = change
		e, err := l.Intent(c)
		require.NoError(t, err)
		return e
	}
	intend("ch_long_ago")
	at = at.Add(mostUnended + time.Minute)
	intend("ch_cut")
	intend("ch_cut") // of another object
	require.NoError(t, intend("ch_done").Outcome(done("x")))
	record(t, l, "of no change")
	require.NoError(t, l.Close())

	at = at.Add(24 * time.Hour)
	l = open(t, o)
	intend("ch_running")
	found, err := l.Unended()
	require.NoError(t, err)
	assert.Equal(t, []string{"ch_cut"}, found)
	require.NoError(t, l.Close())
}
