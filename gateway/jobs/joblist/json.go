package joblist

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"adgateway/gateway/nearest"
)

// deepest limits the nesting of arrays and objects in an item.
const deepest = 16

// members are the members of an item.
var members = []string{"id", "operation", "parameters", "ifMatch", "after"}

// readNDJSON reads one object per line. It reads a line over the limit piece by piece.
func (r *reader) readNDJSON(src *source) error {
	in := bufio.NewReaderSize(src, r.limits.MaxLine+2) // including CR LF
	for number, more := 1, true; more; number++ {
		line, err := in.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		more = err == nil
		if line = bytes.TrimSpace(line); len(line) == 0 && !long {
			continue
		}
		if len(r.Items) == 0 && isDocument(line) {
			return &Unreadable{Line: number, Message: `this is JSON over several lines; send it as application/json: {"items": [...]}. application/x-ndjson has one object a line`}
		}
		item := Item{Line: number}
		if long || len(line) > r.limits.MaxLine {
			err = r.add(item, Problem{Message: fmt.Sprintf("The line is longer than %d bytes.", r.limits.MaxLine)})
		} else {
			err = r.object(item, line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isDocument reports whether the first line of a list is the beginning of a JSON document.
func isDocument(line []byte) bool {
	compact := bytes.ReplaceAll(line[:min(len(line), 64)], []byte(" "), nil)
	return string(compact) == "{" || bytes.HasPrefix(compact, []byte("[")) || bytes.HasPrefix(compact, []byte(`{"items":`))
}

// readJSON reads {"items": [...]}.
func (r *reader) readJSON(src *source) error {
	lines := &lineCounter{r: src, line: 1}
	d := json.NewDecoder(lines)
	d.UseNumber()
	fail := func(err error) error { return lines.explain(err, d.InputOffset()) }
	token, err := d.Token()
	if err != nil {
		return fail(err)
	}
	if token != json.Delim('{') {
		return &Unreadable{Line: lines.at(d.InputOffset()), Message: `a list in JSON is an object: {"items": [{"id": ..., "operation": ..., "parameters": {...}}]}`}
	}
	found := false
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return fail(err)
		}
		name, _ := token.(string)
		line := lines.at(d.InputOffset())
		switch {
		case name != "items":
			r.broken(Problem{Line: line, Field: short(name),
				Message: "The list has only the member items." + meant(name, []string{"items"})})
			var value json.RawMessage
			err = d.Decode(&value)
		case found:
			r.broken(Problem{Line: line, Field: name, Message: "The member is there twice."})
			var value json.RawMessage
			err = d.Decode(&value)
		default:
			found, err = true, r.items(d, lines)
		}
		if err == nil && r.Broken && r.TotalProblems >= r.limits.MaxProblems {
			err = errEnough
		}
		if err != nil {
			return fail(err)
		}
	}
	if _, err := d.Token(); err != nil { // the end of the object
		return fail(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = &json.SyntaxError{}
		}
		return fail(err)
	}
	if !found && r.TotalProblems == 0 {
		return &Unreadable{Line: 1, Message: `the member items is missing: {"items": [...]}`}
	}
	return nil
}

func (r *reader) items(d *json.Decoder, lines *lineCounter) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	if token != json.Delim('[') {
		return &Unreadable{Line: lines.at(d.InputOffset()), Message: "items must be an array of objects"}
	}
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		item := Item{Line: lines.at(d.InputOffset() - int64(len(raw)))}
		if len(raw) > r.limits.MaxLine {
			err = r.add(item, Problem{Message: fmt.Sprintf("The item is longer than %d bytes.", r.limits.MaxLine)})
		} else {
			err = r.object(item, raw)
		}
		if err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// lineCounter counts the lines of the text that is read through it. It holds the text that it has not counted
// yet, which the decoder has buffered.
type lineCounter struct {
	r       io.Reader
	pending []byte
	offset  int64 // offset of pending
	line    int   // line at offset
}

// Read implements [io.Reader].
func (l *lineCounter) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.pending = append(l.pending, p[:n]...)
	return n, err
}

// at returns the line at an offset. Offsets must not decrease.
func (l *lineCounter) at(offset int64) int {
	n := min(max(offset-l.offset, 0), int64(len(l.pending)))
	l.line += bytes.Count(l.pending[:n], []byte("\n"))
	l.pending, l.offset = l.pending[n:], l.offset+n
	return l.line
}

// explain returns the error for text that is not JSON. The errors of encoding/json would repeat
// characters of the text.
func (l *lineCounter) explain(err error, read int64) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return &Unreadable{Line: l.at(max(syntax.Offset-1, read)),
			Message: "this is not valid JSON; a comma, a quotation mark or a bracket is missing here or shortly " +
				"before"}
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return &Unreadable{Line: l.at(l.offset + int64(len(l.pending))), Message: `the list ends too early; a list in JSON is {"items": [...]}`}
	default:
		return err
	}
}

