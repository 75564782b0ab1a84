// Package servers decides which domain controller and which DNS server are
// asked.
//
// One of each is pinned for the whole gateway, so that what one request wrote
// the next one reads (facts G1, G8). [Servers] is a [ps.Runner] around another
// one: it adds the argument Server (and ComputerName on the dns lane) to the
// scripts that declare it, and notes the server in the result.
//
// Candidates come from settings or are discovered by a script; their ports are
// probed from Go. When a server turns out to be away at connect time, the next
// one is pinned (failover.go); after a while the preferred one is tried again.
package servers

import (
	"context"
	"net"
	"time"

	"adgateway/ps"
)

// Dial opens a connection, as net.Dialer.DialContext does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Config says how servers are found. Runner and Script are required.
type Config struct {
	Runner ps.Runner
	Script func(name string) (ps.Script, bool) // what a script declares
	Dial   Dial                                // nil: a plain net.Dialer

	// Names of servers in order of preference. Empty: they are discovered, for
	// DNS those of the domain controllers that serve DNS too.
	Directory []string
	DNS       []string

	ProbeTimeout time.Duration // for one port; 1 s
	Return       time.Duration // until a better server than the pinned one is tried again; 5 min
	Refresh      time.Duration // between discoveries; 15 min
	Retry        time.Duration // between attempts while no server answers, at most; 5 s
	Verify       time.Duration // a write is preceded by a probe when the server was silent for so long; 30 s

	// Log, when set, is told of every change of server and why.
	Log func(message string, fields map[string]any)
	// Debug, when set, is told of every discovery, and of every connection that
	// cannot be made. It asks for the fields if it wants them.
	Debug func(message string, fields func() map[string]any)
}

// Candidate is a server that could be asked, as the discovery tells it. What it
// does not tell is left to the probes.
type Candidate struct {
	HostName string `json:"hostName"`
	Site     string `json:"site"`
	Writable bool   `json:"writable"`
	ADWS     *bool  `json:"adws,omitempty"`
	IsDNS    *bool  `json:"isDns,omitempty"`
}

// Status is what /readyz shows of one kind of server.
type Status struct {
	Pinned     string    `json:"pinned"`     // empty: none answers
	Preferred  string    `json:"preferred"`  // first of the candidates
	Since      time.Time `json:"since"`      // of the pinning, or of its loss
	Candidates []string  `json:"candidates"` // in order of preference
	Failovers  int       `json:"failovers"`
	Reason     string    `json:"reason"` // why the last change was made, or why none answers
}
