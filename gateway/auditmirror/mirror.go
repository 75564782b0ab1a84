// Package auditmirror makes the audit logs of several gateways evidence for each other.
//
// Each gateway's local file is the primary evidence and is written first. A [Mirror] copies its lines byte
// for byte into a log of the cluster's store, without delaying any change. A [Witness] publishes the end of
// the gateway's chain to the others and records the ends of their chains in its own. To hide the removal of
// lines that were the end of a chain a minute ago, all other chains would have to be forged. [Verify]
// compares the files, the copies and the recorded ends.
package auditmirror

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"adgateway/gateway/audit"
	"adgateway/gateway/store"
)

// The kinds of values in the store. Their keys are sums of the gateways' names.
const (
	positions store.Kind = "mirror"
	heads     store.Kind = "head"
)

// logOf returns the log that holds the lines of a gateway.
func logOf(gateway string) store.Log { return store.Log("audit." + gateway) }

func keyOf(db *store.Sealed, gateway string) string {
	return hex.EncodeToString(db.Sum([]byte("audit of a gateway"), []byte(gateway)))
}

// position records which lines of a gateway are in the store.
type position struct {
	store.Formatted
	Gateway string `json:"gateway"`
	Era     int    `json:"era"` // number of times that the gateway's files contradicted the copied lines
	audit.Head
	Time time.Time `json:"time"`
}

// header is the first line of a log entry. After it, the entry contains whole lines of the audit, or a part
// of a line that is too long for one entry.
type header struct {
	store.Formatted
	Era   int    `json:"era"`
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	Part  int    `json:"part,omitempty"` // from 1
	Parts int    `json:"parts,omitempty"`
}

// mostEntry is the size limit for the lines in an entry, in bytes. Messages of the engine are
// limited to 1 MiB.
const mostEntry = 256 << 10

// mostParts limits the number of entries for one line. No line of the audit needs as many.
const mostParts = 500

// Options configure a [Mirror]. All fields except the last three are required.
type Options struct {
	Gateway string
	Store   *store.Sealed
	Log     *audit.Log
	File    string        // path of the audit log
	Keep    time.Duration // how long copies are kept

	Gather  time.Duration // how long lines wait for more; zero means half a second
	Retry   time.Duration // pause after the first of several failures; zero means one second
	Problem func(message string, err error)
}

// Mirror copies the lines of a gateway's audit log. It is safe for concurrent use.
type Mirror struct {
	o       Options
	started uint64 // last line when the log was opened
	tail    audit.Tail

	mu       sync.Mutex // guards the fields below
	known    bool
	at       position
	revision store.Revision
	late     time.Time // when the oldest uncopied line was written; zero if all are copied
	failed   error     // error of the last attempt
	forked   bool
}

// New returns a mirror of a log that was just opened. The caller must call [Mirror.Run].
func New(o Options) *Mirror {
	if o.Gather == 0 {
		o.Gather = 500 * time.Millisecond
	}
	if o.Retry == 0 {
		o.Retry = time.Second
	}
	if o.Problem == nil {
		o.Problem = func(string, error) {}
	}
	return &Mirror{o: o, started: o.Log.Head().Seq, tail: audit.Tail{File: o.File}}
}

// Stats describe the progress of a mirror.
type Stats struct {
	Behind uint64    // number of lines that are not copied yet
	Since  time.Time // approximate time of the oldest of them; zero if there are none
	Failed error     // error of the last attempt
	Forked bool      // the files are not those that were copied before
}

