package cluster

import (
	"context"
	"time"

	"adgateway/gateway/journal"
	"adgateway/gateway/store"
)

// Peers carries messages between the gateways of a cluster. Messages may be lost, late, out of
// order or repeated. Peers guarantees that a message comes from a gateway with the key of the
// cluster, and was sent since this process began.
type Peers interface {
	// Send sends a message to the gateway that it names, or to all others. It does not wait for the
	// network: a message that cannot be sent now is lost.
	Send(m Message)

	// Receive returns the next message; false when ctx has ended.
	Receive(ctx context.Context) (Message, bool)
}

// Message is what a gateway tells the others: always its state, and sometimes more.
type Message struct {
	From   journal.Process `json:"from"`
	Number uint64          `json:"number"`       // grows with each message of the process
	To     string          `json:"to,omitempty"` // name of a gateway; empty: all

	Beat   *Beat   `json:"beat,omitempty"`
	Report *Report `json:"report,omitempty"` // to the leader
	Stored string  `json:"stored,omitempty"` // the report of this attempt need not be sent again
}

// Beat is the state of a gateway. It is sent to all twice a second.
type Beat struct {
	Term       uint64      `json:"term"` // the highest term that the gateway knows
	Leads      bool        `json:"leads,omitempty"`
	Resigned   uint64      `json:"resigned,omitempty"`  // the last term that it led and has given up
	Successor  string      `json:"successor,omitempty"` // who should lead next; empty: the first that can
	Position   store.Point `json:"position"`
	Reads      int         `json:"reads"`                // the newest format that it reads
	Writes     int         `json:"writes,omitempty"`     // the format that it writes as the leader
	ClockUnset bool        `json:"clockUnset,omitempty"` // it leads, and does not know how long all gateways were down
	Key        uint32      `json:"key,omitempty"`        // the newest version of the store's key that it has
	Hop        string      `json:"hop,omitempty"`        // the address for forwarded calls
	Lanes      []string    `json:"lanes,omitempty"`      // lanes whose controllers it reaches
	Wall       time.Time   `json:"wall"`                 // its wall clock, for comparison only
}

// Report is the outcome of a run that another gateway has to judge now.
type Report struct {
	Attempt string `json:"attempt"`
	Result  []byte `json:"result"`
}
