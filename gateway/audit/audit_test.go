package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps"
)

func open(t testing.TB, o Options) *Log {
	t.Helper()
	if o.open == nil {
		o.open = (&disk{unsynced: true}).open // syncing a busy disk takes a long time
	}
	l, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() }) // most tests close it themselves
	return l
}

func newFile(t testing.TB) string { return filepath.Join(t.TempDir(), "log", "audit.jsonl") }

func callFor(user string) Call {
	return Call{
		RequestID: "r-" + user, Who: &Who{Name: "desk", Kind: "token"}, From: "192.0.2.1",
		Operation: "user.update", Parameters: map[string]string{"Username": user, "Password": "***"},
	}
}

func done(user string) Result {
	return Result{
		Outcome: "done", Status: 200, Server: "dc1",
		Changes: []ps.Change{{GUID: "g-" + user, DN: "CN=" + user,
			Before: map[string]json.RawMessage{"city": json.RawMessage(`"Bonn <&>"`)}}},
		Steps: []ps.Step{{Label: "set attributes", GUID: "g-" + user, DN: "CN=" + user}},
	}
}

func record(t testing.TB, l *Log, user string) {
	t.Helper()
	entry, err := l.Intent(callFor(user))
	require.NoError(t, err)
	require.NoError(t, entry.Outcome(done(user)))
}

// crash leaves a log in the state after its process was killed.
func crash(t testing.TB, l *Log) {
	t.Helper()
	l.writing.Lock()
	defer l.writing.Unlock()
	l.out.closed = true
	require.NoError(t, l.out.f.Close())
	require.NoError(t, l.lock.Unlock())
}

func verify(t testing.TB, file string) *Report {
	t.Helper()
	report, err := Verify(Check{File: file})
	require.NoError(t, err)
	return report
}

func whole(t testing.TB, file string) *Report {
	t.Helper()
	report := verify(t, file)
	require.Empty(t, report.Faults)
	return report
}

func events(t testing.TB, file string) []Event {
	t.Helper()
	var all []Event
	files, err := logFiles(file, nil)
	require.NoError(t, err)
	for _, path := range files {
		require.NoError(t, eachLine(path, func(_ int, raw []byte, _ bool) error {
			if line, _, _, err := parse(raw); err == nil {
				all = append(all, line.Event)
			}
			return nil
		}))
	}
	return all
}

func TestIntentAndOutcome(t *testing.T) {
	file := newFile(t)
	l := open(t, Options{File: file})
	record(t, l, "anna")
	require.NoError(t, l.Refuse(callFor("berta"), Result{Code: "forbidden", Status: 403}))
	require.NoError(t, l.Close())

	report := whole(t, file)
	assert.Equal(t, uint64(5), report.Lines)
	assert.Empty(t, report.Interrupted)
	assert.Equal(t, []Event{EventOpen, EventIntent, EventOutcome, EventRefused, EventClose}, events(t, file))
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm())

	var records []*Record
	require.NoError(t, Read(file, nil, Filter{Target: "cn=ANNA"}, func(r *Record) error {
		records = append(records, r)
		return nil
	}))
	require.Len(t, records, 1)
	assert.Equal(t, "done", records[0].State())
	assert.Equal(t, map[string]string{"Username": "anna", "Password": "***"}, records[0].Intent.Parameters)
	assert.Equal(t, records[0].Intent.Seq, records[0].Outcome.Intent)
	assert.Equal(t, []ps.Object{{GUID: "g-anna", DN: "CN=anna"}}, records[0].Outcome.Targets())
	assert.Equal(t, `"Bonn <&>"`, string(records[0].Outcome.Changes[0].Before["city"]))
}

func TestNilLog(t *testing.T) {
	var l *Log
	entry, err := l.Intent(callFor("anna"))
	assert.NoError(t, err)
	assert.NoError(t, entry.Outcome(Result{}))
	assert.NoError(t, l.Refuse(Call{}, Result{}))
	assert.NoError(t, l.Check())
	assert.NoError(t, l.Close())
	assert.Zero(t, l.Stats())
	assert.False(t, l.Reads())
}

