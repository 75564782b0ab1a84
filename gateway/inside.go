package gateway

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/transport"
	"adgateway/gateway/ui/figures"
	"adgateway/gateway/ui/frame"
)

// Call makes a call of an operation for a part of the gateway itself: for a page, an item of a job,
// or sign-in. It is authorised, metered, audited, logged and counted as the call of a client, and
// is answered as [Server.Do] does. Op and Classic of c are set here, and so is its ID if it has
// none that is well formed. Its Input is [call.Values].
//
// The answer has no Kept: what was kept is decoded. It is safe for concurrent use.
func (s *Server) Call(ctx context.Context, operation string, c call.Call) (call.Answer, error) {
	op := s.operationOf(operation)
	if op == nil {
		return call.Answer{}, problem.New(schema.NotSupported, "This gateway does not have the operation '%s'.", operation)
	}
	c.Op, c.Path, c.Principal = op, pathOf(op, c.Input), s.Quotas.Of(c.Principal)
	c.Classic = transport.IsClassic(c.Principal, s.current.Load().Dialect)
	c.ID = transport.WellFormedID(c.ID)
	answer, err := s.web.Inside(ctx, c)
	return call.Settled(c, answer, err)
}

// pathOf returns the values of a call for the path of its row.
func pathOf(op *ops.Operation, input call.Input) map[string]string {
	values, _ := input.(call.Values)
	path := map[string]string{}
	for i := range op.Params {
		p := &op.Params[i]
		if value, has := values[p.Name]; has && p.Path != "" {
			path[p.Path] = fmt.Sprint(value)
		}
	}
	return path
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

// RequiresReason reports whether calls of an operation to a server must say why, by its present settings.
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

// LastHour returns how many calls of operations were answered in each minute of the last hour.
func (s *Server) LastHour() []figures.Minute { return s.hour.Last(time.Now()) }

// ClientOf returns the address of a request's client by the rules for trusted proxies. Without one
// it is the TCP peer, and without that the zero Addr.
func ClientOf(r *http.Request) netip.Addr { return transport.ClientOf(r) }
