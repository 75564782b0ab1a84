// Package ldif reads LDIF files (RFC 2849) as written by ldifde, ldapsearch and
// ldbsearch.
//
// The package splits a file into records, so that each record has its line number
// and an error in one does not hide errors in others. Each record is then parsed by
// go-ldap/ldif. [Parse] and [ReadFile] return the valid records together with all
// errors.
//
// Supported are UTF-8 with or without a byte order mark, UTF-16 with a byte order mark, LF and CRLF, folded
// lines, comments, base64, "version:", "changetype: add", and "changetype: modify" that adds values only, as
// ldifde writes references to later entries. Attribute options (;binary, ;range=0-1499) are dropped, as are
// the GUID and SID of an extended DN. The blocks that ldapsearch adds (search:, result:, ref:) and
// nTSecurityDescriptor are skipped; values from URLs (attr:< file://...) are left out. Other change types and
// records without a DN are errors.
package ldif

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-ldap/ldap/v3"
	goldif "github.com/go-ldap/ldif"
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
	lines []string
	nums  []int // of lines
	err   error
}

// split splits the text at blank lines and unfolds lines. Comments may also be folded.
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
				cur.line = 0 // leading comments are not part of the record
			}
		case line[0] == ' ' && comment:
		case line[0] == ' ' && len(cur.lines) == 0:
			cur.err = errors.New("a continuation line without a line before it")
		case line[0] == ' ':
			cur.lines[len(cur.lines)-1] += string(line[1:])
		default:
			comment = false
			cur.lines = append(cur.lines, string(line))
			cur.nums = append(cur.nums, n)
		}
	}
	flush()
	return out
}

var skipped = []string{"search:", "result:", "ref:", "nextcookie:"}

// parse parses a block. If it returns an empty DN without an error, the block is to be skipped.
func (b *block) parse() (Record, error) {
	if b.err != nil {
		return Record{}, b.err
	}
	if first := b.lines[0]; isAny(first, skipped) {
		return Record{}, nil
	}
	var text strings.Builder
	rec := Record{DN: b.dn()}
	incomplete := map[string]string{} // number of the last value by attribute
	numbers := map[string][]int{}
	faults := []string{}
	for i, line := range b.lines {
		name, value, ok := strings.Cut(line, ":")
		switch {
		case line == "-": // part of a modification, which is rejected later
			text.WriteString("-\n")
			continue
		case !ok:
			faults = append(faults, fmt.Sprintf("no colon in %q", cut(line)))
			continue
		case strings.HasPrefix(value, "<"):
			rec.Notes = append(rec.Notes,
				fmt.Sprintf("the value of %s is in another file, %s, and is left out", name,
					cut(strings.TrimSpace(value[1:]))))
			continue
		case strings.EqualFold(attrName(name), "nTSecurityDescriptor"):
			continue
		case strings.Trim(value, ": ") == "" && !strings.EqualFold(name, "dn"):
			// The library rejects empty values, which the directory never stores (facts H22), so they
			// are dropped here. The library handles values that consist of colons.
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
		if last, ok := rangeEnd(name); ok {
			incomplete[attrName(name)] = last
		}
		numbers[plainName(name)] = append(numbers[plainName(name)], b.nums[i])
		text.WriteString(plainName(name) + ":" + value + "\n")
	}
	for _, name := range slices.Sorted(maps.Keys(incomplete)) {
		if last := incomplete[name]; last != "*" {
			rec.Notes = append(rec.Notes,
				fmt.Sprintf("the values of %s end with number %s: the rest was not exported", name, last))
		}
	}
	if len(faults) > 0 {
		return rec, errors.New(strings.Join(faults, "; "))
	}
	return b.convert(rec, text.String(), numbers)
}

// rangeEnd returns the number of the last value in an option such as ";range=0-1499", or "*" if the range
// extends to the attribute's last value.
func rangeEnd(name string) (last string, ok bool) {
	_, options, _ := strings.Cut(strings.ToLower(name), ";")
	for _, o := range strings.Split(options, ";") {
		if bounds, found := strings.CutPrefix(o, "range="); found {
			_, last, ok = strings.Cut(bounds, "-")
		}
	}
	return last, ok
}

// convert parses the text with the library. numbers contains the lines of the values, by name.
func (b *block) convert(rec Record, text string, numbers map[string][]int) (Record, error) {
	if text == "" || strings.HasPrefix(text, "version:") && strings.Count(text, "\n") == 1 {
		return Record{}, nil
	}
	l, err := goldif.Parse(text)
	if err != nil {
		// The line numbers of the library refer to the rewritten text.
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
	case e.Modify != nil && onlyAdds(e.Modify):
		rec.DN, rec.Adds = e.Modify.DN, true
		for _, c := range e.Modify.Changes {
			name := c.Modification.Type
			attrs[name] = append(attrs[name], c.Modification.Vals...)
		}
	default:
		return rec, errors.New("only entries and changetype add are supported, and changetype modify that adds " +
			"values")
	}
	delete(attrs, "changetype") // the library returns it as an attribute if the record has no other attributes
	if rec.DN == "" {
		return rec, errors.New("the DN is empty (the root DSE cannot be loaded)")
	}
	rec.DN = plainDN(rec.DN)
	rec.Attributes = merge(attrs, numbers)
	return rec, nil
}

func onlyAdds(m *ldap.ModifyRequest) bool {
	for _, c := range m.Changes {
		if c.Operation != ldap.AddAttribute {
			return false
		}
	}
	return true
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

// merge combines the values of names that differ only in case or options.
func merge(attrs map[string][]string, numbers map[string][]int) []Attribute {
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
		for k := range attrs[n] {
			line := 0
			if lines := numbers[n]; k < len(lines) {
				line = lines[k]
			}
			out[i].Lines = append(out[i].Lines, line)
		}
	}
	return out
}

// plainName drops the options of a name, except for the option that names a DC. The library
// does not support all options.
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

// dn returns the DN of the block for errors, or "" if it is in base64 or missing.
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
