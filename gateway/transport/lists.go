package transport

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"

	"adgateway/gateway/call"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/sheet"
	"adgateway/ps"
)

// Headers of lists that are not in an envelope, in canonical form. They contain the members that follow the
// records in an envelope. In streamed answers they are trailers.
const (
	linkHeader     = "Link"
	totalHeader    = "X-Total-Count"
	warnedHeader   = "X-Warning-Count"
	warningsHeader = "X-Warnings"
)

// formOf returns the media type, without parameters, in which a client gets the answer of a row. It is JSON
// for rows that are not lists. It fails if the client accepts none of the forms of a list.
func formOf(op *ops.Operation, client http.Header) (string, error) {
	forms := op.Forms()
	if forms == nil {
		return ops.MediaJSON, nil
	}
	// CSV and NDJSON are offered with their parameters, so that a client that requests CSV without a header row
	// never gets one.
	var offers []string
	for _, form := range forms {
		if form != ops.MediaJSON {
			form = ops.ContentTypeOf(form)
		}
		offers = append(offers, form)
	}
	if form, _, _ := strings.Cut(acceptOf(client).best(offers...), ";"); form != "" {
		return form, nil
	}
	return "", problem.New(schema.NotAcceptable, "Accept is '%s', and a list has none of these forms. Name one "+
		"of these in Accept, or leave Accept out: %s.",
		problem.Printable(strings.Join(client.Values(acceptHeader), ", "), 100), strings.Join(forms, ", "))
}

// listWriter writes a list in one of the forms. Only one goroutine uses it at a time.
type listWriter interface {
	begin() error
	// add writes records in JSON, see [call.Sink].
	add(records []byte) error
	// end writes everything that follows the records. It ignores the records in answer.
	end(answer call.Answer) error
}

// newListWriter returns a writer of a list. columns are the names of the records' members.
func newListWriter(form string, columns []string, to io.Writer) listWriter {
	switch form {
	case ops.MediaCSV:
		w := &csvList{rows: sheet.NewWriter(to, ','), columns: columns, index: map[string]int{}}
		for i, name := range columns {
			w.index[name] = i
		}
		return w
	case ops.MediaNDJSON:
		return &lineList{bufio.NewWriter(to)}
	}
	return jsonList{to}
}

// jsonList writes a list in an envelope that begins with the records.
type jsonList struct{ to io.Writer }

func (w jsonList) begin() error { return w.add([]byte(`{"result":[`)) }

func (w jsonList) add(records []byte) error {
	_, err := w.to.Write(records)
	return err
}

func (w jsonList) end(answer call.Answer) error {
	tail := append([]byte{']'}, call.EncodeTail(answer)...)
	return w.add(append(tail, '\n'))
}

// csvList writes a row with the names, and then a row for each record. Null becomes an empty cell. Lists and
// objects become JSON.
type csvList struct {
	rows    *sheet.Writer
	columns []string
	index   map[string]int // by name
	cells   []string       // of the row that is being written
}

func (w *csvList) begin() error { return w.rows.WriteDefused(w.columns) }

func (w *csvList) add(records []byte) error {
	for record := range schema.Records(records) {
		w.cells = append(w.cells[:0], make([]string, len(w.columns))...)
		for name, value := range schema.Members(record) {
			if at, known := w.index[name]; known {
				w.cells[at] = cellOf(value)
			}
		}
		if err := w.rows.WriteDefused(w.cells); err != nil {
			return err
		}
	}
	return nil
}

func (w *csvList) end(call.Answer) error { return w.rows.Flush() }

// cellOf returns a JSON value as a cell.
func cellOf(value json.RawMessage) string {
	switch value[0] {
	case 'n':
		return ""
	case '"':
		return schema.Unquoted(value)
	}
	return string(value)
}

// lineList writes each record as a line.
type lineList struct{ to *bufio.Writer }

func (*lineList) begin() error { return nil }

func (w *lineList) add(records []byte) error {
	var line bytes.Buffer
	for record := range schema.Records(records) {
		line.Reset()
		if err := json.Compact(&line, record); err != nil { // it may contain line breaks
			return err
		}
		line.WriteByte('\n')
		if _, err := w.to.Write(line.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (w *lineList) end(call.Answer) error { return w.to.Flush() }

// writeList writes a whole list.
func writeList(to io.Writer, form string, answer call.Answer) error {
	w := newListWriter(form, answer.Columns, to)
	if err := w.begin(); err != nil {
		return err
	}
	if err := w.add(answer.Records); err != nil {
		return err
	}
	return w.end(answer)
}

// listHeaders calls set with the headers of a list without an envelope. query is the query of the
// request.
func listHeaders(query string, answer call.Answer, set func(name, value string)) {
	if answer.Next != "" {
		set(linkHeader, nextLink(query, answer.Next))
	}
	if answer.Total != nil {
		set(totalHeader, strconv.Itoa(*answer.Total))
	}
	if n := len(answer.Warnings); n > 0 {
		set(warnedHeader, strconv.Itoa(n))
		set(warningsHeader, warningsText(answer.Warnings))
	}
}

// nextLink returns the link to the next page, which repeats the query with another cursor. The link is
// relative, because the gateway may have other addresses for its clients. It omits a token in the query.
func nextLink(query, cursor string) string {
	var pairs []string
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, _ = url.QueryUnescape(name) // the call has succeeded, so it has no faults
		value, _ = url.QueryUnescape(value)
		if name != "" && !ops.EqualFold(name, ops.TokenName) && !ops.EqualFold(name, ops.AfterName) {
			pairs = append(pairs, url.QueryEscape(name)+"="+url.QueryEscape(value))
		}
	}
	pairs = append(pairs, ops.AfterName+"="+url.QueryEscape(cursor))
	return "<?" + strings.Join(pairs, "&") + `>; rel="next"`
}

// mostWarnings limits the length of the warnings in a header, in bytes.
const mostWarnings = 4096

// warningsText returns the warnings as a JSON array in ASCII. It omits the last warnings if they do not fit.
func warningsText(warnings []ps.Warning) string {
	text, between := "", "["
	for _, warning := range warnings {
		one := between + asciiOf(string(schema.JSON(warning)))
		if len(text)+len(one) >= mostWarnings {
			break
		}
		text, between = text+one, ","
	}
	return cmp.Or(text, "[") + "]"
}

// asciiOf returns JSON in which all characters are ASCII.
func asciiOf(text string) string {
	var ascii strings.Builder
	for _, char := range text {
		if char < '\x7f' {
			ascii.WriteRune(char)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, char) {
			fmt.Fprintf(&ascii, `\u%04x`, unit)
		}
	}
	return ascii.String()
}
