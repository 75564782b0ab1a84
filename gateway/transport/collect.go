package transport

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/authn"
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// maxParameters is the maximum number of parameters in a request, including repeated ones.
const maxParameters = 200

// collector gathers a request's parameters from path, query and body.
type collector struct {
	call.Parameters
	secretsInQuery bool
	credential     *authn.Credential // the request's own
	tokens         int               // tokens in the body so far
	count          int               // parameters in query and body so far
}

func (s *Server) newCollector(x *exchange) *collector {
	return &collector{
		Parameters: call.Parameters{Op: x.op, Names: s.parameterNames, Given: ops.Given{}},
		credential: &x.credential,
	}
}

// collect reads all parameters of a request. The error concerns the request as a whole; the problems in the
// result concern single parameters.
func (s *Server) collect(x *exchange) (call.Given, error) {
	switch {
	case x.op.Protocol != nil:
		return s.collectForeign(x)
	case x.op.Takes != nil:
		return s.collectList(x)
	}
	c := s.newCollector(x)
	c.secretsInQuery = x.policy.AllowSecretsInQuery || x.principal.SecretsInQuery
	for _, p := range x.op.Params {
		if p.Path != "" {
			c.Given[p.Name] = x.route.values[p.Path]
		}
	}
	if failed := c.pairs([]byte(x.c.Request.URL.RawQuery), true); failed != nil {
		return call.Given{}, failed
	}
	content, failed := s.readBody(x)
	if failed == nil {
		done := s.bodies.parse(x.body)
		failed = c.body(x.c.Request.Header, content)
		done()
	}
	if failed != nil {
		return call.Given{}, failed
	}
	return call.Given{Values: c.Given, Problems: c.Problems, Sent: c.Sent}, nil
}

// otherMedia ends the sentence about a list with the media type that was sent instead, and says how to
// send the list if the mistake is a common one.
func otherMedia(media string) string {
	if media == "" {
		return ""
	}
	const most = 100
	sent := "; '" + problem.Printable(media, most) + "' was sent"
	switch {
	case strings.HasPrefix(media, "multipart/"):
		return sent + ". Send the file itself as the body: with curl, --data-binary @FILE"
	case strings.Contains(media, "spreadsheet") || strings.Contains(media, "excel"):
		return sent + ". Save the spreadsheet as CSV (UTF-8)"
	}
	return sent
}

// collectList reads the body of a row that takes a list, and the parameters in the query.
func (s *Server) collectList(x *exchange) (call.Given, error) {
	c := s.newCollector(x)
	if failed := c.pairs([]byte(x.c.Request.URL.RawQuery), true); failed != nil {
		return call.Given{}, failed
	}
	if media := mediaTypeOf(x.c.Request.Header); !slices.Contains(x.op.Takes, media) {
		return call.Given{}, problem.New(schema.UnsupportedMediaType,
			"The body must be a list: send it with the Content-Type %s, in UTF-8 and not compressed%s.",
			strings.Join(x.op.Takes, ", "), otherMedia(media))
	}
	if err := s.awaitTurn(x); err != nil {
		return call.Given{}, err
	}
	content, failed := s.readBody(x)
	if failed != nil && problem.Of(failed).Code == schema.TooLarge {
		failed = problem.New(schema.JobTooLarge,
			"The list is larger than %d bytes (jobs.maxBytes). Cut it into several.", s.Bodies.List)
	}
	if failed != nil {
		return call.Given{}, failed
	}
	return s.documentOf(x, c, content), nil
}

// another counts a parameter. It fails if there are too many.
func (c *collector) another() error {
	if c.count++; c.count <= maxParameters {
		return nil
	}
	return problem.New(schema.InvalidRequest,
		"The request has more than %d parameters, repeated ones included. This operation has %d: send each of "+
			"them once.",
		maxParameters, len(c.Op.Params))
}

// pairs reads name=value&name=value. A semicolon is data. It skips a token in the query, which
// authentication has already handled.
func (c *collector) pairs(raw []byte, query bool) error {
	secret := false // whether an earlier value was a secret, which may contain an unencoded ampersand
	for pair := range bytes.SplitSeq(raw, []byte("&")) {
		if len(pair) == 0 {
			continue
		}
		if failed := c.another(); failed != nil {
			return failed
		}
		rawName, rawValue, named := bytes.Cut(pair, []byte("="))
		if len(rawName) > 3*call.NameLimit {
			rawName = []byte(strings.Repeat("x", call.NameLimit+1)) // longer than any parameter's name
		}
		name, err := url.QueryUnescape(string(rawName))
		if err != nil {
			c.Wrong("", "A parameter's name holds a percent sign that does not start an escape.")
			continue
		}
		if query && isToken(name) {
			continue
		}
		value, err := url.QueryUnescape(string(rawValue))
		if isToken(name) {
			if failed := c.token(value); failed != nil {
				return failed
			}
			continue
		}
		find := c.Param
		if secret || !named {
			find = c.Pair
		}
		p := find(name)
		secret = secret || p != nil && p.Kind.Secret()
		switch {
		case p == nil:
		case err != nil:
			c.Wrong(p.Name, "holds a percent sign that does not start an escape")
		case query && p.Kind.Secret() && !c.secretsInQuery:
			c.Wrong(p.Name, "is a secret and not accepted in the query; send it in the body. For a client that "+
				"cannot, there are the setting http.allowSecretsInQuery and adgateway token set --secrets-in-query")
		default:
			c.Add(p, value)
		}
	}
	return nil
}

