package audit

import (
	"bytes"
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

// file is the part of [os.File] that a chain uses.
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

// appended is a file that is open for appending.
type appended struct{ *os.File }

// Truncate opens the file a second time, because on Windows a handle for appending cannot truncate.
func (f appended) Truncate(size int64) error {
	other, err := os.OpenFile(f.Name(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	at, err := other.Stat()
	ours, err2 := f.Stat()
	if err = errors.Join(err, err2); err == nil && !os.SameFile(at, ours) {
		err = errors.New("the open file was replaced with another one")
	}
	if err == nil {
		err = other.Truncate(size)
	}
	return errors.Join(err, other.Close())
}

// chain is the hash chain of a log with its files. It rotates the files itself, because lumberjack
// does not sync, does not report which files it renames or removes, and does not notice that its
// file is gone.
type chain struct {
	o    *Options
	seq  uint64 // number of the last line
	last string // hash of the last line

	f         file     // nil if not open
	head      *os.File // the head record; nil if not open
	size      int64
	startedAt time.Time // time of the file's first line; zero if the file has no line
	unended   bool      // the file's last line has no line feed
	dirty     bool      // a failed write may have left bytes beyond size
	closed    bool
	lastAt    time.Time         // time of the last line; zero if there is no line
	rotated   int64             // bytes of the rotated files
	extent    map[string]extent // of the rotated files, by path

	notes   []*Line  // about irregularities; written before other lines
	expired []string // rotated files to remove, once the notes are written
	text    bytes.Buffer

	reserve reserve
}

// write appends lines and syncs the file. After an error no line is in the file, or the remains of the lines
// are removed before the next write. started reports whether a new file was started.
func (c *chain) write(lines []*Line) (started bool, err error) {
	if c.closed {
		return false, errClosed
	}
	if started, err = c.ready(); err != nil {
		return false, err
	}
	text, seq, last := c.encodeAll(slices.Concat(c.notes, c.expirations(), lines))
	c.reserve.ensure()
	c.dirty = true
	if err = c.put(text); c.reserve.giveUp(err) {
		if err = c.f.Truncate(c.size); err == nil {
			err = c.put(text)
		}
	}
	if err == nil {
		err = c.writeHead(seq, last)
	}
	if err != nil {
		// After a failed sync the state of the page cache is unknown, so the file is reopened.
		return false, errors.Join(err, c.close())
	}
	if c.startedAt.IsZero() {
		c.startedAt = c.o.now()
	}
	c.lastAt = c.o.now()
	c.size += int64(len(text))
	c.seq, c.last, c.notes, c.unended, c.dirty = seq, last, nil, false, false
	for _, path := range c.expired {
		_ = os.Remove(path) // retried at the next rotation
	}
	c.expired = nil
	return started, nil
}

// put appends text to the file and syncs it.
func (c *chain) put(text []byte) error {
	_, err := c.f.Write(text)
	if err == nil {
		if err = c.f.Sync(); c.o.AfterSync != nil {
			c.o.AfterSync()
		}
	}
	return err
}

// close removes the remains of a failed write and closes the file.
func (c *chain) close() error {
	if c.f == nil {
		return nil
	}
	if c.dirty && c.f.Truncate(c.size) == nil {
		c.dirty = false
	}
	err := c.f.Close()
	c.f = nil
	if c.head != nil {
		err = errors.Join(err, c.head.Close())
		c.head = nil
	}
	return err
}

// ready prepares the file for writing. Afterwards it is open, unchanged and not too large.
func (c *chain) ready() (started bool, err error) {
	if c.f != nil {
		if reason := c.changed(); reason != "" {
			c.note(EventAltered, reason)
			c.size = -1 // unknown
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
	if c.unended || !c.due() {
		return false, nil // a torn line must be explained in the same file
	}
	return c.rotate()
}

func (c *chain) note(event Event, reason string) {
	if event == EventAltered && c.o.Notice != nil {
		c.o.Notice("the audit log was altered", map[string]any{"error": reason, "file": c.o.File})
	}
	c.notes = append(c.notes, &Line{Event: event, Reason: reason, File: filepath.Base(c.o.File)})
}

// changed describes how the file differs from its known state, or returns "".
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
		return "the open file was replaced with another one"
	case ours.Size() != c.size: // the size of the open file, because on Windows the size by name may lag behind
		return fmt.Sprintf("the file has %d bytes, but %d were written", ours.Size(), c.size)
	}
	return ""
}

// reopen opens the file, and either restores its known state or adopts its current state.
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
	case c.dirty && c.size >= 0 && info.Size() > c.size:
		if err := f.Truncate(c.size); err != nil {
			return errors.Join(err, c.close())
		}
	case info.Size() != c.size:
		c.size, c.unended, c.startedAt = info.Size(), false, time.Time{}
		if info.Size() == 0 {
			syncFolder(c.o.File)
			break
		}
		if err := c.end(); err != nil {
			return errors.Join(err, c.close())
		}
	}
	c.dirty = false
	return nil
}

// end reads the time of the file's first line and whether its last line is complete.
func (c *chain) end() error {
	first, _, rest, err := c.ends(c.f, c.size)
	if err != nil {
		return err
	}
	c.startedAt = c.o.now()
	if line, _, _, err := parse(first); err == nil {
		if at, err := time.Parse(timeFormat, line.Time); err == nil {
			c.startedAt = at
		}
	}
	if len(rest) == 0 {
		return nil
	}
	c.unended = true
	if !c.whole(rest) {
		note := &Line{Event: EventTorn, Count: uint64(len(rest)), SHA256: digest(nil, rest),
			Reason: "the line before is unfinished", File: filepath.Base(c.o.File)}
		c.notes = slices.Insert(c.notes, 0, note) // directly after the line that it is about
	}
	return nil
}

// whole reports whether a line is complete and has the right hash.
func (c *chain) whole(raw []byte) bool {
	_, hashed, sum, err := parse(raw)
	return err == nil && (sum == digest(c.o.Key, hashed) || sum == digest(nil, hashed))
}

// ends returns the first line of a file, the last line with a line feed, and what follows it. The length of
// lines is not limited. The part that is read grows until it contains a whole line.
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

// lastLine returns the last line of a file, or nil.
func (c *chain) lastLine(f io.ReaderAt, size int64) ([]byte, error) {
	_, last, rest, err := c.ends(f, size)
	if err == nil && c.whole(rest) {
		return rest, nil
	}
	return last, err
}

// recover finds the end of the chain in the files of an earlier session, and notes irregularities
// that the session cannot have caused.
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
	keyed := false
	if raw != nil {
		keyed = c.take(raw)
	}
	c.checkEnd(keyed)
	return c.expire()
}

