// Package ps is the contract between the HTTP side and the PowerShell side.
//
// The HTTP side puts typed values into [Args], names a [Script] and passes both
// to a [Runner]. The Runner returns the script's records and a [Result], or an
// [*Error] with codes and types, so that nobody has to parse message text. The
// pool of sessions (ps/pool) is a Runner, and so is the layer above it that
// pins a domain controller and a DNS server (ps/servers).
//
// A value never becomes script text: [EncodeRequest] encodes it as data, one line
// on the standard input of a session (see package ps/session).
package ps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Lane names the pool a script runs in. The sessions of a lane have one module
// loaded.
type Lane string

// The two lanes.
const (
	Directory Lane = "directory" // module ActiveDirectory
	DNS       Lane = "dns"       // module DnsServer
)

// Request is one run of a script.
type Request struct {
	ID      string // the caller's request id, for logs; never sent to PowerShell
	Script  string // name of a [Script], such as "Get-GatewayUser"
	Lane    Lane
	Args    Args
	Write   bool          // may change something: never retried, and not cancelled with ctx once started
	Settles bool          // settles or undoes another request: still served during shutdown
	List    bool          // may be slow and large: must leave a session of the lane free
	Limit   time.Duration // maximum run time once a session is acquired; zero: the runner's default
	Wait    time.Duration // maximum wait for a session; zero: the runner's default

	// Records receives each batch of records as it arrives: a JSON array of at most 500 objects,
	// not decoded. Calls do not overlap and come before Run returns; the callee may keep the bytes.
	// An error aborts a read at once; one that wraps [ErrInvalidRecords] also means that the
	// session can no longer be trusted. Nil discards the records. See [Collect].
	Records func(batch json.RawMessage) error

	// Announced is called before the first change of a write, with the changes that it is about to
	// make, and the script waits for it. An error keeps the script from changing anything: Run then
	// fails with [KindStopped] and that error as its cause. It is called again if the request is
	// run again on another server. Nil allows all.
	Announced func(Intent) error

	// WriteLimit returns how long the script may run once its announced changes were allowed. It
	// replaces the rest of Limit. Nil: Limit stays.
	WriteLimit func(Intent) time.Duration

	// State lists the values that the announcement must have of the object that is about to be
	// changed. Nil: none, and nothing is read for it.
	State *State
}

// State names the script that reads the present state of an object, in the session and on
// the server of the run that is about to change it, for the announcement.
type State struct {
	Script   string
	Identity string // argument that the GUID of the first announced object fills; empty: none
	Args     Args   // without secrets; a Server and ComputerName among them get the values of the run
}

// ErrInvalidRecords is wrapped by the error of a Records callback that was called
// with something else than a JSON array.
var ErrInvalidRecords = errors.New("the records are not a JSON array in UTF-8")

// Collect returns a Records callback that decodes records and appends them to all.
// Its errors never contain a value.
func Collect[T any](all *[]T) func(json.RawMessage) error {
	return func(batch json.RawMessage) error {
		var some []T
		var mistake *json.SyntaxError
		switch err := json.Unmarshal(batch, &some); {
		case errors.As(err, &mistake):
			return fmt.Errorf("%w: after %d bytes", ErrInvalidRecords, mistake.Offset)
		case err != nil:
			return fmt.Errorf("records of another type: %T", err)
		}
		*all = append(*all, some...)
		return nil
	}
}

// Runner runs scripts. It is safe for concurrent use.
//
// Run returns when the script has ended, ctx is done or the limit has expired.
// The error is always an [*Error]. For a write, ctx bounds only the wait for a
// session: once the script has started, it runs on, up to its limit.
type Runner interface {
	Run(ctx context.Context, req Request) (*Result, error)
}

// Effect is the effect of a run. The HTTP status (201 or 200) and the answer's text for "nothing
// had to be changed" depend on it.
type Effect string

// The effects a script reports.
const (
	EffectNone    Effect = "none"
	EffectCreated Effect = "created"
	EffectChanged Effect = "changed"
	EffectRemoved Effect = "removed"
)

// Result is what a script reports on success: the payload of its end frame.
type Result struct {
	Effect   Effect         `json:"effect"`
	Warnings []Warning      `json:"warnings"`
	Changes  []Change       `json:"changes"`
	Counts   map[string]int `json:"counts"`

	// Last is the objectGUID of the last record of a page, in hexadecimal digits in the
	// order of the directory's octets, if more follow; empty: none do.
	Last string `json:"last"`

	// Outside reports that the object exists outside the caller's limits and was
	// passed over, which the caller must not learn.
	Outside bool `json:"outside"`

	// Created are the new objects, for the history; they are never part of an answer.
	Created []Created `json:"created"`

	// Failures are the objects of a bulk operation that failed while the script
	// went on with the others. Effect says whether any succeeded.
	Failures []Failure `json:"failures"`

	// Secrets are the secrets to which the records of a revealing script refer by number. They come
	// beside the records, and never as a part of JSON.
	Secrets []Value `json:"-"`

	Steps  []Step `json:"-"` // step frames, in order
	Server string `json:"-"` // domain controller or DNS server that was used
}

