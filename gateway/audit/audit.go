// Package audit keeps a tamper-evident record of calls: a file of JSON lines, one before every call
// that may change something and one after it.
//
// [Log.Intent] records the caller and the call that is about to run, and returns once the line is on disk. If
// it fails, the call must not run. [Entry.Outcome] adds the result. [Log.Refuse] records a rejected call;
// floods of these are counted instead of written individually. [Log.Check] reports whether lines can be
// written, and retries after a failure. Lines about calls that ran but could not be recorded are *owed*: they
// are written before anything else.
//
// # The chain
//
// Every line is one JSON object whose last two members are
//
//	"previous":"<hash of the line before>","hash":"<hash of this line>"}
//
// The hash is SHA-256 in lower-case hexadecimal over the bytes of the line as they are written,
// without the member "hash" and the comma before it (so that they end in "}), and without the line
// feed. The first line's previous is 64 zeros. "seq" counts the lines from 1 without gaps, across
// rotated files and restarts. With a key the hash is HMAC-SHA256, so nobody without the key
// can rewrite the whole chain. A chain may change from plain to keyed hashes, but not back.
//
// A chain whose end is cut off is still consistent. Therefore the head, which is the number and hash of the
// last line, is written to a second file (name + ".head") after each sync. [Verify] compares the head with
// the last line, and optionally with a copy of the head that is kept elsewhere. The service's log contains
// copies of the head as well.
//
// A line that a crash left incomplete stays unchanged; the next line, with the event "torn", contains its
// length and digest. Old files are removed after an "expired" line has been written; any other gap is a
// fault.
package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"adgateway/gateway/filefault"
	"adgateway/gateway/identity"
	"adgateway/gateway/readiness"
	"adgateway/ps"
)

// Options configure a [Log]. Only File is required.
type Options struct {
	File    string        // rotated files and the head are in the same folder
	Key     []byte        // key of the HMAC; empty for plain hashes
	MaxSize int64         // size in bytes at which the file is rotated; zero means never
	MaxAge  time.Duration // age at which the file is rotated; zero means never
	Reads   bool          // also record calls that only read

	// KeepFor is the minimum time that lines are kept. A rotated file whose last line is older is removed. Zero
	// keeps all files.
	KeepFor time.Duration
	// MaxTotal limits the size of all files in bytes. When they reach it and no file is old enough to be
	// removed, intents fail. Zero means no limit.
	MaxTotal int64

	// Reserve is the size in bytes of a reserve next to the log, which is given up when the disk is
	// full. Zero means no reserve.
	Reserve int64
	// Low reports whether the disk is almost full. If it is, calls without effect are only counted, and no space
	// is reserved. A nil Low means that the disk never is.
	Low func() bool

	// Anchor is a file, ideally on another disk, that also records the end of the log, so that the
	// removal of all other files is found. It may be empty.
	Anchor string
	// Checkpoint is the interval at which a growing log writes its anchor and reports its head. If it is zero,
	// the log does so only when a file is started or the log is opened or closed.
	Checkpoint time.Duration

	// Gateway is this gateway's name in its cluster; empty if it is not in one.
	Gateway string

	// Notice reports events that the operator must know: the head (fields "sequence" and "hash") at
	// checkpoints; failures and alterations (field "error"); recoveries. It is called from any
	// goroutine, and must not call the log. Nil discards notices.
	Notice func(message string, fields map[string]any)
	// Recorded is called with each call and the line about its outcome or refusal, even if the line
	// could not be written yet. It must not block. It may be nil.
	Recorded func(Call, *Line)

	// AfterSync is called each time after lines were synced, for benchmarks of slow disks. It may be nil.
	AfterSync func()

	now  func() time.Time // tests only
	open opener           // tests only
}

// Who identifies a caller.
type Who = identity.Who

// Call is a call as it was received.
type Call struct {
	RequestID  string
	Who        *Who   // nil if unknown
	From       string // the client's address
	Operation  string
	Parameters map[string]string // parameters that identify the targets of the call; secrets are masked
	PlanCaller string            // caller that made the applied plan; empty without a plan
	Change     string            // id of the call's change in the history; empty without one
	Degraded   bool              // set if an earlier version made the change without the shared store

	// Server is the directory or DNS server that is about to be used, and PinEpoch is as in Result. Only
	// [Log.Intent] uses them; other lines take them from their Result.
	Server   string
	PinEpoch uint64
}

// Result is the result of a call.
type Result struct {
	Outcome  string // a [ps.Outcome]; empty if it was rejected before anything ran
	Code     string // error code of the response; empty on success
	Status   int    // HTTP status of the response; 0 if there was none
	Server   string // the directory or DNS server that was used
	PinEpoch uint64 // epoch of the gateways' choice of the server; 0 outside of a cluster
	Duration time.Duration

	// SettledBy names the origin of the result if it is not the call itself: "start" for a restart,
	// the id of a later request, or the name of a gateway. It is empty otherwise.
	SettledBy string

	Changes []ps.Change
	Steps   []ps.Step
	Remains []ps.Object
	Failed  []ps.Object // objects of a bulk operation that failed
}

