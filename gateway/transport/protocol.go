package transport

import (
	"encoding/base64"
	"mime"
	"net/http"
	"strings"

	"adgateway/gateway/authn"
	"adgateway/gateway/call"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// The functions below are specific to rows with a foreign protocol.

// adoptCredential takes the credential from the body, or from the headers that the request's protocol uses.
func adoptCredential(x *exchange) {
	p := x.op.Protocol
	if p == nil {
		adoptToken(x.c.Request, &x.credential)
		return
	}
	if p.KeyHeader == "" {
		return
	}
	header := x.c.Request.Header
	user, key := header.Get(p.UserHeader), header.Get(p.KeyHeader)
	switch {
	case user == "" && key == "":
	case strings.HasPrefix(key, authn.TokenPrefix):
		x.credential.AuthToken = []string{"Bearer " + key}
	default:
		basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+key))
		x.credential.AuthToken = []string{basic}
	}
}

// ownsHeaders refuses a secret that does not belong to the name next to it.
func (x *exchange) ownsHeaders() error {
	p := x.op.Protocol
	if p == nil || p.UserHeader == "" {
		return nil
	}
	if user := x.c.Request.Header.Get(p.UserHeader); user != "" && !strings.EqualFold(user, x.principal.Name) {
		failed := problem.New(schema.Unauthenticated, "The header %s does not name the credential of %s.",
			p.UserHeader, p.KeyHeader)
		failed.Reason, failed.Challenge = problem.ReasonUnauthenticated, authn.Challenge
		x.principal = nil
		return failed
	}
	return nil
}

// collectForeign reads the body of a row with a foreign protocol: a document, or a JSON object with
// parameters. Unknown members and the query are ignored.
func (s *Server) collectForeign(x *exchange) (call.Given, error) {
	p, c := x.op.Protocol, s.newCollector(x)
	if acceptOf(x.c.Request.Header).best(p.Media) == "" {
		return call.Given{}, problem.New(schema.NotAcceptable, "This answers with %s only.", p.Media)
	}
	content, failed := s.readBody(x)
	switch {
	case failed != nil:
		return call.Given{}, failed
	case x.op.Method == http.MethodGet:
		return call.Given{Values: c.Given}, nil
	case len(content) > 0 && !sameMedia(x.c.Request.Header, p.Media):
		return call.Given{}, problem.New(schema.UnsupportedMediaType,
			"A body must be %s, in UTF-8 and not compressed.", p.Media)
	case p.Read != nil:
		return s.documentOf(x, c, content), nil
	case len(content) > 0:
		failed = c.json(content)
	}
	return call.Given{Values: c.Given, Problems: c.Problems, Sent: c.Sent}, failed
}

// documentOf returns the parameters of a request whose body is read as a whole.
func (s *Server) documentOf(x *exchange, c *collector, content []byte) call.Given {
	return call.Given{
		Values: c.Given, Problems: c.Problems, Document: content, Media: mediaTypeOf(x.c.Request.Header),
		Parsing: func() (done func()) { return s.bodies.parse(x.body) },
	}
}

// sameMedia reports whether a body has a media type, in UTF-8 and uncompressed.
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

// bodyLimit returns the limit on the body of a request.
func (s *Server) bodyLimit(op *ops.Operation) int64 {
	switch {
	case op != nil && op.Protocol != nil && op.Protocol.BodyLimit > 0:
		return op.Protocol.BodyLimit
	case op != nil && op.Takes != nil:
		return s.Bodies.List
	case op != nil && op.PhotoParam() != nil:
		return max(s.Bodies.Limit, schema.MostPhoto)
	}
	return s.Bodies.Limit
}

// share returns the memory, in bytes, that the bodies of one caller's running requests may take. That is a
// quarter of the memory for all bodies, or more if a single body of the row may be larger.
func (s *Server) share(op *ops.Operation) int64 {
	quarter := s.bodies.Most() / 4
	if s.bodyLimit(op) == s.Bodies.Limit {
		return quarter
	}
	return max(quarter, min(s.bodyLimit(op)+1, s.bodies.Most()))
}
