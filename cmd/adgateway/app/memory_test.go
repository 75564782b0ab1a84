package app

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/config"
)

func TestMemorySettings(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(math.MaxInt64)
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) })
	for name, c := range map[string]struct {
		settings     config.Memory
		gogc, memory string // of the environment
		wantPercent  int
		wantLimit    int64
	}{
		"settings":        {settings: config.Memory{GCPercent: 300, Limit: 512}, wantPercent: 300, wantLimit: 512 << 20},
		"without a limit": {settings: config.Memory{GCPercent: 300}, wantPercent: 300, wantLimit: math.MaxInt64},
		"GOGC wins":       {settings: config.Memory{GCPercent: 300, Limit: 512}, gogc: "50", wantPercent: 100, wantLimit: 512 << 20},
		"GOMEMLIMIT wins": {settings: config.Memory{GCPercent: 300, Limit: 512}, memory: "1GiB", wantPercent: 300, wantLimit: math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			debug.SetGCPercent(100) // what the runtime has read from the environment stays
			debug.SetMemoryLimit(math.MaxInt64)
			t.Setenv("GOGC", c.gogc)
			t.Setenv("GOMEMLIMIT", c.memory)
			useMemory(c.settings)
			assert.Equal(t, c.wantPercent, debug.SetGCPercent(100))
			assert.Equal(t, c.wantLimit, debug.SetMemoryLimit(-1))
		})
	}
}
