package transport

import (
	"errors"
	"sync"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/spool"
)

// Spooler provides space in temporary files for the part of streamed answers that their clients have not read
// yet. So a session is free as soon as its script has ended, no matter how slowly the client reads.
type Spooler struct{ *spool.Space }

// Stream sends a long answer from a separate goroutine. The part that the client has not read waits in memory
// up to call.StreamMemory, and then in a file. When there is no room in files, Add waits for the client,
// which occupies the session meanwhile.
type Stream struct {
	write func([]byte) error // sends one piece to the client, for a limited time
	idle  func()             // called when everything was sent, but more may follow

	mu       sync.Mutex // guards the fields below
	changed  *sync.Cond
	queue    []piece
	inMemory int
	inFile   int // number of pieces
	file     *spool.File
	complete bool  // nothing more will be added
	err      error // reason why sending ended; nil if it continues, or if everything was sent
	ended    chan struct{}
}

// piece is a part of the answer, either in memory or sealed in the file.
type piece struct {
	data  []byte // nil if in the file
	place spool.Piece
}

// room pools the memory of sent pieces. Each element holds one sealed piece.
var room = sync.Pool{New: func() any { return new([pieceRoom]byte) }}

const pieceRoom = call.Piece + spool.Overhead

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
	t := &Stream{file: s.File(by), write: write, idle: idle, ended: make(chan struct{})}
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
	sealed := room.Get().(*[pieceRoom]byte)
	defer room.Put(sealed)
	place, err := t.file.Put(data, sealed[:])
	if err != nil {
		return false
	}
	t.inFile++
	t.queue = append(t.queue, piece{place: place})
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
	content, err := t.file.Get(p.place, room.Get().(*[pieceRoom]byte)[:])
	if t.inFile--; err == nil && t.inFile == 0 {
		t.file.Clear()
	}
	return content, err
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
	t.file.Close()
}
