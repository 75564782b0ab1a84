package config

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"adgateway/gateway/every"
)

// Live holds the settings in effect while a gateway runs. It is safe for concurrent
// use; the settings that it returns are never changed.
type Live struct {
	read func() (Sources, error)
	now  atomic.Pointer[Settings]

	mu    sync.Mutex
	text  *string // text of the file as last loaded; nil if it could not be read
	fault error   // error of the last attempt to load; nil if it succeeded
}

// Change lists the settings that differ after a reload.
type Change struct {
	Applied []string // keys of settings that are in effect now
	Waiting []string // keys of settings that take effect at the next start
}

// NewLive loads the sources for the first time. The error joins all mistakes. read is called again
// for every reload; only the text of the file may differ then.
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

// Now returns the settings in effect. The caller must not modify them.
func (l *Live) Now() *Settings { return l.now.Load() }

// Fault returns the error of the current sources, or nil. While it is not nil, earlier settings
// remain in effect.
func (l *Live) Fault() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}

// Reload loads the sources and puts the changed settings into effect, as far as they may change while the
// gateway runs. If it fails, nothing changes.
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

// take puts the sources into effect. The caller holds l.mu.
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
		case reflect.DeepEqual(row.value.get(row.in(old), false), row.value.get(row.in(wanted), false)):
		case row.Live():
			row.in(&next).Set(row.in(wanted))
			change.Applied = append(change.Applied, row.Key)
		default:
			change.Waiting = append(change.Waiting, row.Key)
		}
	}
	l.now.Store(&next)
	return change, nil
}

// Watch reloads when the file changes, until ctx is done, and reports each result. It reads the file at every
// interval, and loads a text only after reading it twice, because an editor may still be writing. It reports
// each mistake once.
func (l *Live) Watch(ctx context.Context, interval time.Duration, report func(Change, error)) {
	seen, failed := "", 0
	every.Do(ctx, interval, func() {
		src, err := l.read()
		switch {
		case err == nil:
			settled := string(src.Text) == seen
			failed, seen = 0, string(src.Text)
			if settled && l.differs(seen) {
				report(l.takeSeen(src))
			}
		case failed == 1: // a file is missing for a moment while it is replaced
			report(l.Reload())
			failed++
		default:
			failed++
		}
	})
}

// takeSeen puts into effect sources that have already been read. If the file were read again, its text could
// be incomplete.
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
