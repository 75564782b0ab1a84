package gateway

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/cluster/standing"
	"adgateway/gateway/ops"
	"adgateway/gateway/transport"
)

// In a cluster the leader makes all changes, and answers what is asked of what the gateways keep
// themselves. A gateway that does not lead forwards such calls before anything of them is read:
// credential, meters, audit and metrics are the leader's.

// newForwarder returns what forwards calls to the leader.
func (s *Server) newForwarder() *hop.Forwarder {
	options := *s.Hop
	options.Observe = s.observeHop
	return hop.NewForwarder(options)
}

// HopHandler returns the server as a handler of the calls that other gateways forward, for
// [hop.Receiver].
func (s *Server) HopHandler() http.Handler { return s.web.Forwarded() }

// hop returns how calls pass between this gateway and the others.
func (s *Server) hop() *transport.Hop {
	return &transport.Hop{
		Gateway: s.Hop.Gateway, Clean: hop.Clean, Forward: s.forward, Leads: s.leads,
		From: func(ctx context.Context) (gateway, requestID string, came bool) {
			origin, came := hop.From(ctx)
			return origin.Gateway, origin.RequestID, came
		},
	}
}

// forward sends the calls to the leader that run there, and passes the others on. Those that
// another gateway has forwarded run here.
func (s *Server) forward(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limit, leads := s.forLeader(r)
		if _, came := hop.From(r.Context()); came || !leads {
			next.ServeHTTP(w, r)
			return
		}
		if op := transport.OperationOf(r); op != nil && hasCopy(op) && s.Member.Status().Leaderless >= standing.LeaderlessFor {
			next.ServeHTTP(w, transport.Unled(r, nil))
			return
		}
		r.Header.Set(transport.RequestIDHeader, s.web.RequestID(r))
		to := transport.LimitSends(w, s.Connections.SendTimeout)
		endPoint := s.EndPoint
		if s.pages == nil || s.pages.Tickets() == nil {
			endPoint = nil // nobody needs it
		}
		here, lost := s.forwarder.Forward(to, r, originOf(r, endPoint), limit)
		switch {
		case here:
			next.ServeHTTP(w, r)
		case lost != nil:
			next.ServeHTTP(w, unanswered(r, lost))
		}
	})
}

// forLeader reports whether a call runs on the leader, and how long that may take until its
// answer begins.
func (s *Server) forLeader(r *http.Request) (limit time.Duration, leads bool) {
	policy := s.current.Load()
	most := max(policy.ReadLimit, policy.WriteLimit) // dry runs of changes are reads
	if op := transport.OperationOf(r); op != nil {
		if op.Reply.Mark == ops.List {
			most = max(most, policy.ListLimit)
		}
		most, leads = max(most, op.Timeout), op.Where(r.URL.RawQuery) == ops.Leader
	} else {
		leads = s.Pages != nil && isPage(r.URL.Path)
	}
	return most + policy.SettleLimit + s.MaxWait, leads
}

// isPage reports whether a path leads to a page for people, whose session the leader knows. The
// files that pages are drawn with are the same at every gateway.
func isPage(path string) bool {
	return strings.HasPrefix(path, transport.PagesPath) && !strings.HasPrefix(path, transport.PagesPath+"assets/")
}

// originOf returns what only this gateway knows of a call.
func originOf(r *http.Request, endPoint func() []byte) hop.Origin {
	origin := hop.Origin{Client: ClientOf(r), Scheme: "http", RequestID: r.Header.Get(transport.RequestIDHeader)}
	if r.TLS != nil {
		origin.Scheme, origin.Chains = "https", r.TLS.VerifiedChains
		origin.EndPoint = EndPointOf(r, endPoint)
	}
	return origin
}

// EndPointOf returns the bindings of the TLS connection of a client, which may end at another gateway; nil:
// it has none. here returns the bindings of this gateway; nil: they are not known.
func EndPointOf(r *http.Request, here func() []byte) []byte {
	if origin, came := hop.From(r.Context()); came {
		return origin.EndPoint
	}
	if r.TLS == nil || here == nil {
		return nil
	}
	return here()
}

// observeHop counts and logs the outcome of a call that is forwarded. The line of a call that the
// leader has not answered is written with the answer of this gateway.
func (s *Server) observeHop(r *http.Request, outcome hop.Outcome, gateway string) {
	s.meters.forwarded.WithLabelValues(string(outcome)).Inc()
	level := logrus.InfoLevel
	switch outcome {
	case hop.Retried:
		level = logrus.DebugLevel
	case hop.NotLeader, hop.Unknown:
		return
	}
	fields := logrus.Fields{
		"request_id": r.Header.Get(transport.RequestIDHeader), "method": r.Method, "client": ClientOf(r).String(),
		"route": transport.PagesPath, "answered_by": gateway, "hop": string(outcome),
	}
	if op := transport.OperationOf(r); op != nil {
		fields["route"], fields["operation"] = op.Path, op.ID
	}
	s.Log.WithFields(fields).Log(level, "request forwarded")
}
