package gateway

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"adgateway/gateway/auth"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

const (
	contentType  = "application/json; charset=utf-8"
	serverHeader = "X-Directory-Server" // who was asked; of a stream it is a trailer
)

// errorBody is the member "error" of an envelope.
type errorBody struct {
	Code          schema.Code `json:"code"`
	Message       string      `json:"message"`
	Outcome       ps.Outcome  `json:"outcome,omitempty"`
	DirectoryCode string      `json:"directoryCode,omitempty"`
	Details       []detail    `json:"details"`
	RequestID     string      `json:"requestId"`
}

// encode is JSON without the escapes that only HTML needs.
func encode(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // strings, numbers and lists of them only
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// writeFailure answers with a failure.
func (s *Server) writeFailure(c *gin.Context, f *failure) {
	note(c).failure = f
	header := c.Writer.Header()
	setHeader(header, serverHeader, f.server)
	setHeader(header, "WWW-Authenticate", f.challenge)
	if f.retryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.retryAfter.Seconds()))))
	}
	body := struct {
		Output   string          `json:"output"`
		Result   json.RawMessage `json:"result"`
		Warnings []ps.Warning    `json:"warnings,omitempty"`
		Error    errorBody       `json:"error"`
	}{f.message, f.result, f.warnings, errorBody{f.code, f.message, f.outcome, f.directoryCode, f.details, note(c).id}}
	if body.Result == nil {
		body.Result = json.RawMessage("[]")
	}
	if body.Error.Details == nil {
		body.Error.Details = []detail{}
	}
	send(c, f.code.Status(), encode(body))
	c.Abort()
}

// send writes a whole answer.
func send(c *gin.Context, status int, body []byte) {
	c.Header("Content-Length", strconv.Itoa(len(body)))
	c.Header("Content-Type", contentType)
	c.Status(status)
	c.Writer.WriteHeaderNow()
	_ = write(c, body) // the client has gone
}

// write writes in pieces, each of which the client has its time to take. So a
// client that does not read holds neither the handler nor, of a stream, the
// session for ever, and one that reads slowly gets all of it.
func write(c *gin.Context, body []byte) error {
	for len(body) > 0 {
		piece := body[:min(len(body), streamPiece)]
		limitWrite(c, time.Now().Add(note(c).sendTimeout))
		if _, err := c.Writer.Write(piece); err != nil {
			return err
		}
		body = body[len(piece):]
	}
	return nil
}

// limitWrite sets until when writing may take. The server lifts the limit after
// each request; where the connection has no deadlines there is none.
func limitWrite(c *gin.Context, deadline time.Time) {
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(deadline)
}

func setHeader(header http.Header, name, value string) {
	if value != "" {
		header.Set(name, value)
	}
}

const (
	// streamAbove is the size of a result that is no longer held back until the
	// script has ended well.
	streamAbove = 8 << 20
	// streamPiece is the size of the pieces in which the rest is sent.
	streamPiece = 64 << 10
)

// answer takes the records of a run and writes the envelope of a success.
type answer struct {
	server    *Server
	c         *gin.Context
	op        *ops.Operation
	bound     *ops.Bound
	principal *auth.Principal
	spending  *auth.Spending // nil: nothing is counted
	classic   bool

	records  int
	warnings []ps.Warning // about the records, besides the script's
	result   bytes.Buffer // records, rendered, with commas; empty again once streaming
	streamed bool
	broken   error // why the records are not what the row declares, or cannot be written
}

// take renders one batch of records. It is called from the runner's goroutine.
func (a *answer) take(batch json.RawMessage) error {
	if a.broken == nil {
		a.broken = a.bound.Fields.Render(batch, schema.Style{Classic: a.classic, Warn: a.warn}, a.add)
	}
	return a.broken
}

// reset forgets the records taken so far. It must not be called once streaming
// has begun, which no change ever does before its end.
func (a *answer) reset() {
	a.records, a.warnings, a.broken = 0, nil, nil
	a.result.Reset()
}

// warn keeps a warning of our own about a record for the end of the answer.
func (a *answer) warn(w ps.Warning) {
	if len(a.warnings) < maxWarnings {
		a.warnings = append(a.warnings, w)
	}
}

