package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var testKey = []byte("0123456789abcdef0123456789abcdef")

// keyed returns the options of a log with a key and an anchor.
func keyed(t testing.TB) Options {
	file := newFile(t)
	return Options{File: file, Key: testKey, Anchor: filepath.Join(t.TempDir(), "elsewhere", "audit.anchor")}
}

func session(t testing.TB, o Options, users ...string) {
	t.Helper()
	l := open(t, o)
	for _, user := range users {
		record(t, l, user)
	}
	require.NoError(t, l.Close())
}

func verifyKeyed(t testing.TB, o Options) []Fault {
	t.Helper()
	report, err := Verify(Check{File: o.File, Key: o.Key, Anchor: o.Anchor})
	require.NoError(t, err)
	return report.Faults
}

// cutEnd removes the last n lines of a file.
func cutEnd(t testing.TB, file string, n int) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := bytes.SplitAfter(text, []byte("\n"))
	require.NoError(t, os.WriteFile(file, bytes.Join(lines[:len(lines)-1-n], nil), 0o600))
}

// forgeHead writes the head record that fits the end of the file, without the key.
func forgeHead(t testing.TB, file string, anchored bool) {
	t.Helper()
	var last headRecord
	require.NoError(t, eachLine(file, func(_ int, raw []byte, _ bool) error {
		line, _, sum, err := parse(raw)
		last.Head = Head{line.Seq, sum}
		return err
	}))
	last.Anchored = anchored
	require.NoError(t, last.write(headName(file), nil))
}

// TestRemovedEvidenceIsFoundWithAKey: if somebody who can write the files but does not have the key
// removes evidence in any way, both Verify and the next start of the gateway find it.
func TestRemovedEvidenceIsFoundWithAKey(t *testing.T) {
	for name, c := range map[string]struct {
		remove func(t *testing.T, o Options, early map[string][]byte)
		says   string
	}{
		"end, and the head made to fit": {func(t *testing.T, o Options, _ map[string][]byte) {
			cutEnd(t, o.File, 4)
			forgeHead(t, o.File, true)
		}, "the head record was not written with the key"},
		"end, and the head taken for one of no key": {func(t *testing.T, o Options, _ map[string][]byte) {
			cutEnd(t, o.File, 4)
			forgeHead(t, o.File, false)
		}, "the head record was not written with the key"},
		"end alone": {func(t *testing.T, o Options, _ map[string][]byte) { cutEnd(t, o.File, 4) }, "head record"},
		"head alone": {func(t *testing.T, o Options, _ map[string][]byte) {
			require.NoError(t, os.Remove(headName(o.File)))
		}, "the head record is missing or damaged"},
		"end and head": {func(t *testing.T, o Options, _ map[string][]byte) {
			cutEnd(t, o.File, 4)
			require.NoError(t, os.Remove(headName(o.File)))
		}, "the head record is missing or damaged"},
		"the whole folder": {func(t *testing.T, o Options, _ map[string][]byte) {
			require.NoError(t, os.RemoveAll(filepath.Dir(o.File)))
		}, "anchor"},
		"everything after an earlier time": {func(t *testing.T, o Options, early map[string][]byte) {
			require.NoError(t, os.RemoveAll(filepath.Dir(o.File)))
			require.NoError(t, os.MkdirAll(filepath.Dir(o.File), 0o700))
			for path, text := range early {
				require.NoError(t, os.WriteFile(path, text, 0o600))
			}
		}, "anchor"},
		"the anchor": {func(t *testing.T, o Options, _ map[string][]byte) { require.NoError(t, os.Remove(o.Anchor)) }, "the anchor is missing or damaged"},
		"end, head and anchor forged": {func(t *testing.T, o Options, _ map[string][]byte) {
			cutEnd(t, o.File, 4)
			forgeHead(t, o.File, true)
			text, err := os.ReadFile(headName(o.File))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(o.Anchor, text, 0o600))
		}, "was not written with the key"},
	} {
		t.Run(name, func(t *testing.T) {
			o := keyed(t)
			session(t, o, "anna", "berta")
			early := map[string][]byte{}
			for _, path := range []string{o.File, headName(o.File)} {
				text, err := os.ReadFile(path)
				require.NoError(t, err)
				early[path] = text
			}
			session(t, o, "cut", "away")
			require.Empty(t, verifyKeyed(t, o))

			c.remove(t, o, early)
			assert.Contains(t, fmt.Sprint(verifyKeyed(t, o)), c.says, "verify finds it")

			var noticed []string
			o.Notice = func(message string, fields map[string]any) {
				if fields["error"] != nil {
					noticed = append(noticed, fmt.Sprint(message, ": ", fields["error"]))
				}
			}
			session(t, o, "after")
			assert.Contains(t, fmt.Sprint(noticed), "the audit log was altered: ", "the start reports it")
			assert.Contains(t, fmt.Sprint(verifyKeyed(t, o)), "the gateway itself noticed", "verify finds it for ever")
		})
	}
}

