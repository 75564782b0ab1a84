package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// Fault is one place where a log is not as it was written.
type Fault struct {
	File string
	Line int // in the file, from 1; 0: the file as a whole
	Text string
}

func (f Fault) String() string {
	if f.Line == 0 {
		return f.File + ": " + f.Text
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text)
}

// Report is what [Verify] found.
type Report struct {
	Files       []string // in the order of the chain
	Lines       uint64   // good ones
	First, Last uint64   // numbers of the first and the last
	Head        Head     // of the last good line, to be kept elsewhere
	Keyed       bool     // the chain has a key
	Faults      []Fault
	Notes       []Fault // what is no fault, but should be known
	Interrupted []*Line // intents of calls that were running when the gateway ended without order
	Running     []*Line // intents without outcome since the log was last opened
}

// Check says what to verify.
type Check struct {
	File  string   // the log; its rotated files and its head are found beside it
	Files []string // instead: just these, in any order; the head only of a File among them
	Key   []byte   // of a keyed chain
	Least Head     // the end that was noted elsewhere; zero: none. An empty hash: the number only
}

// Verify reads a log from its first line to its last and finds every line that
// was altered, removed, inserted or put in another place. The log may be in use.
// The error is about files that cannot be read; faults are in the report.
func Verify(c Check) (*Report, error) {
	// The head is read first: lines that are written meanwhile do no harm.
	head, headErr := readHead(c.File)
	v := &verifier{check: c, head: head, report: &Report{}, open: map[uint64]*Line{}, heads: map[uint64]string{head.Seq: "", c.Least.Seq: ""}}
	ordered, err := logFiles(c.File, c.Files)
	if err != nil {
		return nil, err
	}
	v.report.Files = ordered
	for i, path := range ordered {
		if err := v.file(path, i == len(ordered)-1); err != nil {
			return nil, err
		}
	}
	v.unexplained()
	v.begin()
	v.end(c.Least, "noted")
	if len(c.Files) == 0 || slices.Contains(c.Files, c.File) {
		v.end(head, "head record's")
		if headErr != nil || head.Seq == 0 {
			v.fault(headName(c.File), 0, "the head record is missing or damaged: whether lines are missing at the end cannot be told")
		}
		// Lines that came while this one was read are in the head by now.
		if now, err := readHead(c.File); err == nil && now.Seq < v.last {
			v.note(c.File, 0, "%s behind the head record's last: the gateway was killed, the host lost power, or somebody added them", span(now.Seq+1, v.last))
		}
	}
	if len(c.Key) > 0 && !v.report.Keyed && v.report.Lines > 0 {
		v.fault(ordered[len(ordered)-1], 0, "no line was made with the key")
	}
	v.report.Running = slices.Collect(maps.Values(v.open))
	slices.SortFunc(v.report.Running, bySeq)
	slices.SortFunc(v.report.Interrupted, bySeq)
	return v.report, nil
}

// ErrKeyNeeded is the error of [Verify] when the chain has a key and the check
// has none.
var ErrKeyNeeded = errors.New("the chain was made with a key: give it to verify")

func bySeq(a, b *Line) int { return int(int64(a.Seq) - int64(b.Seq)) }

