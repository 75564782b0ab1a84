// Package ps is the contract between the HTTP side and the PowerShell side.
//
// The HTTP side makes [Args] of typed values, names a [Script] and hands both
// to a [Runner]. The Runner answers with the records the script emitted and a
// [Result], or with an [*Error] that carries codes and types, never text to be
// searched. Several things are Runners: the pool of sessions, the wrapper that
// pins a domain controller and a DNS server, a test double.
//
// A value never becomes script text: [EncodeRequest] turns it into data for one
// line on the standard input of a session (see package ps/session).
package ps

import (
	"context"
	"encoding/json"
	"time"
)

// Lane names the pool a script runs in: sessions of a lane have one module loaded.
type Lane string

// The two lanes.
const (
	Directory Lane = "directory" // module ActiveDirectory
	DNS       Lane = "dns"       // module DnsServer
)

// Request asks for one run of a script.
type Request struct {
	ID      string // request id of the caller, for logs; never sent to PowerShell
	Script  string // name of a [Script], "Get-GatewayUser"
	Lane    Lane
	Args    Args
	Write   bool          // may change something: never run twice, not cancelled by the caller's leaving
	Settles bool          // finds out what another one has done, or undoes it: served while the gateway stops
	List    bool          // may take long and answer much: kept from a lane's last free session
	Limit   time.Duration // longest run once a session is there; zero: the runner's default

	// Records gets each batch of records as it arrives, a JSON array of objects
	// (at most 500). It is called from one goroutine, before Run returns; the
	// bytes are its to keep. An error from it ends a read at once. Nil drops them.
	Records func(batch json.RawMessage) error
}

// Runner runs scripts. It is safe for concurrent use.
//
// Run returns when the script has ended, ctx is done or the limit has passed.
// The error is an [*Error], always. Of a write, ctx only bounds the wait for a
// session: once the script has begun it goes on to its own limit.
type Runner interface {
	Run(ctx context.Context, req Request) (*Result, error)
}

// Effect says what a run changed. It decides between 201 and 200 and whether
// the answer says that nothing had to be changed.
type Effect string

// The effects a script reports.
const (
	EffectNone    Effect = "none"
	EffectCreated Effect = "created"
	EffectChanged Effect = "changed"
	EffectRemoved Effect = "removed"
)

// Result is what a script reports when it ends well: the payload of its end frame.
type Result struct {
	Effect   Effect         `json:"effect"`
	Warnings []Warning      `json:"warnings"`
	Changes  []Change       `json:"changes"`
	Counts   map[string]int `json:"counts"`

	// Failures are the objects of a bulk operation that could not be done, while
	// the script went on with the others. Effect tells whether any was done.
	Failures []Failure `json:"failures"`

	Steps  []Step `json:"-"` // its step frames, in order
	Server string `json:"-"` // the domain controller or DNS server that was asked
}

// Warning is something left out or skipped.
type Warning struct {
	Code    string `json:"code"`
	Target  string `json:"target"`
	Message string `json:"message"`
}

// Change is one object changed, for the audit. Secrets in it are masked.
type Change struct {
	GUID   string                     `json:"guid"`
	DN     string                     `json:"dn"`
	Before map[string]json.RawMessage `json:"before"`
	After  map[string]json.RawMessage `json:"after"`
}

// Failure is one object of a bulk operation that failed, and why. The error is
// of [KindScript] and has neither steps nor an outcome of its own.
type Failure struct {
	GUID  string `json:"guid"`
	DN    string `json:"dn"`
	Error Error  `json:"error"`
}

// Intent is what a script is about to change. It says so before its first
// change, so that a run that is cut off can be settled by what is there then:
// one that has announced nothing has changed nothing.
type Intent struct {
	Effect   Effect         `json:"effect"` // what the end frame would say
	Objects  []Intended     `json:"objects"`
	Warnings []Warning      `json:"warnings"` // these and counts as the end frame would have them
	Counts   map[string]int `json:"counts"`
}

// Intended is one object of an intent. What does not exist yet has no GUID.
type Intended struct {
	GUID    string           `json:"guid"`
	DN      string           `json:"dn"`
	Account string           `json:"account"` // sAMAccountName of what is created
	Name    string           `json:"name"`    // and its name in
	Parent  string           `json:"parent"`  // this container
	Record  json.RawMessage  `json:"record"`  // of what goes, as it was; null: none is answered
	Changes []IntendedChange `json:"changes"` // in the order they are made
}

// IntendedChange is one property that gets another value, as texts. "exists" is
// "True" or "False". A change may keep its value: then it must end as it began.
type IntendedChange struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
	// Renewed is of a value that the server chooses, the time of a password: it
	// becomes another one than before, and then After unless that is empty.
	Renewed bool   `json:"renewed"`
	Step    string `json:"step"` // the label of the step that proves a renewal; empty: none
}

// Step is a change that has taken effect: scripts report each at once, so that
// a run that is cut off can be settled.
type Step struct {
	Label string `json:"label"`
	GUID  string `json:"guid"`
	DN    string `json:"dn"`
}

// Object names something in the directory, or a record in DNS.
type Object struct {
	GUID string `json:"guid"`
	DN   string `json:"dn"`
}
