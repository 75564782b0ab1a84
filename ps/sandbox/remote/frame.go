package remote

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"time"
)

// MaxFrame is the maximum size of a frame in bytes.
const MaxFrame = 64 << 20

// A frame is one message of the protocol. F determines which members are set.
type frame struct {
	F       string            `json:"f"`
	Key     string            `json:"key,omitempty"`
	Args    []string          `json:"args,omitempty"`
	PID     int               `json:"pid,omitempty"`
	Data    []byte            `json:"data,omitempty"`
	Code    int               `json:"code,omitempty"`
	Cmdlet  string            `json:"cmdlet,omitempty"`
	Set     string            `json:"set,omitempty"`
	Type    string            `json:"type,omitempty"`
	Name    string            `json:"name,omitempty"`
	ID      uint64            `json:"id,omitempty"`
	Bound   []boundValue      `json:"bound,omitempty"`
	Release []uint64          `json:"release,omitempty"`
	Values  []json.RawMessage `json:"values,omitempty"`
	Record  json.RawMessage   `json:"record,omitempty"`
	Text    string            `json:"text,omitempty"`
	OK      bool              `json:"ok,omitempty"`

	Question *question `json:"question,omitempty"`
	Reply    *reply    `json:"reply,omitempty"`
}

type boundValue struct {
	Name  string          `json:"name,omitempty"`
	Value json.RawMessage `json:"value"`
}

// wire reads and writes frames. One goroutine may read while another writes.
type wire struct {
	in  *bufio.Reader
	out *bufio.Writer
}

func newWire(conn io.ReadWriter) *wire {
	return &wire{in: bufio.NewReaderSize(conn, 32<<10), out: bufio.NewWriterSize(conn, 32<<10)}
}

// write writes a frame to the buffer.
func (w *wire) write(f *frame) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if len(text) > MaxFrame {
		return fmt.Errorf("frame of %d bytes exceeds the limit of %d", len(text), MaxFrame)
	}
	if _, err := w.out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(text)))); err != nil {
		return err
	}
	_, err = w.out.Write(text)
	return err
}

// send writes a frame and flushes the buffer.
func (w *wire) send(f *frame) error {
	if err := w.write(f); err != nil {
		return err
	}
	return w.out.Flush()
}

// first sends the first frame of a connection and returns the answer.
func (w *wire) first(conn net.Conn, f *frame) (*frame, error) {
	if err := conn.SetDeadline(time.Now().Add(dialWait)); err != nil {
		return nil, err
	}
	if err := w.send(f); err != nil {
		return nil, err
	}
	answer, err := w.read(MaxFrame)
	if err != nil {
		return nil, err
	}
	return answer, conn.SetDeadline(time.Time{})
}

// dialWait is the time limit for connecting, and for the answer to the first frame.
const dialWait = 10 * time.Second

func dial(ctx context.Context, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialWait}
	return dialer.DialContext(ctx, "tcp", address)
}

// read reads a frame of at most limit bytes.
func (w *wire) read(limit int) (*frame, error) {
	var header [4]byte
	if _, err := io.ReadFull(w.in, header[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(header[:])
	if int64(size) > int64(limit) {
		return nil, fmt.Errorf("frame of %d bytes exceeds the limit of %d", size, limit)
	}
	text, err := io.ReadAll(io.LimitReader(w.in, int64(size))) // grows as bytes arrive, whatever the header says
	if err != nil {
		return nil, err
	}
	if len(text) < int(size) {
		return nil, io.ErrUnexpectedEOF
	}
	f := &frame{}
	if err := json.Unmarshal(text, f); err != nil {
		return nil, fmt.Errorf("frame is not JSON: %w", err)
	}
	return f, nil
}