// Created is an object in its state right after its creation.
type Created struct {
	GUID  string          `json:"guid"`
	Names []string        `json:"names"` // as those of [Intended]
	Image json.RawMessage `json:"image"` // in the form of that of [Intended]; null: nothing is known
}

// Warning reports something that was skipped.
type Warning struct {
	Code    string `json:"code"`
	Target  string `json:"target"`
	Message string `json:"message"`
}

// Change is one changed object, for the audit. Secrets in it are masked.
type Change struct {
	GUID   string                     `json:"guid"`
	DN     string                     `json:"dn"`
	Before map[string]json.RawMessage `json:"before"`
	After  map[string]json.RawMessage `json:"after"`
}

// Failure is an object of a bulk operation that failed. Its Error is of
// [KindScript], without steps and outcome.
type Failure struct {
	GUID  string `json:"guid"`
	DN    string `json:"dn"`
	Error Error  `json:"error"`
}

// Intent announces the changes that a script is about to make. Scripts send it before their first
// change, so that an interrupted run can be settled by comparing it with the actual state. A run
// without an announcement has changed nothing.
type Intent struct {
	Effect   Effect         `json:"effect"` // as in the end frame
	Objects  []Intended     `json:"objects"`
	Warnings []Warning      `json:"warnings"` // warnings and counts as in the end frame
	Counts   map[string]int `json:"counts"`

	// State is the record that Request.State asks for, as JSON; empty if it does not.
	State string `json:"state,omitempty"`

	Server string `json:"-"` // domain controller or DNS server that is used

	// PinEpoch is the number of the choice by which several gateways use that server
	// together; 0 for a gateway alone.
	PinEpoch uint64 `json:"-"`
}

// Changes reports whether anything would differ afterwards. Scripts also announce values that are
// right already.
func (i Intent) Changes() bool {
	for _, object := range i.Objects {
		for _, c := range object.Changes {
			if c.Renewed || c.Before != c.After {
				return true
			}
		}
	}
	return false
}

// Intended is one object of an intent. An object to be created has no GUID yet.
type Intended struct {
	GUID    string           `json:"guid"`
	DN      string           `json:"dn"`
	Account string           `json:"account"` // sAMAccountName, of an object that has one
	Name    string           `json:"name"`    // of a new object
	Parent  string           `json:"parent"`  // its container
	Record  json.RawMessage  `json:"record"`  // last state of an object to be removed; null if the answer has none
	Changes []IntendedChange `json:"changes"` // in the order of execution

	// Principal is the userPrincipalName that a restored object has again.
	Principal string `json:"principal,omitempty"`

	// Image is the state of an object that is removed or replaced, for the history; null if there
	// is none. It is never part of an answer to the change.
	Image json.RawMessage `json:"image,omitempty"`

	// Names are the names of the object besides its distinguished name: account, UPN, SID and name.
	// Changes made by earlier versions have none.
	Names []string `json:"names,omitempty"`

	// Made is the state of a created object right after its creation, in the form of Image; null if
	// it is not known. Scripts report it with the result.
	Made json.RawMessage `json:"made,omitempty"`

	// Also are the values that an object to be created gets in its first step, by the
	// names of IntendedChange. Secrets are never among them.
	Also map[string]string `json:"also"`
}

// IntendedChange is one property to be changed, with its values as text. The name
// "exists" stands for the object itself, with the values "True" and "False". Before
// and After may be equal: then the value must be the same at the end.
type IntendedChange struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
	// Renewed marks a value that the server chooses, such as the time of the last
	// password change: it must differ from Before, and equal After if that is set.
	Renewed bool   `json:"renewed"`
	Step    string `json:"step"` // label of the step that proves a renewal; may be empty
}

// Step is a change that has taken effect. Scripts report each step at once, so
// that a run that is cut off can be settled.
type Step struct {
	Label string `json:"label"`
	GUID  string `json:"guid"`
	DN    string `json:"dn"`
}

// Object identifies a directory object or a DNS record.
type Object struct {
	GUID string `json:"guid"`
	DN   string `json:"dn"`
}
