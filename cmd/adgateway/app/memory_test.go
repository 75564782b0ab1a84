package app

import (
	"math"
	"runtime"
	"runtime/debug"
	gometrics "runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/config"
)

func TestMemorySettings(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(math.MaxInt64)
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) })
	for name, c := range map[string]struct {
		settings     config.Memory
		gogc, memory string // GOGC and GOMEMLIMIT in the environment
		wantPercent  int
		wantLimit    int64
	}{
		"settings":        {settings: config.Memory{GCPercent: 300, Limit: 512}, wantPercent: 300, wantLimit: 512 << 20},
		"without a limit": {settings: config.Memory{GCPercent: 300}, wantPercent: 300, wantLimit: math.MaxInt64},
		"GOGC wins":       {settings: config.Memory{GCPercent: 300, Limit: 512}, gogc: "50", wantPercent: 100, wantLimit: 512 << 20},
		"GOMEMLIMIT wins": {settings: config.Memory{GCPercent: 300, Limit: 512}, memory: "1GiB", wantPercent: 300, wantLimit: math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			debug.SetGCPercent(100) // useMemory does not override values from the runtime's environment variables
			debug.SetMemoryLimit(math.MaxInt64)
			t.Setenv("GOGC", c.gogc)
			t.Setenv("GOMEMLIMIT", c.memory)
			defer useMemory(c.settings)()
			want := c.wantPercent
			if c.gogc == "" {
				want = percentFor(liveHeap(), want)
			}
			assert.InDelta(t, want, debug.SetGCPercent(100), 10)
			assert.Equal(t, c.wantLimit, debug.SetMemoryLimit(-1))
		})
	}
}

func TestLessGarbageBesideALargeHeap(t *testing.T) {
	for _, c := range []struct {
		live uint64
		most int
		want int
	}{
		{0, 400, 400}, {64 << 20, 400, 400}, {132 << 20, 400, 250}, {200 << 20, 400, 100}, {4 << 30, 400, 100},
		{4 << 30, 100, 100}, {4 << 30, 50, 50}, {132 << 20, 10000, 5050},
	} {
		assert.Equal(t, c.want, percentFor(c.live, c.most), "%+v", c)
	}
}

// TestThePercentageFollowsTheHeap: the percentage falls after a collection that leaves a large heap, and
// rises after that heap has been freed.
func TestThePercentageFollowsTheHeap(t *testing.T) {
	percent := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(percent) })
	t.Setenv("GOGC", "")
	stop := useMemory(config.Memory{GCPercent: 400})
	defer stop()
	current := func() int {
		gogc := []gometrics.Sample{{Name: "/gc/gogc:percent"}}
		gometrics.Read(gogc)
		return int(gogc[0].Value.Uint64())
	}
	until := func(is func(percent int) bool) {
		t.Helper()
		require.Eventually(t, func() bool { // cleanups run some time after the collection
			runtime.GC()
			return is(current())
		}, 3*time.Minute, time.Millisecond)
	}
	least := func(percent int) bool { return percent == 100 }
	large := make([]byte, 256<<20)
	until(least)
	stop()
	debug.SetGCPercent(100)
	defer useMemory(config.Memory{GCPercent: 400})()
	assert.Equal(t, 100, current(), "what is in use already counts")
	runtime.KeepAlive(large)
	until(func(percent int) bool {
		want := percentFor(liveHeap(), 400) // for the rest of the heap
		return percent > 100 && max(percent, want)-min(percent, want) <= 10
	})
}
