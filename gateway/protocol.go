package gateway

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strings"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/auth"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Rows that speak a protocol of others pass the same stages as all; this file has what
// they do in their own way.

// adoptCredential gives a request the credential that its protocol carries elsewhere, as
// if our header carried it.
func adoptCredential(r *request) {
	p := r.op.Protocol
	if p == nil {
		adoptToken(r.c.Request)
		return
	}
	if p.KeyHeader == "" {
		return
	}
	header := r.c.Request.Header
	user, key := header.Get(p.UserHeader), header.Get(p.KeyHeader)
	switch {
	case user == "" && key == "":
	case strings.HasPrefix(key, auth.TokenPrefix):
		header.Set(auth.QueryParameter, "Bearer "+key)
	default:
		header.Set(auth.QueryParameter, "Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+key)))
	}
}

// ownsHeaders refuses a secret that is not that of the name beside it.
func (r *request) ownsHeaders() error {
	p := r.op.Protocol
	if p == nil || p.UserHeader == "" {
		return nil
	}
	if user := r.c.Request.Header.Get(p.UserHeader); user != "" && !strings.EqualFold(user, r.principal.Name) {
		failed := problem.New(schema.Unauthenticated, "The header %s does not name the credential of %s.", p.UserHeader, p.KeyHeader)
		failed.Reason, failed.Challenge = problem.ReasonUnauthenticated, auth.Challenge
		r.principal = nil
		return failed
	}
	return nil
}

// collectForeign reads the body of a row of a protocol: a document, or a JSON object
// with parameters. Unknown members and the query are ignored.
func (s *Server) collectForeign(r *request) (ops.Given, []schema.FieldError, error) {
	p, c := r.op.Protocol, &collector{op: r.op, given: ops.Given{}}
	if !accepts(r.c.Request.Header.Values("Accept"), p.Media) {
		return nil, nil, problem.New(schema.NotAcceptable, "This answers with %s only.", p.Media)
	}
	content, failed := s.readBody(r)
	switch {
	case failed != nil:
		return nil, nil, failed
	case r.op.Method == http.MethodGet:
		return c.given, nil, nil
	case len(content) > 0 && !sameMedia(r.c.Request.Header, p.Media):
		return nil, nil, problem.New(schema.UnsupportedMediaType, "A body must be %s, in UTF-8 and not compressed.", p.Media)
	case p.Read != nil:
		r.document = content
		return c.given, nil, nil
	case len(content) > 0:
		failed = c.json(content)
	}
	return c.given, c.problems, failed
}

// accepts reports whether a client takes a media type. Ranges without a subtype are
// taken; preferences do not matter, as there is one answer.
func accepts(headers []string, media string) bool {
	if strings.Join(headers, "") == "" {
		return true
	}
	kind, _, _ := strings.Cut(media, "/")
	for header := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		wanted := plainMedia(header)
		full, _, _ := strings.Cut(wanted, ";q=")
		if full == "*/*" || full == kind+"/*" || full == plainMedia(media) {
			return true
		}
	}
	return false
}

// sameMedia reports whether a body has a media type, in UTF-8 and not compressed.
func sameMedia(header http.Header, media string) bool {
	got := mediaTypeOf(header)
	want, parameters, err := mime.ParseMediaType(media)
	if err != nil || got != want {
		return false
	}
	_, given, _ := mime.ParseMediaType(header.Get("Content-Type")) // mediaTypeOf has parsed it
	for name, value := range parameters {
		if given[name] != value {
			return false
		}
	}
	return true
}

// plainMedia returns a media type in lower case without blanks.
func plainMedia(text string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "\t", "").Replace(text))
}

// read reads the document of a row of a protocol.
func (s *Server) read(r *request) error {
	p := r.op.Protocol
	if p == nil || p.Read == nil {
		return nil
	}
	defer s.bodies.parse(r.body)()
	wrong := p.Read(r.bound, r.document)
	r.document = nil
	if wrong != nil {
		return problem.Invalid([]schema.FieldError{*wrong})
	}
	return nil
}

// complete derives what the script of a row of a protocol is called with.
func (s *Server) complete(r *request) error {
	p := r.op.Protocol
	if p == nil || p.Complete == nil {
		return nil
	}
	if wrong := p.Complete(r.bound, s.protocolContext(r)); wrong != nil {
		return problem.Invalid([]schema.FieldError{*wrong})
	}
	return nil
}

func (s *Server) protocolContext(r *request) ops.Context {
	return ops.Context{Caller: r.principal, Settings: r.policy.Protocols}
}