func TestRestartContinuesTheChain(t *testing.T) {
	file := newFile(t)
	for i := range 3 {
		l := open(t, Options{File: file})
		record(t, l, fmt.Sprint("user", i))
		_, err := Open(Options{File: file})
		require.ErrorContains(t, err, "in use by another process")
		require.NoError(t, l.Close())
		_, err = l.Intent(callFor("late"))
		require.ErrorIs(t, err, errClosed)
	}
	assert.Equal(t, uint64(12), whole(t, file).Last)
}

func TestCrashInterruptsACall(t *testing.T) {
	file := newFile(t)
	l := open(t, Options{File: file})
	record(t, l, "anna")
	_, err := l.Intent(callFor("cut"))
	require.NoError(t, err)
	require.Len(t, verify(t, file).Running, 1)
	crash(t, l)
	require.NoError(t, open(t, Options{File: file}).Close())
	report := whole(t, file)
	require.Len(t, report.Interrupted, 1)
	assert.Equal(t, "cut", report.Interrupted[0].Parameters["Username"])
	var states []string
	require.NoError(t, Read(file, nil, Filter{}, func(r *Record) error {
		states = append(states, r.State())
		return nil
	}))
	assert.Equal(t, []string{"done", OutcomeInterrupted}, states)
}

// TestTornLine: a crash may cut off the last write after any byte, and leave the previous head in place.
func TestTornLine(t *testing.T) {
	file := newFile(t)
	l := open(t, Options{File: file})
	record(t, l, "anna")
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	head, err := os.ReadFile(headName(file))
	require.NoError(t, err)
	_, err = l.Intent(callFor("cut"))
	require.NoError(t, err)
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	crash(t, l)
	for cut := len(before); cut <= len(after); cut += 1 + (len(after)-cut)/20 {
		file := filepath.Join(t.TempDir(), "audit.jsonl")
		require.NoError(t, os.WriteFile(file, after[:cut], 0o600))
		require.NoError(t, os.WriteFile(headName(file), head, 0o600))
		whole(t, file)
		l := open(t, Options{File: file})
		record(t, l, "next")
		require.NoError(t, l.Close())
		report := whole(t, file)
		torn := cut > len(before) && cut < len(after)-1
		assert.Equal(t, torn, len(report.Notes) == 1, "cut after %d of %d: %v", cut-len(before),
			len(after)-len(before), report.Notes)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.True(t, bytes.HasPrefix(text, after[:cut]), "nothing is dropped")
	}
}

func TestRotationContinuesTheChain(t *testing.T) {
	clock := newClock()
	file := newFile(t)
	var heads []any
	o := Options{File: file, MaxSize: 2000, MaxAge: time.Hour, KeepFor: 4 * time.Hour, now: clock.now,
		Notice: func(message string, fields map[string]any) {
			if message == "audit file started" {
				heads = append(heads, fields["sequence"])
			}
		}}
	l := open(t, o)
	for i := range 20 {
		record(t, l, fmt.Sprint("user", i))
		clock.add(30 * time.Minute)
	}
	rotated, err := rotatedFiles(file)
	require.NoError(t, err)
	assert.Len(t, rotated, 4, "older files are removed")
	assert.Greater(t, len(heads), 4)
	report := whole(t, file)
	assert.Greater(t, report.First, uint64(1))
	assert.Contains(t, fmt.Sprint(report.Notes), "the log removed them at their age")

	clock.add(2 * time.Hour)
	record(t, l, "late")
	assert.Contains(t, events(t, file), EventExpired)
	require.NoError(t, l.Close())
	l = open(t, o)
	record(t, l, "again")
	require.NoError(t, l.Close())
	whole(t, file)

	rotated, err = rotatedFiles(file)
	require.NoError(t, err)
	some, err := Verify(Check{Files: []string{rotated[1], rotated[0]}})
	require.NoError(t, err)
	assert.Empty(t, some.Faults)

	require.NoError(t, os.Remove(rotated[0]))
	assert.Contains(t, fmt.Sprint(verify(t, file).Faults),
		"missing at the start, and the log did not remove them by itself")
}

