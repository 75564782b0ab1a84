package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// file is what a chain needs of an [os.File].
type file interface {
	io.Writer
	io.ReaderAt
	Sync() error
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
	Close() error
}

type opener func(path string) (file, error)

func openFile(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return appended{f}, nil
}

// appended is a file that was opened to be appended to.
type appended struct{ *os.File }

// Truncate opens the file once more: on Windows the right to append is not the
// right to truncate.
func (f appended) Truncate(size int64) error {
	other, err := os.OpenFile(f.Name(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	at, err := other.Stat()
	ours, err2 := f.Stat()
	if err = errors.Join(err, err2); err == nil && !os.SameFile(at, ours) {
		err = errors.New("another file was put in the place of the open one")
	}
	if err == nil {
		err = other.Truncate(size)
	}
	return errors.Join(err, other.Close())
}

// chain is the files of a log and where the chain ends. It rotates by itself:
// lumberjack, made for this, neither syncs nor tells what it renames or
// removes, nor notices that its file is gone.
type chain struct {
	o    *Options
	seq  uint64 // of the last line
	last string // its hash

	f       file // nil: not open
	size    int64
	begun   time.Time // time of the file's first line; zero: it has none yet
	unended bool      // the file's last line has no line feed
	spoilt  bool      // beyond size may be what a failed write left
	closed  bool

	notes  []*Line  // about what was found; written before anything else
	doomed []string // rotated files to remove once that is written
	text   bytes.Buffer
}

// write appends lines and syncs. When it fails nothing of them is in the file,
// or what is will be taken away before the next write. begun tells that a new
// file was begun.
func (c *chain) write(lines []*Line) (begun bool, err error) {
	if c.closed {
		return false, errClosed
	}
	if begun, err = c.ready(); err != nil {
		return false, err
	}
	text, seq, last := c.encodeAll(slices.Concat(c.notes, lines))
	c.spoilt = true
	if _, err = c.f.Write(text); err == nil {
		err = c.f.Sync()
	}
	if err == nil {
		err = c.writeHead(seq, last)
	}
	if err != nil {
		// What a failed sync left in memory is not known: the file is opened anew.
		return false, errors.Join(err, c.close())
	}
	if c.begun.IsZero() {
		c.begun = c.o.now()
	}
	c.size += int64(len(text))
	c.seq, c.last, c.notes, c.unended, c.spoilt = seq, last, nil, false, false
	for _, path := range c.doomed {
		_ = os.Remove(path) // tried again at the next rotation
	}
	c.doomed = nil
	return begun, nil
}

// close closes the file, without what a failed write may have left.
func (c *chain) close() error {
	if c.f == nil {
		return nil
	}
	if c.spoilt && c.f.Truncate(c.size) == nil {
		c.spoilt = false
	}
	err := c.f.Close()
	c.f = nil
	return err
}

// ready makes the file fit to be written: there, as it was left, not too large.
func (c *chain) ready() (begun bool, err error) {
	if c.f != nil {
		if reason := c.changed(); reason != "" {
			c.note(EventAltered, reason)
			c.size = -1 // whatever it is now
			if err := c.close(); err != nil {
				return false, err
			}
		}
	}
	if c.f == nil {
		if err := c.reopen(); err != nil {
			return false, err
		}
	}
	if !c.due() {
		return false, nil
	}
	return c.rotate()
}

func (c *chain) note(event Event, reason string) {
	c.notes = append(c.notes, &Line{Event: event, Reason: reason, File: filepath.Base(c.o.File)})
}

// changed tells how the file differs from what was left; empty: it does not.
func (c *chain) changed() string {
	at, err := os.Stat(c.o.File)
	if errors.Is(err, fs.ErrNotExist) {
		return "the file was removed or renamed while it was open"
	}
	ours, err2 := c.f.Stat()
	if err != nil || err2 != nil {
		return ""
	}
	switch {
	case !os.SameFile(at, ours):
		return "another file was put in the place of the open one"
	case ours.Size() != c.size: // by the open file: Windows may have the name's size late
		return fmt.Sprintf("the file has %d bytes, but %d were written", ours.Size(), c.size)
	}
	return ""
}

// reopen opens the file and brings it to the state that is remembered, or
// remembers the state it is in.
func (c *chain) reopen() error {
	if err := os.MkdirAll(filepath.Dir(c.o.File), 0o700); err != nil {
		return err
	}
	f, err := c.o.open(c.o.File)
	if err != nil {
		return err
	}
	c.f = f
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, c.close())
	}
	switch {
	case c.spoilt && c.size >= 0 && info.Size() > c.size:
		if err := f.Truncate(c.size); err != nil {
			return errors.Join(err, c.close())
		}
	case info.Size() != c.size:
		c.size, c.unended, c.begun = info.Size(), false, time.Time{}
		if info.Size() == 0 {
			syncFolder(c.o.File)
			break
		}
		if err := c.end(); err != nil {
			return errors.Join(err, c.close())
		}
	}
	c.spoilt = false
	return nil
}

