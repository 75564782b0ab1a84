package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// memory is a store in memory.
type memory struct {
	now      func() time.Time
	creation string
	bells    bells

	mu       sync.RWMutex // guards the fields below
	revision Revision
	kinds    map[Kind]*values
	logs     map[Log]*lines
	state    State
	closed   bool
}

// values maps the keys of a kind to their values.
type values struct {
	by   map[string]Entry
	keys []string // of by, in order
}

// lines holds the entries of a log that are kept.
type lines struct {
	last    uint64 // sequence of the last entry ever appended
	entries []Entry
}

// first returns the sequence of the first entry that is kept.
func (l *lines) first() uint64 { return l.last + 1 - uint64(len(l.entries)) }

// NewMemory returns an empty store in memory. It takes its time from now, or from a new [Clock]
// that begins at the wall clock if now is nil.
func NewMemory(now func() time.Time) Store {
	if now == nil {
		now = NewClock(time.Time{}, ClockSources{}).Now
	}
	return &memory{now: now, creation: uuid.Must(uuid.NewV7()).String(), kinds: map[Kind]*values{},
		logs: map[Log]*lines{}}
}

// Now implements [Store].
func (m *memory) Now() time.Time { return m.now() }

// usable returns an error if a call cannot be served. m.mu is held.
func (m *memory) usable(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if m.closed {
		return ErrClosed
	}
	return nil
}

func (m *memory) Get(ctx context.Context, kind Kind, key string) (Entry, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if err := m.usable(ctx); err != nil {
		return Entry{}, err
	}
	e, found := m.get(kind, key)
	if !found {
		return Entry{}, ErrAbsent
	}
	e.Value = bytes.Clone(e.Value)
	return e, nil
}

func (m *memory) get(kind Kind, key string) (Entry, bool) {
	v := m.kinds[kind]
	if v == nil {
		return Entry{}, false
	}
	e, found := v.by[key]
	if !found || e.expired(m.now()) {
		return Entry{}, false
	}
	return e, true
}

func (m *memory) Range(ctx context.Context, kind Kind, prefix string, visit func(Entry) bool) error {
	return inPages(prefix, func(from string, most int) (page, error) {
		return m.read(ctx, kind, most, func(keys []string) []string {
			start, _ := slices.BinarySearch(keys, from)
			return keys[start:]
		}, func(keys []string, i int) (string, bool) {
			return keys[i], strings.HasPrefix(keys[i], prefix)
		}, "\x00")
	}, visit)
}

func (m *memory) RangeBack(ctx context.Context, kind Kind, before string, visit func(Entry) bool) error {
	return inPages(before, func(before string, most int) (page, error) {
		return m.read(ctx, kind, most, func(keys []string) []string {
			if end, _ := slices.BinarySearch(keys, before); before != "" {
				return keys[:end]
			}
			return keys
		}, func(keys []string, i int) (string, bool) {
			return keys[len(keys)-1-i], true
		}, "")
	}, visit)
}

// read reads a page of some of the keys; the next one begins with the last key and a text.
func (m *memory) read(ctx context.Context, kind Kind, most int, some func([]string) []string,
	at func([]string, int) (string, bool), after string) (found page, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	v := m.kinds[kind]
	if err = m.usable(ctx); err != nil || v == nil {
		return found, err
	}
	now, keys, size := m.now(), some(v.keys), 0
	for i := range keys {
		key, in := at(keys, i)
		if !in {
			break
		}
		e := v.by[key]
		if e.expired(now) {
			continue
		}
		e.Value = bytes.Clone(e.Value)
		found.entries, found.next = append(found.entries, e), key+after
		if size += len(e.Value); len(found.entries) >= most || size >= pageSize {
			found.more = true
			break
		}
	}
	return found, nil
}

func (m *memory) Apply(ctx context.Context, changes ...Change) (Revision, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.usable(ctx); err != nil {
		return 0, err
	}
	if err := CheckChanges(changes); err != nil {
		m.state.failed(err)
		return 0, err
	}
	for _, c := range changes {
		if present, _ := m.get(c.Kind, c.Key); c.Log == "" && present.Revision != c.Expect {
			return 0, fmt.Errorf("%w: %s %q", ErrConflict, c.Kind, c.Key)
		}
	}
	return m.make(changes), nil
}

