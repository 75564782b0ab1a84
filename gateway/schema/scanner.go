package schema

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"iter"
	"math/bits"
	"unicode/utf8"
)

// scanner walks through JSON and validates it, including its UTF-8, so that nothing has to be read twice.
// After the first fault it finds no more members.
type scanner struct {
	data  []byte
	at    int
	depth int  // number of open arrays and objects
	bad   bool // a fault was found
}

// maxDepth is the nesting limit of encoding/json for arrays and objects.
const maxDepth = 10_000

func (w *scanner) fail() { w.bad, w.at = true, len(w.data) }

// ended reports whether only whitespace is left and there was no fault.
func (w *scanner) ended() bool {
	w.peek()
	return !w.bad && w.at == len(w.data)
}

// peek skips whitespace and returns the next byte, or 0 at the end.
func (w *scanner) peek() byte {
	for w.at < len(w.data) {
		switch c := w.data[w.at]; c {
		case ' ', '\t', '\r', '\n':
			w.at++
		default:
			return c
		}
	}
	return 0
}

// skip skips text if it comes next, and reports whether it did.
func (w *scanner) skip(text string) bool {
	if len(w.data)-w.at < len(text) || string(w.data[w.at:w.at+len(text)]) != text {
		return false
	}
	w.at += len(text)
	return true
}

// enter steps into an array or object and reports whether it has a member.
func (w *scanner) enter(end byte) bool {
	w.at++
	if w.depth++; w.depth > maxDepth {
		w.fail()
		return false
	}
	return !w.leave(end)
}

// next skips a comma or the end and reports whether another member follows.
func (w *scanner) next(end byte) bool {
	if w.peek() == ',' {
		w.at++
		return true
	}
	if !w.leave(end) {
		w.fail()
	}
	return false
}

// leave skips the end of an array or object and reports whether it came next.
func (w *scanner) leave(end byte) bool {
	if w.peek() != end {
		return false
	}
	w.at++
	w.depth--
	return true
}

// key reads a member's name and the colon.
func (w *scanner) key() []byte {
	if w.peek() != '"' {
		w.fail()
		return nil
	}
	quoted := w.value()
	if w.peek() != ':' {
		w.fail()
		return nil
	}
	w.at++
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	return []byte(unquote(quoted))
}

// value reads a value of any type. It is empty after a fault.
func (w *scanner) value() json.RawMessage {
	first := w.peek()
	start := w.at
	switch first {
	case '"':
		w.text()
	case '{':
		for more := w.enter('}'); more; more = w.next('}') {
			w.key()
			w.value()
		}
	case '[':
		for more := w.enter(']'); more; more = w.next(']') {
			w.value()
		}
	case 't':
		w.must(w.skip("true"))
	case 'f':
		w.must(w.skip("false"))
	case 'n':
		w.must(w.skip("null"))
	default:
		w.number()
	}
	if w.bad {
		return nil
	}
	return w.data[start:w.at]
}

func (w *scanner) must(ok bool) {
	if !ok {
		w.fail()
	}
}

// text skips a quoted string.
func (w *scanner) text() {
	w.at++
	for {
		w.plain()
		if w.at >= len(w.data) {
			w.fail()
			return
		}
		switch c := w.data[w.at]; {
		case c == '"':
			w.at++
			return
		case c == '\\':
			w.escape()
		case c < ' ':
			w.fail()
			return
		case c < utf8.RuneSelf:
			w.at++
		default:
			r, size := utf8.DecodeRune(w.data[w.at:])
			if r == utf8.RuneError && size == 1 {
				w.fail()
				return
			}
			w.at += size
		}
	}
}

// plain skips characters that stand for themselves, eight at a time. A byte of found has its high bit set if
// the corresponding character must not be skipped. Bytes above the first such byte may be wrong.
func (w *scanner) plain() {
	const ones = 0x0101010101010101
	for len(w.data)-w.at >= 8 {
		some := binary.LittleEndian.Uint64(w.data[w.at:])
		found := (some | (some - ' '*ones) | ((some ^ '"'*ones) - ones) | ((some ^ '\\'*ones) - ones)) & (0x80 * ones)
		if found != 0 {
			w.at += bits.TrailingZeros64(found) / 8
			return
		}
		w.at += 8
	}
}

// escape skips a backslash and the characters that belong to it.
func (w *scanner) escape() {
	if w.at++; w.at >= len(w.data) {
		w.fail()
		return
	}
	c := w.data[w.at]
	w.at++
	if c != 'u' {
		w.must(bytes.IndexByte([]byte(`"\/bfnrt`), c) >= 0)
		return
	}
	for range 4 {
		if w.at >= len(w.data) || !isHex(w.data[w.at]) {
			w.fail()
			return
		}
		w.at++
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// number skips a number.
func (w *scanner) number() {
	w.skip("-")
	if !w.skip("0") {
		w.digits()
	}
	if w.skip(".") {
		w.digits()
	}
	if w.skip("e") || w.skip("E") {
		if !w.skip("+") {
			w.skip("-")
		}
		w.digits()
	}
}

// digits skips one or more digits.
func (w *scanner) digits() {
	start := w.at
	for w.at < len(w.data) && '0' <= w.data[w.at] && w.data[w.at] <= '9' {
		w.at++
	}
	w.must(w.at > start)
}

func unquote(value json.RawMessage) string {
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	var text string
	_ = json.Unmarshal(value, &text) // value is a valid string
	return text
}

// Members returns the members of a valid JSON object in order, including duplicates. It yields none
// for any other value.
func Members(object []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		w := scanner{data: object}
		for more := w.peek() == '{' && w.enter('}'); more; more = w.next('}') {
			name, value := w.key(), w.value()
			if w.bad || !yield(string(name), value) {
				return
			}
		}
	}
}

// Records returns the records in JSON that [Selection.Render] has written: objects that commas
// separate. A comma may precede them.
func Records(rendered []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		w := scanner{data: rendered}
		for w.peek() == ',' || w.peek() == '{' {
			w.skip(",")
			if record := w.value(); w.bad || !yield(record) {
				return
			}
		}
	}
}

// Unquoted returns the text of a valid JSON string.
func Unquoted(text json.RawMessage) string { return unquote(text) }

// Member returns the value of a member in a record written by [Selection.Render], or nil if there
// is none.
func Member(record []byte, name string) json.RawMessage {
	for key, value := range Members(record) {
		if key == name {
			return value
		}
	}
	return nil
}

// TextIn returns the text of a record's member, or "" if it is not a string.
func TextIn(record map[string]json.RawMessage, member string) (text string) {
	_ = json.Unmarshal(record[member], &text) // stays empty on error
	return text
}
