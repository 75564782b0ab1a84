package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
)

// BenchmarkUpdate measures concurrent calls, each of which changes a value that all calls share and one that
// only this call changes. It measures compare-and-set with retries, and update functions. It also reports the
// number of calls per batch, and of attempts per call.
func BenchmarkUpdate(b *testing.B) {
	value := bytes.Repeat([]byte("v"), 1024)
	next := func(shared store.Entry) []byte { return append(shared.Value[:0:0], value...) }
	var tries atomic.Int64
	ways := map[string]func(s *store.Sealed, key string) error{
		"update": func(s *store.Sealed, key string) error {
			return s.Update(b.Context(), func(tx *store.Tx) error {
				tries.Add(1)
				shared, err := tx.Get("one", "shared")
				if err != nil {
					return err
				}
				tx.Put("one", "shared", next(shared), time.Time{})
				tx.Put("two", key, value, time.Time{})
				tx.Append("log", value[:100], time.Time{})
				return nil
			})
		},
		"apply": func(s *store.Sealed, key string) error {
			for {
				tries.Add(1)
				shared, err := s.Get(b.Context(), "one", "shared")
				if err != nil {
					return err
				}
				_, err = s.Apply(b.Context(),
					store.Change{Kind: "one", Key: "shared", Expect: shared.Revision, Value: next(shared)},
					store.Change{Kind: "two", Key: key, Value: value},
					store.Change{Log: "log", Value: value[:100]})
				if !errors.Is(err, store.ErrConflict) {
					return err
				}
			}
		},
	}
	for _, callers := range []int{1, 8, 64} {
		for name, change := range ways {
			b.Run(fmt.Sprintf("%s/callers=%d", name, callers), func(b *testing.B) {
				plain, err := file.Open(b.TempDir(), nil)
				if err != nil {
					b.Fatal(err)
				}
				s := storetest.Seal(b, plain)
				defer s.Close()
				if _, err = s.Apply(b.Context(), store.Change{Kind: "one", Key: "shared", Value: value}); err != nil {
					b.Fatal(err)
				}
				var calls atomic.Int64
				var group sync.WaitGroup
				tries.Store(0)
				b.ResetTimer()
				for range callers {
					group.Go(func() {
						for n := calls.Add(1); n <= int64(b.N); n = calls.Add(1) {
							if err := change(s, fmt.Sprint(n)); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				group.Wait()
				b.StopTimer()
				at, err := plain.(*store.File).Point()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(at.Sequence)/float64(b.N), "batches/op")
				b.ReportMetric(float64(tries.Load())/float64(b.N), "tries/op")
			})
		}
	}
}

// BenchmarkApply measures concurrent calls. Each sets two values of 1 KiB and appends to a log.
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
							store.Change{Kind: "one", Key: key, Value: value},
							store.Change{Kind: "two", Key: key, Value: value},
							store.Change{Log: "log", Value: value[:100]})
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
