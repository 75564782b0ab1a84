package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"go.etcd.io/bbolt"
)

var errDamaged = errors.New("the file is damaged")

// structure checks the pages of a file. Their references must stay within the file and must not form a
// cycle. Package bbolt maps the file into memory and follows pages without checking them, even in its
// own check, which runs in a goroutine where a fault ends the process.
type structure struct {
	file io.ReaderAt
	size uint64 // of a page, in bytes
	seen []bool // which pages were reached, by id

	buffer []byte // see read
}

// Page types, and the sizes of a page header and of an element.
const (
	branchPage, leafPage = 1, 2
	pageHeader           = 16
	pageElement          = 16
	bucketHeader         = 16
)

// checkStructure returns an error unless all pages that the transaction reaches are sound.
func checkStructure(tx *bbolt.Tx) error {
	file, err := os.Open(tx.DB().Path())
	if err != nil {
		return err
	}
	size := uint64(tx.DB().Info().PageSize)
	s := &structure{file: file, size: size, seen: make([]bool, uint64(tx.Size())/size)}
	if err = s.page(uint64(tx.Cursor().Bucket().Root())); err != nil {
		err = fmt.Errorf("%w: %w", errDamaged, err)
	}
	_ = file.Close() // nothing was written
	return err
}

// page checks a page and all pages that it references.
func (s *structure) page(id uint64) error {
	if id >= uint64(len(s.seen)) {
		return fmt.Errorf("page %d is not in the file", id)
	}
	head, err := s.read(id, headSize)
	if err != nil {
		return err
	}
	more := uint64(binary.NativeEndian.Uint32(head[12:]))
	if binary.NativeEndian.Uint64(head) != id || id+more >= uint64(len(s.seen)) {
		return fmt.Errorf("page %d is another one, or not in the file", id)
	}
	for i := id; i <= id+more; i++ {
		if s.seen[i] {
			return fmt.Errorf("page %d is reached twice", i)
		}
		s.seen[i] = true
	}
	length := int((1 + more) * s.size)
	below, err := references(nil, head, length)
	if errors.Is(err, errBehind) {
		var whole []byte
		if whole, err = s.read(id, length); err != nil {
			return err
		}
		below, err = references(nil, whole, length)
	}
	if err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	for _, id := range below {
		if err = s.page(id); err != nil {
			return err
		}
	}
	return nil
}

// headSize is the part of a page that is read first. Most pages have all their elements in it.
const headSize = 1 << 10

// errBehind means that the part of a page that was read is too short.
var errBehind = errors.New("more of the page has to be read")

// read returns the first n bytes of a page and of those that continue it. The result is valid until the next
// call, because a large file has many pages.
func (s *structure) read(id uint64, n int) ([]byte, error) {
	if cap(s.buffer) < n {
		s.buffer = make([]byte, n)
	}
	part := s.buffer[:n]
	_, err := s.file.ReadAt(part, int64(id*s.size))
	return part, err
}

// references checks the elements of a page of some length, and appends the pages that they refer to to below.
// part is the beginning of the page. references fails with [errBehind] if it is too short.
func references(below []uint64, part []byte, length int) ([]uint64, error) {
	if length < pageHeader {
		return nil, io.ErrUnexpectedEOF
	}
	kind, n := binary.NativeEndian.Uint16(part[8:]), int(binary.NativeEndian.Uint16(part[10:]))
	switch ends := pageHeader + n*pageElement; {
	case length < ends || kind == branchPage && n == 0:
		return nil, io.ErrUnexpectedEOF
	case len(part) < ends:
		return nil, errBehind
	}
	for i := range n {
		from, room := part[pageHeader+i*pageElement:], uint64(length-pageHeader-i*pageElement)
		number := func(at int) uint64 { return uint64(binary.NativeEndian.Uint32(from[at:])) }
		var err error
		switch kind {
		case branchPage:
			if number(0)+number(4) > room {
				return nil, io.ErrUnexpectedEOF
			}
			below = append(below, binary.NativeEndian.Uint64(from[8:]))
		case leafPage:
			value := number(4) + number(8)
			ends := value + number(12)
			isBucket := number(0)&1 != 0
			switch {
			case ends > room:
				return nil, io.ErrUnexpectedEOF
			case isBucket && ends > uint64(len(from)):
				return nil, errBehind
			case isBucket:
				below, err = bucket(below, from[value:ends])
			}
		default:
			return nil, fmt.Errorf("it is of kind %d", kind)
		}
		if err != nil {
			return nil, err
		}
	}
	return below, nil
}

// bucket checks a bucket, and appends its root page to below. The only page of a small bucket is in
// its value.
func bucket(below []uint64, value []byte) ([]uint64, error) {
	if len(value) < bucketHeader {
		return nil, io.ErrUnexpectedEOF
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return append(below, root), nil
	}
	return references(below, value[bucketHeader:], len(value)-bucketHeader)
}
