package transport

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"adgateway/gateway/accesslog"
	"adgateway/gateway/call"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

var requestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// receive creates the state of a request, with the client's id if that is well-formed, and writes
// the outcome to the log and the metrics, even after a panic.
func (s *Server) receive(policy *WebPolicy) gin.HandlerFunc {
	engine := []string{s.Engine}
	return func(c *gin.Context) {
		id := s.RequestID(c.Request)
		x := &exchange{server: s, c: c, id: id, startedAt: time.Now(), policy: policy,
			sendTimeout: s.Connections.SendTimeout, arrival: arrivalOf(c.Request),
			control: http.NewResponseController(c.Writer)}
		x.exchange, x.credential = x, credentialIn(c.Request)
		x.headers.all = x.headers.room[:0]
		x.setHeader(RequestIDHeader, id)
		c.Writer.Header()["X-Engine"] = engine
		s.meters.running.Inc()
		defer s.meters.running.Dec()
		defer s.measure(x)
		defer s.logAccess(x)
		c.Next()
	}
}

// logAccess writes the log line of a request. The line never contains the query, the body or a
// header. Nothing is collected for a line that is not written.
func (s *Server) logAccess(x *exchange) {
	f := problem.Of(x.err)
	left := f != nil && x.c.Request.Context().Err() != nil
	if !s.Log.IsLevelEnabled(levelOf(f, left)) {
		return
	}
	line := accesslog.New()
	line.Text("request_id", x.id)
	line.Text("method", x.c.Request.Method)
	line.Whole("status", x.c.Writer.Status())
	line.Whole("bytes", max(x.c.Writer.Size(), 0))
	line.Text("client", x.client.String())
	if x.principal != nil && x.principal.Name != "" {
		line.Text("principal", x.principal.Name)
	}
	if x.op != nil {
		line.Text("route", x.op.Path)
		line.Text("operation", x.op.ID)
		line.Whole("records", x.answer.Count)
	} else {
		line.Text("route", x.c.FullPath())
	}
	if s.Hop != nil {
		if gateway, _, came := s.Hop.From(x.c.Request.Context()); came {
			line.Text("forwarded_by", gateway)
		}
	}
	s.writeAccess(line, x.answer, f, left, time.Since(x.startedAt))
}

// levelOf returns the level of the log line of a call. f is nil if it succeeded.
func levelOf(f *problem.Error, left bool) logrus.Level {
	if f != nil && !left && f.Code.Status() >= http.StatusInternalServerError {
		return logrus.ErrorLevel
	}
	return logrus.InfoLevel
}

// writeAccess writes the log line of a call, including its caller and its path. f is nil if it
// succeeded.
func (s *Server) writeAccess(
	line *accesslog.Line, answer call.Answer, f *problem.Error, left bool, took time.Duration,
) {
	line.Milliseconds("duration_ms", took)
	server := answer.Server
	if f != nil {
		server = cmp.Or(f.Server, server)
	}
	if server != "" {
		line.Text("server", server)
	}
	if s.Hop != nil {
		line.Text("answered_by", s.Hop.Gateway)
	}
	switch {
	case f != nil:
		logProblem(f, line)
	case answer.Audited != "":
		line.Text("code", string(answer.Audited))
	}
	if left {
		line.True("client_left")
	}
	line.Log(s.Log, levelOf(f, left), "request")
}

// logProblem adds the log fields of an error, including its cause.
func logProblem(f *problem.Error, line *accesslog.Line) {
	line.Text("code", string(f.AuditCode()))
	if f.Outcome != "" {
		line.Text("outcome", string(f.Outcome))
	}
	if f.DirectoryCode != "" {
		line.Text("directory_code", f.DirectoryCode)
	}
	if f.Cause != nil {
		line.Text("cause", f.Cause.Error())
	}
}

// recoverPanic turns a panic into a 500 that reveals nothing, and logs the stack. It passes
// http.ErrAbortHandler on to the server, which closes the connection.
func recoverPanic(x *exchange) {
	defer func() {
		reason := recover()
		if reason == nil {
			return
		}
		if reason == http.ErrAbortHandler {
			panic(reason)
		}
		failed := problem.Internal(fmt.Errorf("panic: %v\n%s", reason, debug.Stack()))
		if x.op != nil && x.op.Effect.Writes() {
			failed.Outcome = ps.OutcomeUnknown
		}
		if x.c.Writer.Written() {
			x.abort(failed)
		}
		x.fail(failed)
	}()
	x.c.Next()
}