func TestKeyPreventsRewritingTheChain(t *testing.T) {
	key := []byte("0123456789abcdef0123456789abcdef")
	file := newFile(t)
	l := open(t, Options{File: file})
	record(t, l, "plain")
	require.NoError(t, l.Close())
	l = open(t, Options{File: file, Key: key})
	record(t, l, "keyed")
	require.NoError(t, l.Close())

	report, err := Verify(Check{File: file, Key: key})
	require.NoError(t, err)
	assert.Empty(t, report.Faults)
	assert.True(t, report.Keyed)
	_, err = Verify(Check{File: file})
	assert.ErrorIs(t, err, ErrKeyNeeded)
	report, err = Verify(Check{File: file, Key: []byte("another key of another gateway..")})
	require.NoError(t, err)
	assert.NotEmpty(t, report.Faults)

	// Somebody without the key rewrites everything, including the head.
	require.NoError(t, os.RemoveAll(filepath.Dir(file)))
	l = open(t, Options{File: file})
	record(t, l, "forged")
	require.NoError(t, l.Close())
	report, err = Verify(Check{File: file, Key: key})
	require.NoError(t, err)
	assert.Contains(t, fmt.Sprint(report.Faults), "no line was written with the key")

	// A gateway that lost its key continues, but the switch to plain hashes is found.
	require.NoError(t, os.RemoveAll(filepath.Dir(file)))
	require.NoError(t, open(t, Options{File: file, Key: key}).Close())
	require.NoError(t, open(t, Options{File: file}).Close())
	report, err = Verify(Check{File: file, Key: key})
	require.NoError(t, err)
	assert.NotEmpty(t, report.Faults)
}

func TestHeadRecordedElsewhere(t *testing.T) {
	file := newFile(t)
	l := open(t, Options{File: file})
	record(t, l, "anna")
	require.NoError(t, l.Close())
	end := whole(t, file).Head
	check := func(least Head) []Fault {
		report, err := Verify(Check{File: file, Least: least})
		require.NoError(t, err)
		return report.Faults
	}
	assert.Empty(t, check(end))
	assert.Empty(t, check(Head{Seq: end.Seq}))
	assert.NotEmpty(t, check(Head{Seq: end.Seq + 1}))
	assert.NotEmpty(t, check(Head{Seq: end.Seq, Hash: noHash}))
}

func TestConcurrentCalls(t *testing.T) {
	file := newFile(t)
	l := open(t, Options{File: file, MaxSize: 20_000})
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			for j := range 5 {
				user := fmt.Sprint(i, "-", j)
				entry, err := l.Intent(callFor(user))
				assert.NoError(t, err)
				assert.NoError(t, entry.Outcome(done(user)))
				assert.NoError(t, l.Refuse(callFor(user), Result{Code: "forbidden"}))
				assert.NoError(t, l.Check())
				l.Stats()
			}
		})
	}
	wg.Wait()
	require.NoError(t, l.Close())
	report := whole(t, file)
	stats := l.Stats()
	assert.Equal(t, report.Last, stats.Sequence)
	assert.Equal(t, report.Lines, stats.Lines)
	assert.Empty(t, report.Running)
}

// clock is a clock that tests set.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// faulty is a file whose operations fail on demand.
type faulty struct {
	file
	disk *disk
}

type disk struct {
	unsynced              bool
	space                 int // bytes that can still be written; negative means unlimited
	write, sync, truncate error
	opening               error
}

func (d *disk) open(path string) (file, error) {
	if d.opening != nil {
		return nil, d.opening
	}
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	return &faulty{f, d}, nil
}

func (f *faulty) Write(text []byte) (int, error) {
	if f.disk.write != nil {
		n, _ := f.file.Write(text[:min(len(text), f.disk.space)])
		return n, f.disk.write
	}
	return f.file.Write(text)
}

func (f *faulty) Sync() error {
	if f.disk.unsynced {
		return nil
	}
	return errors.Join(f.disk.sync, f.file.Sync())
}

func (f *faulty) Truncate(size int64) error {
	if f.disk.truncate != nil {
		return f.disk.truncate
	}
	return f.file.Truncate(size)
}

