package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
)

// Fault is a place where a log was altered.
type Fault struct {
	File string
	Line int // in the file, from 1; 0 for the whole file
	Text string
}

func (f Fault) String() string {
	if f.Line == 0 {
		return f.File + ": " + f.Text
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text)
}

// Report is the result of [Verify].
type Report struct {
	Files       []string // in the order of the chain
	Lines       uint64   // intact lines
	First, Last uint64   // sequence numbers
	Head        Head     // of the last intact line, to be recorded elsewhere
	Keyed       bool     // the chain has a key
	Anchored    bool     // the end was compared with the anchor
	Noted       bool     // whether the end was also compared with an end recorded elsewhere
	Faults      []Fault
	Notes       []Fault // irregularities that are not faults
	Interrupted []*Line // intents of calls that were running when the gateway crashed
	Running     []*Line // intents without an outcome since the log was last opened
}

// Check describes what to verify.
type Check struct {
	File  string   // the log; its rotated files and its head are in the same folder
	Files []string // files to read instead, in any order; the head is used if File is among them
	Key   []byte   // of a keyed chain
	// Anchor is the log's anchor; empty to ignore it.
	Anchor string
	Least  Head // an end recorded elsewhere; optional, and so is its hash
}

// Verify reads a log from its first line to its last, and finds every line that was altered, removed,
// inserted or moved. The log may be in use. It returns an error only if files cannot be read; faults are in
// the report.
func Verify(c Check) (*Report, error) {
	// The ends are read first, so that lines written meanwhile are not reported as missing.
	head, headErr := readWhole(headName(c.File), c.Key)
	anchor, anchorErr := readWhole(c.Anchor, c.Key)
	v := &verifier{check: c, head: head.Head, report: &Report{}, open: map[uint64]*Line{},
		heads: map[uint64]string{head.Seq: "", anchor.Seq: "", c.Least.Seq: ""}}
	ordered, err := logFiles(c.File, c.Files)
	if errors.Is(err, fs.ErrNotExist) && len(c.Files) == 0 && (headErr == nil || anchorErr == nil) {
		ordered, err = nil, nil // the log files are gone, but the head or the anchor is not
	}
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
	v.report.Noted = c.Least.Seq > 0
	v.end(c.Least, "noted")
	if whole := len(c.Files) == 0 || slices.Contains(c.Files, c.File); whole {
		v.checkHead(head, headErr)
		v.checkAnchor(anchor, anchorErr, head)
	}
	if len(c.Key) > 0 && !v.report.Keyed && v.report.Lines > 0 {
		v.fault(v.newest(), 0, "no line was written with the key")
	}
	v.report.Running = slices.Collect(maps.Values(v.open))
	slices.SortFunc(v.report.Running, bySeq)
	slices.SortFunc(v.report.Interrupted, bySeq)
	return v.report, nil
}

// readWhole reads a head record or an anchor, even while it is being written.
func readWhole(path string, key []byte) (r headRecord, err error) {
	for range 10 {
		r, err = readRecord(path)
		if err == nil && r.authentic(key) || errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return r, err
}

// checkHead compares the end with the head record.
func (v *verifier) checkHead(head headRecord, err error) {
	name := headName(v.check.File)
	switch {
	case err != nil || head.Seq == 0:
		v.fault(name, 0, "the head record is missing or damaged: lines may be missing at the end")
		return
	case v.report.Keyed && !head.authentic(v.check.Key):
		v.fault(name, 0, "the head record was not written with the key: lines may be missing at the end")
	}
	v.end(head.Head, "head record's")
	// The head may already include lines that were written meanwhile.
	if now, err := readRecord(name); err == nil && now.Seq < v.last {
		v.note(v.check.File, 0, "%s behind the head record's last: the gateway was killed, the host lost power, "+
			"or somebody added them", span(now.Seq+1, v.last))
	}
}

// checkAnchor compares the end of the log with the anchor.
func (v *verifier) checkAnchor(anchor headRecord, err error, head headRecord) {
	switch name := v.check.Anchor; {
	case name == "", errors.Is(err, fs.ErrNotExist) && !head.Anchored:
	case err != nil:
		v.fault(name, 0, "the anchor is missing or damaged: lines may be missing at the end")
	case !anchor.authentic(v.check.Key):
		v.fault(name, 0, "the anchor was not written with the key: lines may be missing at the end")
	default:
		v.report.Anchored = true
		v.end(anchor.Head, "anchor's")
	}
}

// newest returns the file with the end of the chain.
func (v *verifier) newest() string {
	if files := v.report.Files; len(files) > 0 {
		return files[len(files)-1]
	}
	return v.check.File
}

// ErrKeyNeeded is returned by [Verify] if the chain has a key and the check has none.
var ErrKeyNeeded = errors.New("the chain was written with a key: set audit.keyFile (--key-file)")

func bySeq(a, b *Line) int { return int(int64(a.Seq) - int64(b.Seq)) }

// logFiles returns the files of a log, or files if it is not empty, sorted by the number of their first
// intact line.
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

// eachLine calls each with every line of a file, without its line feed. ended reports whether the line had a
// line feed. It stops at an error of each, which it returns unless it is [io.EOF].
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

// verifier verifies a chain.
type verifier struct {
	check  Check
	head   Head
	report *Report

	last    uint64            // number of the last line
	hash    string            // its hash; empty if unknown because the line was altered
	heads   map[uint64]string // hashes of the lines that heads refer to
	strange *strange          // an unreadable line, until an event "torn" explains it
	expired uint64            // number up to which the log itself has removed lines
	open    map[uint64]*Line  // intents without outcome
}

// strange is an unreadable line.
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
			if !ended && (!newest || line.Seq <= v.head.Seq) {
				v.fault(path, number, "the line feed at the end is missing")
			}
			return v.line(path, number, line, hashed, sum)
		}
		v.unexplained()
		if newest && !ended {
			// The head shows whether more than this is missing.
			v.note(path, number, "the line is incomplete: it is being written, or was cut off by a crash")
			return nil
		}
		v.strange = &strange{path, number, len(raw), digest(nil, raw)}
		return nil
	})
}