// secureHeaders keep browsers from using an answer in unintended ways. All answers share the
// values.
var secureHeaders = http.Header{
	"X-Content-Type-Options":       {"nosniff"},
	"X-Frame-Options":              {"DENY"},
	"Referrer-Policy":              {"no-referrer"},
	"Content-Security-Policy":      {"default-src 'none'; frame-ancestors 'none'"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Cache-Control":                {"no-store"},
}

// secure sets the secure headers and refuses cross-site requests.
func secure(x *exchange) {
	maps.Copy(x.c.Writer.Header(), secureHeaders)
	if x.c.Request.TLS != nil {
		x.c.Header("Strict-Transport-Security", "max-age=31536000")
	}
	if !x.followsLink() {
		x.checkOrigin(x.policy.Origins)
	}
}

// noRoute answers requests that match no operation.
func (s *Server) noRoute(x *exchange) {
	found := x.route
	switch {
	case (s.Pages != nil || !s.HideDocs) && wantsHome(x, found.path):
		serveHome(x)
	case found.problem != "":
		x.fail(problem.New(schema.InvalidRequest, "%s", found.problem))
	case len(found.allowed) > 0:
		x.c.Header("Allow", strings.Join(found.allowed, ", "))
		hint := ""
		if near := s.routes.nearest(x.c.Request.Method, found.path); near != "" {
			hint = " Did you mean " + near + "?"
		}
		x.fail(methodNotAllowed(x, hint))
	default:
		failed := problem.New(schema.NotFound, "There is no such route.")
		switch near := s.routes.nearest(x.c.Request.Method, found.path); {
		case near != "":
			failed.Message += " Did you mean " + near + "?"
		case s.routes.below(x.c.Request.Method, found.path) != "":
			failed.Message += " Did you mean " + s.routes.below(x.c.Request.Method, found.path) +
				"? All paths begin with /api/, without a version."
		case !s.HideDocs:
			failed.Message += " All are described at " + docsPath + ", and for programs at " + documentPath + "."
		}
		x.fail(failed)
	}
}

// noMethod answers a request whose path only has other methods. The header Allow is already set.
func noMethod(x *exchange) { x.fail(methodNotAllowed(x, "")) }

// methodNotAllowed returns the error of a call whose path only has other methods.
func methodNotAllowed(x *exchange, hint string) error {
	return problem.New(schema.MethodNotAllowed, "The method %s is not allowed here; allowed: %s.%s",
		problem.Printable(x.c.Request.Method, 32), x.c.Writer.Header().Get("Allow"), hint)
}

// The rights of pages from a listed origin (CORS, as in the Fetch standard). Access-Control-Allow-Credentials
// is not sent, because a page sends its own token and must not use the browser's credentials, such as a
// client certificate.
const (
	corsMethods = "GET, POST, PUT, DELETE"
	corsRequest = "Auth-Token, Authorization, Content-Type, X-Request-Id, If-Match, If-None-Match"
	corsAnswer  = "X-Request-Id, X-Engine, X-Directory-Server, ETag, Retry-After, WWW-Authenticate, Allow, " +
		linkHeader + ", " + totalHeader + ", " + warnedHeader + ", " + warningsHeader
	corsMaxAge = "600" // seconds
)

// checkOrigin refuses cross-site requests from origins that are not listed, and answers preflights
// from listed ones. It allows pages of the gateway itself.
func (x *exchange) checkOrigin(listed []string) {
	header, origins := x.c.Writer.Header(), x.c.Request.Header.Values("Origin")
	if len(listed) > 0 {
		header.Add("Vary", "Origin")
	}
	allowed := len(origins) == 1 &&
		slices.ContainsFunc(listed, func(one string) bool { return strings.EqualFold(one, origins[0]) })
	ownOrigin := len(origins) == 1 && sameHost(origins[0], x.c.Request.Host)
	crossSite := x.c.GetHeader("Sec-Fetch-Site") == "cross-site"
	if !allowed && (crossSite || len(origins) > 0 && !ownOrigin) {
		failed := problem.New(schema.Forbidden, "Requests from other web sites are not accepted.")
		failed.Reason = problem.ReasonOtherSites
		x.fail(failed)
		return
	}
	if !allowed {
		return
	}
	header.Set("Access-Control-Allow-Origin", origins[0])
	if x.c.Request.Method != http.MethodOptions || x.c.GetHeader("Access-Control-Request-Method") == "" {
		header.Set("Access-Control-Expose-Headers", corsAnswer)
		return
	}
	// The answer to a preflight is the same for every path. That a path or a method does not exist is reported
	// to the actual request, not to the preflight.
	header.Add("Vary", "Access-Control-Request-Method")
	header.Add("Vary", "Access-Control-Request-Headers")
	header.Set("Access-Control-Allow-Methods", corsMethods)
	header.Set("Access-Control-Allow-Headers", corsRequest)
	header.Set("Access-Control-Max-Age", corsMaxAge)
	x.c.AbortWithStatus(http.StatusNoContent)
}

func sameHost(origin, host string) bool {
	parsed, err := url.Parse(origin)
	return err == nil && parsed.Host != "" && strings.EqualFold(parsed.Host, host)
}