// end reads the file's first time and how its last line ends.
func (c *chain) end() error {
	first, _, rest, err := c.ends(c.f, c.size)
	if err != nil {
		return err
	}
	c.begun = c.o.now()
	if line, _, _, err := parse(first); err == nil {
		if at, err := time.Parse(timeFormat, line.Time); err == nil {
			c.begun = at
		}
	}
	if len(rest) == 0 {
		return nil
	}
	c.unended = true
	if !c.whole(rest) {
		note := &Line{Event: EventTorn, Count: uint64(len(rest)), SHA256: digest(nil, rest),
			Reason: "the line before is unfinished", File: filepath.Base(c.o.File)}
		c.notes = slices.Insert(c.notes, 0, note) // it stands right behind what it is about
	}
	return nil
}

// whole tells whether a line is all there, its hash included.
func (c *chain) whole(raw []byte) bool {
	_, hashed, sum, err := parse(raw)
	return err == nil && (sum == digest(c.o.Key, hashed) || sum == digest(nil, hashed))
}

// ends reads the first line of a file, the last that has a line feed, and what
// follows it. A line has no limit: what is read grows until it holds one.
func (c *chain) ends(f io.ReaderAt, size int64) (first, last, rest []byte, err error) {
	for n := int64(64 << 10); ; n *= 4 {
		n = min(n, size)
		head, tail := make([]byte, n), make([]byte, n)
		if _, err = f.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
			return nil, nil, nil, err
		}
		if _, err = f.ReadAt(tail, size-n); err != nil && !errors.Is(err, io.EOF) {
			return nil, nil, nil, err
		}
		first, _, firstEnds := bytes.Cut(head, []byte{'\n'})
		end := bytes.LastIndexByte(tail, '\n')
		start := bytes.LastIndexByte(tail[:max(end, 0)], '\n')
		if n < size && (!firstEnds || start < 0) {
			continue
		}
		if end >= 0 {
			last = tail[start+1 : end]
		}
		return first, last, tail[end+1:], nil
	}
}

// lastLine is the last line of a file; nil: it has none.
func (c *chain) lastLine(f io.ReaderAt, size int64) ([]byte, error) {
	_, last, rest, err := c.ends(f, size)
	if err == nil && c.whole(rest) {
		return rest, nil
	}
	return last, err
}

// recover finds the end of the chain in files of an earlier session, and notes
// what is not as that session must have left it.
func (c *chain) recover() error {
	c.last, c.size = noHash, -1
	if err := c.reopen(); err != nil {
		return err
	}
	raw, err := c.lastLine(c.f, c.size)
	if err == nil && raw == nil {
		raw, err = c.lastRotated()
	}
	if err != nil {
		return err
	}
	if raw != nil {
		c.take(raw)
	}
	head, err := readHead(c.o.File)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.seq == 0:
	case err != nil:
		c.note(EventAltered, "the head record is missing or damaged")
	case head.Seq > c.seq:
		c.note(EventAltered, fmt.Sprintf("the head record says %d lines, the file ends at line %d", head.Seq, c.seq))
		c.seq, c.last = head.Seq, head.Hash
	}
	return nil
}