// Stats are statistics of a log since it was opened.
type Stats struct {
	OK         bool   // whether the last attempt to write succeeded and there is space
	Used       int64  // bytes of all files
	MaxTotal   int64  // as in Options
	Sequence   uint64 // number of the last line
	Lines      uint64 // lines written
	Failures   uint64 // failed attempts to write
	Owed       int    // lines about calls that ran, still to be written
	Suppressed uint64 // calls without effect that were only counted
}

// Log is an open log. It is safe for concurrent use. A nil *Log records
// nothing and never fails.
type Log struct {
	o    Options
	lock *flock.Flock

	endedAt  time.Time // time of the last line of the previous process
	openedAt uint64    // number of this process's first line

	mu      sync.Mutex // guards the following fields
	batch   *batch     // lines waiting for the writer; nil if none
	owed    []*Line
	lost    uint64 // lines that were neither written nor kept
	trouble error  // reason why the last attempt failed; nil if it succeeded
	since   time.Time
	stats   Stats
	head    Head          // of the last line that is on disk
	grown   chan struct{} // closed when there are more lines; nil if nobody waits
	used    int64         // bytes of all files
	flood   flood

	writing sync.Mutex // held while writing; guards the following fields
	out     *chain
	points  checkpoints
}

// Open opens or creates a log. It fails if another process has the log open or the file cannot be read. A
// file that merely cannot be written is not an error, because calls that change nothing can still be served.
// [Log.Check] then returns the reason.
func Open(o Options) (*Log, error) {
	if o.now == nil {
		o.now = time.Now
	}
	if o.open == nil {
		o.open = openFile
	}
	if err := os.MkdirAll(filepath.Dir(o.File), 0o700); err != nil {
		return nil, filefault.Explain("audit.file", err)
	}
	lock := flock.New(o.File + ".lock")
	if held, err := lock.TryLock(); err != nil {
		return nil, filefault.Explain("audit.file", err)
	} else if !held {
		return nil, fmt.Errorf("audit.file: %s is in use by another process", o.File)
	}
	l := &Log{o: o, lock: lock, out: &chain{o: &o, reserve: reserve{o: &o}}}
	l.flood.write, l.flood.now, l.flood.spent = l.append, o.now, l.short
	if err := l.out.recover(); err != nil {
		_ = l.out.close() // err is more important
		_ = l.lock.Unlock()
		return nil, filefault.Explain("audit.file", err)
	}
	l.measure()
	l.head = Head{l.out.seq, l.out.last}
	l.points.at = o.now()
	l.endedAt, l.openedAt = l.out.lastAt, l.out.seq+1
	host, _ := os.Hostname() // optional
	if l.append(&Line{Event: EventOpen, Host: host, Process: os.Getpid(), Chain: l.algorithm(),
		Gateway: o.Gateway}) == nil {
		l.report("audit log opened")
	}
	return l, nil
}

// Close writes the owed lines and closes the log. Later calls fail.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.flood.stop()
	err := l.append(&Line{Event: EventClose})
	l.report("audit log closed")
	l.writing.Lock()
	defer l.writing.Unlock()
	l.out.closed, l.points.over = true, true
	if closing := l.out.close(); err == nil {
		err = closing
	}
	if unlocking := l.lock.Unlock(); err == nil {
		err = unlocking
	}
	return err
}

// Reads reports whether calls that change nothing are recorded.
func (l *Log) Reads() bool { return l != nil && l.o.Reads }

// Entry is a call between its intent and its outcome. A nil *Entry records nothing.
type Entry struct {
	log   *Log
	call  Call
	seq   uint64
	start time.Time
}

// Intent records that a call is about to change something, and returns once the line is on disk.
// After an error the call must not change anything.
func (l *Log) Intent(c Call) (*Entry, error) {
	entries, err := l.Intents(c)
	if err != nil {
		return nil, err
	}
	return entries[0], nil
}

// Intents does the work of [Log.Intent] for several calls with a single wait for the disk. After an error
// none of the calls may change anything.
func (l *Log) Intents(calls ...Call) ([]*Entry, error) {
	entries, lines := make([]*Entry, len(calls)), make([]*Line, len(calls))
	if l == nil || len(calls) == 0 {
		return entries, nil
	}
	if err := l.room(); err != nil {
		return nil, err
	}
	for i, c := range calls {
		lines[i] = c.line(EventIntent)
	}
	if err := l.append(lines...); err != nil {
		return nil, err
	}
	for i, c := range calls {
		entries[i] = &Entry{log: l, call: c, seq: lines[i].Seq, start: l.o.now()}
	}
	return entries, nil
}

// Outcome records the result of the call. It must be called only once. If the line cannot be
// written, it is owed, and Outcome returns the error.
func (e *Entry) Outcome(r Result) error {
	if e == nil {
		return nil
	}
	return e.log.Outcomes([]*Entry{e}, []Result{r}, 0)
}