// object reads an item from a JSON object and adds it.
func (r *reader) object(item Item, text []byte) error {
	o := &object{d: json.NewDecoder(bytes.NewReader(text))}
	o.d.UseNumber()
	value, err := o.value("", 0)
	if err == nil {
		if _, more := o.d.Token(); !errors.Is(more, io.EOF) {
			err = misshapen("There is something after the object. Write one object in each line.")
		}
	}
	if err != nil {
		return r.add(item, append(o.problems, o.invalid(err, text))...)
	}
	all, ok := value.(map[string]any)
	if !ok {
		return r.add(item, Problem{Message: `An item is an object: {"id": ..., "operation": ..., "parameters": {...}}.`})
	}
	if altered(value) && !bytes.Contains(text, []byte("\ufffd")) &&
		!bytes.Contains(bytes.ToLower(text), []byte(`\ufffd`)) {
		o.wrong("", `A text has \u with half of a character: such codes from d800 to dfff come in pairs.`)
	}
	o.fill(&item, all)
	for _, name := range o.names {
		if name != "" && utf8.RuneCountInString(name) <= longestName && !r.headerName(name) {
			message := fmt.Sprintf("The items of the list have more than %d different parameters, and no operation "+
				"has as many.", mostNames)
			r.broken(Problem{Line: item.Line, Field: "parameters", Message: message})
			return errEnough
		}
	}
	return r.add(item, append(o.problems, checkItem(&item)...)...)
}

// headerName adds a name to the header, but only once. It returns false if the header is full.
func (r *reader) headerName(name string) bool {
	switch {
	case r.names[name]:
		return true
	case len(r.Header) == mostNames:
		return false
	case r.names == nil:
		r.names = map[string]bool{}
	}
	r.names[name] = true
	r.Header = append(r.Header, name)
	return true
}

// object is a JSON item that is being read.
type object struct {
	d        *json.Decoder
	names    []string // names of the parameters, in order
	problems []Problem
}

// misshapen is the error for valid JSON that is not an item.
type misshapen string

func (m misshapen) Error() string { return string(m) }

func (o *object) wrong(field, message string) {
	o.problems = append(o.problems, Problem{Field: short(field), Message: message})
}

// invalid returns the problem for text that is not JSON, or not an item.
func (o *object) invalid(err error, text []byte) Problem {
	var shape misshapen
	if errors.As(err, &shape) {
		return Problem{Message: shape.Error()}
	}
	offset := min(o.d.InputOffset(), int64(len(text)))
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = max(offset, min(syntax.Offset-1, int64(len(text))))
	}
	return Problem{Column: utf8.RuneCount(text[:offset]) + 1,
		Message: "The line is not valid JSON here. Write one whole object in each line."}
}

// value reads a value at a path of names. Duplicate names are problems.
func (o *object) value(path string, depth int) (any, error) {
	token, err := o.d.Token()
	if err != nil {
		return nil, err
	}
	opened, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if depth == deepest {
		return nil, misshapen(fmt.Sprintf("Arrays and objects are nested deeper than %d.", deepest))
	}
	if opened == '[' {
		list := []any{}
		for o.d.More() {
			element, err := o.value(path, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, element)
		}
		_, err = o.d.Token()
		return list, err
	}
	all := map[string]any{}
	for o.d.More() {
		key, err := o.d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		below := strings.TrimPrefix(path+"."+name, ".")
		element, err := o.value(below, depth+1)
		if err != nil {
			return nil, err
		}
		if _, twice := all[name]; twice {
			o.wrong(below, "The member is there twice.")
		}
		all[name] = element
		if path == "parameters" {
			o.names = append(o.names, name)
		}
	}
	_, err = o.d.Token()
	return all, err
}

// fill sets the members of an item.
func (o *object) fill(item *Item, all map[string]any) {
	text := func(name string) string {
		s, ok := all[name].(string)
		if !ok && all[name] != nil {
			o.wrong(name, "This must be a text, in double quotes.")
		}
		return s
	}
	item.ID, item.Operation, item.IfMatch = text("id"), text("operation"), text("ifMatch")
	item.Parameters = map[string]any{}
	switch parameters := all["parameters"].(type) {
	case nil:
	case map[string]any:
		item.Parameters = parameters
	default:
		o.wrong("parameters", `This must be an object with the parameters: {"parameters": {"UserLogonName": ...}}.`)
	}
	switch after := all["after"].(type) {
	case nil:
	case []any:
		for _, element := range after {
			if id, ok := element.(string); ok {
				item.After = append(item.After, id)
			} else {
				o.wrong("after", "This must be an array of ids, each a text in double quotes.")
				break
			}
		}
	default:
		o.wrong("after", `This must be an array of ids: {"after": ["a", "b"]}.`)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(members, name) {
			o.wrong(name, "An item has no such member."+meant(name, members))
		}
	}
}

// altered reports whether a text contains the replacement character, which the decoder substitutes
// for half of a surrogate pair.
func altered(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.ContainsRune(v, utf8.RuneError)
	case []any:
		return slices.ContainsFunc(v, altered)
	case map[string]any:
		for name, element := range v {
			if altered(name) || altered(element) {
				return true
			}
		}
	}
	return false
}

// meant suggests the known name that was probably meant.
func meant(name string, known []string) string {
	if near := nearest.Of(name, known); near != "" {
		return fmt.Sprintf(" Did you mean %q?", near)
	}
	return ""
}

// short shortens a name for an answer.
func short(name string) string {
	if runes := []rune(name); len(runes) > longestName {
		return string(runes[:longestName]) + "..."
	}
	return name
}
