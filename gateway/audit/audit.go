// Package audit keeps the evidence of what was done: a file of JSON lines, one
// before every call that may change something and one after it.
//
// [Log.Intent] writes who is about to do what and returns when the line is on
// the disk; if it cannot, nothing may be done. [Log.Outcome] adds what became
// of it. [Log.Refuse] records a call that was turned away; floods of those are
// counted instead of written one by one. [Log.Check] tells whether lines can be
// written, and tries again when they could not. What could not be written of
// calls that did run is owed: it is written before anything else can be.
//
// # The chain
//
// Every line is one JSON object whose last two members are
//
//	"previous":"<hash of the line before>","hash":"<hash of this line>"}
//
// The hash is SHA-256 in lower-case hexadecimal over the bytes of the line as
// they are written, without the member "hash" and the comma before it (so that
// they end in "}), and without the line feed. The first line's previous is 64
// zeros. "seq" counts the lines from 1 without gaps, across rotated files and
// restarts. With a key the hash is HMAC-SHA256: then nobody without the key can
// write the whole chain anew. A chain may change from hash to keyed hash, never
// back.
//
// Cutting off the end leaves a chain whole, so the head, the number and hash of
// the last line, stands in a second file (name + ".head"), written after each
// sync. [Verify] holds both against each other; a copy of the head that is kept
// elsewhere (it is in the service's log, too) can be given to it.
//
// A line that a crash left unfinished stays as it is; the line after it, of the
// event "torn", gives its length and digest. Old files are removed after a line
// "expired" has said so; any other gap is a fault.
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
	"adgateway/ps"
)

// Options say where a log is and how it is kept. File must be given.
type Options struct {
	File    string        // rotated files and the head stand beside it
	Key     []byte        // of HMAC; empty: plain hashes
	MaxSize int64         // bytes after which a new file is begun; zero: never
	MaxAge  time.Duration // age after which a new file is begun; zero: never
	Keep    int           // rotated files that are kept; zero: all
	Reads   bool          // calls that change nothing are recorded, too

	// Notice tells the operator what must not pass unseen: the head when a file
	// is begun or the log closed, failures, recoveries. It is called from any
	// goroutine. Nil: nobody is told.
	Notice func(message string, fields map[string]any)

	now  func() time.Time // tests only
	open opener           // tests only
}

// Who is a caller.
type Who struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // "token", "user", ...; empty: not known
}

// Call is a call as it came in.
type Call struct {
	RequestID  string
	Who        *Who   // nil: not known
	From       string // the client's address
	Operation  string
	Parameters map[string]string // those that say what it is about; secrets masked
}

// Result is what became of a call.
type Result struct {
	Outcome  string // a [ps.Outcome]; empty: it was refused before anything ran
	Code     string // error code of the answer; empty: it was a success
	Status   int    // of the answer; 0: there was none
	Server   string // the directory or DNS server that was asked
	Duration time.Duration

	Changes []ps.Change
	Steps   []ps.Step
	Remains []ps.Object
	Failed  []ps.Object // objects of a bulk operation that could not be done
}

// Stats are figures of a log since it was opened.
type Stats struct {
	OK         bool   // the last line could be written
	Sequence   uint64 // of the last line
	Lines      uint64 // written
	Failures   uint64 // attempts to write that failed
	Owed       int    // lines of calls that ran, still to be written
	Suppressed uint64 // refusals that were counted, not written
}

// Log is an open log. It is safe for concurrent use. A nil *Log records
// nothing and never fails.
type Log struct {
	o    Options
	lock *flock.Flock

	mu      sync.Mutex // guards what follows
	batch   *batch     // lines that wait for the writer; nil: none
	owed    []*Line
	lost    uint64 // lines that were neither written nor kept
	trouble error  // why the last attempt failed; nil: it did not
	since   time.Time
	stats   Stats
	flood   flood

	writing sync.Mutex // held by who writes; guards out
	out     *chain
}

// Open opens a log, or begins one. Another process that has it open is an error,
// and so is a file that cannot be read. A file that only cannot be written is
// not: reads can still be served, and [Log.Check] tells.
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
	l := &Log{o: o, lock: lock, out: &chain{o: &o}}
	l.flood.write, l.flood.now = l.append, o.now
	if err := l.out.recover(); err != nil {
		_ = l.out.close() // err says what is wrong
		_ = l.lock.Unlock()
		return nil, filefault.Explain("audit.file", err)
	}
	host, _ := os.Hostname() // without one the line has none
	if l.append(&Line{Event: EventOpen, Host: host, Process: os.Getpid(), Chain: l.algorithm()}) == nil {
		l.notice("audit log opened", l.head())
	}
	return l, nil
}

// Close writes what is owed and ends the chain's session. Calls that are made
// afterwards fail.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.flood.stop()
	err := l.append(&Line{Event: EventClose})
	l.notice("audit log closed", l.head())
	l.writing.Lock()
	defer l.writing.Unlock()
	l.out.closed = true
	if closing := l.out.close(); err == nil {
		err = closing
	}
	if unlocking := l.lock.Unlock(); err == nil {
		err = unlocking
	}
	return err
}

// Reads tells whether calls that change nothing are to be recorded.
func (l *Log) Reads() bool { return l != nil && l.o.Reads }

// Entry is a call between its intent and its outcome.
type Entry struct {
	log   *Log
	call  Call
	seq   uint64
	start time.Time
}

// Intent records that a call is about to run, and returns when that is on the
// disk. After an error the call must not run.
func (l *Log) Intent(c Call) (*Entry, error) {
	if l == nil {
		return nil, nil
	}
	line := c.line(EventIntent)
	if err := l.append(line); err != nil {
		return nil, err
	}
	return &Entry{log: l, call: c, seq: line.Seq, start: l.o.now()}, nil
}

// Outcome records what became of the call. If it cannot be written it is owed,
// and the error says why. It is called once; a nil Entry has nothing to record.
func (e *Entry) Outcome(r Result) error {
	if e == nil {
		return nil
	}
	line := e.call.line(EventOutcome)
	line.Parameters = nil // the intent has them
	line.Intent = e.seq
	if r.Duration == 0 {
		r.Duration = e.log.o.now().Sub(e.start)
	}
	line.add(r)
	return e.log.append(line)
}

// Refuse records a call that was turned away before anything ran, or counts it
// when its address has too many of them.
func (l *Log) Refuse(c Call, r Result) error {
	if l == nil {
		return nil
	}
	if !l.flood.admit(c.From, r.Code) {
		l.mu.Lock()
		l.stats.Suppressed++
		l.mu.Unlock()
		return nil
	}
	line := c.line(EventRefused)
	r.Outcome = outcomeRefused
	line.add(r)
	return l.append(line)
}

// Check tells why changes are refused at present; nil: they are not. When the
// last attempt to write failed it makes another one.
func (l *Log) Check() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	trouble := l.trouble
	l.mu.Unlock()
	if trouble == nil {
		return nil
	}
	return l.append()
}

// Stats are the log's figures; of a nil Log they are zero.
func (l *Log) Stats() Stats {
	if l == nil {
		return Stats{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.OK, s.Owed = l.trouble == nil, len(l.owed)
	return s
}

func (l *Log) notice(message string, fields map[string]any) {
	if l.o.Notice != nil {
		l.o.Notice(message, fields)
	}
}

// head is the end of the chain, as [Verify] takes it.
func (l *Log) head() map[string]any {
	l.writing.Lock()
	defer l.writing.Unlock()
	return map[string]any{"sequence": l.out.seq, "hash": l.out.last, "file": l.o.File}
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

// digest is the hash of a line, keyed where there is a key.
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