// take continues the chain at a line.
func (c *chain) take(raw []byte) {
	line, hashed, sum, err := parse(raw)
	if err != nil {
		c.note(EventAltered, "the last line is not one of an audit log")
		return
	}
	c.seq, c.last = line.Seq, sum
	if sum != digest(c.o.Key, hashed) && sum != digest(nil, hashed) {
		c.note(EventAltered, "the last line does not have the hash of its content, or it was made with another key")
	}
}

// lastRotated is the last line of the newest rotated file; nil: there is none.
func (c *chain) lastRotated() ([]byte, error) {
	rotated, err := rotatedFiles(c.o.File)
	if err != nil || len(rotated) == 0 {
		return nil, err
	}
	f, err := os.Open(rotated[len(rotated)-1])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return c.lastLine(f, info.Size())
}

func (c *chain) due() bool {
	if c.size == 0 || c.begun.IsZero() {
		return false
	}
	return c.o.MaxSize > 0 && c.size >= c.o.MaxSize || c.o.MaxAge > 0 && c.o.now().Sub(c.begun) >= c.o.MaxAge
}

// rotate puts the file aside and begins another. Where it cannot be renamed,
// because somebody holds it open, it just grows on.
func (c *chain) rotate() (begun bool, err error) {
	if err := c.close(); err != nil {
		return false, err
	}
	if err := os.Rename(c.o.File, rotatedName(c.o.File, c.o.now(), c.seq)); err == nil {
		c.size, begun = -1, true
		if err := c.expire(); err != nil {
			return false, err
		}
	}
	return begun, c.reopen()
}

// expire marks the rotated files that are too many, the oldest.
func (c *chain) expire() error {
	if c.o.Keep <= 0 {
		return nil
	}
	rotated, err := rotatedFiles(c.o.File)
	if err != nil {
		return err
	}
	for _, path := range rotated[:max(0, len(rotated)-c.o.Keep)] {
		c.doomed = append(c.doomed, path)
		c.notes = append(c.notes, &Line{Event: EventExpired, File: filepath.Base(path), Through: rotatedThrough(path)})
	}
	return nil
}

// rotatedName is "audit-20060102T150405Z-000000000420.jsonl": when it was put
// aside and the number of its last line.
func rotatedName(path string, at time.Time, through uint64) string {
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s-%s-%012d%s", strings.TrimSuffix(path, ext), at.UTC().Format("20060102T150405Z"), through, ext)
}

func rotatedThrough(path string) uint64 {
	base := strings.TrimSuffix(path, filepath.Ext(path))
	through, _ := strconv.ParseUint(base[strings.LastIndexByte(base, '-')+1:], 10, 64) // 0: no rotated file
	return through
}

// rotatedFiles lists the rotated files of a log, the oldest first.
func rotatedFiles(path string) ([]string, error) {
	ext := filepath.Ext(path)
	prefix := strings.TrimSuffix(filepath.Base(path), ext) + "-"
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var found []string
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, prefix) && filepath.Ext(name) == ext && rotatedThrough(name) > 0 {
			found = append(found, filepath.Join(filepath.Dir(path), name))
		}
	}
	slices.SortStableFunc(found, func(a, b string) int {
		return int(int64(rotatedThrough(a)) - int64(rotatedThrough(b)))
	})
	return found, nil
}

// Head is the end of a chain: number and hash of its last line.
type Head struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

func headName(path string) string { return path + ".head" }

// writeHead writes the head over the one before. It always has the same length,
// so that it needs no room on a full disk, and is too short to be torn.
func (c *chain) writeHead(seq uint64, hash string) error {
	f, err := os.OpenFile(headName(c.o.File), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, `{"seq":%-20d,"hash":"%s"}`+"\n", seq, hash)
	return errors.Join(err, f.Close())
}

func readHead(path string) (Head, error) {
	text, err := os.ReadFile(headName(path))
	if err != nil {
		return Head{}, err
	}
	var head Head
	if err := json.Unmarshal(text, &head); err != nil || len(head.Hash) != hashLength {
		return Head{}, fmt.Errorf("%s is damaged", headName(path))
	}
	return head, nil
}

// syncFolder makes a new file's name last through a power failure, where the
// system can do that.
func syncFolder(path string) {
	if folder, err := os.Open(filepath.Dir(path)); err == nil {
		_ = folder.Sync() // Windows cannot, and need not
		_ = folder.Close()
	}
}
