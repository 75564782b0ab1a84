// Package processes runs the gateway with sessions in separate processes. These processes succeed or fail in
// every way, while they start, while they serve and while the gateway stops.
package processes

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"

	"adgateway/gateway/ops/opstest"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

func TestMain(m *testing.M) { systemtest.Main(m) }

// TestContractOnProcesses: every sample gets the same answer from sessions in separate processes as from
// sessions in this process. A plain run sends a share of the samples.
func TestContractOnProcesses(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	t.Run("calls", func(t *testing.T) {
		p := &systemtest.Processes{}
		s := p.NewSystem(t)
		for _, op := range opstest.Own() {
			if thorough.OneOf(8, op.ID) {
				t.Run(op.ID, func(t *testing.T) { s.In(t).GoodCall(op) })
			}
		}
		assert.Positive(t, p.Server.Connections())
	})
	systemtest.NoGoroutinesLeft(t, ignore)
}
