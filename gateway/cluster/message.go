package cluster

import (
	"context"
	"time"

	"adgateway/gateway/journal"
	"adgateway/gateway/store"
)

// Peers carries messages between the gateways of a cluster. Messages may be lost, delayed, reordered or
// repeated. Peers guarantees that each message comes from a gateway with the cluster's key, and was sent
// after this process began.
type Peers interface {
	// Send sends a message to the gateway that it names, or to all others. It does not wait for the
	// network. A message that cannot be sent now is lost.
	Send(m Message)

	// Receive returns the next message. It returns false when ctx has ended.
	Receive(ctx context.Context) (Message, bool)
}

// Message is a message from one gateway to others. It always contains the sender's state, and may contain
// more.
type Message struct {
	From   journal.Process `json:"from"`
	Number uint64          `json:"number"`       // increases with each message of the process
	To     string          `json:"to,omitempty"` // name of a gateway; empty for all

	Beat   *Beat   `json:"beat,omitempty"`
	Report *Report `json:"report,omitempty"` // for the leader
	Stored string  `json:"stored,omitempty"` // attempt whose report need not be sent again
}

// Beat is the state of a gateway. Each gateway sends it to all others twice a second.
type Beat struct {
	Term      uint64      `json:"term"` // highest term that the gateway knows
	Leads     bool        `json:"leads,omitempty"`
	Resigned  uint64      `json:"resigned,omitempty"`  // last term that it led and has given up
	Successor string      `json:"successor,omitempty"` // gateway that should lead next; empty means any that can
	Position  store.Point `json:"position"`
	Reads     int         `json:"reads"`            // newest format that it reads
	Writes    int         `json:"writes,omitempty"` // format that it writes as the leader
	// the leader does not know how long all gateways were down
	ClockUnset bool      `json:"clockUnset,omitempty"`
	Key        uint32    `json:"key,omitempty"`   // newest version of the store's key that it has
	Hop        string    `json:"hop,omitempty"`   // address for forwarded calls
	Lanes      []string  `json:"lanes,omitempty"` // lanes whose servers it can reach
	Wall       time.Time `json:"wall"`            // wall clock, only for comparison
}

// Report is the outcome of a run that another gateway now has to judge.
type Report struct {
	Attempt string `json:"attempt"`
	Result  []byte `json:"result"`
}
