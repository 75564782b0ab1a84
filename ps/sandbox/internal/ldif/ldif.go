// Package ldif reads LDIF files (RFC 2849) as ldifde and ldapsearch write them.
//
// A file is cut into records here, so that every record knows its first line
// and a fault in one does not hide the others; each record is then parsed by
// go-ldap/ldif. Read gives what it could read and all faults at once.
//
// Accepted: UTF-8 with or without byte order mark, UTF-16 with one; LF and
// CRLF; folded lines, comments, base64, "version:", "changetype: add",
// attribute options (;binary, ;range=0-1499 are dropped). The blocks that
// ldapsearch adds (search:, result:, ref:) are skipped, and so is
// nTSecurityDescriptor. Refused: values from URLs (attr:< file://...), other
// change types, records without dn.
package ldif

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	goldif "github.com/go-ldap/ldif"
)

// Record is one entry of a file.
type Record struct {
	File string
	Line int // the first line, counted from 1
	DN   string
	// Attributes in the order of their names. Values are octets, in the order
	// of the file; empty ones are dropped.
	Attributes []Attribute
}

// Attribute of a record. Name is without options.
type Attribute struct {
	Name   string
	Values []string
	// DC is the DC in an option ";x-dc2": whose own value of an attribute
	// that is not replicated this is. "" without the option.
	DC string
}

// Get gives the values of an attribute, nil when it is absent. Case does not
// matter.
func (r *Record) Get(name string) []string {
	for i := range r.Attributes {
		if strings.EqualFold(r.Attributes[i].Name, name) && r.Attributes[i].DC == "" {
			return r.Attributes[i].Values
		}
	}
	return nil
}

// Fault is one thing wrong with a file.
type Fault struct {
	File    string
	Line    int // first line of the record
	DN      string
	Message string
}

// Error is file:line: message.
func (f Fault) Error() string {
	s := fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
	if f.DN != "" {
		s += " (" + f.DN + ")"
	}
	return s
}

// Faults are all faults of one or several files.
type Faults []Fault

// Error lists all of them, a line each.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i := range f {
		lines[i] = f[i].Error()
	}
	return strings.Join(lines, "\n")
}

// Err is f as an error: nil when there are none.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// ReadFile reads a file from disk. An error that is no Faults is the system's.
func ReadFile(path string) ([]Record, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, b)
}

// Parse parses a file; name is for faults. The records that could be parsed are
// returned together with a Faults error about the others.
func Parse(name string, b []byte) ([]Record, error) {
	text, err := decode(b)
	if err != nil {
		return nil, Faults{{File: name, Line: 1, Message: err.Error()}}
	}
	var records []Record
	var faults Faults
	for _, blk := range split(text) {
		rec, err := blk.parse()
		switch {
		case err != nil:
			faults = append(faults, Fault{File: name, Line: blk.line, DN: rec.DN, Message: err.Error()})
		case rec.DN != "":
			rec.File, rec.Line = name, blk.line
			records = append(records, rec)
		}
	}
	return records, faults.Err()
}

// decode makes UTF-8 of what a file holds.
func decode(b []byte) ([]byte, error) {
	switch {
	case bytes.HasPrefix(b, []byte{0xEF, 0xBB, 0xBF}):
		return b[3:], nil
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}):
		return fromUTF16(b[2:], binary.LittleEndian)
	case bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		return fromUTF16(b[2:], binary.BigEndian)
	}
	return b, nil
}

func fromUTF16(b []byte, order binary.ByteOrder) ([]byte, error) {
	if len(b)%2 != 0 {
		return nil, errors.New("UTF-16 text with an odd number of bytes")
	}
	out := make([]byte, 0, len(b)/2)
	for i := 0; i < len(b); i += 2 {
		r := rune(order.Uint16(b[i:]))
		if utf16.IsSurrogate(r) {
			if i+4 > len(b) {
				return nil, errors.New("UTF-16 text ends in half a character")
			}
			r = utf16.DecodeRune(r, rune(order.Uint16(b[i+2:])))
			if r == utf8.RuneError {
				return nil, errors.New("malformed UTF-16 text")
			}
			i += 2
		}
		out = utf8.AppendRune(out, r)
	}
	return out, nil
}

// block is the unfolded text of one record, comments left out.
type block struct {
	line  int
	lines []string
	err   error
}

// split cuts the text at blank lines and unfolds lines. A line of a comment
// may be folded too.
func split(text []byte) []block {
	var out []block
	var cur block
	comment := false
	flush := func() {
		if len(cur.lines) > 0 || cur.err != nil {
			out = append(out, cur)
		}
		cur, comment = block{}, false
	}
	for n := 1; len(text) > 0; n++ {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte{'\n'})
		line = bytes.TrimRight(line, "\r")
		if len(line) == 0 {
			flush()
			continue
		}
		if cur.line == 0 {
			cur.line = n
		}
		switch {
		case line[0] == '#':
			comment = true
			if len(cur.lines) == 0 {
				cur.line = 0 // a record starts at its first line that is no comment
			}
		case line[0] == ' ' && comment:
		case line[0] == ' ' && len(cur.lines) == 0:
			cur.err = errors.New("a continued line without a line before it")
		case line[0] == ' ':
			cur.lines[len(cur.lines)-1] += string(line[1:])
		default:
			comment = false
			cur.lines = append(cur.lines, string(line))
		}
	}
	flush()
	return out
}

