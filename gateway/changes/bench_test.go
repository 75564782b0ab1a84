package changes

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
)

// BenchmarkChangesBesideTrimming measures how long a change waits for its record while the history removes a
// third of its records, which are scattered over the file. KEPT is the number of records before, 60,000 if
// it is not set. longest-ms and p99-ms are of the changes meanwhile, alone-ms is the longest without removals.
func BenchmarkChangesBesideTrimming(b *testing.B) {
	number := 60_000
	if text := os.Getenv("KEPT"); text != "" {
		var err error
		number, err = strconv.Atoi(text)
		require.NoError(b, err)
	}
	for b.Loop() {
		file, _, err := store.Open(store.Options{Path: filepath.Join(b.TempDir(), "state.db")})
		require.NoError(b, err)
		db := storetest.Seal(b, file)
		size := seed(b, New(db, 24*time.Hour, 1<<40), number)
		h := New(db, 24*time.Hour, size*7/10)
		alone := waits(b, h, func() bool { return false })
		ctx, stop := context.WithCancel(b.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			h.RunTrimming(ctx, func(err error) { b.Error(err) })
		}()
		left := size
		beside := waits(b, h, func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.size > 0 {
				left = h.size
			}
			return left > h.most
		})
		stop()
		<-ended
		require.NoError(b, file.Close())
		b.ReportMetric(float64(alone[len(alone)-1].Microseconds())/1000, "alone-ms")
		b.ReportMetric(float64(beside[len(beside)-1].Microseconds())/1000, "longest-ms")
		b.ReportMetric(float64(beside[len(beside)*99/100].Microseconds())/1000, "p99-ms")
		b.ReportMetric(float64(len(beside)), "changes")
	}
}

// waits makes changes one after another, at least 200 and as long as more returns true. It returns how long
// each waited, in order of the time.
func waits(b *testing.B, h *History, more func() bool) (all []time.Duration) {
	for len(all) < 200 || more() {
		r := &Record{
			ID: NewID(), Time: time.Now(), Author: Author{Caller: "quiet"}, Operation: "user.update", Running: true,
		}
		began := time.Now()
		require.NoError(b, h.Save(b.Context(), r))
		all = append(all, time.Since(began))
		began = time.Now()
		require.NoError(b, h.Complete(b.Context(), r, ps.OutcomeDone))
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	return all
}

// seed adds records of 20 callers in random order, half of them of two callers. It returns their size.
func seed(b *testing.B, h *History, number int) (size int64) {
	const together = store.MostChanges / 3
	draw := rand.New(rand.NewPCG(20261129, 4))
	text := strings.Repeat("x", 600)
	for first := 0; first < number; first += together {
		var records []*Record
		for range min(together, number-first) {
			caller := draw.IntN(20)
			if draw.IntN(2) == 0 {
				caller %= 2
			}
			records = append(records, &Record{
				ID: NewID(), Time: time.Now(), Author: Author{Caller: fmt.Sprint("caller", caller)},
				Operation: "user.update", Outcome: ps.OutcomeDone, Parameters: map[string]string{"Description": text},
			})
		}
		require.NoError(b, h.store.Update(b.Context(), func(tx *store.Tx) error {
			for _, r := range records {
				if err := h.PutEnded(tx, r); err != nil {
					return err
				}
			}
			return nil
		}))
		for _, r := range records {
			size += r.Bytes()
		}
	}
	return size
}
