package transport

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"adgateway/gateway/authn"
	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/manual/site"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// exchange is one HTTP request and its answer. The first middleware creates it, and log and metrics read it
// when the answer is complete. It is not safe for concurrent use.
type exchange struct {
	server      *Server
	c           *gin.Context
	id          string
	startedAt   time.Time
	answeredAt  time.Time // when an answer without a known end began; zero for others
	policy      *WebPolicy
	sendTimeout time.Duration // for one piece of the answer

	*arrival
	caller
	op     *ops.Operation // nil if the request is not for an operation
	input  *input         // nil until the parameters are read
	body   int64          // bytes of the memory for bodies that the request holds
	turn   func()         // ends the request's turn to send a list; nil if it has none
	stream *listStream    // nil unless the answer is a long list
	answer call.Answer
	err    error // nil on success

	control *http.ResponseController
	headers headerValues
}

// caller is what is known about the caller of a request.
type caller struct {
	credential authn.Credential    // as sent, wherever the request carries it
	principal  *identity.Principal // nil if not authenticated
	person     string              // SID of a caller with a ticket; empty if it has none
	allRoles   []*identity.Principal
	one        [1]*identity.Principal // holds the role of a caller that has only one
	classic    bool                   // the classic dialect
}

// headerValues holds the values of an answer's headers in one array.
type headerValues struct {
	all  []string
	room [6]string // enough for most answers
}

// Names of headers of answers, in canonical form.
const (
	challengeHeader = "Www-Authenticate"
	tagHeader       = "Etag"
	serverHeader    = "X-Directory-Server" // a trailer in a streamed answer
	dryRunHeader    = "X-Dry-Run"          // marks the answer of a dry run
	replayedHeader  = "Idempotency-Replayed"
	repeatedHeader  = "Idempotency-Request" // request id of the call that ran
)

// endpoint adapts a handler to gin.
func endpoint(handle func(*exchange)) gin.HandlerFunc {
	return func(c *gin.Context) { handle(arrivalOf(c.Request).exchange.(*exchange)) }
}

// serve returns the handler of an operation.
func (s *Server) serve(op *ops.Operation) func(*exchange) {
	varies := op.Forms() != nil || op.Answers != nil || op.Images != nil
	return func(x *exchange) {
		x.op = op
		if varies {
			x.c.Writer.Header().Add("Vary", acceptHeader)
		}
		defer x.release()
		c := s.callOf(x)
		if err := s.identifyCaller(x, &c); err != nil {
			x.fail(s.Calls.Refuse(c, err))
			return
		}
		if op.Reply.Mark == ops.Events {
			x.as(&c, call.Able(x.allRoles, op)[0])
			events := &eventStream{x: x, checkedAt: x.startedAt}
			if err := s.Calls.Subscribe(x.c.Request.Context(), c, events); err != nil {
				x.fail(err)
			}
			return
		}
		roles := s.Calls.Together(op, call.Able(x.allRoles, op))
		x.reply(x.inRoles(roles, func(p *identity.Principal) (call.Answer, error) {
			x.as(&c, p)
			return s.Calls.Do(x.c.Request.Context(), c, &listStream{x: x})
		}))
	}
}

// callOf returns the call that a request makes, without its caller.
func (s *Server) callOf(x *exchange) call.Call {
	header := x.c.Request.Header
	return call.Call{
		ID: x.id, Op: x.op, From: x.client, Input: httpInput{x}, Path: x.route.values,
		Keys: header.Values(ops.KeyHeader), Match: header.Values(ops.IfMatch),
		NoneMatch:       header.Values(ops.IfNoneMatch),
		UnmodifiedSince: header.Values("If-Unmodified-Since"), LastEvents: header.Values(ops.LastEventHeader),
		Again: x.again,
		Wants: call.Wants{
			Best:    func(offers ...string) string { return acceptOf(header).best(offers...) },
			Prefers: func(media string) bool { return acceptOf(header).names(media) },
		},
	}
}

// identifyCaller adds the caller to a call.
func (s *Server) identifyCaller(x *exchange, c *call.Call) (err error) {
	if c.Behind, err = unledOf(x.c.Request); err != nil {
		return err
	}
	adoptCredential(x)
	if err = x.ownCall(); err != nil {
		return err
	}
	if x.allRoles, err = x.roles(); err != nil {
		return refusedBy(err)
	}
	s.proved(Peer(x.c.Request))
	x.as(c, x.allRoles[0])
	return x.ownsHeaders()
}

// as sets the role in which a call is made.
func (x *exchange) as(c *call.Call, p *identity.Principal) {
	x.principal, x.classic = p, IsClassic(p, x.policy.Dialect)
	c.Principal, c.Classic = p, x.classic
}

