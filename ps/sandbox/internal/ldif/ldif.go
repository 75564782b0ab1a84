// Package ldif reads LDIF files (RFC 2849) as written by ldifde, ldapsearch and
// ldbsearch.
//
// The package splits a file into records, so that each record has its line number
// and an error in one does not hide errors in others. [Parse] and [ReadFile] return
// the valid records together with all errors.
//
// Supported are UTF-8 with or without a byte order mark, UTF-16 with a byte order mark, LF and CRLF, folded
// lines, comments, base64, "version:", "changetype: add", and "changetype: modify" that adds values only, as
// ldifde writes references to later entries. Attribute options (;binary, ;range=0-1499) are dropped, as are
// the GUID and SID of an extended DN. The blocks that ldapsearch adds (search:, result:, ref:), controls and
// nTSecurityDescriptor are skipped; values from URLs (attr:< file://...) are left out. Other change types and
// records without a DN are errors.
package ldif

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Record is an entry in a file.
type Record struct {
	File       string
	Line       int // line of its beginning, starting at 1
	DN         string
	Attributes []Attribute // sorted by name
	Adds       bool        // adds values to the existing entry with the DN
	Notes      []string    // about omitted content
}

// Attribute is an attribute of a record.
type Attribute struct {
	Name   string   // without options
	Values []string // octets, in the order of the file, without empty values
	Lines  []int    // of the values
	DC     string   // DC that has this value, from an option such as ";x-dc2"; empty for all DCs
}

// Get returns the values of an attribute without a DC, or nil if it is absent. It ignores case.
func (r *Record) Get(name string) []string {
	for i := range r.Attributes {
		if strings.EqualFold(r.Attributes[i].Name, name) && r.Attributes[i].DC == "" {
			return r.Attributes[i].Values
		}
	}
	return nil
}

// Fault is an error in a file.
type Fault struct {
	File    string
	Line    int // first line of the record
	DN      string
	Message string
}

// Error returns "file:line: message (DN)".
func (f Fault) Error() string {
	s := fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
	if f.DN != "" {
		s += " (" + f.DN + ")"
	}
	return s
}

// Faults are the errors of one or more files.
type Faults []Fault

// Error lists one fault per line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i := range f {
		lines[i] = f[i].Error()
	}
	return strings.Join(lines, "\n")
}

// Err returns f as an error, or nil if f is empty.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// ReadFile parses a file. Its error is an error of the operating system or, as in Parse, Faults.
func ReadFile(path string) ([]Record, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, b)
}