var skipped = []string{"search:", "result:", "ref:", "nextcookie:"}

// parse reads one block; a zero DN without error is a block to skip.
func (b *block) parse() (Record, error) {
	if b.err != nil {
		return Record{}, b.err
	}
	if first := b.lines[0]; isAny(first, skipped) {
		return Record{}, nil
	}
	var text strings.Builder
	faults := []string{}
	for i, line := range b.lines {
		name, value, ok := strings.Cut(line, ":")
		switch {
		case line == "-": // of a modification, which is refused below
			text.WriteString("-\n")
			continue
		case !ok:
			faults = append(faults, fmt.Sprintf("no colon in %q", cut(line)))
			continue
		case strings.HasPrefix(value, "<"):
			faults = append(faults, fmt.Sprintf("the value of %s is a URL, which is refused", name))
			continue
		case strings.EqualFold(attrName(name), "nTSecurityDescriptor"):
			continue
		case strings.Trim(value, ": ") == "" && !strings.EqualFold(name, "dn"):
			// An empty value, which the library takes for a fault; the
			// directory never stores one (facts H22). A value of colons only
			// is left to the library.
			if strings.Count(value, ":") < 2 {
				continue
			}
		}
		if i < 2 && (strings.EqualFold(name, "dn") || strings.EqualFold(name, "version")) {
			name = strings.ToLower(name)
		}
		if strings.EqualFold(name, "changetype") {
			name = "changetype"
		}
		text.WriteString(plainName(name) + ":" + value + "\n")
	}
	rec := Record{DN: b.dn()}
	if len(faults) > 0 {
		return rec, errors.New(strings.Join(faults, "; "))
	}
	return b.convert(rec, text.String())
}

// convert has the library parse the text.
func (b *block) convert(rec Record, text string) (Record, error) {
	if text == "" || strings.HasPrefix(text, "version:") && strings.Count(text, "\n") == 1 {
		return Record{}, nil
	}
	l, err := goldif.Parse(text)
	if err != nil {
		// the library's line numbers are those of the text made above
		var p *goldif.ParseError
		if errors.As(err, &p) {
			err = errors.New(p.Message)
		}
		return rec, err
	}
	if len(l.Entries) == 0 {
		return Record{}, nil
	}
	attrs := map[string][]string{}
	switch e := l.Entries[0]; {
	case e.Entry != nil:
		rec.DN = e.Entry.DN
		for _, a := range e.Entry.Attributes {
			attrs[a.Name] = a.Values
		}
	case e.Add != nil:
		rec.DN = e.Add.DN
		for _, a := range e.Add.Attributes {
			attrs[a.Type] = a.Vals
		}
	default:
		return rec, errors.New("only entries and changetype add can be loaded")
	}
	delete(attrs, "changetype") // of a record that has nothing else
	if rec.DN == "" {
		return rec, errors.New("the dn is empty (the root DSE cannot be loaded)")
	}
	rec.Attributes = merge(attrs)
	return rec, nil
}

// merge joins names that differ in case or options only.
func merge(attrs map[string][]string) []Attribute {
	names := make([]string, 0, len(attrs))
	for n := range attrs {
		names = append(names, n)
	}
	sort.Strings(names)
	index := map[string]int{}
	var out []Attribute
	for _, n := range names {
		a := Attribute{Name: attrName(n), DC: dcOption(n)}
		key := strings.ToLower(a.Name) + ";" + a.DC
		i, ok := index[key]
		if !ok {
			i = len(out)
			index[key] = i
			out = append(out, a)
		}
		out[i].Values = append(out[i].Values, attrs[n]...)
	}
	return out
}

// plainName drops the options of a name, which the library takes only in part,
// but for the one that names a DC.
func plainName(n string) string {
	if dc := dcOption(n); dc != "" {
		return attrName(n) + ";x-" + dc
	}
	return attrName(n)
}

func attrName(n string) string {
	name, _, _ := strings.Cut(n, ";")
	return name
}

func dcOption(n string) string {
	_, options, _ := strings.Cut(n, ";")
	for _, o := range strings.Split(options, ";") {
		if dc, ok := strings.CutPrefix(strings.ToLower(o), "x-"); ok {
			return dc
		}
	}
	return ""
}

// dn is the block's DN as far as it can be seen, for faults.
func (b *block) dn() string {
	for _, line := range b.lines {
		name, value, ok := strings.Cut(line, ":")
		if ok && strings.EqualFold(name, "dn") && !strings.HasPrefix(value, ":") {
			return strings.TrimLeft(value, " ")
		}
	}
	return ""
}

func isAny(line string, prefixes []string) bool {
	for _, p := range prefixes {
		if len(line) >= len(p) && strings.EqualFold(line[:len(p)], p) {
			return true
		}
	}
	return false
}

func cut(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
