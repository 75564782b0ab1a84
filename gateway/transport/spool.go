package transport

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

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
)

// Spool configures where a list waits for a slow client.
type Spool struct {
	Folder string // folder of temporary files; empty means the system's
	Most   int64  // bytes in all files; negative to use no files
	// Share returns the number of these bytes that one caller may use now. If nil, it is a quarter.
	Share func() int64
}

// Spooler provides temporary files to streamed answers, for the part that their clients have not
// read yet. So a session is free as soon as its script has ended, however slowly the client reads.
// The content is encrypted with a key that only this process has.
type Spooler struct {
	folder string
	space  *identity.Budget // bytes in all files; zero or less if there are no files
	share  func() int64     // bytes in files that one caller may use now
	failed func(error)      // called at most once a minute when a file cannot be used
	sealer cipher.AEAD
	nonce  atomic.Uint64

	mu       sync.Mutex // guards failedAt
	failedAt time.Time
}

// SpoolPattern is the name pattern of the files.
const SpoolPattern = "adgateway-list-*"

// NewSpooler returns a spooler, after it has removed the files of earlier processes. It calls
// failed at most once a minute when a file cannot be used.
func NewSpooler(o Spool, failed func(error)) *Spooler {
	folder := o.Folder
	var key [32]byte
	_, _ = rand.Read(key[:])          // never fails
	block, _ := aes.NewCipher(key[:]) // fails only for other key lengths
	sealer, _ := cipher.NewGCM(block) // fails only for other block sizes
	if folder == "" {
		folder = os.TempDir()
	}
	if o.Most > 0 {
		stale, _ := filepath.Glob(filepath.Join(folder, SpoolPattern))
		for _, file := range stale {
			_ = os.Remove(file) // fails for files that other processes are using
		}
	}
	share := o.Share
	if share == nil {
		share = func() int64 { return o.Most / 4 }
	}
	space := identity.NewBudget(o.Most)
	return &Spooler{folder: folder, space: space, share: share, failed: failed, sealer: sealer}
}

// open returns a new file. On Unix, the file is already unlinked.
func (s *Spooler) open() (*os.File, error) {
	file, err := os.CreateTemp(s.folder, SpoolPattern) // only this account has access
	if err == nil && runtime.GOOS != "windows" {
		err = os.Remove(file.Name())
	}
	return file, err
}