// maxWarnings bounds what is kept of our own warnings.
const maxWarnings = 1000

func (a *answer) add(record []byte) error {
	if a.records++; a.records > 1 {
		if a.op.Reply.Mark != ops.List {
			return errManyRecords
		}
		a.result.WriteByte(',')
	}
	a.result.Write(a.addMade(record))
	enough := a.server.streamAbove
	if a.streamed {
		enough = streamPiece
	}
	if a.result.Len() < enough || a.op.Reply.Mark != ops.List || a.op.Effect.Writes() {
		return nil // of a change, the status is known only at its end
	}
	err := a.flush()
	limitWrite(a.c, time.Time{}) // the script takes its own time to the next piece
	return err
}

// flush sends what is held, the envelope's start before it at the first time.
func (a *answer) flush() error {
	if !a.streamed {
		a.streamed = true
		a.c.Header("Content-Type", contentType)
		a.c.Header("Trailer", serverHeader) // known when the script has ended
		a.c.Status(http.StatusOK)
		if _, err := a.c.Writer.WriteString(`{"result":[`); err != nil {
			return err
		}
	}
	err := write(a.c, a.result.Bytes())
	if a.result.Cap() > 2*streamPiece {
		a.result = bytes.Buffer{} // what was held back is not needed again
	}
	a.result.Reset()
	return err
}

// finish writes what is left of the envelope after a run that ended well.
func (a *answer) finish(result *ps.Result) {
	setHeader(a.c.Writer.Header(), serverHeader, result.Server)
	output := encode(a.sentence(result))
	tail := []byte{}
	if warnings := slices.Concat(result.Warnings, a.warnings); len(warnings) > 0 {
		tail = append([]byte(`,"warnings":`), encode(warnings)...)
	}
	if a.streamed {
		a.result.WriteString(`],"output":`)
		a.result.Write(output)
		a.result.Write(tail)
		a.result.WriteByte('}')
		if err := a.flush(); err != nil {
			a.broken = err
		}
		return
	}
	var body bytes.Buffer
	body.Grow(a.result.Len() + len(output) + len(tail) + 32)
	body.WriteString(`{"output":`)
	body.Write(output)
	body.WriteString(`,"result":`)
	a.writeResult(&body)
	body.Write(tail)
	body.WriteByte('}')
	send(a.c, a.status(result), body.Bytes())
}

func (a *answer) status(result *ps.Result) int {
	if result.Effect == ps.EffectCreated && a.op.Effect.Writes() && !a.classic {
		return http.StatusCreated
	}
	return http.StatusOK
}

// writeResult writes the records as an array, or as the classic dialect has them.
func (a *answer) writeResult(body *bytes.Buffer) {
	record := a.result.Bytes()
	if a.classic {
		switch a.op.Reply.Mark {
		case ops.Single:
			body.Write(record)
			return
		case ops.Exists:
			body.Write(schema.Member(record, "exists"))
			return
		case ops.Moment:
			body.Write(schema.Member(record, "lastLogon"))
			return
		}
	}
	body.WriteByte('[')
	body.Write(record)
	body.WriteByte(']')
}

// sentence says what happened.
func (a *answer) sentence(result *ps.Result) string {
	text := a.op.Says
	switch {
	case text != "" && a.op.Same != "" && result.Effect == ps.EffectNone:
		text = a.op.Same
	case text != "":
	case a.op.Reply.Mark == ops.List:
		text = "{records} found"
	case a.op.Reply.Mark == ops.Exists && string(schema.Member(a.result.Bytes(), "exists")) == "true":
		text = "The {subject} exists."
	case a.op.Reply.Mark == ops.Exists:
		text = "The {subject} does not exist."
	default:
		text = "The {subject} was found."
	}
	return a.op.Sentence(text, a.bound, a.records, result)
}

func isClassic(p *auth.Principal, standard auth.Dialect) bool {
	if p.Dialect != "" {
		return p.Dialect == auth.Classic
	}
	return standard == auth.Classic
}
