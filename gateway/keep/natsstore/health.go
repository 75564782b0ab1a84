package natsstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// lookEvery is how often the engine is asked how it is.
const lookEvery = 5 * time.Second

// behind is how many messages a node may lack without being in trouble: a follower is
// always a few behind under load.
const behind = 10_000

// silent is how long a node that is not marked as offline may not have answered the leader.
const silent = 10 * time.Second

// Health is how the engine was when it last answered.
type Health struct {
	Nodes    []Node // by name
	Messages uint64
	Bytes    uint64
	MaxBytes int64  // 0: unbounded
	Foreign  uint64 // messages that were skipped, as no gateway has written them
}

// Node is one node of the engine that has the stream.
type Node struct {
	Name  string
	Leads bool
	State NodeState
	Lag   uint64 // messages that it lacks
}

// NodeState is how a node is.
type NodeState string

// The states of nodes.
const (
	NodeCurrent NodeState = "current"
	NodeBehind  NodeState = "behind" // by so much that it must read for a while
	NodeAway    NodeState = "away"   // it does not run, or the others cannot reach it
)

// watchHealth asks the engine how the stream is, until the store is closed.
func (s *Store) watchHealth() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		s.lookAtHealth()
		select {
		case <-s.ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// lookAtHealth asks once. When no answer comes, what was known stays: that the engine cannot
// be reached is told by [keep.State].
func (s *Store) lookAtHealth() {
	s.mu.Lock()
	stream := s.stream
	s.mu.Unlock()
	if stream == nil {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, requestTimeout)
	defer cancel()
	info, err := stream.Info(ctx)
	if err != nil {
		return
	}
	h := healthOf(info)
	s.mu.Lock()
	h.Foreign = s.foreign
	s.health = &h
	s.mu.Unlock()
}

// Health returns how the engine was when it last answered, some seconds ago at most if it
// can be reached; nil before its first answer.
func (s *Store) Health() *Health {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.health
}

// AskHealth is Health as it is now, or as it was if no answer comes.
func (s *Store) AskHealth() *Health {
	s.lookAtHealth()
	return s.Health()
}

func healthOf(info *jetstream.StreamInfo) Health {
	h := Health{Messages: info.State.Msgs, Bytes: info.State.Bytes, MaxBytes: max(0, info.Config.MaxBytes)}
	if info.Cluster == nil {
		return h
	}
	if info.Cluster.Leader != "" {
		h.Nodes = append(h.Nodes, Node{Name: info.Cluster.Leader, Leads: true, State: NodeCurrent})
	}
	for _, peer := range info.Cluster.Replicas {
		node := Node{Name: peer.Name, State: NodeCurrent, Lag: peer.Lag}
		switch {
		case peer.Offline || !peer.Current && peer.Active > silent:
			node.State = NodeAway
		case !peer.Current && peer.Lag > behind:
			node.State = NodeBehind
		}
		h.Nodes = append(h.Nodes, node)
	}
	slices.SortFunc(h.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	return h
}

// Trouble returns what is wrong although the engine works, and what to do; empty: nothing
// (facts J4, J23). Of nil, nothing is known.
func (h *Health) Trouble() string {
	if h == nil {
		return ""
	}
	var all []string
	for _, node := range h.Nodes {
		switch node.State {
		case NodeAway:
			all = append(all, fmt.Sprintf("the node '%s' of the engine does not run, or cannot be reached by the others: until it is back, none of the rest may be lost", node.Name))
		case NodeBehind:
			all = append(all, fmt.Sprintf("the node '%s' of the engine lacks %d messages and reads them: stop no other node until it has them", node.Name, node.Lag))
		}
	}
	if h.Foreign > 0 {
		all = append(all, fmt.Sprintf("%d messages of the stream were not written by a gateway, and are skipped: %v", h.Foreign, errForeign))
	}
	if h.MaxBytes > 0 && h.Bytes >= uint64(h.MaxBytes)/10*8 {
		all = append(all, fmt.Sprintf("the stream of the store uses %d of %d MiB, and refuses changes when it is full: raise its limit, or keep less (changes.keep, audit.mirrorKeep)", h.Bytes>>20, h.MaxBytes>>20))
	}
	return strings.Join(all, "; ")
}
