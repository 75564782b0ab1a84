// Package ps is the contract between the HTTP side and the PowerShell side.
//
// The HTTP side puts typed values into [Args], names a [Script] and passes both to a [Runner].
// The Runner returns the script's records and a [Result], or an [*Error] with codes and types,
// so callers need not parse message text. The pool of sessions (ps/pool) is a Runner, and so
// is the layer above it that pins a domain controller and a DNS server (ps/servers).
//
// A value never becomes script text: [EncodeRequest] encodes it as data, one line on the
// standard input of a session (see package ps/session).
package ps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Lane names the pool in which a script runs. The sessions of a lane have one module loaded.
type Lane string

// The two lanes.
const (
	Directory Lane = "directory" // module ActiveDirectory
	DNS       Lane = "dns"       // module DnsServer
)

// Request is one run of a script.
type Request struct {
	ID     string // the caller's request id, for logs; never sent to PowerShell
	Script string // name of a [Script], such as "Get-GatewayUser"
	Lane   Lane
	Args   Args
	// whether it may change something; then it is never retried, and not canceled with ctx once started
	Write   bool
	Settles bool          // settles or undoes another request: also served during shutdown
	List    bool          // whether it may be slow and large; then it must leave a session of the lane free
	Limit   time.Duration // maximum run time after a session is acquired; zero means the runner's default
	Wait    time.Duration // maximum wait for a session; zero means the runner's default

	// Records receives each batch of records as it arrives, as undecoded JSON: an array of at most
	// 500 objects. Calls do not overlap, and all of them return before Run does. The callee may
	// keep the bytes. An error aborts a read immediately; one that wraps [ErrInvalidRecords] also
	// means that the session can no longer be trusted. Nil discards the records. See [Collect].
	Records func(batch json.RawMessage) error

	// Announced is called before the first change of a write, with the changes that the script
	// is about to make. The script waits for it. After an error the script changes nothing, and
	// Run fails with [KindStopped] and that error as its cause. Announced is called again if
	// the request is run again on another server. Nil allows all changes.
	Announced func(Intent) error

	// WriteLimit returns how long the script may run after its announced changes were allowed.
	// It replaces the rest of Limit. If it is nil, Limit stays in effect.
	WriteLimit func(Intent) time.Duration

	// State selects values of the object to be changed that the announcement must include. Nil
	// means none, and nothing is read.
	State *State
}

// State names the script that reads the current state of an object for an announcement. It
// runs in the same session and on the same server as the change.
type State struct {
	Script   string
	Identity string // argument that receives the GUID of the first announced object; empty if none
	Args     Args   // arguments, without secrets; Server and ComputerName get the values of the run, if present
}

// ErrInvalidRecords is wrapped by the error of a Records callback whose argument was not a JSON array.
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
// Run returns when the script has ended, ctx is done or the limit has expired. The error is always an
// [*Error]. For a write, ctx bounds only the wait for a session. Once the script has started, it continues up
// to its limit.
type Runner interface {
	Run(ctx context.Context, req Request) (*Result, error)
}

// Effect is the effect of a run. The HTTP status (201 or 200) and the answer's text for "nothing
// had to be changed" depend on it.
type Effect string

// The effects that a script reports.
const (
	EffectNone    Effect = "none"
	EffectCreated Effect = "created"
	EffectChanged Effect = "changed"
	EffectRemoved Effect = "removed"
)

