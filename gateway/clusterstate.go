package gateway

import (
	"net/http"
	"time"

	"adgateway/gateway/schema"
)

// ClusterState is what a gateway knows of the others that share its store: the record of
// GET /api/Cluster.
type ClusterState struct {
	Name       string          `json:"name"`
	Gateway    string          `json:"gateway"` // this one
	Degraded   bool            `json:"degraded"`
	Reason     *string         `json:"reason"` // nil: all is well
	Members    []ClusterMember `json:"members"`
	Pins       []ClusterPin    `json:"pins"`
	Nodes      []ClusterNode   `json:"nodes"`
	Stream     *ClusterStream  `json:"stream"` // nil: the engine has not answered yet
	KeyVersion int             `json:"keyVersion"`
	Format     int             `json:"format"` // in which values are written
}

// ClusterNode is a node of the engine.
type ClusterNode struct {
	Name  string `json:"name"`
	Leads bool   `json:"leads"`
	State string `json:"state"` // current, behind or away
	Lag   uint64 `json:"lag"`   // messages that it lacks
}

// ClusterStream is what the engine keeps.
type ClusterStream struct {
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`
	MaxBytes *int64 `json:"maxBytes"` // nil: unbounded
}

// ClusterMember is a gateway of the last seven days.
type ClusterMember struct {
	Name      string    `json:"name"`
	Site      string    `json:"site"`
	State     string    `json:"state"` // lives, silent or stopped
	Version   string    `json:"version"`
	Started   time.Time `json:"started"`
	Heartbeat time.Time `json:"heartbeat"` // by its own clock
	Unreached []string  `json:"unreached"` // lanes of which it cannot use the server
}

// ClusterPin is a server that the gateways of a site use together.
type ClusterPin struct {
	Site   string    `json:"site"`
	Lane   string    `json:"lane"`
	Server string    `json:"server"`
	Since  time.Time `json:"since"`
	Epoch  uint64    `json:"epoch"`
	Reason *string   `json:"reason"`
}

// showCluster answers with the gateways that share the store.
func (s *Server) showCluster(r *request) *failure {
	if s.Cluster == nil {
		return fail(schema.NotSupported, "This gateway is alone: its settings name no cluster (cluster.name).")
	}
	state, err := s.Cluster(r.c.Request.Context())
	if err != nil {
		failed := fail(storeCode(err), "What the gateways share cannot be read at the moment. GET /readyz tells when it can.")
		failed.cause, failed.retryAfter = err, auditRetry
		return failed
	}
	output := "All gateways of the cluster '" + state.Name + "' can make changes."
	if state.Degraded {
		output = "Something of the cluster '" + state.Name + "' needs attention."
	}
	r.records = 1
	s.sendLocal(r, http.StatusOK, output, []any{state}, nil)
	return nil
}
