package manual

import (
	"bytes"
	"compress/gzip"
	"io"
)

// magic begins gzip data, but no page.
var magic = []byte{0x1f, 0x8b}

// Packed returns a page as a release embeds it, compressed. The same page gives the same bytes.
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

// unpacked returns the text of an embedded page, which is as its file in the sources or compressed.
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
