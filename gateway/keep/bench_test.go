package keep_test

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"adgateway/gateway/keep"
)

// BenchmarkApply measures calls of callers that write at once. Each sets two values of
// 1 KiB and appends to a log.
func BenchmarkApply(b *testing.B) {
	value := bytes.Repeat([]byte("v"), 1024)
	for _, callers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s, err := file.Open(b.TempDir(), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			var calls atomic.Int64
			var group sync.WaitGroup
			b.ResetTimer()
			for range callers {
				group.Go(func() {
					for n := calls.Add(1); n <= int64(b.N); n = calls.Add(1) {
						key := fmt.Sprint(n)
						_, err := s.Apply(b.Context(),
							keep.Change{Kind: "one", Key: key, Value: value},
							keep.Change{Kind: "two", Key: key, Value: value},
							keep.Change{Log: "log", Value: value[:100]})
						if err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
		})
	}
}
