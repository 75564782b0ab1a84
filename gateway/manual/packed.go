package manual

import (
	"bytes"
	"compress/gzip"
	"io"
)

// magic is the beginning of gzip data, and never of a page.
var magic = []byte{0x1f, 0x8b}

// Packed returns a page in the compressed form that a release embeds. The same page gives the same
// bytes.
func Packed(text []byte) ([]byte, error) {
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

// unpacked returns the text of an embedded page, which is either compressed or the same as its
// source file.
func unpacked(page []byte) ([]byte, error) {
	if !bytes.HasPrefix(page, magic) {
		return page, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(page))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
