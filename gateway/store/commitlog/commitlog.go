// Package commitlog implements a file to which a store appends its commits. An appended text is on
// disk after a single sync. From time to time the store puts the texts into its own file and
// restarts the log.
//
// The file has a fixed size, and is written from the beginning again after each restart. Each text begins at
// a page boundary, so no acknowledged text is rewritten. Texts of an earlier round remain after the current
// ones, and the store must be able to distinguish the two. An incomplete text was never acknowledged, and
// ends the log.
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
	Open func(path string) (File, error) // opens or creates the file; nil means [Open]

	AfterSync func() // called after a text was synced; nil means nothing

	file  File  // nil if it is not open
	end   int64 // end of the last text
	doubt bool  // whether the bytes after end may be a text that failed
}

// File is the part of [os.File] that a log uses.
type File interface {
	io.WriterAt
	io.Closer
	Sync() error
}

const (
	page   = 4096
	room   = 2 << 20 // size of the file in bytes; a larger text makes it grow
	header = 4 + 4   // length and checksum
)

// Open opens a commit log, or creates one of its full size.
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

// syncFolder makes the name of a new file survive a power failure, where the system supports that.
func syncFolder(path string) {
	if folder, err := os.Open(filepath.Dir(path)); err == nil {
		_ = folder.Sync() // Windows cannot sync a folder, and need not
		_ = folder.Close()
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// pages rounds a size up to whole pages.
func pages(size int) int { return (size + page - 1) / page * page }

// encode returns a text with its length and checksum in front of it, padded to whole pages.
func encode(text []byte) []byte {
	to := make([]byte, pages(header+len(text)))
	binary.BigEndian.PutUint32(to, uint32(header+len(text)))
	binary.BigEndian.PutUint32(to[4:], crc32.Checksum(text, castagnoli))
	copy(to[header:], text)
	return to
}

// decode returns the text at the beginning of from, and its size in the file. ok is false if there
// is no complete text.
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

// ErrInDoubt means that writing a text failed, but the text may nevertheless be in the log.
var ErrInDoubt = errors.New("the commit log cannot be written")

// Fits reports whether a text of the given size fits into the file after the existing ones. Any
// text fits into an empty log.
func (l *Log) Fits(size int) bool { return l.end == 0 || l.end+int64(pages(header+size)) <= room }

// Append appends a text, which must not be empty, and returns once it is on disk. After any error
// but [ErrInDoubt] the text is not in the log, and never will be.
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
		if err = l.file.Sync(); l.AfterSync != nil {
			l.AfterSync()
		}
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

// void overwrites the page after the last text, so that no text is found there. The page is already part of
// the file, so overwriting it needs no space.
func (l *Log) void() error {
	_, err := l.file.WriteAt(make([]byte, page), l.end)
	if err == nil {
		err = l.file.Sync()
	}
	l.doubt = err != nil
	return err
}

// Restart makes the next text the first one. The existing texts are no longer needed.
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

// Close closes the file if it is open. Append opens it again.
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

// Left calls visit with the texts in the file, in order, until it returns false or an error. The
// next text is appended after the last one for which visit returned true.
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