// exchange runs the script of a row of a protocol, if it has one, and answers.
func (s *Server) exchange(r *request, e *envelope) error {
	r.result = &ps.Result{Effect: ps.EffectNone}
	if r.op.Script != "" && !r.bound.Idle() {
		r.result, r.runErr = s.run(r, e)
		if r.runErr != nil && r.op.Protocol.Repeats && wasCut(r.runErr) {
			r.result, r.runErr = s.run(r, e)
		}
	}
	if r.wasMade(e, r.runErr) {
		s.unread(r, e, r.runErr)
	}
	switch {
	case r.runErr != nil && r.unrecorded != nil:
		return r.unrecorded
	case r.runErr != nil:
		return s.explainRun(r, e, r.runErr)
	case len(r.result.Failures) > 0:
		return e.partial(r.result)
	case r.op.Protocol.Whole && len(r.result.Warnings) > 0:
		first := r.result.Warnings[0]
		failed := problem.New(schema.Backend, "Not everything could be read, and a part of it would be taken for all: %s: %s", first.Target, first.Message)
		failed.Server = r.result.Server
		return failed
	}
	for _, note := range r.bound.Notes() {
		s.Log.WithFields(logrus.Fields{"request": r.id, "operation": r.op.ID}).Warn(note)
	}
	r.server = r.result.Server
	setHeader(r.c.Writer.Header(), serverHeader, r.result.Server)
	var answer []byte
	if p := r.op.Protocol; p.Answer != nil {
		body, err := p.Answer(r.bound, s.protocolContext(r), e.batches)
		if err != nil {
			return problem.Internal(err)
		}
		answer = encode(body)
	}
	r.send(r.op.Protocol.Status, answer)
	return nil
}

// wasCut reports whether a change was cut off and is known not to have been made.
func wasCut(err error) bool {
	e := ps.AsError(err)
	return e.Outcome == ps.OutcomeNone && (e.Kind == ps.KindTimeout || e.Kind == ps.KindDied)
}

// limitRead bounds a read of a protocol as a whole, the wait for a session included: its
// client gives up soon after, and for good.
func limitRead(ctx context.Context, op *ops.Operation) (context.Context, context.CancelFunc) {
	if op.Protocol == nil || op.Timeout <= 0 || op.Effect.Writes() {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, op.Timeout, errTookLong)
}

var errTookLong = errors.New("the time limit of the row has passed")

// status returns the status of the answer, and its body if a protocol has a form of
// its own for refusals.
func (r *request) refusalOf(err error) (status int, body []byte) {
	status = statusOf(err)
	if r.op == nil || r.op.Protocol == nil || r.op.Protocol.Refusal == nil {
		return status, nil
	}
	f, field := problem.Of(err), ""
	if len(f.Details) > 0 {
		field = f.Details[0].Field
	}
	code := f.Code
	if part := partOf(err); part != nil && part.perSet { // why one of them failed does not stand against the call
		code = schema.Partial
	}
	status, form := r.op.Protocol.Refusal(code, field)
	if form != nil {
		body = encode(form)
	}
	return status, body
}

// mediaOf returns the header Content-Type of an answer.
func (r *request) mediaOf() []string {
	if !r.ownForm() {
		return []string{r.op.Protocol.Media}
	}
	return contentTypes
}

// ownForm reports whether the answer is one of ours, and not that of a protocol.
func (r *request) ownForm() bool { return r.op == nil || r.op.Protocol == nil || r.failure != nil }

var contentTypes = []string{contentType} // all answers share it

// protocolName is the label of the metrics.
func (r *request) protocolName() string {
	if r.op != nil && r.op.Protocol != nil {
		return r.op.Protocol.Name
	}
	return ownProtocol
}

const ownProtocol = "adgateway"

// takeRaw keeps the records of a row of a protocol as they came.
func (e *envelope) takeRaw(batch json.RawMessage) error {
	if !json.Valid(batch) || len(batch) == 0 || batch[0] != '[' {
		return ps.ErrInvalidRecords
	}
	e.batches = append(e.batches, batch)
	return nil
}

// bodyLimit returns the limit on the body of a request.
func (s *Server) bodyLimit(op *ops.Operation) int64 {
	switch {
	case op != nil && op.Protocol != nil && op.Protocol.BodyLimit > 0:
		return op.Protocol.BodyLimit
	case op != nil && op.Takes != nil:
		return s.JobLimits.MaxBytes
	}
	return s.BodyLimit
}

// share returns how much memory the bodies of one caller's running requests may take: a
// quarter, or one body of a row that takes larger ones.
func (s *Server) share(op *ops.Operation) int64 {
	quarter := s.bodies.Most() / 4
	if s.bodyLimit(op) == s.BodyLimit {
		return quarter
	}
	return max(quarter, min(s.bodyLimit(op)+1, s.bodies.Most()))
}
