package syntax

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// positions converts byte offsets of a text to lines and columns.
type positions struct {
	text  string
	lines []int // offset of the first byte of each line
	units []int // UTF-16 units before each 256th byte; nil for an ASCII text
}

func newPositions(text string) *positions {
	p := &positions{text: text, lines: []int{0}}
	carriage := strings.IndexByte(text, '\r') >= 0
	for i := 0; i < len(text); i++ {
		if !carriage { // the next one is found faster
			next := strings.IndexByte(text[i:], '\n')
			if next < 0 {
				break
			}
			i += next
		}
		if c := text[i]; c == '\n' || c == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			p.lines = append(p.lines, i+1)
		}
	}
	if ascii(text) < len(text) {
		p.measure()
	}
	return p
}

// ascii returns the number of ASCII bytes at the beginning of a text. It looks at eight bytes at a time.
func ascii(text string) int {
	at := 0
	for ; at+8 <= len(text); at += 8 {
		t := text[at : at+8]
		if (t[0]|t[1]|t[2]|t[3]|t[4]|t[5]|t[6]|t[7])&0x80 != 0 {
			break
		}
	}
	for at < len(text) && text[at] < utf8.RuneSelf {
		at++
	}
	return at
}

func (p *positions) measure() {
	total := 0
	for i := 0; i < len(p.text); {
		for len(p.units)*256 <= i {
			p.units = append(p.units, total)
		}
		c, n := decode(p.text[i:])
		for k := 1; k < n; k++ { // an offset inside a character is treated as the offset of its first byte
			if (i+k)%256 == 0 {
				p.units = append(p.units, total)
			}
		}
		i += n
		total += width(c)
	}
}

// width is the number of UTF-16 units of a character.
func width(c rune) int {
	if c > 0xFFFF {
		return 2
	}
	return 1
}

// unitsBefore returns the number of UTF-16 units before an offset, which must be the start of a character.
func (p *positions) unitsBefore(offset int) int {
	if p.units == nil {
		return offset
	}
	mark := offset / 256
	if mark >= len(p.units) {
		mark = len(p.units) - 1
	}
	at, total := mark*256, p.units[mark]
	for at > 0 && at < len(p.text) && !startsCharacter(p.text, at) {
		at--
	}
	for at < offset {
		c, n := decode(p.text[at:])
		at += n
		total += width(c)
	}
	return total
}

// startsCharacter reports whether at is the start of a character. It returns false if at is inside a
// character.
func startsCharacter(text string, at int) bool {
	for back := 1; back <= 3 && at-back >= 0; back++ {
		if text[at-back] < utf8.RuneSelf {
			return true
		}
		if _, n := decode(text[at-back:]); n > back {
			return false
		}
	}
	return true
}

// at returns the position of an offset.
func (p *positions) at(offset int) Pos {
	line := sort.SearchInts(p.lines, offset+1)
	start := p.lines[line-1]
	return Pos{Offset: offset, Line: line, Column: p.unitsBefore(offset) - p.unitsBefore(start) + 1}
}
