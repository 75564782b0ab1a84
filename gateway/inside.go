package gateway

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/transport"
	"adgateway/gateway/ui/figures"
	"adgateway/gateway/ui/frame"
)

// Call makes a call for a part of the gateway itself, see [transport.Server.Call].
func (s *Server) Call(ctx context.Context, operation string, c call.Call) (call.Answer, error) {
	return s.web.Call(ctx, operation, c)
}

// Readiness implements [frame.API].
func (s *Server) Readiness(
	ctx context.Context, caller *identity.Principal,
) (checks []frame.Check, ready bool) {
	ready = true
	for _, found := range s.checks(ctx) {
		check := frame.Check{Name: found.Name, OK: found.OK, Degraded: found.Degraded && found.OK}
		if caller != nil && caller.Has(identity.OpsRead) {
			check.Reason = found.Reason
		}
		checks, ready = append(checks, check), ready && found.OK
	}
	return checks, ready
}

// RequiresReason reports whether calls of an operation to a server must give a reason under the
// server's current settings.
func RequiresReason(s *Server, operation string) bool {
	return call.RequiresReason(s.operationOf(operation), s.current.Load().RequireReason)
}

// Proved implements [frame.API].
func (s *Server) Proved(r *http.Request) { s.web.Proved(r) }

// answered counts an answered request for an operation.
func (s *Server) answered(op *ops.Operation, status int, err error) {
	s.hour.Add(time.Now(), status)
	s.meters.Answered(op, err)
}

// LastHour returns the number of answered calls of operations in each minute of the last hour.
func (s *Server) LastHour() []figures.Minute { return s.hour.Last(time.Now()) }

// ClientOf returns the address of a request's client according to the rules for trusted proxies. For a
// request to which the rules have not been applied, it is the TCP peer, or the zero Addr if that is
// unknown.
func ClientOf(r *http.Request) netip.Addr { return transport.ClientOf(r) }
