package audit

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkCall writes an intent and its outcome to disk for several concurrent callers. One sync serves all
// callers that wait.
func BenchmarkCall(b *testing.B) {
	for _, callers := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			l := open(b, Options{File: newFile(b), open: openFile})
			share(b, callers, func() error {
				entry, err := l.Intent(callFor("anna"))
				if err != nil {
					return err
				}
				return entry.Outcome(done("anna"))
			})
		})
	}
}

// BenchmarkCallWithoutEffect records calls that found nothing. Nearly all of them are only counted.
func BenchmarkCallWithoutEffect(b *testing.B) {
	l := open(b, Options{File: newFile(b), open: openFile})
	b.ReportAllocs()
	share(b, 16, func() error {
		return l.Done(callFor("anna"), Result{Outcome: "none", Code: "not_found"},
			false)
	})
}

// share runs do b.N times in a number of goroutines.
func share(b *testing.B, callers int, do func() error) {
	var next atomic.Int64
	var all sync.WaitGroup
	b.ResetTimer()
	for range callers {
		all.Go(func() {
			for next.Add(1) <= int64(b.N) {
				if err := do(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
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