func TestFailedWritesAreOwed(t *testing.T) {
	for name, fails := range map[string]func(d *disk){
		"disk full, nothing written":    func(d *disk) { d.write = syscall.ENOSPC },
		"disk full in a line":           func(d *disk) { d.write, d.space = syscall.ENOSPC, 100 },
		"disk full after some lines":    func(d *disk) { d.write, d.space = syscall.ENOSPC, 500 },
		"disk full, rest cannot be cut": func(d *disk) { d.write, d.space, d.truncate = syscall.ENOSPC, 500, syscall.EIO },
		"sync fails":                    func(d *disk) { d.sync = syscall.EIO },
		"sync fails, rest remains":      func(d *disk) { d.sync, d.truncate = syscall.EIO, syscall.EIO },
		"permission lost":               func(d *disk) { d.write, d.opening = syscall.EBADF, syscall.EACCES },
	} {
		t.Run(name, func(t *testing.T) {
			file := newFile(t)
			d := &disk{}
			var notices []string
			l := open(t, Options{File: file, open: d.open,
				Notice: func(message string, _ map[string]any) { notices = append(notices, message) }})
			record(t, l, "before")
			entry, err := l.Intent(callFor("running"))
			require.NoError(t, err)

			fails(d)
			assert.Error(t, entry.Outcome(done("running")), "the call ran; its outcome is owed")
			_, err = l.Intent(callFor("refused"))
			assert.Error(t, err, "the call must not run")
			assert.Error(t, l.Refuse(callFor("refused"), Result{Code: "forbidden"}))
			assert.Error(t, l.Check())
			stats := l.Stats()
			assert.False(t, stats.OK)
			assert.Equal(t, 2, stats.Owed)
			assert.Equal(t, uint64(4), stats.Failures)

			*d = disk{}
			require.NoError(t, l.Check(), "trying again brings it back")
			assert.True(t, l.Stats().OK)
			record(t, l, "after")
			require.NoError(t, l.Close())
			report := whole(t, file)
			require.Len(t, report.Notes, 1)
			assert.Contains(t, report.Notes[0].Text, "nothing could be written from")
			assert.Empty(t, report.Running)
			assert.Equal(t, []Event{
				EventOpen, EventIntent, EventOutcome, EventIntent, EventGap, EventOutcome, EventRefused, EventIntent, EventOutcome, EventClose,
			}, events(t, file))
			assert.Equal(t, []string{"audit log opened", "audit log cannot be written, changes are refused",
				"audit log can be written again", "audit log closed"}, notices)
		})
	}
}

// TestNoFileHandleAtRotation: without a free file handle the file is renamed, but the next file cannot be
// opened. Changes are refused until a handle is free, and no line is missing.
func TestNoFileHandleAtRotation(t *testing.T) {
	file := newFile(t)
	d := &disk{}
	l := open(t, Options{File: file, MaxSize: 1, open: d.open})
	record(t, l, "before")
	entry, err := l.Intent(callFor("running"))
	require.NoError(t, err)
	d.opening = syscall.EMFILE
	require.ErrorIs(t, entry.Outcome(done("running")), syscall.EMFILE, "the outcome is owed")
	for range 3 {
		_, err := l.Intent(callFor("refused"))
		require.ErrorIs(t, err, syscall.EMFILE, "the call must not run")
	}
	require.ErrorIs(t, l.Check(), syscall.EMFILE)
	*d = disk{}
	require.NoError(t, l.Check(), "trying again brings it back")
	record(t, l, "after")
	require.NoError(t, l.Close())
	report := whole(t, file)
	assert.Empty(t, report.Running, "the outcome that was owed is there")
	require.Len(t, report.Notes, 1)
	assert.Contains(t, report.Notes[0].Text, "nothing could be written from")
}

func TestOpenOnAFullDisk(t *testing.T) {
	file := newFile(t)
	d := &disk{write: syscall.ENOSPC}
	l := open(t, Options{File: file, open: d.open})
	require.Error(t, l.Check())
	*d = disk{}
	require.NoError(t, l.Check())
	require.NoError(t, l.Close())
	assert.Equal(t, []Event{EventGap, EventOpen, EventClose}, events(t, file))
	whole(t, file)
}

