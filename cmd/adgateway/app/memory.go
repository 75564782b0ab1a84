package app

import (
	"os"
	"runtime/debug"

	"adgateway/gateway/config"
)

// useMemory sets how often this process collects garbage, unless the variables of the
// Go runtime do.
func useMemory(c config.Memory) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(c.GCPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" && c.Limit > 0 {
		debug.SetMemoryLimit(int64(c.Limit) << 20)
	}
}