// Stats reports the progress of the mirror. It is safe on a nil Mirror.
func (m *Mirror) Stats() Stats {
	if m == nil {
		return Stats{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Stats{Since: m.late, Failed: m.failed, Forked: m.forked}
	if end := m.o.Log.Head().Seq; end > m.at.Seq {
		s.Behind = end - m.at.Seq
	}
	return s
}

// mostRetry is the longest pause between two attempts.
const mostRetry = 30 * time.Second

// lastSend is the time limit for copying the last lines at the end.
const lastSend = time.Second

// Run copies lines until ctx ends. It then copies the remaining lines if the store answers quickly.
func (m *Mirror) Run(ctx context.Context) {
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSend)
		defer cancel()
		_ = m.Send(last) // on failure the next process sends them
	}()
	pause := m.o.Retry
	for {
		grown := m.o.Log.Grown()
		err := m.Send(ctx)
		if ctx.Err() != nil {
			return
		}
		wait := m.o.Gather
		if err != nil {
			wait, pause = pause, min(2*pause, mostRetry)
		} else {
			pause = m.o.Retry
			select {
			case <-ctx.Done():
				return
			case <-grown:
			}
			m.mu.Lock()
			m.late = time.Now()
			m.mu.Unlock()
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// Send copies all lines that are on disk.
func (m *Mirror) Send(ctx context.Context) error {
	err := m.send(ctx)
	m.mu.Lock()
	before := m.failed
	m.failed = err
	if err == nil {
		m.late = time.Time{}
	} else if m.late.IsZero() {
		m.late = time.Now()
	}
	m.mu.Unlock()
	switch {
	case err != nil && before == nil && ctx.Err() == nil:
		m.o.Problem("lines of the audit log could not be copied to the store of the cluster; they are sent later",
			err)
	case err == nil && before != nil:
		m.o.Problem("lines of the audit log are copied to the store of the cluster again", nil)
	}
	return err
}

func (m *Mirror) send(ctx context.Context) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	for through := m.o.Log.Head().Seq; m.at.Seq < through; {
		lines, err := m.tail.Read(m.at.Seq, through, mostEntry/2)
		if err != nil || len(lines) == 0 {
			return err
		}
		if err = m.add(ctx, lines); err != nil {
			return err
		}
	}
	return nil
}

// begin reads the position of the copies, once, and compares it with the files.
func (m *Mirror) begin(ctx context.Context) error {
	if m.known {
		return nil
	}
	at, revision, err := readPosition(ctx, m.o.Store, m.o.Gateway)
	if err != nil {
		return err
	}
	line, there, err := m.tail.Find(at.Seq)
	if err != nil {
		return err
	}
	if end := m.o.Log.Head().Seq; there && line.Hash != at.Hash || at.Seq > end || at.Seq > 0 && !there &&
		at.Seq >= m.started {
		reason := fmt.Sprintf("the store of the cluster has lines of gateway %s up to line %d, and the files do "+
			"not have that line: 'adgateway cluster verify' shows the difference", m.o.Gateway, at.Seq)
		if err := m.o.Log.Suspect(reason); err != nil {
			return err
		}
		at.Era++
		at.Seq = m.started - min(m.started, 1)
		m.forked = true
	}
	m.mu.Lock()
	m.at, m.revision, m.known = at, revision, true
	m.mu.Unlock()
	return nil
}

// readPosition returns the stored position of a gateway.
func readPosition(ctx context.Context, db *store.Sealed, gateway string) (position, store.Revision, error) {
	at := position{Gateway: gateway}
	found, err := db.Get(ctx, positions, keyOf(db, gateway))
	if errors.Is(err, store.ErrAbsent) {
		return at, store.Absent, nil
	}
	if err == nil {
		if err = store.Decode(db, found.Value, &at); err != nil {
			err = fmt.Errorf("the position of the audit's copy: %w", err)
		}
	}
	return at, found.Revision, err
}

// add appends lines to the log in the store, and advances the position, in a single decision.
func (m *Mirror) add(ctx context.Context, lines []audit.Text) error {
	now, last := time.Now(), lines[len(lines)-1]
	next := m.at
	next.Head, next.Time = last.Head, now.UTC()
	value, err := store.Encode(m.o.Store, next)
	if err != nil {
		return err
	}
	changes := []store.Change{{Kind: positions, Key: keyOf(m.o.Store, m.o.Gateway), Expect: m.revision,
		Value: value}}
	for _, entry := range entries(m.o.Store, m.at.Era, lines) {
		changes = append(changes, store.Change{Log: logOf(m.o.Gateway), Value: entry,
			Expires: m.o.Store.Now().Add(m.o.Keep)})
	}
	revision, err := m.o.Store.Apply(ctx, changes...)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.known = !errors.Is(err, store.ErrConflict) // after a conflict, the position is read again
		return err
	}
	m.at, m.revision = next, revision
	return nil
}

// entries returns the entries for some lines: a single one, unless a line is too long.
func entries(db *store.Sealed, era int, lines []audit.Text) [][]byte {
	var all [][]byte
	whole := header{Era: era}
	var text bytes.Buffer
	flush := func() {
		if text.Len() > 0 {
			all = append(all, encode(db, whole, text.Bytes()))
			text.Reset()
		}
	}
	for _, line := range lines {
		if len(line.Raw) > mostEntry {
			flush()
			all = append(all, parts(db, era, line)...)
			continue
		}
		if text.Len() == 0 {
			whole.First = line.Seq
		} else {
			text.WriteByte('\n')
		}
		whole.Last = line.Seq
		text.Write(line.Raw)
	}
	flush()
	return all
}

// parts splits a long line.
func parts(db *store.Sealed, era int, line audit.Text) [][]byte {
	size := max(mostEntry, (len(line.Raw)+mostParts-1)/mostParts)
	h := header{Era: era, First: line.Seq, Last: line.Seq, Parts: (len(line.Raw) + size - 1) / size}
	var all [][]byte
	for at := 0; at < len(line.Raw); at += size {
		h.Part++
		all = append(all, encode(db, h, line.Raw[at:min(at+size, len(line.Raw))]))
	}
	return all
}

func encode(db *store.Sealed, h header, text []byte) []byte {
	head, _ := store.Encode(db, h) // numbers always encode
	return append(append(head, '\n'), text...)
}

// Copy is a copied line in the store.
type Copy struct {
	Era int
	Raw []byte
}

// Read calls each with the copied lines of a gateway, in the order in which they were copied. It
// stops at the first error of each, and returns it.
func Read(ctx context.Context, db *store.Sealed, gateway string, each func(Copy) error) error {
	var failed error
	var partial bytes.Buffer
	err := db.Log(ctx, logOf(gateway), store.Position{}, func(e store.Appended) bool {
		head, text, _ := bytes.Cut(e.Value, []byte("\n"))
		var h header
		if failed = store.Decode(db, head, &h); failed != nil {
			failed = fmt.Errorf("a copy of the audit: %w", failed)
			return false
		}
		if h.Parts > 0 {
			if h.Part == 1 {
				partial.Reset()
			}
			partial.Write(text)
			if h.Part < h.Parts {
				return true
			}
			failed = each(Copy{h.Era, bytes.Clone(partial.Bytes())})
			return failed == nil
		}
		for raw := range bytes.SplitSeq(text, []byte("\n")) {
			if failed = each(Copy{h.Era, raw}); failed != nil {
				return false
			}
		}
		return true
	})
	return errors.Join(err, failed)
}

// Gateways returns the names of the gateways that have copied lines to a store, or published their
// ends there.
func Gateways(ctx context.Context, db *store.Sealed) (names []string, err error) {
	seen := map[string]bool{}
	for _, kind := range []store.Kind{positions, heads} {
		var wrong error
		err := db.Range(ctx, kind, "", func(e store.Entry) bool {
			var named struct {
				Gateway string `json:"gateway"`
			}
			if wrong = json.Unmarshal(e.Value, &named); wrong != nil {
				return false
			}
			if !seen[named.Gateway] {
				seen[named.Gateway] = true
				names = append(names, named.Gateway)
			}
			return true
		})
		if err = errors.Join(err, wrong); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// Kinds are the kinds of stored values of this package that survive a change of the store's key.
var Kinds = []store.Kind{positions, heads}
