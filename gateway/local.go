package gateway

import (
	"fmt"
	"maps"

	"adgateway/gateway/audit"
	"adgateway/gateway/call"
)

// register adds rows without a script.
func (s *Server) register(local call.Local) {
	maps.Copy(s.calls.Local.Handlers, local.Handlers)
	maps.Copy(s.calls.Local.Streamers, local.Streamers)
}

func auditCheck(log *audit.Log) Check {
	if err := log.Check(); err != nil {
		return Check{Name: "audit", Reason: fmt.Sprintf("the audit log cannot be written: %v", err)}
	}
	warning := log.Warning()
	return Check{Name: "audit", OK: true, Degraded: warning != "", Reason: warning}
}
