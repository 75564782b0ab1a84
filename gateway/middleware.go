package gateway

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/sirupsen/logrus"

	"adgateway/gateway/auth"
	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

var requestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// receive creates the state of a request, with the client's id if that is well
// formed, and records what became of it when the answer is complete, panic or
// not: in the log, in the metrics, and in the audit unless it is there already.
func (s *Server) receive(policy *Policy) gin.HandlerFunc {
	engine := []string{s.Engine}
	return func(c *gin.Context) {
		id := givenID(c.Request)
		r := &request{gateway: s, c: c, id: id, startedAt: time.Now(), policy: policy, sendTimeout: s.Connections.SendTimeout}
		c.Set(requestKey, r)
		c.Header(requestIDHeader, id)
		c.Writer.Header()["X-Engine"] = engine
		s.meters.running.Inc()
		defer s.meters.running.Dec()
		defer s.measure(r)
		defer s.logAccess(r)
		defer s.recordOutcome(r)
		defer s.keepChange(r)
		c.Next()
	}
}

// logAccess writes the log line of a request: never its query, its body or a
// header. Nothing is collected for a line that is not written.
func (s *Server) logAccess(r *request) {
	f, level := r.failure, logrus.InfoLevel
	left := f != nil && r.c.Request.Context().Err() != nil
	if f != nil && !left && f.Code.Status() >= 500 {
		level = logrus.ErrorLevel
	}
	if !s.Log.IsLevelEnabled(level) {
		return
	}
	fields := make(logrus.Fields, maxAccessFields)
	fields["request_id"] = r.id
	fields["method"] = r.c.Request.Method
	fields["status"] = r.c.Writer.Status()
	fields["duration_ms"] = float64(time.Since(r.startedAt).Microseconds()) / 1000
	fields["bytes"] = max(r.c.Writer.Size(), 0)
	fields["client"] = auth.Client(r.c.Request).String()
	if r.principal != nil && r.principal.Name != "" {
		fields["principal"] = r.principal.Name
	}
	if r.op != nil {
		fields["route"], fields["operation"], fields["records"] = r.op.Path, r.op.ID, r.records
	} else {
		fields["route"] = r.c.FullPath()
	}
	if r.server != "" {
		fields["server"] = r.server
	}
	if s.Member != nil {
		fields["answered_by"] = s.Hop.Gateway
		if origin, came := hop.From(r.c.Request.Context()); came {
			fields["forwarded_by"] = origin.Gateway
		}
	}
	switch {
	case f != nil:
		logProblem(f, fields)
	case r.result != nil && r.result.Outside:
		fields["code"] = schema.Limit
	}
	if left {
		fields["client_left"] = true
	}
	entry := logrus.Entry{Logger: s.Log, Data: fields} // WithFields would copy them
	entry.Log(level, "request")
}

// maxAccessFields is the number of fields that a request can have in the log.
const maxAccessFields = 18

// logProblem adds the log fields of an error, its cause included.
func logProblem(f *problem.Error, fields logrus.Fields) {
	fields["code"] = f.AuditCode()
	if f.Outcome != "" {
		fields["outcome"] = string(f.Outcome)
	}
	if f.DirectoryCode != "" {
		fields["directory_code"] = f.DirectoryCode
	}
	if f.Cause != nil {
		fields["cause"] = f.Cause.Error()
	}
}

// recoverPanic turns a panic into a 500 that reveals nothing and a log line with
// the stack. http.ErrAbortHandler passes on to the server, which closes the
// connection.
func recoverPanic(r *request) {
	defer func() {
		reason := recover()
		if reason == nil {
			return
		}
		if reason == http.ErrAbortHandler {
			panic(reason)
		}
		failed := problem.Internal(fmt.Errorf("panic: %v\n%s", reason, debug.Stack()))
		if r.op != nil {
			failed.Outcome = ps.OutcomeUnknown
			forOperation(r.op, failed)
		}
		if r.c.Writer.Written() {
			r.abort(failed)
		}
		r.fail(failed)
	}()
	r.c.Next()
}

// secureHeaders keep browsers from using an answer in any other way. All answers share
// the values.
var secureHeaders = http.Header{
	"X-Content-Type-Options":       {"nosniff"},
	"X-Frame-Options":              {"DENY"},
	"Referrer-Policy":              {"no-referrer"},
	"Content-Security-Policy":      {"default-src 'none'; frame-ancestors 'none'"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Cache-Control":                {"no-store"},
}

// secure sets these headers and refuses cross-site requests.
func secure(r *request) {
	maps.Copy(r.c.Writer.Header(), secureHeaders)
	if r.c.Request.TLS != nil {
		r.c.Header("Strict-Transport-Security", "max-age=31536000")
	}
	if !r.followsLink() {
		r.checkOrigin(r.policy.Origins)
	}
}

// noRoute answers requests that match no operation.
func (s *Server) noRoute(r *request) {
	found := routeOf(r.c.Request)
	switch {
	case s.wantsPages(r, found.path):
		r.c.Redirect(http.StatusSeeOther, pagesPath)
	case found.problem != "":
		r.fail(problem.New(schema.InvalidRequest, "%s", found.problem))
	case len(found.allowed) > 0:
		r.c.Header("Allow", strings.Join(found.allowed, ", "))
		hint := ""
		if near := s.routes.nearest(r.c.Request.Method, found.path); near != "" {
			hint = " Did you mean " + near + "?"
		}
		r.fail(methodNotAllowed(r, hint))
	default:
		failed := problem.New(schema.NotFound, "There is no such route.")
		switch near := s.routes.nearest(r.c.Request.Method, found.path); {
		case near != "":
			failed.Message += " Did you mean " + near + "?"
		case !s.HideDocs:
			failed.Message += " All are described at " + docsPath + ", and for programs at " + documentPath + "."
		}
		r.fail(failed)
	}
}

// noMethod answers a path that has other methods. The header Allow is already set.
func noMethod(r *request) { r.fail(methodNotAllowed(r, "")) }

// methodNotAllowed returns the error of a call whose path has other methods.
func methodNotAllowed(r *request, hint string) error {
	return problem.New(schema.MethodNotAllowed, "The method %s is not allowed here; allowed: %s.%s",
		printable(r.c.Request.Method, 32), r.c.Writer.Header().Get("Allow"), hint)
}
