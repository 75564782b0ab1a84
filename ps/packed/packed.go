// Package packed is for files that are part of the program. A release embeds them compressed, any other build
// as they are in the source tree. [Text] reads both.
package packed

import (
	"bytes"
	"compress/gzip"
	"io"
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
	r, err := gzip.NewReader(bytes.NewReader(embedded))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