func (s *Spooler) report(err error) {
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

// Stream sends a long answer from a goroutine of its own. The part that the client has not read
// waits in memory up to call.StreamMemory, and then in a file. When there is no room in files, Add
// waits for the client while the session is held.
type Stream struct {
	spooler *Spooler
	by      identity.ID
	write   func([]byte) error // sends one piece to the client, for a limited time
	idle    func()             // called when everything was sent, but more may follow

	mu       sync.Mutex // guards the fields below
	changed  *sync.Cond
	queue    []piece
	inMemory int
	inFile   int      // number of pieces
	file     *os.File // nil until it is needed
	size     int64    // size of the file, reserved with the spooler
	complete bool     // nothing more will be added
	err      error    // why sending ended; nil if it continues, or all was sent
	ended    chan struct{}
}

// piece is a part of the answer, either in memory or sealed in the file.
type piece struct {
	data   []byte // nil if in the file
	offset int64
	length int
	nonce  [12]byte
}

// room pools the memory of sent pieces. Each element holds one sealed piece.
var room = sync.Pool{New: func() any { return new([pieceRoom]byte) }}

const pieceRoom = call.Piece + 64

// reuse returns the memory of a sent piece to the pool.
func reuse(data []byte) {
	if cap(data) >= pieceRoom {
		room.Put((*[pieceRoom]byte)(data[:pieceRoom]))
	}
}

// hold keeps a piece in memory, appended to the last one if that has room. The caller holds t.mu.
func (t *Stream) hold(data []byte) {
	t.inMemory += len(data)
	if n := len(t.queue); n > 0 {
		last := &t.queue[n-1]
		if last.data != nil && len(last.data)+len(data) <= call.Piece {
			last.data = append(last.data, data...)
			return
		}
	}
	t.queue = append(t.queue, piece{data: append(room.Get().(*[pieceRoom]byte)[:0], data...)})
}

var errStopped = errors.New("the answer was given up")

// Start returns a stream to a caller. write sends one piece to the client, within a limited time.
// idle is called when everything has been sent but more may follow. The caller must call
// [Stream.Finish] or [Stream.Stop] afterwards.
func (s *Spooler) Start(by identity.ID, write func([]byte) error, idle func()) *Stream {
	t := &Stream{spooler: s, by: by, write: write, idle: idle, ended: make(chan struct{})}
	t.changed = sync.NewCond(&t.mu)
	go t.send()
	return t
}

// Add appends to the answer. It returns an error only if sending to the client failed.
func (t *Stream) Add(content []byte) error {
	for len(content) > 0 {
		n := min(len(content), call.Piece)
		if err := t.addPiece(content[:n]); err != nil {
			return err
		}
		content = content[n:]
	}
	return nil
}

func (t *Stream) addPiece(data []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.err == nil {
		if t.inMemory+len(data) <= call.StreamMemory {
			t.hold(data)
			t.changed.Broadcast()
			return nil
		}
		if t.store(data) {
			return nil
		}
		t.changed.Wait()
	}
	return t.err
}

// store appends a piece to the file and reports whether there was room. The caller holds t.mu.
func (t *Stream) store(data []byte) bool {
	p := piece{offset: t.size, length: len(data) + t.spooler.sealer.Overhead()}
	if t.spooler.space.Take(t.by, int64(p.length), t.spooler.share()) != nil {
		return false
	}
	binary.BigEndian.PutUint64(p.nonce[4:], t.spooler.nonce.Add(1))
	var err error
	if t.file == nil {
		t.file, err = t.spooler.open()
	}
	if err == nil {
		sealed := room.Get().(*[pieceRoom]byte)
		_, err = t.file.WriteAt(t.spooler.sealer.Seal(sealed[:0], p.nonce[:], data, nil), p.offset)
		room.Put(sealed)
	}
	if err != nil {
		t.spooler.space.Free(t.by, int64(p.length))
		t.spooler.report(err)
		return false
	}
	t.size += int64(p.length)
	t.inFile++
	t.queue = append(t.queue, p)
	return true
}

// send sends the pieces in order.
func (t *Stream) send() {
	defer close(t.ended)
	for {
		data, err := t.next()
		if data == nil && err == nil {
			return
		}
		if err == nil {
			err = t.write(data)
		}
		if err != nil {
			t.fail(err) // HTTP/2 may still be sending the piece
			return
		}
		reuse(data)
	}
}

// next waits for the next piece. It returns nil if all were sent.
func (t *Stream) next() ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 && !t.complete && t.err == nil {
		t.idle()
	}
	for len(t.queue) == 0 && !t.complete && t.err == nil {
		t.changed.Wait()
	}
	if t.err != nil || len(t.queue) == 0 {
		return nil, t.err
	}
	p := t.queue[0]
	t.queue[0] = piece{} // release the memory
	t.queue = t.queue[1:]
	defer t.changed.Broadcast()
	if p.data != nil {
		t.inMemory -= len(p.data)
		return p.data, nil
	}
	sealed := room.Get().(*[pieceRoom]byte)[:p.length]
	if _, err := t.file.ReadAt(sealed, p.offset); err != nil {
		return nil, err
	}
	if t.inFile--; t.inFile == 0 && t.file.Truncate(0) == nil {
		t.spooler.space.Free(t.by, t.size)
		t.size = 0
	}
	return t.spooler.sealer.Open(sealed[:0], p.nonce[:], sealed, nil)
}

func (t *Stream) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
	t.changed.Broadcast()
}

// Finish waits until everything was sent, and releases the file.
func (t *Stream) Finish() error {
	t.mu.Lock()
	t.complete = true
	t.changed.Broadcast()
	t.mu.Unlock()
	<-t.ended
	t.release()
	return t.err
}

// Stop discards everything that was not sent. It does nothing after Finish.
func (t *Stream) Stop(interrupt func()) {
	t.fail(errStopped)
	select {
	case <-t.ended:
	default:
		interrupt()
		<-t.ended
	}
	t.release()
}

func (t *Stream) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queue = nil
	if t.file == nil {
		return
	}
	_ = t.file.Close() // it is not read again
	if runtime.GOOS == "windows" {
		_ = os.Remove(t.file.Name())
	}
	t.file = nil
	t.spooler.space.Free(t.by, t.size)
	t.size = 0
}
