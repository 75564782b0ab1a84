// Package servers chooses the domain controller and the DNS server that requests go to.
//
// One server of each kind is pinned for the whole gateway, so that each request sees the changes of earlier
// requests (facts G1, G8). [Servers] is a [ps.Runner] that wraps another one. It passes the pinned server to
// scripts that declare the parameter Server (ComputerName on the dns lane) and records the server in the
// result.
//
// The candidates come from the settings or are discovered by a script. Go code probes their ports. When a
// server refuses connections, [Servers] pins the next one (failover.go) and later tries to return to the
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

// Config configures [New]. Runner and Script are required. Other fields have the defaults given in their
// comments.
type Config struct {
	Runner ps.Runner
	Script func(name string) (ps.Script, bool) // returns a script's declaration
	Dial   Dial                                // nil means net.Dialer

	// Directory and DNS are the names of the servers in order of preference. If they are empty,
	// the servers are discovered; DNS servers are then the domain controllers that also run DNS.
	Directory []string
	DNS       []string

	// Shared is the choice that several gateways share, so that they pin the same server. It is nil if this
	// gateway is alone.
	Shared Shared

	SessionWait  time.Duration // how long a discovery waits for a session; zero means the Runner's default
	MaxWait      time.Duration // how long a request waits for a discovery; default 10 s
	ProbeTimeout time.Duration // per port; default 1 s
	Return       time.Duration // interval between attempts to return to a preferred server; default 5 min
	Refresh      time.Duration // interval between discoveries; default 15 min
	Retry        time.Duration // maximum interval between attempts while no server answers; default 5 s
	Verify       time.Duration // idle time after which a write requires a probe first; default 30 s

	// Starting returns the reason why the Runner has never had a session, or nil once it has had one. Starting
	// may be nil if the reason is never known.
	Starting func() error
	// Started receives a value when a session has started, so that a failed discovery is repeated immediately.
	// It may be nil.
	Started <-chan struct{}

	// Log receives every change of server with its reason. It may be nil.
	Log func(message string, fields map[string]any)
	// Debug receives every discovery and every failed connection. It may be nil. The fields are computed only if
	// Debug calls the function fields.
	Debug func(message string, fields func() map[string]any)
}

// Candidate is a discovered server. A nil field means that the fact is unknown and that the port probes
// decide.
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
	// reason why this gateway cannot use the shared server; empty if it can
	Unusable string `json:"unusable"`
	// reason for the last change, or why no server answers or all reject the account
	Reason string `json:"reason"`

	// Warnings contains the warnings of the last discovery about domain controllers that cannot be used, and a
	// warning if the settings do not name the pinned server.
	Warnings []string `json:"warnings"`
}
