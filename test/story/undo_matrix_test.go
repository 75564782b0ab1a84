package story

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/ps"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// reading returns the scopes that read, and change:undo.
func reading() []identity.Scope {
	all := []identity.Scope{identity.ChangeUndo}
	for _, scope := range identity.Scopes() {
		if strings.HasSuffix(string(scope), ":read") {
			all = append(all, scope)
		}
	}
	return all
}

func inDNS(op *ops.Operation) bool { return op.Lane == ps.DNS }

// TestNobodyUndoesWhatHeMayNotChange covers every change of every row, with every kind of caller that lacks a
// scope for the change or is limited to other objects. A plain run tries one kind of caller for each change.
func TestNobodyUndoesWhatHeMayNotChange(t *testing.T) {
	s, callers := visibleSystem(t)
	all, refused := []identity.Scope{identity.All}, []int{http.StatusForbidden, http.StatusNotFound}
	tries := 0
	for _, op := range opstest.Changes() {
		t.Run(op.ID, func(t *testing.T) {
			s := s.In(t)
			s.Prepare(op)
			made := s.Do(systemtest.Sample(op))
			require.Less(t, made.Status, 300, "%s", made.Body)
			undo := undoChange(made.Header.Get("X-Change-Id"), nil)
			after := s.Snapshot()
			for name, c := range map[string]struct {
				limits identity.Limits
				scopes []identity.Scope
				of     func(op *ops.Operation) bool
			}{
				"no change:undo":     {scopes: but(identity.ChangeUndo)},
				"reading only":       {scopes: reading()},
				"outside the limits": {limits: elsewhere, scopes: all},
				"outside the groups": {limits: otherGroups, scopes: all, of: aboutGroup},
				"outside the names":  {limits: otherNames, scopes: all, of: inDNS},
			} {
				if c.of != nil && !c.of(op) {
					continue
				}
				for _, kind := range thorough.Some(kinds, op.ID, name) {
					tries++
					a := s.Do(undo.As(callers.set(kind, c.limits, c.scopes...)))
					// the change cannot be undone at all, and the caller may know that
					if a.Status == http.StatusUnprocessableEntity {
						assert.Equal(t, "not_undoable", a.Envelope.Error.Code, "%s, %s: %s", name, kind, a.Body)
						assert.Equal(t, "reading only", name)
						continue
					}
					assert.Contains(t, refused, a.Status, "%s, %s: %s", name, kind, a.Body)
				}
			}
			assert.Empty(t, after.Compare(s.Snapshot()))
			s.Undo(op)
		})
	}
	t.Logf("%d tries", tries)
	assert.Greater(t, tries, 250*len(thorough.Some(kinds)))
}