// TestWhatIsNotFoundWithoutAKey: without a key a careful forgery is not found.
func TestWhatIsNotFoundWithoutAKey(t *testing.T) {
	file := newFile(t)
	session(t, Options{File: file}, "anna", "cut", "away")
	end := whole(t, file).Head
	cutEnd(t, file, 3)
	forgeHead(t, file, false)
	whole(t, file)
	report, err := Verify(Check{File: file, Least: end})
	require.NoError(t, err)
	assert.True(t, report.Noted)
	assert.NotEmpty(t, report.Faults, "an end that was kept elsewhere finds it")
}

// TestKeyAndAnchorAreAddedLater: a key and an anchor can be added to an existing log.
func TestKeyAndAnchorAreAddedLater(t *testing.T) {
	o := keyed(t)
	session(t, Options{File: o.File}, "plain")
	session(t, Options{File: o.File, Key: o.Key}, "keyed")
	session(t, o, "anchored")
	session(t, o, "again")
	assert.Empty(t, verifyKeyed(t, o))
	report, err := Verify(Check{File: o.File, Key: o.Key, Anchor: o.Anchor})
	require.NoError(t, err)
	assert.True(t, report.Keyed && report.Anchored)
}

func TestRemovedFilesAreAFault(t *testing.T) {
	o := keyed(t)
	_, err := Verify(Check{File: o.File, Key: o.Key, Anchor: o.Anchor})
	require.ErrorIs(t, err, os.ErrNotExist, "there has been no log")
	session(t, o, "anna")
	require.NoError(t, os.Remove(o.File))
	assert.Contains(t, fmt.Sprint(verifyKeyed(t, o)), "lines 1 to 4 are missing at the end")
	require.NoError(t, os.Remove(headName(o.File)))
	assert.Contains(t, fmt.Sprint(verifyKeyed(t, o)),
		"lines 1 to 4 are missing at the end: line 4 is the anchor's last")
}

// notices collects notices.
type notices struct {
	mu  sync.Mutex
	all []string
}

func (n *notices) add(message string, fields map[string]any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := message
	if fields["sequence"] != nil {
		text += fmt.Sprint(" ", fields["sequence"])
	}
	n.all = append(n.all, text)
}

func (n *notices) list() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.all)
}

// TestCheckpoints: the end of the log is recorded elsewhere at the start, with a new file, at
// intervals, and when the log is closed.
func TestCheckpoints(t *testing.T) {
	clock, heard := newClock(), &notices{}
	o := keyed(t)
	o.now, o.Notice, o.Checkpoint, o.MaxAge = clock.now, heard.add, time.Hour, 24*time.Hour
	l := open(t, o)
	record(t, l, "anna")
	clock.add(59 * time.Minute)
	record(t, l, "berta")
	require.Equal(t, []string{"audit log opened 1"}, heard.list())
	clock.add(time.Minute)
	record(t, l, "clara")
	require.Equal(t, []string{"audit log opened 1", "audit log goes on 6"}, heard.list())
	for i := range 600 {
		record(t, l, fmt.Sprint("user", i))
	}
	require.Len(t, heard.list(), 2, "not too often")
	clock.add(6 * time.Minute)
	record(t, l, "dora")
	require.Equal(t, "audit log goes on 1208", heard.list()[2], "many lines are not left for an hour")
	clock.add(24 * time.Hour)
	record(t, l, "emma")
	require.Equal(t, "audit file started 1210", heard.list()[3])
	anchor, err := readRecord(o.Anchor)
	require.NoError(t, err)
	assert.Equal(t, uint64(1210), anchor.Seq)
	assert.True(t, anchor.authentic(testKey))
	require.NoError(t, l.Close())
	assert.Equal(t, "audit log closed 1212", heard.list()[4])
	assert.Empty(t, verifyKeyed(t, o))
}

// TestCheckpointOfASilentLog: the last lines are recorded elsewhere even if nothing follows them.
func TestCheckpointOfASilentLog(t *testing.T) {
	heard := &notices{}
	l := open(t, Options{File: newFile(t), Checkpoint: 20 * time.Millisecond, Notice: heard.add})
	record(t, l, "anna")
	require.Eventually(t, func() bool {
		all := heard.list()
		return strings.HasSuffix(all[len(all)-1], " 3")
	}, 3*time.Minute, time.Millisecond)
	require.NoError(t, l.Close())
}

func TestAnAnchorThatCannotBeWritten(t *testing.T) {
	heard := &notices{}
	o := keyed(t)
	o.Notice = heard.add
	require.NoError(t, os.WriteFile(filepath.Dir(o.Anchor), nil, 0o600)) // in place of its folder
	session(t, o, "anna")
	assert.Contains(t, heard.list(), "the end of the audit log cannot be written to its anchor")
	require.NoError(t, os.Remove(filepath.Dir(o.Anchor)))
	heard.all = nil
	session(t, o, "berta")
	assert.NotContains(t, heard.list(), "the end of the audit log cannot be written to its anchor")
}

// days writes a file of a log for each of n days, in sessions of one day.
func days(t testing.TB, o Options, clock *clock, n int) {
	t.Helper()
	l := open(t, o)
	for i := range n {
		record(t, l, fmt.Sprint("day", i))
		clock.add(24 * time.Hour)
	}
	require.NoError(t, l.Close())
}

