package app

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"adgateway/gateway"
)

// lostNotice is how long /readyz mentions lost log entries.
const lostNotice = 5 * time.Minute

// entries is the output of a log. It counts the entries that could not be written,
// for example because the disk is full. A service has no other place to report that.
type entries struct {
	to   io.Writer
	lost atomic.Int64
	last atomic.Int64 // when the last one was lost, Unix nanoseconds
}

func (e *entries) Write(entry []byte) (int, error) {
	n, err := e.to.Write(entry)
	if err != nil {
		e.lost.Add(1)
		e.last.Store(time.Now().UnixNano())
	}
	return n, err
}

// check is the readiness check of the log.
func (e *entries) check() gateway.Check {
	check := gateway.Check{Name: "log", OK: true}
	if lost := e.lost.Load(); lost > 0 && time.Since(time.Unix(0, e.last.Load())) < lostNotice {
		check.Degraded, check.Reason = true, fmt.Sprintf(
			"%d entries of the log could not be written since the start: disk, rights on log.file", lost)
	}
	return check
}
