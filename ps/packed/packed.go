// Package packed is for files that are part of the program. A release embeds them compressed, any other build
// as they are in the source tree. [Text] reads both.
package packed

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"sync"
)

// magic is the beginning of gzip data, and never of a text.
var magic = []byte{0x1f, 0x8b}

// Pack returns a text in the compressed form that a release embeds. The same text gives the same bytes.
func Pack(text []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(text)
	if err == nil {
		err = w.Close()
	}
	return packed.Bytes(), err
}

// Text returns the text of an embedded file, which is either compressed or the same as its source. It fails
// only if the program is damaged. The result may share memory with embedded.
func Text(embedded []byte) ([]byte, error) {
	if !bytes.HasPrefix(embedded, magic) {
		return embedded, nil
	}
	if len(embedded) < shortest {
		return nil, io.ErrUnexpectedEOF
	}
	r := readers.Get().(*gzip.Reader)
	defer readers.Put(r)
	if err := r.Reset(bytes.NewReader(embedded)); err != nil {
		return nil, err
	}
	// The last four bytes of gzip data are the size of the text. If they are wrong, reading fails.
	size := min(binary.LittleEndian.Uint32(embedded[len(embedded)-4:]), largest)
	text := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	if _, err := text.ReadFrom(r); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// shortest is the length of the header and the trailer of gzip data.
const shortest = 18

// largest bounds the memory that is reserved for a text before it is read.
const largest = 1 << 20

// readers are reused, because each has tables of 40 KB, and a start reads more than a hundred files.
var readers = sync.Pool{New: func() any { return new(gzip.Reader) }}
