package gateway

import (
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/inprocess"
	"adgateway/gateway/ops"
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
func (s *Server) HopHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.current.Load().handler.ServeHTTP(w, r)
	})
}

// forward sends the calls to the leader that run there, and passes the others on. Those that
// another gateway has forwarded run here, and so do those that the gateway sends to itself.
func (s *Server) forward(policy *Policy, next http.Handler) http.Handler {
	if s.forwarder == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limit, leads := s.forLeader(r, policy)
		if _, came := hop.From(r.Context()); came || !leads || inprocess.Caller(r) != nil {
			next.ServeHTTP(w, r)
			return
		}
		if op := routeOf(r).op; op != nil && hasCopy(op) && s.Member.Status().Leaderless >= leaderlessFor {
			next.ServeHTTP(w, Unled(r, nil))
			return
		}
		r.Header.Set(requestIDHeader, givenID(r))
		to := &limitedWriter{w, s.Connections.SendTimeout}
		here, lost := s.forwarder.Forward(to, r, originOf(r), limit)
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
func (s *Server) forLeader(r *http.Request, policy *Policy) (limit time.Duration, leads bool) {
	most := max(policy.ReadLimit, policy.WriteLimit) // dry runs of changes are reads
	if op := routeOf(r).op; op != nil {
		if op.Reply.Mark == ops.List {
			most = max(most, policy.ListLimit)
		}
		most, leads = max(most, op.Timeout), op.Where(r.URL.RawQuery) == ops.Leader
	} else {
		leads = s.pages != nil && isPage(r.URL.Path)
	}
	return most + policy.SettleLimit + s.MaxWait, leads
}

// isPage reports whether a path is that of a page for people, whose session the leader knows.
// What the pages are drawn with is the same everywhere.
func isPage(path string) bool {
	return strings.HasPrefix(path, pagesPath) && !strings.HasPrefix(path, pagesPath+"assets/")
}

// originOf returns what only this gateway knows of a call.
func originOf(r *http.Request) hop.Origin {
	origin := hop.Origin{Client: ClientOf(r), Scheme: "http", RequestID: r.Header.Get(requestIDHeader)}
	if r.TLS != nil {
		origin.Scheme, origin.Chains = "https", r.TLS.VerifiedChains
	}
	return origin
}

const requestIDHeader = "X-Request-Id"

// givenID returns the id that a client has given its request, or another one if that is not well
// formed.
func givenID(r *http.Request) string {
	if origin, came := hop.From(r.Context()); came && requestID.MatchString(origin.RequestID) {
		return origin.RequestID
	}
	if id := r.Header.Get(requestIDHeader); requestID.MatchString(id) {
		return id
	}
	return uuid.Must(uuid.NewV7()).String()
}

// observeHop counts and logs what becomes of a call that is forwarded. The line of a call that
// the leader has not answered is written with the answer of this gateway.
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
		"request_id": r.Header.Get(requestIDHeader), "method": r.Method, "client": ClientOf(r).String(),
		"route": pagesPath, "answered_by": gateway, "hop": string(outcome),
	}
	if op := routeOf(r).op; op != nil {
		fields["route"], fields["operation"] = op.Path, op.ID
	}
	s.Log.WithFields(fields).Log(level, "request forwarded")
}

// limitedWriter gives the client of a forwarded call a time for each piece of the answer, as
// [request.write] does. Between the events of a stream there is no limit.
type limitedWriter struct {
	http.ResponseWriter
	most time.Duration
}

func (u *limitedWriter) Write(piece []byte) (int, error) {
	u.limit(time.Now().Add(u.most))
	return u.ResponseWriter.Write(piece)
}

// FlushError is for [http.ResponseController].
func (u *limitedWriter) FlushError() error {
	u.limit(time.Now().Add(u.most))
	defer u.limit(time.Time{})
	return http.NewResponseController(u.ResponseWriter).Flush()
}

// Unwrap is for [http.ResponseController].
func (u *limitedWriter) Unwrap() http.ResponseWriter { return u.ResponseWriter }

func (u *limitedWriter) limit(deadline time.Time) {
	_ = http.NewResponseController(u.ResponseWriter).SetWriteDeadline(deadline) // without one there is no limit
}
