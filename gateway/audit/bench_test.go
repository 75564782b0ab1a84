package audit

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkCall writes an intent and its outcome to the disk, with a number of
// concurrent callers: one sync serves all that wait for it.
func BenchmarkCall(b *testing.B) {
	for _, callers := range []int{1, 8, 32, 128} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			l := open(b, Options{File: newFile(b), open: openFile})
			b.SetParallelism(max(1, callers/2)) // for two processors
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					entry, err := l.Intent(callFor("anna"))
					if err != nil {
						b.Error(err)
						return
					}
					if err := entry.Outcome(done("anna")); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// BenchmarkUnsynced is BenchmarkCall without syncing.
func BenchmarkUnsynced(b *testing.B) {
	l := open(b, Options{File: newFile(b)})
	b.ReportAllocs()
	for b.Loop() {
		record(b, l, "anna")
	}
}

func BenchmarkVerify(b *testing.B) {
	file := newFile(b)
	l := open(b, Options{File: file})
	for range 1000 {
		record(b, l, "anna")
	}
	require.NoError(b, l.Close())
	for b.Loop() {
		whole(b, file)
	}
	b.ReportMetric(2002*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}