// unexplained reports an unreadable line that no crash explains.
func (v *verifier) unexplained() {
	if s := v.strange; s != nil {
		v.fault(s.file, s.number, "not a line of the log: it was altered or inserted")
		v.strange = nil
	}
}

// line checks one readable line.
func (v *verifier) line(path string, number int, line *Line, hashed []byte, sum string) error {
	if line.Event == EventOpen && line.Chain == keyedHash && len(v.check.Key) == 0 {
		return fmt.Errorf("%s:%d: %w", path, number, ErrKeyNeeded)
	}
	v.torn(path, number, line)
	next := line.Seq == v.last+1 || v.last == 0
	if !v.intact(hashed, sum) {
		v.fault(path, number, "line %d was altered: its hash does not match its content", line.Seq)
		if next {
			v.last, v.hash = line.Seq, ""
		}
		return nil
	}
	switch {
	case line.Seq <= v.last:
		v.fault(path, number, "line %d comes after line %d: it was moved or inserted", line.Seq, v.last)
		return nil
	case !next:
		v.fault(path, number, "%s missing before this one", span(v.last+1, line.Seq-1))
	case line.Seq == 1 && line.Previous != noHash, v.hash != "" && line.Previous != v.hash:
		v.fault(path, number, "line %d does not follow the previous line: one of them was replaced", line.Seq)
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

// intact reports whether the hash of a line matches its content. After the first keyed line a plain
// hash, which anybody can compute, is not accepted.
func (v *verifier) intact(hashed []byte, sum string) bool {
	if len(v.check.Key) > 0 && sum == digest(v.check.Key, hashed) {
		v.report.Keyed = true
		return true
	}
	return !v.report.Keyed && sum == digest(nil, hashed)
}

// torn checks whether the line explains the unreadable line before it.
func (v *verifier) torn(path string, number int, line *Line) {
	s := v.strange
	switch {
	case line.Event != EventTorn:
	case s != nil && line.Count == uint64(s.bytes) && line.SHA256 == s.sum:
		v.note(s.file, s.number, "the line is incomplete: the gateway or its host crashed while it was written")
		v.strange = nil
	default:
		v.fault(path, number, "line %d refers to an incomplete previous line that does not exist", line.Seq)
	}
	v.unexplained()
}

// event processes the event of a line.
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
		v.fault(path, number, "the gateway itself noticed: %s", line.Reason)
	case EventGap:
		v.note(path, number, "nothing could be written from %s to %s: %s", line.Since, line.Time, line.Reason)
	case EventExpired:
		v.expired = max(v.expired, line.Through)
	}
}

// begin compares the first line with the lines that the log has removed itself.
func (v *verifier) begin() {
	first := v.report.First
	switch {
	case first <= 1:
	case v.expired >= first-1:
		v.note(v.report.Files[0], 0, "%s gone: the log removed them at their age (audit.keepFor)", span(1, first-1))
	case len(v.check.Files) > 0:
		v.note(v.report.Files[0], 0, "the files start at line %d", first)
	default:
		v.fault(v.report.Files[0], 0, "%s missing at the start, and the log did not remove them by itself",
			span(1, first-1))
	}
}

// end compares the last line with a head.
func (v *verifier) end(head Head, whose string) {
	file, found := v.newest(), v.heads[head.Seq]
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