// logFiles are the files of a log, or those that are named instead, by the
// number of their first good line.
func logFiles(file string, files []string) ([]string, error) {
	if len(files) == 0 {
		rotated, err := rotatedFiles(file)
		if err != nil {
			return nil, err
		}
		files = append(rotated, file)
	}
	first := map[string]uint64{}
	for _, path := range files {
		err := eachLine(path, func(_ int, raw []byte, _ bool) error {
			if line, _, _, err := parse(raw); err == nil {
				first[path] = line.Seq
				return io.EOF
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	ordered := slices.Compact(slices.Sorted(slices.Values(files)))
	slices.SortStableFunc(ordered, func(a, b string) int { return int(int64(first[a]) - int64(first[b])) })
	return ordered, nil
}

// eachLine calls each with every line of a file, without its line feed; ended
// tells that it had one. An error of each ends it; [io.EOF] is no error then.
func eachLine(path string, each func(number int, raw []byte, ended bool) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	reader := bufio.NewReaderSize(f, 64<<10)
	for number := 1; ; number++ {
		raw, err := reader.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", path, err)
		}
		if len(raw) == 0 {
			return nil
		}
		text, ended := bytes.CutSuffix(raw, []byte("\n"))
		if err := each(number, text, ended); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// verifier walks along a chain.
type verifier struct {
	check  Check
	head   Head
	report *Report

	last    uint64            // number of the last line of the chain
	hash    string            // its hash; empty: not known, because it was altered
	heads   map[uint64]string // hashes of the lines that heads are about
	strange *strange          // a line that is none, until an event "torn" explains it
	expired uint64            // lines up to here were removed by the log itself
	open    map[uint64]*Line  // intents without outcome
}

// strange is a line that is no line of a log.
type strange struct {
	file   string
	number int
	bytes  int
	sum    string
}

func (v *verifier) fault(file string, line int, format string, args ...any) {
	v.report.Faults = append(v.report.Faults, Fault{file, line, fmt.Sprintf(format, args...)})
}

func (v *verifier) note(file string, line int, format string, args ...any) {
	v.report.Notes = append(v.report.Notes, Fault{file, line, fmt.Sprintf(format, args...)})
}

func (v *verifier) file(path string, newest bool) error {
	return eachLine(path, func(number int, raw []byte, ended bool) error {
		line, hashed, sum, err := parse(raw)
		if err == nil {
			if newest && !ended && line.Seq <= v.head.Seq {
				v.fault(path, number, "the line feed at the end is missing")
			}
			return v.line(path, number, line, hashed, sum)
		}
		v.unexplained()
		if newest && !ended {
			// The head tells whether more than this is missing.
			v.note(path, number, "the line is unfinished: it is being written, or a crash cut it off")
			return nil
		}
		v.strange = &strange{path, number, len(raw), digest(nil, raw)}
		return nil
	})
}

// unexplained reports a line that is none and was not torn by a crash.
func (v *verifier) unexplained() {
	if s := v.strange; s != nil {
		v.fault(s.file, s.number, "this is no line of the log: it was altered or inserted")
		v.strange = nil
	}
}

// line takes one line that could be read.
func (v *verifier) line(path string, number int, line *Line, hashed []byte, sum string) error {
	if line.Event == EventOpen && line.Chain == keyedHash && len(v.check.Key) == 0 {
		return fmt.Errorf("%s:%d: %w", path, number, ErrKeyNeeded)
	}
	v.torn(path, number, line)
	next := line.Seq == v.last+1 || v.last == 0
	if !v.intact(hashed, sum) {
		v.fault(path, number, "line %d was altered: its hash is not that of its content", line.Seq)
		if next {
			v.last, v.hash = line.Seq, ""
		}
		return nil
	}
	switch {
	case line.Seq <= v.last:
		v.fault(path, number, "line %d stands behind line %d: it was moved or inserted", line.Seq, v.last)
		return nil
	case !next:
		v.fault(path, number, "%s missing before this one", span(v.last+1, line.Seq-1))
	case line.Seq == 1 && line.Previous != noHash, v.hash != "" && line.Previous != v.hash:
		v.fault(path, number, "line %d does not follow the line before it: one of them was replaced", line.Seq)
	}
	if v.report.Lines++; v.report.Lines == 1 {
		v.report.First = line.Seq
	}
	v.last, v.hash = line.Seq, sum
	v.report.Last, v.report.Head = line.Seq, Head{line.Seq, sum}
	if _, wanted := v.heads[line.Seq]; wanted {
		v.heads[line.Seq] = sum
	}
	v.event(path, number, line)
	return nil
}

// intact tells whether a line has the hash of its content. Once lines are keyed
// a plain hash, which anybody can make, is none.
func (v *verifier) intact(hashed []byte, sum string) bool {
	if len(v.check.Key) > 0 && sum == digest(v.check.Key, hashed) {
		v.report.Keyed = true
		return true
	}
	return !v.report.Keyed && sum == digest(nil, hashed)
}

// torn looks whether the line explains the strange one before it.
func (v *verifier) torn(path string, number int, line *Line) {
	s := v.strange
	switch {
	case line.Event != EventTorn:
	case s != nil && line.Count == uint64(s.bytes) && line.SHA256 == s.sum:
		v.note(s.file, s.number, "the line is unfinished: the gateway or its host ended while it was written")
		v.strange = nil
	default:
		v.fault(path, number, "line %d tells of an unfinished line before it that is not there", line.Seq)
	}
	v.unexplained()
}

// event takes what a line says about calls and about the log.
func (v *verifier) event(path string, number int, line *Line) {
	switch line.Event {
	case EventIntent:
		v.open[line.Seq] = line
	case EventOutcome:
		delete(v.open, line.Intent)
	case EventOpen:
		for seq, intent := range v.open {
			v.report.Interrupted = append(v.report.Interrupted, intent)
			delete(v.open, seq)
		}
	case EventAltered:
		v.fault(path, number, "the gateway itself found: %s", line.Reason)
	case EventGap:
		v.note(path, number, "nothing could be written from %s to %s: %s", line.Since, line.Time, line.Reason)
	case EventExpired:
		v.expired = max(v.expired, line.Through)
	}
}

// begin holds the first line against what the log removed by itself.
func (v *verifier) begin() {
	first := v.report.First
	switch {
	case first <= 1 || v.expired >= first-1:
	case len(v.check.Files) > 0:
		v.note(v.report.Files[0], 0, "the files begin at line %d", first)
	default:
		v.fault(v.report.Files[0], 0, "%s missing at the start, and the log did not remove them by itself", span(1, first-1))
	}
}

// end holds the last line against a head.
func (v *verifier) end(head Head, whose string) {
	file := v.report.Files[len(v.report.Files)-1]
	found := v.heads[head.Seq]
	switch {
	case head.Seq > v.last:
		v.fault(file, 0, "%s missing at the end: line %d is the %s last", span(v.last+1, head.Seq), head.Seq, whose)
	case head.Hash != "" && found != "" && found != head.Hash:
		v.fault(file, 0, "line %d is not the one with the %s hash", head.Seq, whose)
	}
}

func span(from, to uint64) string {
	if from == to {
		return fmt.Sprintf("line %d is", from)
	}
	return fmt.Sprintf("lines %d to %d are", from, to)
}
