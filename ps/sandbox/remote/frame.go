package remote

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"adgateway/ps/sandbox"
)

// MaxFrame is the maximum size of a frame in bytes.
const MaxFrame = 64 << 20

// A frame is one message of the protocol. F determines which members are set.
type frame struct {
	F       string            `json:"f"`
	Key     string            `json:"key,omitempty"`
	Marked  bool              `json:"marked,omitempty"`
	Culture string            `json:"culture,omitempty"`
	Modules []moduleInfo      `json:"modules,omitempty"`
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
	Ticket  *ticket           `json:"ticket,omitempty"`
	Person  *sandbox.Account  `json:"person,omitempty"`
	Order   *Order            `json:"order,omitempty"`
	Outcome *Outcome          `json:"outcome,omitempty"`
}

// moduleInfo describes a module to clients.
type moduleInfo struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Types   []string `json:"types"` // types whose objects stay on the server
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
