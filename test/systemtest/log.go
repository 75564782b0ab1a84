package systemtest

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

// LogBuffer is a buffer that is safe for concurrent use.
type LogBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write appends to the content. It never fails.
func (b *LogBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String returns what has been written since the last Reset.
func (b *LogBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Reset discards the content.
func (b *LogBuffer) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Reset()
}

// Lines returns the lines that contain text.
func (b *LogBuffer) Lines(text string) []string {
	return slices.DeleteFunc(strings.Split(b.String(), "\n"),
		func(line string) bool { return !strings.Contains(line, text) })
}

// Limits for the report of a failed test.
const (
	maxFailures = 10   // requests
	maxLine     = 2000 // bytes per log line
)

// failures records the requests of a test that got a 5xx answer. If the test fails, it reports the log lines
// about these requests. It is safe for concurrent use.
type failures struct {
	mu       sync.Mutex
	requests []failure
}

type failure struct{ what, id string }

func (f *failures) add(what, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.requests) < maxFailures {
		f.requests = append(f.requests, failure{what, id})
	}
}

// report makes t the test that receives the failures of the system.
func (s *System) report(t testing.TB) {
	failed, log := &failures{}, s.Log
	s.T, s.failed = t, failed
	t.Cleanup(func() {
		failed.mu.Lock()
		defer failed.mu.Unlock()
		if !t.Failed() {
			return
		}
		for _, request := range failed.requests {
			lines := log.Lines(request.id)
			for i, line := range lines {
				if len(line) > maxLine {
					lines[i] = line[:maxLine] + "..."
				}
			}
			t.Logf("the log of the %s:\n%s", request.what, strings.Join(lines, "\n"))
		}
	})
}
