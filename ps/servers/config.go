// Package servers chooses the domain controller and the DNS server that requests go to.
//
// One of each is pinned for the whole gateway, so that each request reads what earlier ones wrote (facts
// G1, G8). [Servers] is a [ps.Runner] that wraps another one: it passes the pinned server to scripts
// that declare the parameter Server (ComputerName on the dns lane) and records the server in the result.
//
// Candidates come from the settings or are discovered by a script; their ports are probed from Go. When
// a server refuses connections, the next one is pinned (failover.go); later it tries to return to the
// preferred one.
package servers

import (
	"context"
	"net"
	"time"

	"adgateway/ps"
)

// Dial opens a connection, as net.Dialer.DialContext does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Config configures [New]. Runner and Script are required; other zero fields get
// the defaults given with them.
type Config struct {
	Runner ps.Runner
	Script func(name string) (ps.Script, bool) // returns a script's declaration
	Dial   Dial                                // nil means net.Dialer

	// Directory and DNS are the names of the servers in order of preference. If they are empty,
	// the servers are discovered; DNS servers are then the domain controllers that also run DNS.
	Directory []string
	DNS       []string

	// Shared is the choice of several gateways that pin the same server. It is nil if this gateway is alone.
	Shared Shared

	SessionWait  time.Duration // how long a discovery waits for a session; zero means the Runner's default
	MaxWait      time.Duration // how long a request waits for a discovery; default 10 s
	ProbeTimeout time.Duration // per port; default 1 s
	Return       time.Duration // interval between attempts to return to a preferred server; default 5 min
	Refresh      time.Duration // interval between discoveries; default 15 min
	Retry        time.Duration // maximum interval between attempts while no server answers; default 5 s
	Verify       time.Duration // idle time after which a write requires a probe first; default 30 s

	// Starting returns the reason why the Runner has never had a session, or nil once it has had one. A
	// nil function means that this is unknown.
	Starting func() error
	// Started receives a value when a session has started, so that a failed discovery is
	// repeated immediately. May be nil.
	Started <-chan struct{}

	// Log receives every change of server with its reason; nil discards them.
	Log func(message string, fields map[string]any)
	// Debug receives every discovery and every failed connection; nil discards
	// them. The fields are computed only if it calls the function.
	Debug func(message string, fields func() map[string]any)
}

// Candidate is a discovered server. A nil field is unknown, so the port probes decide.
type Candidate struct {
	HostName string `json:"hostName"`
	Site     string `json:"site"`
	Writable bool   `json:"writable"`
	ADWS     *bool  `json:"adws,omitempty"`
	IsDNS    *bool  `json:"isDns,omitempty"`
}

// Status is the state of one kind of server in /readyz.
type Status struct {
	Pinned     string    `json:"pinned"`     // empty if none answers
	Preferred  string    `json:"preferred"`  // first of the candidates
	Since      time.Time `json:"since"`      // when Pinned was set or lost
	Candidates []string  `json:"candidates"` // in order of preference
	Failovers  int       `json:"failovers"`
	Rejected   bool      `json:"rejected"` // every candidate has recently rejected the gateway's account
	Unusable   string    `json:"unusable"` // why this gateway cannot use the shared server; empty if it can
	// of the last change, or why no server answers or all reject the account
	Reason string `json:"reason"`

	// Warnings are the warnings of the last discovery, about domain controllers that cannot be
	// used, and one about a pinned server that the settings do not name.
	Warnings []string `json:"warnings"`
}
