// Package here describes this gateway's cluster: the leader, the number of gateways that serve, and
// the state of the cluster.
package here

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"adgateway/gateway/call"
	"adgateway/gateway/cluster"
	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/cluster/standing"
	"adgateway/gateway/problem"
	"adgateway/gateway/readiness"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
)

// Cluster connects a gateway to its cluster.
type Cluster struct {
	// Member is this gateway in a cluster with a single writer, or nil outside of a cluster. Only the
	// leading gateway makes changes and answers reads of the gateways' own data.
	Member *cluster.Member
	// Hop configures how the other gateways send calls to the leader. It is required with a Member.
	Hop         *hop.Options
	ClusterName string // shown by GET /api/Cluster
	// Relay is the store for data that every gateway of the cluster may write, whether or not it
	// leads. Nil means the store of the gateway.
	Relay *store.Sealed
}

// Gateway is this gateway in its cluster. It is safe for concurrent use.
type Gateway struct {
	Cluster // outside of a cluster, the other fields are not used
	Kept    *store.Sealed
	Lanes   func() []string // returns the lanes whose servers this gateway can use
}

// Check is the readiness check of the gateway's state within its cluster.
func (g Gateway) Check() readiness.Check {
	status := g.Member.Status()
	return readiness.Check{
		Name: "cluster", OK: true, NoChanges: status.Leaderless >= standing.LeaderlessFor,
		Degraded: len(standing.Wrong(status)) > 0, Reason: standing.Reason(status),
	}
}

// Serving returns the number of gateways that serve the same clients.
func (g Gateway) Serving() int {
	n := 1
	if g.Member == nil {
		return n
	}
	for _, other := range g.Member.Status().Gateways {
		if other.Alive {
			n++
		}
	}
	return n
}

// Leads reports whether this gateway makes changes. A gateway outside of a cluster always does.
func (g Gateway) Leads() bool {
	if g.Member == nil {
		return true
	}
	_, leads := g.Member.Leads()
	return leads
}

// state returns the state of the cluster as this gateway knows it.
func (g Gateway) state() standing.State {
	version, _ := g.Kept.Seals()
	return standing.Of(g.Member.Status(), standing.Self{
		Cluster: g.ClusterName, Gateway: g.Hop.Gateway, KeyVersion: version, Format: g.Member.Format(),
		Reads: g.Kept.Newest(), Lanes: g.Lanes(),
	})
}

// Show is the [call.Handler] of GET /api/Cluster.
func (g Gateway) Show(_ context.Context, a call.Accepted) (call.Answer, error) {
	if g.Member == nil {
		return call.Answer{}, problem.New(schema.NotSupported,
			"This gateway is alone: it has not joined a cluster (adgateway cluster init, or join).")
	}
	state := g.state()
	return a.Answer(state.Sentence(), state), nil
}

// ServeHTTP answers with the state of the cluster as this gateway sees it. It does not authenticate
// callers, so it may only serve the hop listener.
func (g Gateway) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if g.Member == nil {
		http.Error(w, "the log of the cluster has not begun", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(g.state()) // the client may have left
}

// judgedFor is how long a new leader waits for the verdicts on open changes of earlier terms before it begins
// work of its own.
const judgedFor = 5 * time.Second

// WaitJudged waits until the open changes of earlier terms are judged, but no longer than a few
// seconds. It returns false at once if ctx is done.
func (g Gateway) WaitJudged(ctx context.Context) bool {
	limit := time.NewTimer(judgedFor)
	defer limit.Stop()
	for {
		changed := g.Member.Changed()
		if g.Member.Status().Open == 0 {
			return true
		}
		select {
		case <-changed:
		case <-limit.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
}