// body reads parameters from a form or a JSON object.
func (c *collector) body(header http.Header, content []byte) error {
	if len(content) == 0 {
		return nil
	}
	switch mediaTypeOf(header) {
	case mediaJSON:
		return c.json(content)
	case mediaForm:
		if failed := notForm(content); failed != nil {
			return failed
		}
		return c.pairs(content, false)
	}
	if p := c.Op.PhotoParam(); p != nil && strings.HasPrefix(mediaTypeOf(header), "image/") {
		types := schema.PhotoTypes(p.Kind)
		if !slices.Contains(types, mediaTypeOf(header)) {
			return problem.New(schema.UnsupportedMediaType, "Content-Type is '%s'. Send the photo as %s.",
				mediaTypeOf(header), strings.Join(types, " or "))
		}
		c.Add(p, base64.StdEncoding.EncodeToString(content))
		return nil
	}
	return unreadable(header, content)
}

// json reads the members of a JSON object in order, to detect duplicates. It skips a byte order
// mark (RFC 8259, 8.1), because Windows PowerShell writes one to UTF-8 files.
func (c *collector) json(content []byte) error {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	if failed := notJSON(content); failed != nil {
		return failed
	}
	for name, member := range schema.Members(content) {
		if failed := c.another(); failed != nil {
			return failed
		}
		if c.Op.Protocol != nil && c.Op.Param(name) == nil {
			continue
		}
		if isToken(name) {
			value, _ := call.Scalar(member, nil)
			if failed := c.token(value); failed != nil {
				return failed
			}
			continue
		}
		p := c.Param(name)
		if p == nil {
			continue
		}
		value, err := call.Scalar(member, p.Kind)
		if err != nil {
			c.Wrong(p.Name, err.Error())
			continue
		}
		c.Add(p, value)
	}
	return nil
}

const (
	// bodyPiece is the size in bytes up to which a body does not count, so that ordinary requests are served
	// even if other requests use all of the memory for bodies.
	bodyPiece = 16 << 10
	// bodyRetry is the Retry-After of a request whose body does not fit into memory.
	bodyRetry = 2 * time.Second
)

// bodies limits the memory for the bodies of all running requests. It counts bytes as they arrive,
// so a slow client only holds what it has already sent. One caller gets at most a quarter.
type bodies struct {
	*identity.Budget
	parsing chan struct{} // one element per large body that is being parsed
}

// atOnce is the number of large bodies that are parsed at a time. Parsing a body takes several times its
// size, but only for a few milliseconds.
const atOnce = 4

func newBodies(most int64) *bodies {
	return &bodies{Budget: identity.NewBudget(most), parsing: make(chan struct{}, atOnce)}
}

// parse waits until a body that holds reserved memory may be parsed. The caller must call done.
func (b *bodies) parse(held int64) (done func()) {
	if held == 0 {
		return func() {}
	}
	b.parsing <- struct{}{}
	return func() { <-b.parsing }
}

// reserve reserves memory for a body.
func (b *bodies) reserve(by identity.ID, n, share int64) error {
	var failed *problem.Error
	switch b.Take(by, n, share) {
	case nil:
		return nil
	case identity.ErrShareSpent:
		failed = problem.New(schema.RateLimited,
			"The bodies of this credential's running requests take all the memory that one credential may use. Try "+
				"again when one of them has ended, or send smaller bodies.")
		failed.Reason = problem.ReasonRate
	default:
		failed = problem.New(schema.Overloaded,
			"The bodies of running requests take all the memory there is for them. Try again later, or send a body "+
				"of at most %d bytes.", bodyPiece)
		failed.Reason = problem.ReasonBusy
	}
	failed.RetryAfter = bodyRetry
	return failed
}

// readBody reads the body of a request. Its memory counts until the request is released.
func (s *Server) readBody(x *exchange) ([]byte, error) {
	req := x.c.Request
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	limit := s.bodyLimit(x.op)
	body := http.MaxBytesReader(x.c.Writer, req.Body, limit)
	content := make([]byte, 0, 512)
	for {
		if len(content) == cap(content) {
			size := min(2*int64(cap(content)), limit+1) // a read of one byte more shows that the body is too large
			if size > bodyPiece {
				if failed := s.bodies.reserve(x.principal.Identity(), size-x.body, s.share(x.op)); failed != nil {
					return nil, failed
				}
				x.body = size
			}
			content = append(make([]byte, 0, size), content...)
		}
		n, err := body.Read(content[len(content):cap(content)])
		content = content[:len(content)+n]
		var tooLarge *http.MaxBytesError
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return content, nil
		case errors.As(err, &tooLarge):
			return nil, problem.New(schema.TooLarge, "The body is larger than %d bytes.", limit)
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, problem.New(schema.InvalidRequest, "The body did not arrive in time.")
		default:
			return nil, problem.New(schema.InvalidRequest, "The body could not be read to its end.")
		}
	}
}