// Result is a script's report of success: the payload of its end frame.
type Result struct {
	Effect   Effect         `json:"effect"`
	Warnings []Warning      `json:"warnings"`
	Changes  []Change       `json:"changes"`
	Counts   map[string]int `json:"counts"`

	// Last is the key by which the last record of a page was sorted. It is empty if no more records
	// follow. The key of a list that is read in pages is the objectGUID, as hexadecimal digits of the
	// directory's octets.
	Last string `json:"-"`

	// Outside reports whether the object exists outside the caller's limits and was skipped. The
	// caller must not learn that.
	Outside bool `json:"outside"`

	// Created are the new objects, for the history. They are never part of an answer.
	Created []Created `json:"created"`

	// Failures are the objects that failed in a bulk operation while the script continued with
	// the others. Effect reports whether any succeeded.
	Failures []Failure `json:"failures"`

	// Secrets are the secrets that the records of a revealing script refer to by number. They
	// are transferred outside the records, and never as part of JSON.
	Secrets []Value `json:"-"`

	Steps  []Step `json:"-"` // step frames, in order
	Server string `json:"-"` // the domain controller or DNS server used
}

// Created is an object and its state right after its creation.
type Created struct {
	GUID  string          `json:"guid"`
	Names []string        `json:"names"` // as in [Intended]
	Image json.RawMessage `json:"image"` // as in [Intended]; null if unknown
}

// Warning reports something that the script skipped.
type Warning struct {
	Code    string `json:"code"`
	Target  string `json:"target"`
	Message string `json:"message"`
}

// Change is a changed object, for the audit. Secrets in it are masked.
type Change struct {
	GUID   string                     `json:"guid"`
	DN     string                     `json:"dn"`
	Before map[string]json.RawMessage `json:"before"`
	After  map[string]json.RawMessage `json:"after"`
}

// Failure is an object that failed in a bulk operation. Its Error has [KindScript], without
// steps and outcome.
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
	Warnings []Warning      `json:"warnings,omitempty"` // warnings and counts as in the end frame
	Counts   map[string]int `json:"counts,omitempty"`

	// State is the record that Request.State selects, as JSON; empty without one.
	State string `json:"state,omitempty"`

	Server string `json:"-"` // the domain controller or DNS server used

	// PinEpoch is the number of the shared choice by which several gateways use that server; 0
	// for a gateway that is alone.
	PinEpoch uint64 `json:"-"`
}

// Changes reports whether the announced changes alter anything. Scripts also announce values
// that are already set.
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
	GUID    string `json:"guid"`
	DN      string `json:"dn"`
	Account string `json:"account,omitempty"` // sAMAccountName, of an object that has one
	Name    string `json:"name,omitempty"`    // name of a new object
	Parent  string `json:"parent,omitempty"`  // container of a new object
	// Class is the class of an object that exists, such as group. It is empty for objects in DNS and in
	// changes recorded by earlier versions.
	Class string `json:"class,omitempty"`
	// last state of an object to be removed; nil if the answer does not include it
	Record  json.RawMessage  `json:"record,omitempty"`
	Changes []IntendedChange `json:"changes"` // in order of execution

	// Principal is the userPrincipalName that a restored object gets back.
	Principal string `json:"principal,omitempty"`

	// Image is the state of an object before it is removed or replaced, for the history; nil
	// if there is none. It is never part of an answer to the change.
	Image json.RawMessage `json:"image,omitempty"`

	// Names are further names of the object: account, UPN, SID and name. Changes recorded by
	// earlier versions have none.
	Names []string `json:"names,omitempty"`

	// Made is the state of an object right after its creation, in the form of Image; nil if
	// unknown. Scripts report it with the result.
	Made json.RawMessage `json:"made,omitempty"`

	// Also are the values that a new object gets in its first step, with names as in
	// IntendedChange. They never include secrets.
	Also map[string]string `json:"also,omitempty"`
}

// IntendedChange is one property to be changed, with its values as text. The name "exists"
// stands for the object itself, with the values "True" and "False". If Before and After are
// equal, the value must be the same at the end.
type IntendedChange struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
	// Renewed marks a value that the server chooses, such as the time of the last password
	// change. It must differ from Before, and equal After if After is set.
	Renewed bool   `json:"renewed,omitempty"`
	Step    string `json:"step,omitempty"` // label of the step that proves a renewal; may be empty
}

// Step is a change that has taken effect. Scripts report each step immediately, so that an
// interrupted run can be settled.
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