// TestFileChangedWhileOpen: if another program changes the open file, the log notes that and Verify
// finds it.
func TestFileChangedWhileOpen(t *testing.T) {
	for name, touch := range map[string]func(t *testing.T, file string){
		"removed":        func(t *testing.T, file string) { require.NoError(t, os.Remove(file)) },
		"folder removed": func(t *testing.T, file string) { require.NoError(t, os.RemoveAll(filepath.Dir(file))) },
		"renamed":        func(t *testing.T, file string) { require.NoError(t, os.Rename(file, file+".old")) },
		"emptied":        func(t *testing.T, file string) { require.NoError(t, os.Truncate(file, 0)) },
		"cut in a line":  func(t *testing.T, file string) { require.NoError(t, os.Truncate(file, 300)) },
		"replaced": func(t *testing.T, file string) {
			require.NoError(t, os.Rename(file, file+".old"))
			text, err := os.ReadFile(file + ".old")
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(file, text, 0o600))
		},
		"appended": func(t *testing.T, file string) {
			f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteString("foreign")
			require.NoError(t, errors.Join(err, f.Close()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := newFile(t)
			l := open(t, Options{File: file})
			record(t, l, "before")
			touch(t, file)
			record(t, l, "after")
			require.NoError(t, l.Close())
			assert.Contains(t, events(t, file), EventAltered)
			report := verify(t, file)
			assert.Contains(t, fmt.Sprint(report.Faults), "the gateway itself noticed")
			assert.GreaterOrEqual(t, report.Last, uint64(7))
		})
	}
}

func TestLinesMissingAtOpen(t *testing.T) {
	for name, touch := range map[string]func(file string) error{
		"file removed": os.Remove,
		"head removed": func(file string) error { return os.Remove(headName(file)) },
		"last line cut": func(file string) error {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			return os.WriteFile(file, text[:strings.LastIndex(string(text[:len(text)-1]), "\n")+1], 0o600)
		},
		"last line altered": func(file string) error {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			text[len(text)-100] ^= 1
			return os.WriteFile(file, text, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := newFile(t)
			l := open(t, Options{File: file})
			record(t, l, "before")
			require.NoError(t, l.Close())
			require.NoError(t, touch(file))
			l = open(t, Options{File: file})
			record(t, l, "after")
			require.NoError(t, l.Close())
			assert.NotEmpty(t, verify(t, file).Faults)
			assert.Contains(t, events(t, file), EventAltered)
		})
	}
}

func TestReadFilters(t *testing.T) {
	clock := newClock()
	file := newFile(t)
	l := open(t, Options{File: file, now: clock.now})
	record(t, l, "anna")
	clock.add(time.Hour)
	late := clock.now()
	require.NoError(t, l.Refuse(Call{Operation: "ou.delete", RequestID: "r-7",
		Parameters: map[string]string{"OUPath": "OU=X", "Members": `CORP\berta, carl`}},
		Result{Code: "unauthenticated"}))
	require.NoError(t, l.Close())
	for _, c := range []struct {
		filter Filter
		want   int
	}{
		{Filter{}, 2},
		{Filter{Since: late}, 1}, {Filter{Until: late}, 1}, {Filter{Since: late, Until: late}, 0},
		{Filter{Who: "DESK"}, 1}, {Filter{Who: "nobody"}, 0},
		{Filter{Outcome: "refused"}, 1}, {Filter{Outcome: "DONE"}, 1}, {Filter{Outcome: "partial"}, 0},
		{Filter{Operation: "ou.*"}, 1}, {Filter{Operation: "user.update"}, 1}, {Filter{Operation: "user"}, 0},
		{Filter{Target: "g-anna"}, 1}, {Filter{Target: "ou=x"}, 1}, {Filter{Target: "ou=y"}, 0},
		{Filter{Target: "R-7"}, 1}, {Filter{Target: "r-"}, 0},
		{Filter{Target: "Berta B", Names: []string{"BERTA"}}, 1}, {Filter{Target: "Carl C", Names: []string{"carl"}}, 1}, {Filter{Target: "Berta B", Names: []string{"bert", "g-ann"}}, 0},
		{Filter{Target: "Anna A", Names: []string{"nobody", "G-Anna"}}, 1}, {Filter{Names: []string{"nobody"}}, 2},
	} {
		got := 0
		require.NoError(t, Read(file, nil, c.filter, func(*Record) error { got++; return nil }))
		assert.Equal(t, c.want, got, "%+v", c.filter)
	}
	require.Error(t, Read(file+"x", nil, Filter{}, func(*Record) error { return nil }))
}
