package jetstream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/gateway/engine/enginetest"
)

// BenchmarkAppend appends batches in sequence over three nodes, like a leader whose batches contain
// the given number of calls, each of which stores 2 KiB. Two gateways follow.
func BenchmarkAppend(b *testing.B) {
	nodes := enginetest.Start(b, 3)
	for _, calls := range []int{1, 16} {
		b.Run(fmt.Sprint(calls, " calls"), func(b *testing.B) {
			name := fmt.Sprint("bench", calls, "x", b.N)
			create(b, nodes, name)
			leader := newGateway(b, name, "a", nodes.URLs()...)
			leader.lead(b)
			leader.follow(b)
			followers := []*gateway{newGateway(b, name, "b", nodes.URLs()...),
				newGateway(b, name, "c", nodes.URLs()...)}
			for _, f := range followers {
				f.follow(b)
			}
			batch := strings.Repeat("x", calls<<11)
			for b.Loop() {
				require.NoError(b, leader.append(b.Context(), batch))
			}
			b.ReportMetric(float64(b.N*calls)/b.Elapsed().Seconds(), "calls/s")
			for _, f := range followers {
				leader.awaitSame(b, f)
			}
		})
	}
}
