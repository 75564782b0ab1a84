package config

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
)

// Live holds the settings in force of a gateway that runs. It is safe for
// concurrent use; the settings that it gives out are never changed.
type Live struct {
	read func() (Sources, error)
	now  atomic.Pointer[Settings]

	mu    sync.Mutex
	text  *string // of the file, as last taken; nil: it could not be read
	fault error   // of the last reading; nil: it held
}

// Change is what a reading of the sources found to be different.
type Change struct {
	Applied []string // keys that are in force now
	Waiting []string // keys that take effect at the next start
}

// NewLive reads the sources for the first time; the error joins every fault.
// read is called again for every reload; what it gives beside the file's text
// should not change.
func NewLive(read func() (Sources, error)) (*Live, error) {
	src, err := read()
	if err != nil {
		return nil, err
	}
	settings, _, err := src.Load()
	if err != nil {
		return nil, err
	}
	text := string(src.Text)
	l := &Live{read: read, text: &text}
	l.now.Store(settings)
	return l, nil
}

// Now returns the settings in force. They must not be changed.
func (l *Live) Now() *Settings { return l.now.Load() }

// Fault tells what is wrong with the sources as they are now; the settings in
// force are then older. Nil: nothing.
func (l *Live) Fault() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}

// Reload reads the sources. What differs and can change while the gateway runs
// is in force when it returns. With faults everything stays as it was.
func (l *Live) Reload() (Change, error) {
	src, err := l.read()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.text, l.fault = nil, err
		return Change{}, err
	}
	return l.take(src)
}

// take puts the sources in force. l.mu is held.
func (l *Live) take(src Sources) (change Change, err error) {
	text := string(src.Text)
	l.text = &text
	wanted, _, err := src.Load()
	l.fault = err
	if err != nil {
		return Change{}, err
	}
	old := l.now.Load()
	next := *old
	for _, row := range Rows() {
		switch {
		case reflect.DeepEqual(row.value.get(old, false), row.value.get(wanted, false)):
		case row.Live():
			row.value.take(&next, wanted)
			change.Applied = append(change.Applied, row.Key)
		default:
			change.Waiting = append(change.Waiting, row.Key)
		}
	}
	l.now.Store(&next)
	return change, nil
}

// Watch reloads when the file has changed, until ctx is done, and hands on what
// came of it. It looks every interval, and takes a text only when it has seen it
// twice: an editor may still be writing. A fault is told once.
func (l *Live) Watch(ctx context.Context, interval time.Duration, report func(Change, error)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	seen, failed := "", 0
	for {
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
		if ctx.Err() != nil {
			return
		}
		src, err := l.read()
		switch {
		case err == nil:
			settled := string(src.Text) == seen
			failed, seen = 0, string(src.Text)
			if settled && l.differs(seen) {
				report(l.takeSeen(src))
			}
		case failed == 1: // a file that is being replaced is away for a moment only
			report(l.Reload())
			failed++
		default:
			failed++
		}
	}
}

// takeSeen takes what has been read: read once more it could be half of a text.
func (l *Live) takeSeen(src Sources) (Change, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.take(src)
}

func (l *Live) differs(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text == nil || *l.text != text
}
