// Package commitlog is a file to which a store appends what it commits. What was appended is on the disk
// after one wait. The store puts it into a file of its own now and then, and restarts the log.
//
// The file has a fixed size and is written from its beginning again after each restart. Each text begins
// at a page of its own, so that nothing is written again that was acknowledged. The texts of an earlier
// round stay behind those of this one: the store must be able to tell them apart. A text that is not
// whole was never acknowledged, and ends the log.
package commitlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// Log is a commit log. It is not safe for concurrent use. Only Path is required.
type Log struct {
	Path string
	Open func(path string) (File, error) // opens the file, or makes one; nil: [Open]

	file  File  // nil: it is not open
	end   int64 // behind the last text
	doubt bool  // what is there may be a text that failed
}

// File is the part of [os.File] that a log uses.
type File interface {
	io.WriterAt
	io.Closer
	Sync() error
}

const (
	page   = 4096
	room   = 2 << 20 // bytes of the file, which a text that is larger makes grow
	header = 4 + 4   // length and sum
)

// Open opens a commit log, or makes one of its full size.
func Open(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() < room {
		_, err = f.WriteAt(make([]byte, room-info.Size()), info.Size())
		err = errors.Join(err, f.Sync())
		syncFolder(path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// syncFolder makes the name of a new file survive a loss of power, where the system supports that.
func syncFolder(path string) {
	if folder, err := os.Open(filepath.Dir(path)); err == nil {
		_ = folder.Sync() // Windows cannot and need not
		_ = folder.Close()
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// pages returns the bytes of whole pages.
func pages(size int) int { return (size + page - 1) / page * page }

// encode returns a text with its length and sum before it, in whole pages.
func encode(text []byte) []byte {
	to := make([]byte, pages(header+len(text)))
	binary.BigEndian.PutUint32(to, uint32(header+len(text)))
	binary.BigEndian.PutUint32(to[4:], crc32.Checksum(text, castagnoli))
	copy(to[header:], text)
	return to
}

// decode returns the text that some bytes begin with, and how many it has; false if there is none that
// is whole.
func decode(from []byte) (text []byte, size int, ok bool) {
	if len(from) < header {
		return nil, 0, false
	}
	size = int(binary.BigEndian.Uint32(from))
	if size <= header || size > len(from) {
		return nil, 0, false
	}
	text = from[header:size]
	return text, pages(size), crc32.Checksum(text, castagnoli) == binary.BigEndian.Uint32(from[4:])
}

// ErrInDoubt means that a text could not be written, and may be in the log all the same.
var ErrInDoubt = errors.New("the commit log cannot be written")

// Fits reports whether a text of some bytes has room behind those that are there. If there are none, it
// has.
func (l *Log) Fits(size int) bool { return l.end == 0 || l.end+int64(pages(header+size)) <= room }

// Append puts a text, which is not empty, behind those that are there, and returns once it is on the
// disk. After an error that is not [ErrInDoubt] the text is not there, and never will be.
func (l *Log) Append(text []byte) error {
	if err := l.open(); err != nil {
		return err
	}
	if l.doubt {
		if err := l.void(); err != nil {
			return err
		}
	}
	encoded := encode(text)
	_, err := l.file.WriteAt(encoded, l.end)
	if err == nil {
		err = l.file.Sync()
	}
	switch {
	case err == nil:
		l.end += int64(len(encoded))
	case l.void() != nil:
		err = fmt.Errorf("%w: %w", ErrInDoubt, err)
	}
	return err
}

func (l *Log) open() (err error) {
	if l.file != nil {
		return nil
	}
	open := l.Open
	if open == nil {
		open = Open
	}
	file, err := open(l.Path)
	if err == nil {
		l.file = file
	}
	return err
}

// void makes what is behind the last text no text. That page is in the file, so it needs no room.
func (l *Log) void() error {
	_, err := l.file.WriteAt(make([]byte, page), l.end)
	if err == nil {
		err = l.file.Sync()
	}
	l.doubt = err != nil
	return err
}

// Restart makes the next text the first, as those that are there are of no use any longer.
func (l *Log) Restart() { l.end, l.doubt = 0, false }

// Erase overwrites all texts, after a restart.
func (l *Log) Erase() error {
	file, err := os.OpenFile(l.Path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil {
		_, err = file.WriteAt(make([]byte, info.Size()), 0)
	}
	return errors.Join(err, file.Sync(), file.Close())
}

// Close closes the file.
func (l *Log) Close() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// Remove closes and removes the file, if there is one.
func (l *Log) Remove() error {
	err := l.Close()
	if removed := os.Remove(l.Path); removed != nil && !errors.Is(removed, os.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

// Left calls visit with the texts that are in the file, in their order, until it returns false or an
// error. The next text is appended behind the last one that it has taken.
func (l *Log) Left(visit func(text []byte) (taken bool, err error)) error {
	whole, err := os.ReadFile(l.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for at := 0; err == nil && at < len(whole); {
		text, size, ok := decode(whole[at:])
		if !ok {
			break
		}
		at += size
		taken := false
		if taken, err = visit(text); taken {
			l.end = int64(at)
		}
	}
	return err
}