// take continues the chain after a line. keyed reports whether the line's hash was made with the
// key.
func (c *chain) take(raw []byte) (keyed bool) {
	line, hashed, sum, err := parse(raw)
	if err != nil {
		c.note(EventAltered, "the last line is not a line of an audit log")
		return false
	}
	c.seq, c.last, c.lastAt = line.Seq, sum, timeOf(raw)
	keyed = len(c.o.Key) > 0 && sum == digest(c.o.Key, hashed)
	if !keyed && sum != digest(nil, hashed) {
		c.note(EventAltered, "the last line does not have the hash of its content, or it was written with "+
			"another key")
	}
	return keyed
}

// lastRotated returns the last line of the newest rotated file, or nil.
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
	if c.size == 0 || c.startedAt.IsZero() {
		return false
	}
	age := c.o.now().Sub(c.startedAt).Abs() // the clock may have been ahead when the file was started
	return c.o.MaxSize > 0 && c.size >= c.o.MaxSize || c.o.MaxAge > 0 && age >= c.o.MaxAge
}

// rotate renames the file and starts a new one. If the file cannot be renamed because another process has it
// open, it keeps growing.
func (c *chain) rotate() (started bool, err error) {
	if err := c.close(); err != nil {
		return false, err
	}
	if err := os.Rename(c.o.File, rotatedName(c.o.File, c.o.now(), c.seq)); err == nil {
		c.size, started = -1, true
		if err := c.expire(); err != nil {
			return false, err
		}
	}
	return started, c.reopen()
}

// rotatedName returns a name like "audit-20060102T150405Z-000000000420.jsonl": the
// time of the rotation and the number of the last line.
func rotatedName(path string, at time.Time, through uint64) string {
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s-%s-%012d%s", strings.TrimSuffix(path, ext), at.UTC().Format("20060102T150405Z"),
		through, ext)
}

func rotatedThrough(path string) uint64 {
	base := strings.TrimSuffix(path, filepath.Ext(path))
	// 0 for other files
	through, _ := strconv.ParseUint(base[strings.LastIndexByte(base, '-')+1:], 10, 64)
	return through
}

// rotatedFiles returns the rotated files of a log, oldest first.
func rotatedFiles(path string) ([]string, error) {
	ext := filepath.Ext(path)
	prefix := strings.TrimSuffix(filepath.Base(path), ext) + "-"
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var found []string
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, prefix) && filepath.Ext(name) == ext &&
			rotatedThrough(name) > 0 {
			found = append(found, filepath.Join(filepath.Dir(path), name))
		}
	}
	slices.SortStableFunc(found, func(a, b string) int {
		return int(int64(rotatedThrough(a)) - int64(rotatedThrough(b)))
	})
	return found, nil
}

// syncFolder makes the name of a new file survive a power failure, where the system
// supports that.
func syncFolder(path string) {
	if folder, err := os.Open(filepath.Dir(path)); err == nil {
		_ = folder.Sync() // Windows cannot sync a folder, and need not
		_ = folder.Close()
	}
}
