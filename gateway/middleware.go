package gateway

import (
	"fmt"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"adgateway/gateway/auth"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// notes is what a request's handlers leave for its log line.
type notes struct {
	id        string
	policy    *Policy
	op        *ops.Operation
	principal string
	server    string
	records   int
	failure   *failure

	sendTimeout time.Duration // for one piece of the answer

	evidence evidence
}

const notesKey = "adgateway.notes"

func note(c *gin.Context) *notes {
	return c.MustGet(notesKey).(*notes)
}

var requestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// identify gives the request its id, the client's where it is well-formed.
func (s *Server) identify(policy *Policy) gin.HandlerFunc {
	return func(c *gin.Context) {
		id := c.GetHeader("X-Request-Id")
		if !requestID.MatchString(id) {
			id = uuid.Must(uuid.NewV7()).String()
		}
		c.Set(notesKey, &notes{id: id, policy: policy, sendTimeout: s.Connections.SendTimeout})
		c.Header("X-Request-Id", id)
		c.Header("X-Engine", s.Engine)
	}
}

// logAccess writes one line for each request: never its query, its body or a
// header.
func (s *Server) logAccess(c *gin.Context) {
	start := time.Now()
	defer func() {
		n := note(c)
		fields := logrus.Fields{
			"request_id":  n.id,
			"method":      c.Request.Method,
			"route":       "",
			"status":      c.Writer.Status(),
			"duration_ms": float64(time.Since(start).Microseconds()) / 1000,
			"bytes":       max(c.Writer.Size(), 0),
			"client":      auth.Client(c.Request).String(),
		}
		if n.principal != "" {
			fields["principal"] = n.principal
		}
		if n.op != nil {
			fields["route"], fields["operation"], fields["records"] = n.op.Path, n.op.ID, n.records
		} else {
			fields["route"] = c.FullPath()
		}
		entry := s.Log.WithFields(fields)
		if n.server != "" {
			entry = entry.WithField("server", n.server)
		}
		switch f := n.failure; {
		case f == nil:
			entry.Info("request")
		case c.Request.Context().Err() != nil:
			entry.WithFields(f.log()).WithField("client_left", true).Info("request")
		case f.code.Status() >= 500:
			entry.WithFields(f.log()).Error("request")
		default:
			entry.WithFields(f.log()).Info("request")
		}
	}()
	c.Next()
}

// log tells a failure to the log, its cause included.
func (f *failure) log() logrus.Fields {
	fields := logrus.Fields{"code": f.code}
	for name, value := range map[string]string{"outcome": string(f.outcome), "directory_code": f.directoryCode} {
		if value != "" {
			fields[name] = value
		}
	}
	if f.cause != nil {
		fields["cause"] = f.cause.Error()
	}
	return fields
}

// recoverPanic turns a panic into a 500 that tells nothing, and a log line that
// tells where. An abort goes on to the server, which closes the connection.
func (s *Server) recoverPanic(c *gin.Context) {
	defer func() {
		reason := recover()
		if reason == nil {
			return
		}
		if reason == http.ErrAbortHandler {
			panic(reason)
		}
		failed := fail(ourFault.code, "%s", ourFault.sentence)
		failed.cause = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		if n := note(c); n.op != nil {
			failed.outcome = ps.OutcomeUnknown
			failed.forOperation(n.op)
		}
		if c.Writer.Written() {
			note(c).failure = failed
			panic(http.ErrAbortHandler)
		}
		s.writeFailure(c, failed)
	}()
	c.Next()
}

// secure sets the headers that keep browsers from doing anything with an
// answer, and refuses requests that other sites make them send.
func (s *Server) secure(c *gin.Context) {
	for name, value := range map[string]string{
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "no-referrer",
		"Content-Security-Policy":      "default-src 'none'; frame-ancestors 'none'",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cache-Control":                "no-store",
	} {
		c.Header(name, value)
	}
	if c.Request.TLS != nil {
		c.Header("Strict-Transport-Security", "max-age=31536000")
	}
	s.origin(c, note(c).policy.Origins)
}

// noRoute answers what no operation matches.
func (s *Server) noRoute(c *gin.Context) {
	found := routeOf(c.Request)
	switch {
	case found.problem != "":
		s.writeFailure(c, fail(schema.InvalidRequest, "%s", found.problem))
	case len(found.allowed) > 0:
		c.Header("Allow", strings.Join(found.allowed, ", "))
		s.noMethod(c)
	default:
		failed := fail(schema.NotFound, "There is no such route.")
		switch near := s.routes.nearest(found.path); {
		case near != "":
			failed.message += " Did you mean " + near + "?"
		case !s.HideDocs:
			failed.message += " All are described at " + docsPath + ", and for programs at " + documentPath + "."
		}
		s.writeFailure(c, failed)
	}
}

// noMethod answers a path that is there for other methods; the header Allow is set.
func (s *Server) noMethod(c *gin.Context) {
	s.writeFailure(c, fail(schema.MethodNotAllowed, "The method %s is not allowed here; allowed: %s.",
		printable(c.Request.Method), c.Writer.Header().Get("Allow")))
}
