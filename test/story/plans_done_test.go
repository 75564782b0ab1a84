package story

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestAPlanThatSomebodyElseHasMadeTrue: if the values of a plan are already set, the refusal
// names these fields. It does not claim that the object is missing.
func TestAPlanThatSomebodyElseHasMadeTrue(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	compared := 0
	for _, op := range opstest.Own() {
		if !op.Effect.Writes() || op.Effect != ops.Update || op.Undo.Never != "" {
			continue
		}
		t.Run(op.ID, func(t *testing.T) {
			s := s.In(t)
			s.Prepare(op)
			call := systemtest.Sample(op)
			p, _ := dryRun(s, call)
			made := s.Do(call)
			require.Less(t, made.Status, 300, "%s", made.Body)
			start := s.Snapshot()
			a := s.Do(applying(call, p))
			assert.Empty(t, start.Compare(s.Snapshot()))
			if a.Status == http.StatusPreconditionFailed {
				compared++
				for _, d := range a.Envelope.Error.Details {
					assert.NotEqual(t, "distinguishedName", d.Field, "%s", a.Body)
				}
			}
			s.Undo(op)
		})
	}
	assert.Greater(t, compared, 5)
}
