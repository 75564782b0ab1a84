package joblist

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// source reads the text of a list. It drops the byte order mark, limits the size, and checks that
// everything read is UTF-8.
type source struct {
	r            io.Reader
	left, limit  int64
	bom          bool
	buffer       [32 << 10]byte
	ready, carry []byte // parts of buffer: text to return, and the first bytes of a character
	line, column int    // position of the last character in ready, from 1 and 0
	afterCR      bool   // the last character is CR
	err          error  // returned after ready
}

const saveAsUTF8 = `save the list as "CSV UTF-8 (Comma delimited)" in Excel, or with the character set Unicode (UTF-8) elsewhere`

// foreign lists the beginnings of files that are not UTF-8 text.
var foreign = []struct{ start, message string }{
	{"\xff\xfe", "the list is UTF-16, as \"Unicode Text\" of Excel is; " + saveAsUTF8},
	{"\xfe\xff", "the list is UTF-16, as \"Unicode Text\" of Excel is; " + saveAsUTF8},
	{"PK\x03\x04", "this is a workbook or another zip, no text; " + saveAsUTF8},
	{"\xd0\xcf\x11\xe0", "this is a workbook of Excel, no text; " + saveAsUTF8},
}

func newSource(r io.Reader, limit int64) (*source, error) {
	start := bufio.NewReaderSize(r, 16)
	first, err := start.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for _, f := range foreign {
		if bytes.HasPrefix(first, []byte(f.start)) {
			return nil, &Unreadable{Line: 1, Message: f.message}
		}
	}
	s := &source{r: start, left: limit, limit: limit, line: 1}
	if s.bom = bytes.HasPrefix(first, []byte("\ufeff")); s.bom {
		n, _ := start.Discard(len("\ufeff")) // cannot fail after Peek
		s.left -= int64(n)
	}
	return s, nil
}

// Read implements [io.Reader].
func (s *source) Read(p []byte) (int, error) {
	for len(s.ready) == 0 && s.err == nil {
		s.fill()
	}
	if len(s.ready) == 0 {
		return 0, s.err
	}
	n := copy(p, s.ready)
	s.ready = s.ready[n:]
	return n, nil
}

// fill reads the next piece and checks it.
func (s *source) fill() {
	carried := copy(s.buffer[:], s.carry)
	n, err := s.r.Read(s.buffer[carried:])
	s.left -= int64(n)
	piece := s.buffer[:carried+n]
	good := validPrefix(piece)
	s.ready, s.carry = piece[:good], piece[good:]
	s.count(s.ready)
	switch {
	case good < len(piece) && piece[good] == 0:
		s.err = &Unreadable{s.line, s.column + 1,
			"a zero byte: the list is UTF-16 or no text at all; " + saveAsUTF8}
	case good < len(piece) && (err != nil || utf8.FullRune(s.carry)):
		s.err = &Unreadable{s.line, s.column + 1, "this is not UTF-8; " + saveAsUTF8}
	case s.left < 0:
		s.err = &TooLarge{Limit: s.limit}
	default:
		s.err = err
	}
}

// validPrefix returns the number of bytes of text that are UTF-8 without zero bytes.
func validPrefix(text []byte) int {
	end := len(text)
	if zero := bytes.IndexByte(text, 0); zero >= 0 {
		end = zero
	}
	if utf8.Valid(text[:end]) {
		return end
	}
	for i := 0; i < end; {
		c, size := utf8.DecodeRune(text[i:end])
		if c == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return end
}

// count advances the position past text. CR, LF, or both together end a line.
func (s *source) count(text []byte) {
	for len(text) > 0 {
		end := bytes.IndexAny(text, "\r\n")
		if end < 0 {
			s.column += utf8.RuneCount(text)
			s.afterCR = false
			return
		}
		if text[end] != '\n' || end > 0 || !s.afterCR {
			s.line++
		}
		s.column, s.afterCR = 0, text[end] == '\r'
		text = text[end+1:]
	}
}