// TestClockJumpsMakeNothingOld: a wrong clock does not cause the removal of a recent file. A jump of the
// clock makes no file older, neither while the gateway runs nor across restarts.
func TestClockJumpsMakeNothingOld(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for name, jump := range map[string]func(t *testing.T, o Options, c *clock){
		"while it runs": func(t *testing.T, o Options, c *clock) {
			l := open(t, o)
			record(t, l, "before")
			c.add(year)
			record(t, l, "after")
			c.add(time.Hour)
			record(t, l, "after")
			require.NoError(t, l.Close())
		},
		"while it is stopped": func(t *testing.T, o Options, c *clock) {
			c.add(year)
			session(t, o, "after")
			session(t, o, "after")
		},
		"and back, again and again": func(t *testing.T, o Options, c *clock) {
			l := open(t, o)
			for i := range 30 {
				c.add(year)
				record(t, l, fmt.Sprint("ahead", i))
				c.add(-year)
				record(t, l, fmt.Sprint("right", i))
			}
			require.NoError(t, l.Close())
		},
		"by days, and back": func(t *testing.T, o Options, c *clock) {
			l := open(t, o)
			for i := range 60 {
				c.add(5 * 24 * time.Hour)
				record(t, l, fmt.Sprint("ahead", i))
				c.add(-5 * 24 * time.Hour)
				record(t, l, fmt.Sprint("right", i))
			}
			require.NoError(t, l.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			clock := newClock()
			o := Options{File: newFile(t), MaxAge: 24 * time.Hour, KeepFor: 30 * 24 * time.Hour, now: clock.now}
			days(t, o, clock, 20)
			jump(t, o, clock)
			report := whole(t, o.File)
			assert.Equal(t, uint64(1), report.First, "nothing was removed")
			assert.NotContains(t, events(t, o.File), EventExpired)
			days(t, o, clock, 40)
			assert.Greater(t, whole(t, o.File).First, uint64(1), "with time it grows old")
		})
	}
}

// TestSpentSpace: changes are refused rather than removing evidence that is not old enough. They are accepted
// again once the evidence is old enough or somebody has freed space.
func TestSpentSpace(t *testing.T) {
	clock, heard := newClock(), &notices{}
	o := Options{File: newFile(t), MaxSize: 4000, MaxAge: 24 * time.Hour, KeepFor: 90 * 24 * time.Hour,
		MaxTotal: 100_000, now: clock.now, Notice: heard.add}
	l := open(t, o)
	running, err := l.Intent(callFor("running"))
	require.NoError(t, err)
	changes := 0
	for ; changes < 1000; changes++ {
		entry, err := l.Intent(callFor(fmt.Sprint("user", changes)))
		if err != nil {
			require.ErrorIs(t, err, ErrSpent)
			break
		}
		require.Equal(t, l.Stats().Used < 80_000, l.Warning() == "")
		require.NoError(t, entry.Outcome(done("user")))
	}
	require.Less(t, changes, 1000)
	require.ErrorIs(t, l.Check(), ErrSpent)
	assert.False(t, l.Stats().OK)
	assert.Contains(t, l.Warning(), "audit.maxTotal")
	for range 1000 {
		require.NoError(t, l.Refuse(callFor("x"), Result{Code: "forbidden"}), "counted, no longer written in full")
	}
	require.NoError(t, running.Outcome(done("running")), "what was begun is recorded")
	assert.Less(t, l.Stats().Used, o.MaxTotal)
	assert.Equal(t, uint64(1), whole(t, o.File).First, "nothing was removed")
	assert.Contains(t, heard.list(), "the audit log is about to be full")

	for range 89 {
		clock.add(24 * time.Hour)
		_, err = l.Intent(callFor("young"))
		require.ErrorIs(t, err, ErrSpent)
		require.NoError(t, l.Refuse(callFor("x"), Result{Code: "forbidden"})) // so that time can be accounted for
	}
	clock.add(2 * 24 * time.Hour)
	record(t, l, "later")
	require.NoError(t, l.Check())
	assert.Empty(t, l.Warning())
	require.NoError(t, l.Close())
	assert.Greater(t, whole(t, o.File).First, uint64(1))
}

func TestRoomIsMadeByHand(t *testing.T) {
	o := Options{File: newFile(t), MaxSize: 4000, MaxTotal: 50_000, KeepFor: time.Hour}
	l := open(t, o)
	var err error
	for err == nil {
		var entry *Entry
		if entry, err = l.Intent(callFor("user")); err == nil {
			require.NoError(t, entry.Outcome(done("user")))
		}
	}
	require.ErrorIs(t, err, ErrSpent)
	rotated, err := rotatedFiles(o.File)
	require.NoError(t, err)
	for _, path := range rotated[:5] {
		require.NoError(t, os.Rename(path, filepath.Join(t.TempDir(), filepath.Base(path))))
	}
	record(t, l, "after")
	require.NoError(t, l.Close())
	require.NoError(t, open(t, o).Close())
}