// Parse parses the content of a file. name is used in errors. It returns the valid records
// and, if others are invalid, a Faults error.
func Parse(name string, b []byte) ([]Record, error) {
	text, err := decode(b)
	if err != nil {
		return nil, Faults{{File: name, Line: 1, Message: err.Error()}}
	}
	var records []Record
	var faults Faults
	p := parser{labels: map[string]*label{}}
	for blk := range blocks(string(text)) {
		rec, err := p.parse(blk)
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

// decode converts the content of a file to UTF-8.
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
				return nil, errors.New("UTF-16 text ends within a surrogate pair")
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

// block is the unfolded text of a record, without comments.
type block struct {
	line  int
	lines []numbered
	err   error
}

// numbered is a line of a block with its number in the file.
type numbered struct {
	text   string
	number int
}

// blocks splits the text at blank lines and unfolds lines. Comments may also be folded. A block is valid
// until the next one.
func blocks(text string) iter.Seq[*block] {
	return func(yield func(*block) bool) {
		var cur block
		comment := false
		flush := func() bool {
			more := len(cur.lines) == 0 && cur.err == nil || yield(&cur)
			cur, comment = block{lines: cur.lines[:0]}, false
			return more
		}
		for n := 1; len(text) > 0; n++ {
			var line string
			line, text, _ = strings.Cut(text, "\n")
			line = strings.TrimRight(line, "\r")
			if len(line) == 0 {
				if !flush() {
					return
				}
				continue
			}
			if cur.line == 0 {
				cur.line = n
			}
			switch {
			case line[0] == '#':
				comment = true
				if len(cur.lines) == 0 {
					cur.line = 0 // leading comments are not part of the record
				}
			case line[0] == ' ' && comment:
			case line[0] == ' ' && len(cur.lines) == 0:
				cur.err = errors.New("a continuation line without a line before it")
			case line[0] == ' ':
				cur.lines[len(cur.lines)-1].text += line[1:]
			default:
				comment = false
				cur.lines = append(cur.lines, numbered{line, n})
			}
		}
		flush()
	}
}

// parser parses the blocks of a file.
type parser struct {
	labels map[string]*label // by their text
	values []value           // of the current block
}

// label is what stands before the colon of a line.
type label struct {
	name string // without options
	key  string // name, in lower case
	dc   string // DC in an option such as ";x-dc2"
	last string // number of the last value in an option such as ";range=0-1499"; "*" means all values
	err  error
}

// value is a value of a block.
type value struct {
	*label
	text string
	line int
}

// dash ends a part of a modification.
var dash = &label{name: "-", key: "-"}

var skipped = []string{"search:", "result:", "ref:", "nextcookie:"}

var errKind = errors.New("only entries and changetype add are supported, and changetype modify that adds " +
	"values")

// parse parses a block. If it returns an empty DN without an error, the block is to be skipped.
func (p *parser) parse(b *block) (Record, error) {
	if b.err != nil {
		return Record{}, b.err
	}
	if isAny(b.lines[0].text, skipped) {
		return Record{}, nil
	}
	var rec Record
	if err := p.read(b, &rec); err != nil {
		return rec, err
	}
	vals := p.values
	if len(vals) > 0 && vals[0].key == "version" {
		if vals[0].text != "1" {
			return rec, fmt.Errorf("version %s is not supported", cut(vals[0].text))
		}
		vals = vals[1:]
	}
	switch {
	case len(vals) == 0:
		return Record{}, nil
	case vals[0].key != "dn":
		return rec, errors.New("missing 'dn:'")
	case rec.DN == "":
		return rec, errors.New("the DN is empty (the root DSE cannot be loaded)")
	}
	if vals = vals[1:]; len(vals) == 0 {
		return rec, errors.New("only a dn: line")
	}
	kind := "add"
	if vals[0].key == "changetype" {
		kind, vals = vals[0].text, vals[1:]
	}
	switch kind {
	case "add":
		if slices.ContainsFunc(vals, func(v value) bool { return v.label == dash }) {
			return rec, errors.New(`no colon in "-"`)
		}
	case "modify":
		var err error
		if vals, err = added(vals); err != nil {
			return rec, err
		}
		rec.Adds = true
	default:
		return rec, errKind
	}
	rec.Attributes = merge(vals)
	return rec, nil
}

// read reads the values of a block, and the DN and the notes of its record.
func (p *parser) read(b *block, rec *Record) error {
	p.values = p.values[:0]
	var incomplete []*label
	var faults []string
	for _, line := range b.lines {
		name, text, ok := strings.Cut(line.text, ":")
		l := p.label(name)
		switch {
		case line.text == "-":
			p.values = append(p.values, value{label: dash})
			continue
		case !ok:
			faults = append(faults, fmt.Sprintf("no colon in %q", cut(line.text)))
			continue
		case strings.HasPrefix(text, "<"):
			rec.Notes = append(rec.Notes,
				fmt.Sprintf("the value of %s is in another file, %s, and is left out", name,
					cut(strings.TrimSpace(text[1:]))))
			continue
		case l.key == "ntsecuritydescriptor", l.key == "control":
			continue
		}
		text, err := decoded(text)
		switch {
		case err != nil:
			faults = append(faults, err.Error())
			continue
		case l.key == "dn" && rec.DN == "":
			text = plainDN(text)
			rec.DN = text
		case text == "": // the directory never stores empty values (facts H22)
			continue
		case l.err != nil:
			faults = append(faults, l.err.Error())
		}
		if l.last != "" && !slices.Contains(incomplete, l) {
			incomplete = append(incomplete, l)
		}
		p.values = append(p.values, value{l, text, line.number})
	}
	rec.Notes = append(rec.Notes, missing(incomplete)...)
	if len(faults) > 0 {
		return errors.New(strings.Join(faults, "; "))
	}
	return nil
}

// missing returns notes about the attributes whose last range is not the last one of the attribute.
func missing(ranges []*label) (notes []string) {
	last := map[string]string{}
	for _, l := range ranges {
		last[l.name] = l.last
	}
	for _, name := range slices.Sorted(maps.Keys(last)) {
		if last[name] != "*" {
			notes = append(notes,
				fmt.Sprintf("the values of %s end with number %s: the rest was not exported", name, last[name]))
		}
	}
	return notes
}

// label returns the label with a text, which is parsed only once in a file.
func (p *parser) label(text string) *label {
	if l := p.labels[text]; l != nil {
		return l
	}
	name, options, _ := strings.Cut(strings.Clone(text), ";")
	l := &label{name: name, key: strings.ToLower(name)}
	for _, o := range strings.Split(strings.ToLower(options), ";") {
		if dc, ok := strings.CutPrefix(o, "x-"); ok && l.dc == "" {
			l.dc = dc
		}
		if bounds, ok := strings.CutPrefix(o, "range="); ok {
			_, l.last, _ = strings.Cut(bounds, "-")
		}
	}
	const digits, letters = "0123456789", "abcdefghijklmnopqrstuvwxyz"
	oid := strings.Trim(name, digits+".") == ""
	word := name != "" && strings.Contains(letters, l.key[:1]) && strings.Trim(l.key, digits+letters+"-") == ""
	if name == "" || !oid && !word {
		l.err = fmt.Errorf("%q is not an attribute name", cut(name))
	}
	p.labels[strings.Clone(text)] = l
	return l
}

// decoded returns the value that follows the colon of a line.
func decoded(text string) (string, error) {
	encoded, ok := strings.CutPrefix(text, ":")
	if !ok {
		return strings.Clone(strings.TrimLeft(text, " ")), nil // without the text of the file
	}
	octets, err := base64.StdEncoding.DecodeString(strings.TrimLeft(encoded, " "))
	return string(octets), err
}

// added returns the values that a modification adds.
func added(vals []value) ([]value, error) {
	if len(vals) == 0 || vals[len(vals)-1].label != dash {
		return nil, errors.New("changetype modify does not end with a dash")
	}
	var out []value
	for attribute := ""; len(vals) > 0; vals = vals[1:] {
		switch v := vals[0]; {
		case v.label == dash && attribute == "":
			return nil, errors.New("an empty part of changetype modify")
		case v.label == dash:
			attribute = ""
		case attribute == "" && v.key != "add":
			return nil, errKind
		case attribute == "":
			attribute = v.text
		case v.name != attribute:
			return nil, fmt.Errorf("a value of %s among the values to add to %s", cut(v.name), cut(attribute))
		default:
			out = append(out, v)
		}
	}
	return out, nil
}

// plainDN returns the DN in an extended DN such as "<GUID=...>;<SID=...>;CN=...".
func plainDN(dn string) string {
	for strings.HasPrefix(dn, "<") {
		_, rest, ok := strings.Cut(dn, ">;")
		if !ok {
			break
		}
		dn = rest
	}
	return dn
}

// merge returns the attributes with their values. It combines names that differ only in case or options.
func merge(vals []value) []Attribute {
	slices.SortStableFunc(vals, func(a, b value) int {
		return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.dc, b.dc))
	})
	texts, lines := make([]string, 0, len(vals)), make([]int, 0, len(vals))
	out := make([]Attribute, 0, len(vals))
	for i := 0; i < len(vals); {
		first, from := vals[i], len(texts)
		for ; i < len(vals) && vals[i].key == first.key && vals[i].dc == first.dc; i++ {
			texts, lines = append(texts, vals[i].text), append(lines, vals[i].line)
		}
		if first.key == "changetype" { // not at its place, after the DN
			continue
		}
		out = append(out, Attribute{Name: first.name, DC: first.dc,
			Values: texts[from:len(texts):len(texts)], Lines: lines[from:len(lines):len(lines)]})
	}
	return out
}

func isAny(line string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool {
		return len(line) >= len(p) && strings.EqualFold(line[:len(p)], p)
	})
}

func cut(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
