package gateway

import (
	"net/http"
	"runtime"

	"github.com/gin-gonic/gin"

	"adgateway/gateway/auth"
	"adgateway/gateway/schema"
)

// healthz tells that the process runs.
func (s *Server) healthz(c *gin.Context) {
	s.writeRecords(c, http.StatusOK, "The gateway is running.", []any{struct {
		Status string `json:"status"`
	}{"ok"}})
}

// readyz tells whether requests can be served, check by check. Reasons are for
// callers with ops:read.
func (s *Server) readyz(c *gin.Context) {
	var checks []Check
	if s.Ready != nil {
		checks = s.Ready(c.Request.Context())
	}
	if s.Audit != nil {
		checks = append(checks, auditCheck(s.Audit))
	}
	reasons := false
	if auth.Carries(c.Request) {
		principal, failed := s.authenticate(c)
		switch {
		case failed == nil:
			reasons = principal.Has(auth.OpsRead)
		case failed.code == schema.Unavailable: // nobody is known: the check of the credentials tells it
		default:
			s.writeFailure(c, failed)
			return
		}
	}
	type line struct {
		Name   string  `json:"name"`
		OK     bool    `json:"ok"`
		Reason *string `json:"reason,omitempty"`
	}
	status, output := http.StatusOK, "The gateway is ready."
	records := []any{}
	for _, check := range checks {
		record := line{Name: check.Name, OK: check.OK}
		if reasons {
			record.Reason = &check.Reason
		}
		if !check.OK {
			status, output = schema.Unavailable.Status(), "The gateway is not ready."
			c.Header("Retry-After", "5")
		}
		records = append(records, record)
	}
	s.writeRecords(c, status, output, records)
}

// version tells what runs here.
func (s *Server) version(c *gin.Context) {
	s.writeRecords(c, http.StatusOK, "This is adgateway "+firstOf(s.Version.Version, "(development)")+".", []any{struct {
		Version string `json:"version"`
		Commit  string `json:"commit"`
		Built   string `json:"built"`
		Go      string `json:"go"`
		Engine  string `json:"engine"`
	}{s.Version.Version, s.Version.Commit, s.Version.Built, runtime.Version(), s.Engine}})
}

func (s *Server) writeRecords(c *gin.Context, status int, output string, records []any) {
	send(c, status, encode(struct {
		Output string `json:"output"`
		Result []any  `json:"result"`
	}{output, records}))
}
