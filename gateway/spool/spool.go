// Package spool keeps lists in temporary files while they wait for a slow client or are being sorted. The
// content is encrypted with a key that only this process has.
package spool

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"adgateway/gateway/identity"
)

// Options configure a space for temporary files.
type Options struct {
	Folder string // folder of the files; empty means the system's temporary folder
	Most   int64  // bytes in all files; negative to use no files
	// Share returns the number of these bytes that one caller may use now. If nil, a caller may use a quarter.
	Share func() int64
}

// Space is a bounded space for temporary files. It is safe for concurrent use.
type Space struct {
	folder string
	room   *identity.Budget // bytes in all files; zero or less if there are no files
	share  func() int64
	failed func(error)
	sealer cipher.AEAD
	nonce  atomic.Uint64

	mu       sync.Mutex // guards failedAt
	failedAt time.Time
}

// Pattern is the name pattern of the files.
const Pattern = "adgateway-list-*"

// New returns a space, after it has removed the files of earlier processes. It calls failed at most
// once a minute when a file cannot be used.
func New(o Options, failed func(error)) *Space {
	folder := o.Folder
	var key [32]byte
	_, _ = rand.Read(key[:])          // never fails
	block, _ := aes.NewCipher(key[:]) // fails only for other key lengths
	sealer, _ := cipher.NewGCM(block) // fails only for other block sizes
	if folder == "" {
		folder = os.TempDir()
	}
	if o.Most > 0 {
		stale, _ := filepath.Glob(filepath.Join(folder, Pattern))
		for _, file := range stale {
			_ = os.Remove(file) // fails for files that other processes are using
		}
	}
	share := o.Share
	if share == nil {
		share = func() int64 { return o.Most / 4 }
	}
	return &Space{folder: folder, room: identity.NewBudget(o.Most), share: share, failed: failed, sealer: sealer}
}

// Held returns the number of bytes in all files.
func (s *Space) Held() int64 { return s.room.Held() }

// open returns a new file. On Unix, the file is already unlinked.
func (s *Space) open() (*os.File, error) {
	file, err := os.CreateTemp(s.folder, Pattern) // only this account has access
	if err == nil && runtime.GOOS != "windows" {
		err = os.Remove(file.Name())
	}
	return file, err
}

func (s *Space) report(err error) {
	s.mu.Lock()
	now := time.Now()
	due := now.Sub(s.failedAt) >= time.Minute
	if due {
		s.failedAt = now
	}
	s.mu.Unlock()
	if due {
		s.failed(err)
	}
}

// Overhead is the number of bytes that a piece takes in a file in addition to its content.
const Overhead = 16

// File keeps pieces of content for a caller. The temporary file is created with the first piece.
// Only one goroutine may use a File at a time.
type File struct {
	space *Space
	by    identity.ID
	file  *os.File // nil until it is needed
	size  int64    // of the file, taken from the room of the space
}

// Piece is a place in a File.
type Piece struct {
	offset int64
	length int
	nonce  [12]byte
}

// File returns an empty file. The caller must call [File.Close].
func (s *Space) File(by identity.ID) *File { return &File{space: s, by: by} }

// ErrFull means that the space or the caller's share of it has no room for a piece, or that the
// file cannot be written.
var ErrFull = errors.New("there is no room in the temporary files")

// Put appends a piece, and uses buffer if its capacity suffices for the content and [Overhead]. It
// fails with [ErrFull].
func (f *File) Put(content, buffer []byte) (Piece, error) {
	s := f.space
	p := Piece{offset: f.size, length: len(content) + s.sealer.Overhead()}
	if s.room.Take(f.by, int64(p.length), s.share()) != nil {
		return Piece{}, ErrFull
	}
	binary.BigEndian.PutUint64(p.nonce[4:], s.nonce.Add(1))
	var err error
	if f.file == nil {
		f.file, err = s.open()
	}
	if err == nil {
		_, err = f.file.WriteAt(s.sealer.Seal(buffer[:0], p.nonce[:], content, nil), p.offset)
	}
	if err != nil {
		s.room.Free(f.by, int64(p.length))
		s.report(err)
		return Piece{}, ErrFull
	}
	f.size += int64(p.length)
	return p, nil
}

// Get returns the content of a piece. It uses buffer if its capacity suffices for the content and
// [Overhead].
func (f *File) Get(p Piece, buffer []byte) ([]byte, error) {
	if cap(buffer) < p.length {
		buffer = make([]byte, p.length)
	}
	sealed := buffer[:p.length]
	if _, err := f.file.ReadAt(sealed, p.offset); err != nil {
		return nil, err
	}
	return f.space.sealer.Open(sealed[:0], p.nonce[:], sealed, nil)
}

// Clear discards all pieces. The file stays, to be used again.
func (f *File) Clear() {
	if f.file != nil && f.file.Truncate(0) == nil {
		f.space.room.Free(f.by, f.size)
		f.size = 0
	}
}

// Close discards all pieces and removes the temporary file. The file can be used again.
func (f *File) Close() {
	if f.file == nil {
		return
	}
	_ = f.file.Close() // it is not read again
	if runtime.GOOS == "windows" {
		_ = os.Remove(f.file.Name())
	}
	f.file = nil
	f.space.room.Free(f.by, f.size)
	f.size = 0
}