// Update implements [Updater].
func (m *memory) Update(ctx context.Context, f func(*Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.usable(ctx); err != nil {
		return err
	}
	changes, err := newTx(inMemory{m}, m.now()).decide(f)
	if err == nil && len(changes) > 0 {
		m.make(changes)
	}
	return err
}

// inMemory is the [source] of a store in memory. The store's mutex is held.
type inMemory struct{ *memory }

func (m inMemory) get(kind Kind, key string) (Entry, error) {
	e, found := m.memory.get(kind, key)
	if !found {
		return Entry{}, ErrAbsent
	}
	e.Value = bytes.Clone(e.Value)
	return e, nil
}

func (m inMemory) scan(kind Kind, prefix string, visit func(Entry) bool) error {
	v := m.kinds[kind]
	if v == nil {
		return nil
	}
	start, _ := slices.BinarySearch(v.keys, prefix)
	for _, key := range v.keys[start:] {
		if !strings.HasPrefix(key, prefix) {
			break
		}
		if e, err := m.get(kind, key); err == nil && !visit(e) {
			break
		}
	}
	return nil
}

// make applies changes whose conditions hold, and returns their revision.
func (m *memory) make(changes []Change) Revision {
	m.revision++
	for _, c := range changes {
		m.apply(c)
	}
	m.state.Failed = nil
	m.state.Writes++
	m.bells.ring(changes)
	return m.revision
}

func (m *memory) apply(c Change) {
	e := Entry{Key: c.Key, Value: append([]byte{}, c.Value...), Revision: m.revision, Expires: c.Expires}
	switch {
	case c.Compares:
	case c.Log != "":
		l := m.logs[c.Log]
		if l == nil {
			l = &lines{}
			m.logs[c.Log] = l
		}
		if c.Value != nil {
			l.last++
			l.entries = append(l.entries, e)
			m.state.Bytes += int64(len(e.Value))
			return
		}
		m.cut(l, func(sequence uint64, _ *Entry) bool { return sequence <= c.Through })
	case c.Value == nil:
		m.remove(c.Kind, c.Key)
	default:
		m.remove(c.Kind, c.Key)
		v := m.kinds[c.Kind]
		if v == nil {
			v = &values{by: map[string]Entry{}}
			m.kinds[c.Kind] = v
		}
		at, _ := slices.BinarySearch(v.keys, c.Key)
		v.keys = slices.Insert(v.keys, at, c.Key)
		v.by[c.Key] = e
		m.state.Bytes += int64(len(c.Key) + len(e.Value))
	}
}

func (m *memory) remove(kind Kind, key string) {
	v := m.kinds[kind]
	if v == nil {
		return
	}
	if e, found := v.by[key]; found {
		at, _ := slices.BinarySearch(v.keys, key)
		v.keys = slices.Delete(v.keys, at, at+1)
		delete(v.by, key)
		m.state.Bytes -= int64(len(key) + len(e.Value))
	}
}

// cut removes entries from the beginning of a log while old returns true, and returns their number.
func (m *memory) cut(l *lines, old func(sequence uint64, e *Entry) bool) (removed int) {
	first := l.first()
	for removed < len(l.entries) && old(first+uint64(removed), &l.entries[removed]) {
		m.state.Bytes -= int64(len(l.entries[removed].Value))
		removed++
	}
	l.entries = slices.Delete(l.entries, 0, removed)
	return removed
}

func (m *memory) Log(ctx context.Context, log Log, after Position, visit func(Appended) bool) error {
	return logInPages(after, func(after Position, most int) (page logPage, err error) {
		m.mu.RLock()
		defer m.mu.RUnlock()
		if err = m.usable(ctx); err != nil {
			return page, err
		}
		l := m.logs[log]
		if l == nil {
			l = &lines{}
		}
		now, kept := m.now(), l.first()
		for i := range l.entries {
			if !l.entries[i].expired(now) {
				break
			}
			kept++
		}
		if err = within(after, m.creation, kept, l.last); err != nil {
			return page, err
		}
		from := max(after.Sequence+1, kept)
		for i, e := range l.entries[from-l.first():] {
			if i == most {
				page.more = true
				break
			}
			page.entries = append(page.entries, Appended{Position{m.creation, from + uint64(i)}, bytes.Clone(e.Value)})
		}
		return page, nil
	}, visit)
}

func (m *memory) End(ctx context.Context, log Log) (Position, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	end := Position{Creation: m.creation}
	if l := m.logs[log]; l != nil {
		end.Sequence = l.last
	}
	return end, m.usable(ctx)
}

func (m *memory) Appends(log Log) <-chan struct{} { return m.bells.wait(log) }

func (m *memory) Sweep(ctx context.Context) (removed int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err = m.usable(ctx); err != nil {
		return 0, err
	}
	now := m.now()
	for _, l := range m.logs {
		removed += m.cut(l, func(_ uint64, e *Entry) bool { return e.expired(now) })
	}
	for _, v := range m.kinds {
		before := len(v.keys)
		v.keys = slices.DeleteFunc(v.keys, func(key string) bool {
			e := v.by[key]
			if !e.expired(now) {
				return false
			}
			m.state.Bytes -= int64(len(key) + len(e.Value))
			delete(v.by, key)
			return true
		})
		removed += before - len(v.keys)
	}
	if removed > 0 {
		m.revision++
	}
	m.state.Failed = nil
	m.state.Swept += uint64(removed)
	return removed, nil
}

func (m *memory) State() State {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.state
}

func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.kinds, m.logs = nil, nil
	m.bells.close()
	return nil
}
