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
	"time"
	"unicode/utf16"

	"adgateway/gateway/call"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/sheet"
	"adgateway/ps"
)

// Headers of lists that are not in an envelope, in canonical form. They hold the members of an
// envelope that follow its records. In streamed answers they are trailers.
const (
	linkHeader     = "Link"
	totalHeader    = "X-Total-Count"
	warnedHeader   = "X-Warning-Count"
	warningsHeader = "X-Warnings"
)

// form returns the media type of the answer, without parameters. It is always one, also for a client
// that accepts none.
func (x *exchange) form() string {
	offers := x.op.Forms()
	if offers == nil {
		return ops.MediaJSON
	}
	if best := acceptOf(x.c.Request.Header).best(offers...); best != "" {
		return best
	}
	return offers[0]
}

// checkForm refuses a list in a form that the client does not accept.
func (x *exchange) checkForm() error {
	offers := x.op.Forms()
	if offers == nil || acceptOf(x.c.Request.Header).best(offers...) != "" {
		return nil
	}
	last := len(offers) - 1
	return problem.New(schema.NotAcceptable, "Accept is '%s', and lists have none of these forms. They can be sent "+
		"as %s or %s: name one of them in Accept, or leave Accept out.",
		problem.Printable(strings.Join(x.c.Request.Header.Values(acceptHeader), ", "), 100),
		strings.Join(offers[:last], ", "), offers[last])
}

// listWriter writes a list in one of the forms. Only one goroutine uses it at a time.
type listWriter interface {
	begin() error
	// add writes records in JSON, see [call.Sink].
	add(records []byte) error
	// end writes everything that follows the records. The answer has no records.
	end(answer call.Answer) error
}

// newListWriter returns a writer of a list whose records have members with the names of columns.
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

// contentTypeOf returns the Content-Type of a form.
func contentTypeOf(form string) string {
	switch form {
	case ops.MediaCSV:
		return ops.MediaCSV + "; charset=utf-8; header=present"
	case ops.MediaNDJSON:
		return ops.MediaNDJSON + "; charset=utf-8"
	}
	return contentType
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

// csvList writes a list as a row of names, and a row for each record. Null is an empty cell. Lists
// and objects are JSON.
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
		if err := json.Compact(&line, record); err != nil { // a value may have line breaks between its members
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

// sendList sends a list without an envelope.
func (x *exchange) sendList(answer call.Answer) {
	form, body := x.form(), &bytes.Buffer{}
	w := newListWriter(form, answer.Columns, body)
	err := w.begin()
	if err == nil {
		err = w.add(answer.Records)
	}
	if err == nil {
		err = w.end(answer)
	}
	if err != nil {
		x.fail(problem.Internal(err))
		return
	}
	x.setHeaders(answer)
	x.setListHeaders(answer)
	x.setHeader("Content-Type", contentTypeOf(form))
	x.sendBody(http.StatusOK, body.Bytes())
}

// setListHeaders sets the headers of a list without an envelope.
func (x *exchange) setListHeaders(answer call.Answer) {
	if answer.Next != "" {
		x.setHeader(linkHeader, nextLink(x.c.Request.URL.RawQuery, answer.Next))
	}
	if answer.Total != nil {
		x.setHeader(totalHeader, strconv.Itoa(*answer.Total))
	}
	if n := len(answer.Warnings); n > 0 {
		x.setHeader(warnedHeader, strconv.Itoa(n))
		x.setHeader(warningsHeader, warningsText(answer.Warnings))
	}
}

// nextLink returns the link from a page to the next one: the same query, after a cursor. It is
// relative, because the gateway may be known under other addresses, and has no token.
func nextLink(query, cursor string) string {
	var pairs []string
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, _ = url.QueryUnescape(name) // the call has succeeded, so it has no faults
		value, _ = url.QueryUnescape(value)
		if name != "" && !isToken(name) && !ops.EqualFold(name, ops.AfterName) {
			pairs = append(pairs, url.QueryEscape(name)+"="+url.QueryEscape(value))
		}
	}
	pairs = append(pairs, ops.AfterName+"="+url.QueryEscape(cursor))
	return "<?" + strings.Join(pairs, "&") + `>; rel="next"`
}

// mostWarnings limits the length of the warnings in a header, in bytes.
const mostWarnings = 4096

// warningsText returns the warnings as a JSON array in ASCII. It leaves out those at the end that do
// not fit.
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

// listStream sends a long list while its script runs. It implements [call.Sink].
type listStream struct {
	x    *exchange
	to   *Stream
	list listWriter
}

// Write implements [io.Writer].
func (l *listStream) Write(part []byte) (int, error) { return len(part), l.to.Add(part) }

// Take implements [call.Sink].
func (l *listStream) Take(columns []string, records []byte) error {
	x := l.x
	if x.stream == nil {
		x.stream = l
		form := x.form()
		x.c.Header("Content-Type", contentTypeOf(form))
		x.c.Header("Trailer", trailersOf(form)) // their values are unknown before the script ends
		x.c.Status(http.StatusOK)
		l.to = x.server.spooler.Start(x.principal.Identity(), x.write, x.unlimitSend)
		l.list = newListWriter(form, columns, l)
		if err := l.list.begin(); err != nil {
			return err
		}
	}
	return l.list.add(records)
}

// trailersOf returns the names of the trailers of a streamed list.
func trailersOf(form string) string {
	if form == ops.MediaJSON {
		return serverHeader
	}
	return strings.Join([]string{serverHeader, linkHeader, totalHeader, warnedHeader, warningsHeader}, ", ")
}

// finish sends the rest of the answer after the records.
func (l *listStream) finish(answer call.Answer) error {
	if err := l.list.end(answer); err != nil {
		return err
	}
	if err := l.to.Finish(); err != nil {
		return err
	}
	l.x.setHeader(serverHeader, answer.Server)
	if l.x.form() != ops.MediaJSON {
		l.x.setListHeaders(answer)
	}
	return nil
}

// stopStream discards a list that was not sent in full.
func (x *exchange) stopStream() {
	if x.stream != nil {
		x.stream.to.Stop(func() { x.setWriteDeadline(time.Now()) })
	}
}