// httpInput reads the parameters of a request. It can read the body only once.
type httpInput struct{ x *exchange }

// Read implements [call.Input].
func (i httpInput) Read(context.Context) (call.Given, error) {
	x := i.x
	if x.input == nil {
		x.input = &input{}
		if x.input.form, x.input.err = formOf(x.op, x.c.Request.Header); x.input.err == nil {
			x.input.given, x.input.err = x.server.collect(x)
		}
	}
	given := x.input.given
	given.Values = maps.Clone(given.Values) // the call adds to them
	return given, x.input.err
}

// input holds the parameters of a request as they were sent.
type input struct {
	given call.Given
	form  string // media type of the answer, see formOf
	err   error
}

// reply sends the answer to a call. If a long list cannot be completed, it closes the connection, so that the
// client does not mistake the part that it received for the whole list.
func (x *exchange) reply(answer call.Answer, err error) {
	x.answer = answer
	switch {
	case x.stream != nil && err == nil:
		err = x.stream.finish(answer)
		fallthrough
	case x.stream != nil:
		if err != nil {
			x.abort(err)
		}
	case err != nil:
		x.setHeader(ops.ChangeHeader, answer.ChangeID)
		x.fail(err)
	case answer.Document != nil:
		x.sendDocument(answer)
	case answer.Partly != nil:
		x.setHeaders(answer)
		x.tell(answer.Partly)
		x.send(call.Encode(x.op, x.classic, answer, nil, x.id))
	case x.input.form != ops.MediaJSON:
		x.sendList(answer)
	default:
		x.setHeaders(answer)
		x.send(call.Encode(x.op, x.classic, answer, nil, x.id))
	}
}

// setHeaders sets the headers of an answer.
func (x *exchange) setHeaders(answer call.Answer) {
	header := x.c.Writer.Header()
	x.setHeader(serverHeader, answer.Server)
	x.setHeader(ops.ChangeHeader, answer.ChangeID)
	x.setHeader(tagHeader, answer.Tag)
	x.setHeader("Location", answer.Location)
	if answer.Replayed != "" {
		header.Set(replayedHeader, "true")
		header.Set(repeatedHeader, answer.Replayed)
	}
	if answer.Plan != nil {
		header.Set(dryRunHeader, "true")
	}
	if answer.Secret != nil {
		header.Set("Cache-Control", "no-store")
	}
}

// sendDocument sends an answer that is a document instead of an envelope.
func (x *exchange) sendDocument(answer call.Answer) {
	x.setHeaders(answer)
	header := x.c.Writer.Header()
	header.Set("Content-Type", answer.Document.Media)
	if answer.Document.Name != "" {
		header.Set("Content-Disposition", `attachment; filename="`+answer.Document.Name+`"`)
	}
	x.c.Status(http.StatusOK)
	x.answeredAt = time.Now()
	to := &pieces{x: x}
	records, err := answer.Document.Write(to)
	if err == nil {
		err = to.flush()
	}
	x.answer.Count = records
	if err != nil {
		x.abort(problem.Internal(err))
	}
	if answer.Document.Sent != nil {
		answer.Document.Sent()
	}
}

// sendList sends a list without an envelope.
func (x *exchange) sendList(answer call.Answer) {
	body := &bytes.Buffer{}
	if err := writeList(body, x.input.form, answer); err != nil {
		x.fail(problem.Internal(err))
		return
	}
	x.setHeaders(answer)
	listHeaders(x.c.Request.URL.RawQuery, answer, x.setHeader)
	x.setHeader("Content-Type", ops.ContentTypeOf(x.input.form))
	x.sendBody(http.StatusOK, body.Bytes())
}

// pieces buffers an answer and sends it in pieces.
type pieces struct {
	x      *exchange
	buffer []byte
}

func (w *pieces) Write(part []byte) (int, error) {
	w.buffer = append(w.buffer, part...)
	if len(w.buffer) < call.Piece {
		return len(part), nil
	}
	return len(part), w.flush()
}

func (w *pieces) flush() error {
	err := w.x.write(w.buffer)
	w.buffer = w.buffer[:0]
	return err
}

// fail answers with an error.
func (x *exchange) fail(err error) {
	x.tell(err)
	x.send(call.Encode(x.op, x.classic, call.Answer{}, err, x.id))
	x.c.Abort()
}

// tell sets the headers for an error, and records the error for the log.
func (x *exchange) tell(err error) {
	x.err = err
	f, header := problem.Of(err), x.c.Writer.Header()
	x.setHeader(serverHeader, f.Server)
	x.setHeader(challengeHeader, f.Challenge)
	if f.Challenge != "" && x.server.tickets != nil {
		header.Add(challengeHeader, negotiate.Scheme)
	}
	x.setHeader(tagHeader, f.Tag)
	if !x.server.HideDocs {
		header.Set("Link", "<"+site.HelpOf(string(f.Code))+`>; rel="help"`)
	}
	if f.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
}

