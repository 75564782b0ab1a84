package story

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops/opstest"
	"adgateway/gateway/schema"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestWhatIsPromisedCanBeUndone: an undo has the effect that the plan and the history promise, with and
// without the Recycle Bin.
func TestWhatIsPromisedCanBeUndone(t *testing.T) {
	for name, world := range map[string]sandbox.Options{"with the bin": {Seed: 1},
		"without the bin": {Seed: 1, NoRecycleBin: true}} {
		s := systemtest.New(t, world)
		for _, op := range opstest.Own() {
			if !op.Effect.Writes() || world.NoRecycleBin && op.ID == "bin.restore" {
				continue
			}
			t.Run(name+" "+op.ID, func(t *testing.T) {
				s := s.In(t)
				s.Prepare(op)
				tryUndo(s, systemtest.Sample(op), op.Undo.Bin && world.NoRecycleBin)
			})
		}
	}
}

// TestTimesToLiveCanBeUndone: for each type of record, a change of only the time to live can be undone.
func TestTimesToLiveCanBeUndone(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for _, kind := range schema.RecordTypes {
		if kind.Resource == "" {
			continue
		}
		t.Run(kind.Name, func(t *testing.T) {
			s := s.In(t)
			start := s.Snapshot()
			params := systemtest.Merge(systemtest.RecordOf(kind), map[string]any{"TimeToLive": 601})
			tryUndo(s, putting("/api/"+kind.Path, params), false)
			assert.Empty(t, start.Compare(s.Snapshot()))
		})
	}
}

// tryUndo makes a change, undoes it, and compares the result with the promises in the plan and in the
// history.
func tryUndo(s *systemtest.System, call systemtest.Call, lost bool) {
	planned, _ := dryRun(s, call)
	made := s.Do(call)
	require.Less(s.T, made.Status, 300, "%s", made.Body)
	recorded := changesIn(s, s.Do(getChange(made.Header.Get("X-Change-Id"), nil)))[0]
	assert.Equal(s.T, planned.Undo, recorded.Undo, "of the plan and of the record")
	assert.Equal(s.T, lost, lost && recorded.Undo == "none")
	for i, object := range recorded.Objects {
		for n, c := range object.Changes {
			assert.Equal(s.T, planned.Objects[i].Changes[n].Undo, c.Undo, "%s of the plan and of the record", c.Field)
			if recorded.Undo == "none" || recorded.Undo == "full" {
				assert.Equal(s.T, recorded.Undo, c.Undo, "%s", c.Field)
			}
		}
	}
	undone := s.Do(undoChange(recorded.ID, nil))
	switch recorded.Undo {
	case "full", "restore":
		assert.Equal(s.T, http.StatusOK, undone.Status, "%s", undone.Body)
	default:
		assert.Equal(s.T, http.StatusUnprocessableEntity, undone.Status, "%s", undone.Body)
	}
}
