package write

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/audit"
	"adgateway/gateway/changes"
	"adgateway/gateway/settle"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// BenchmarkChange measures the overhead of a change in addition to its script: the store and the audit,
// both in synced files. The script answers at once. There is one caller, or there are many at a time.
func BenchmarkChange(b *testing.B) { benchmarkChange(b, 0) }

// slower is how much longer each sync takes on a slow disk.
const slower = 2 * time.Millisecond

// BenchmarkChangeOnASlowDisk is [BenchmarkChange] on a disk on which each sync takes 2 ms longer. One
// caller waits for two syncs in a row.
func BenchmarkChangeOnASlowDisk(b *testing.B) { benchmarkChange(b, slower) }

func benchmarkChange(b *testing.B, slower time.Duration) {
	for _, callers := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			w := onDisk(b, slower)
			var next atomic.Int64
			var group sync.WaitGroup
			b.ResetTimer()
			for range callers {
				group.Go(func() {
					for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
						if err := changed(w, fmt.Sprint(n)); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "changes/s")
		})
	}
}

// onDisk returns a writer whose history and audit are in files. Each sync takes longer by slower.
func onDisk(b *testing.B, slower time.Duration) *Writer {
	wait := func() { time.Sleep(slower) }
	file, _, err := store.Open(store.Options{Path: filepath.Join(b.TempDir(), "state.db"), AfterSync: wait})
	require.NoError(b, err)
	b.Cleanup(func() { _ = file.Close() })
	key, err := store.NewKey(make([]byte, store.KeyLength))
	require.NoError(b, err)
	db, err := store.Seal(file, key)
	require.NoError(b, err)
	history := changes.New(db, time.Hour, 1<<30)
	records, err := audit.Open(audit.Options{File: filepath.Join(b.TempDir(), "audit.jsonl"), AfterSync: wait})
	require.NoError(b, err)
	b.Cleanup(func() { _ = records.Close() })
	log := logrus.New()
	log.SetOutput(b.Output())
	w, err := New(Options{
		Runner: &scripts{}, Log: log, Store: db, History: history, Audit: records,
		Settler: func() *settle.Settler { return &settle.Settler{} },
	})
	require.NoError(b, err)
	return w
}

// changed makes a change of one object.
func changed(w *Writer, guid string) error {
	r := w.Prepare(announcing(w, nil))
	_, err := r.Do(context.Background(), ps.Request{ID: guid, Write: true, Limit: time.Minute})
	if err != nil {
		return err
	}
	put, written := r.Outcomes(outcome(ps.OutcomeDone)), make(chan error, 1)
	go func() { written <- put(false) }()
	w.Close(r, CallEnd{Verdict: Verdict{Outcome: ps.OutcomeDone}, Log: entryOf(w)})
	err = <-written
	r.Audited()
	return err
}

// scripts is a runner whose script changes the object that the request's ID names, without delay.
type scripts struct{}

func (scripts) Run(_ context.Context, req ps.Request) (*ps.Result, error) {
	err := req.Announced(ps.Intent{Effect: ps.EffectChanged, Objects: []ps.Intended{{
		GUID: req.ID, Changes: []ps.IntendedChange{{Name: "l", Before: "Oslo", After: "Rome"}},
	}}})
	if err != nil {
		return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
	}
	return &ps.Result{Effect: ps.EffectChanged}, nil
}