// Outcomes does the work of [Entry.Outcome] for several entries with a single wait for the disk. For the
// given time it waits for another caller, to share that wait.
func (l *Log) Outcomes(entries []*Entry, results []Result, patience time.Duration) error {
	if l == nil || len(entries) == 0 {
		return nil
	}
	lines := make([]*Line, len(entries))
	for i, e := range entries {
		line, r := e.call.line(EventOutcome), results[i]
		line.Parameters = nil // they are in the intent
		line.Intent = e.seq
		if r.Duration == 0 {
			r.Duration = l.o.now().Sub(e.start)
		}
		line.add(r)
		lines[i] = line
	}
	err := l.join(patience, lines...)
	if l.o.Recorded != nil {
		for i, e := range entries {
			l.o.Recorded(e.call, lines[i])
		}
	}
	return err
}

// Done records the result of a call that has no intent because it announced no change. If the caller makes
// too many calls without effect, the call is only counted, unless reads is set.
func (l *Log) Done(c Call, r Result, reads bool) error {
	if l == nil {
		return nil
	}
	line := c.line(EventOutcome)
	line.add(r)
	if r.Outcome != string(ps.OutcomeNone) || reads {
		return l.record(c, line)
	}
	return l.limited(c, line)
}

// Settled records the result of a change that its call could not record. intent is the number of
// the intent, or 0 if this log has none.
func (l *Log) Settled(c Call, intent uint64, r Result) error {
	if l == nil {
		return nil
	}
	line := c.line(EventOutcome)
	if line.Intent = intent; intent != 0 {
		line.Parameters = nil // the intent has them
	}
	line.add(r)
	return l.record(c, line)
}

// Refuse records a call that was rejected before anything ran. If the caller makes too many such calls, the
// call is only counted.
func (l *Log) Refuse(c Call, r Result) error {
	if l == nil {
		return nil
	}
	line := c.line(EventRefused)
	r.Outcome = outcomeRefused
	line.add(r)
	return l.limited(c, line)
}

// limited writes a line about a call without effect, or counts it.
func (l *Log) limited(c Call, line *Line) error {
	if !l.flood.admit(line) {
		l.mu.Lock()
		l.stats.Suppressed++
		l.mu.Unlock()
		return nil
	}
	line.Parameters = brief(line.Parameters)
	c.Parameters = line.Parameters
	return l.record(c, line)
}

// record writes a line about a call, and reports it.
func (l *Log) record(c Call, line *Line) error {
	err := l.append(line)
	if l.o.Recorded != nil {
		l.o.Recorded(c, line)
	}
	return err
}

// Check returns the reason why changes must be rejected now, or nil. If the last write failed, it
// tries again.
func (l *Log) Check() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	trouble := l.trouble
	l.mu.Unlock()
	if trouble != nil {
		if err := l.append(); err != nil {
			return err
		}
	}
	return l.room()
}

// Readiness checks whether changes can be recorded.
func (l *Log) Readiness() readiness.Check {
	if err := l.Check(); err != nil {
		return readiness.Check{Name: "audit", Reason: fmt.Sprintf("the audit log cannot be written: %v", err)}
	}
	warning := l.Warning()
	return readiness.Check{Name: "audit", OK: true, Degraded: warning != "", Reason: warning}
}

// Warning describes a problem that will soon keep changes from being recorded, or returns "".
func (l *Log) Warning() string {
	if l == nil || l.o.MaxTotal <= 0 {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used < l.o.MaxTotal/5*4 {
		return ""
	}
	return fmt.Sprintf("the audit log uses %d of %d MiB (audit.maxTotal); when they are spent, changes are "+
		"refused until files are older than audit.keepFor", l.used>>20, l.o.MaxTotal>>20)
}

// Stats returns the log's statistics, which are zero for a nil Log.
func (l *Log) Stats() Stats {
	if l == nil {
		return Stats{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Used, s.MaxTotal = l.used, l.o.MaxTotal
	s.OK = l.trouble == nil && (s.MaxTotal <= 0 || s.Used < s.MaxTotal-l.o.reserve())
	s.Owed = len(l.owed)
	return s
}

func (l *Log) notice(message string, fields map[string]any) {
	if l.o.Notice != nil {
		l.o.Notice(message, fields)
	}
}

// report makes a checkpoint with a message, even if no checkpoint is due.
func (l *Log) report(message string) {
	l.writing.Lock()
	defer l.writing.Unlock()
	if !l.points.over {
		l.checkpoint(message)
	}
}

const (
	plainHash = "sha256"
	keyedHash = "hmac-sha256"
)

func (l *Log) algorithm() string {
	if len(l.o.Key) > 0 {
		return keyedHash
	}
	return plainHash
}

// digest returns the hash of a line, keyed if there is a key.
func digest(key, line []byte) string {
	var h hash.Hash
	if len(key) > 0 {
		h = hmac.New(sha256.New, key)
	} else {
		h = sha256.New()
	}
	h.Write(line)
	return hex.EncodeToString(h.Sum(nil))
}
