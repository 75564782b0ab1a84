// Package forward sends calls from a gateway of a cluster to the leading gateway, which makes all changes and
// answers reads of the gateways' own data. It forwards a call before reading any of it, so authentication,
// metering, audit and metrics happen at the leader.
package forward

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/cluster"
	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/cluster/standing"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/transport"
	"adgateway/ps"
)

// Options configure a [Forwarder]. All except Pages and EndPoint are required.
type Options struct {
	Member *cluster.Member
	Hop    hop.Options // New sets its Observe
	Count  func(hop.Outcome)
	Log    *logrus.Logger

	// Limit returns the maximum time from a call until its answer begins. op is nil for a page.
	Limit       func(op *ops.Operation) time.Duration
	SendTimeout time.Duration   // time limit for the client to receive a piece of the answer
	Pages       transport.Pages // the pages for people; nil if there are none
	// EndPoint returns the bindings of connections to this gateway, which only the tickets of people need.
	// It may be nil.
	EndPoint func() []byte
}

// Forwarder sends calls to the leader. It is safe for concurrent use.
type Forwarder struct {
	Options
	calls *hop.Forwarder
}

// New returns a forwarder. The caller must call [Forwarder.Close].
func New(o Options) *Forwarder {
	if o.Pages == nil || o.Pages.Tickets() == nil {
		o.EndPoint = nil
	}
	f := &Forwarder{Options: o}
	o.Hop.Observe = f.observe
	f.calls = hop.NewForwarder(o.Hop)
	return f
}

// Close closes the idle connections to other gateways.
func (f *Forwarder) Close() { f.calls.Close() }

// Hop returns the functions by which calls pass between this gateway and the others. requestID
// returns the id of a request, and leads reports whether this gateway leads.
func (f *Forwarder) Hop(requestID func(*http.Request) string, leads func() bool) *transport.Hop {
	return &transport.Hop{
		Gateway: f.Options.Hop.Gateway, Clean: hop.Clean, Leads: leads,
		Forward: func(next http.Handler) http.Handler { return f.forward(next, requestID) },
		From: func(ctx context.Context) (gateway, requestID string, came bool) {
			origin, came := hop.From(ctx)
			return origin.Gateway, origin.RequestID, came
		},
	}
}

// forward sends calls that run on the leader to the leader, and passes all others on to next. Calls that
// another gateway has forwarded always run here.
func (f *Forwarder) forward(next http.Handler, requestID func(*http.Request) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		op := transport.OperationOf(r)
		if _, came := hop.From(r.Context()); came || !f.forLeader(r, op) {
			next.ServeHTTP(w, r)
			return
		}
		leaderless := f.Member.Status().Leaderless >= standing.LeaderlessFor
		if op != nil && hasCopy(op) && leaderless {
			next.ServeHTTP(w, transport.Unled(r, nil))
			return
		}
		r.Header.Set(transport.RequestIDHeader, requestID(r))
		to := transport.LimitSends(w, f.SendTimeout)
		here, lost := f.calls.Forward(to, r, originOf(r, f.EndPoint), f.Limit(op))
		switch {
		case here:
			next.ServeHTTP(w, r)
		case lost != nil:
			next.ServeHTTP(w, unanswered(r, lost))
		}
	})
}

// forLeader reports whether a call runs on the leader. op is nil if the call is not for an
// operation.
func (f *Forwarder) forLeader(r *http.Request, op *ops.Operation) bool {
	if op == nil {
		return f.Pages != nil && isPage(r.URL.Path)
	}
	return op.Where(r.URL.RawQuery) == ops.Leader
}

// isPage reports whether a path leads to a page for people, which needs a session that only the leader knows.
// It returns false for the static files of pages, which are the same at every gateway.
func isPage(path string) bool {
	page, is := strings.CutPrefix(path, transport.PagesPath)
	return is && !strings.HasPrefix(page, "assets/")
}

// hasCopy reports whether this gateway can answer a read of the gateways' own data from its copy.
// The progress of a job is only in the memory of the leader.
func hasCopy(op *ops.Operation) bool {
	return !op.Effect.Writes() && !strings.HasPrefix(op.ID, "job.")
}

// unanswered returns the request for answering, on this gateway, a call that the leader has not answered. A
// read of the gateways' own data is answered from this gateway's copy, unless the leader may have begun it.
func unanswered(r *http.Request, lost *hop.Failure) *http.Request {
	if op := transport.OperationOf(r); op != nil && lost.Outcome == hop.NotLeader && hasCopy(op) {
		return transport.Unled(r, nil)
	}
	return transport.Unled(r, unledFailure(lost))
}

// unledFailure returns the answer to a call that the leader has not answered.
func unledFailure(lost *hop.Failure) error {
	failed := problem.New(schema.NotLeader, "No gateway of the cluster leads now, and nothing was "+
		"begun. That lasts some seconds when the one that leads is lost: repeat the call. "+
		"GET /api/Cluster shows the gateways.")
	if lost.Outcome == hop.Unknown {
		failed = problem.New(schema.Timeout, "The gateway that leads took the call and did not "+
			"answer it, so nobody knows whether it was done. Look in the history for the request id. "+
			"A call with an %s can be repeated safely.", ops.KeyHeader)
		failed.Outcome = ps.OutcomeUnknown
	}
	failed.Cause, failed.RetryAfter = lost.Err, lost.RetryAfter
	return failed
}

// originOf returns the facts about a call that only this gateway knows.
func originOf(r *http.Request, endPoint func() []byte) hop.Origin {
	origin := hop.Origin{
		Client: transport.ClientOf(r), Scheme: "http", RequestID: r.Header.Get(transport.RequestIDHeader),
	}
	if r.TLS != nil {
		origin.Scheme, origin.Chains = "https", r.TLS.VerifiedChains
		origin.EndPoint = EndPointOf(r, endPoint)
	}
	return origin
}

// EndPointOf returns the bindings of a client's TLS connection, which may end at another gateway, or nil if
// there are none. own returns the bindings of connections to this gateway, and is nil if they are unknown.
func EndPointOf(r *http.Request, own func() []byte) []byte {
	if origin, came := hop.From(r.Context()); came {
		return origin.EndPoint
	}
	if r.TLS == nil || own == nil {
		return nil
	}
	return own()
}

// observe counts and logs the outcome of a forwarded call. The line for a call that the leader has
// not answered is written with this gateway's answer.
func (f *Forwarder) observe(r *http.Request, outcome hop.Outcome, gateway string) {
	f.Count(outcome)
	level := logrus.InfoLevel
	switch outcome {
	case hop.Retried:
		level = logrus.DebugLevel
	case hop.NotLeader, hop.Unknown:
		return
	}
	fields := logrus.Fields{
		"request_id": r.Header.Get(transport.RequestIDHeader), "method": r.Method,
		"client": transport.ClientOf(r).String(), "route": transport.PagesPath,
		"answered_by": gateway, "hop": string(outcome),
	}
	if op := transport.OperationOf(r); op != nil {
		fields["route"], fields["operation"] = op.Path, op.ID
	}
	f.Log.WithFields(fields).Log(level, "request forwarded")
}