// abort ends a request whose answer has already begun. It closes the connection, so that the client does not
// mistake an incomplete body for a complete one.
func (x *exchange) abort(err error) {
	x.err = problem.Of(err)
	panic(http.ErrAbortHandler)
}

// send writes a whole answer.
func (x *exchange) send(status int, body []byte) {
	switch {
	case len(body) == 0:
	case x.op != nil && x.op.Protocol != nil && x.err == nil:
		x.setHeader("Content-Type", x.op.Protocol.Media)
	default:
		x.c.Writer.Header()["Content-Type"] = contentTypes
		body = append(body, '\n') // a shell prompt then begins on a new line
	}
	x.sendBody(status, body)
}

var contentTypes = []string{ops.ContentTypeOf(ops.MediaJSON)} // shared by all answers

// sendBody writes a whole answer as it is. Its Content-Type must be set, unless body is empty.
func (x *exchange) sendBody(status int, body []byte) {
	x.c.Status(status)
	if status != http.StatusNoContent && status != http.StatusNotModified {
		x.setHeader("Content-Length", strconv.Itoa(len(body)))
	}
	x.c.Writer.WriteHeaderNow()
	_ = x.write(body) // fails only if the client has left
}

// write writes in pieces and gives the client sendTimeout for each piece. So a client that does not read
// cannot hold the handler, or the session of a stream, forever, but a slow client still gets everything.
func (x *exchange) write(body []byte) error {
	for len(body) > 0 {
		piece := body[:min(len(body), call.Piece)]
		x.limitSend()
		if _, err := x.c.Writer.Write(piece); err != nil {
			return err
		}
		body = body[len(piece):]
	}
	return nil
}

// limitSend gives the client sendTimeout from now. The server removes the limit after each request.
// It has no effect on connections without deadlines.
func (x *exchange) limitSend() { _ = x.control.SetWriteDeadline(time.Now().Add(x.sendTimeout)) }

// unlimitSend removes the limit while there is nothing to send.
func (x *exchange) unlimitSend() { _ = x.control.SetWriteDeadline(time.Time{}) }

// setHeader sets a header of the answer, unless value is empty. name must be in canonical form.
func (x *exchange) setHeader(name, value string) {
	if value == "" {
		return
	}
	values := append(x.headers.all, value)
	x.headers.all = values
	n := len(values)
	x.c.Writer.Header()[name] = values[n-1 : n : n]
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
		form := x.input.form
		x.c.Header("Content-Type", ops.ContentTypeOf(form))
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
	if l.x.input.form != ops.MediaJSON {
		listHeaders(l.x.c.Request.URL.RawQuery, answer, l.x.setHeader)
	}
	return nil
}

// release discards a list that was not sent in full, lets the next list of the caller be read, and releases
// the memory of the body.
func (x *exchange) release() {
	if x.stream != nil {
		x.stream.to.Stop(func() { _ = x.control.SetWriteDeadline(time.Now()) })
	}
	if x.turn != nil {
		x.turn()
	}
	if x.body > 0 {
		x.server.bodies.Free(x.principal.Identity(), x.body)
	}
}

// IsClassic reports whether a caller uses the classic dialect. byDefault applies to callers without
// a dialect.
func IsClassic(p *identity.Principal, byDefault identity.Dialect) bool {
	return cmp.Or(p.Dialect, byDefault) == identity.Classic
}

// refusals maps error codes to the reasons for refusing a caller.
var refusals = map[schema.Code]problem.Reason{
	schema.InvalidRequest:  problem.ReasonMalformed,
	schema.Unauthenticated: problem.ReasonUnauthenticated,
	schema.RateLimited:     problem.ReasonRate,
	schema.Overloaded:      problem.ReasonBusy,
	schema.Unavailable:     problem.ReasonStore,
}

// refusedBy returns the error of a call that was refused with err. That is an [*authn.Refusal] if the caller
// is unknown, or else an exceeded limit.
func refusedBy(err error) error {
	var refused *authn.Refusal
	if !errors.As(err, &refused) {
		return problem.Exceeded(err)
	}
	failed := problem.New(refused.Code, "%s", refused.Message)
	failed.Reason = refusals[refused.Code]
	if refused.Reason != "" {
		failed.Cause = errors.New(refused.Reason)
	}
	switch refused.Code {
	case schema.Unauthenticated:
		failed.Challenge = authn.Challenge
	case schema.RateLimited, schema.Overloaded, schema.Unavailable:
		failed.RetryAfter = max(refused.RetryAfter, time.Second)
	}
	return failed
}
