// Package jobs runs lists of calls. A job makes many changes while other calls continue.
//
// A [Job] is a list of items ([Spec]). Each item is a call of an operation under its own key, so it is made
// at most once, no matter how often it is tried. The key is authoritative; the [Result] of an item is written
// to the store after the key, in batches. A [Manager] runs jobs: it starts an item when the items that it
// waits for have ended and a session is free (run.go), keeps the counters (progress.go) and serves the calls
// that start, pause, resume and cancel (control.go). After a gateway was killed, its jobs continue from the
// stored state (manager.go).
//
// In a cluster the leader runs the jobs: it loads them when its term begins ([Manager.Load]). The
// others read their progress from the store.
//
// The package knows nothing of HTTP and operations: [Options.Call] makes the call of an item.
package jobs

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/google/uuid"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// Log is the log of the store to which every finished job is appended, in the form of
// [Options.Entry].
const Log store.Log = "jobs"

// Caller identifies the credential, or the person, that submitted a job.
type Caller = identity.Who

// Job is a list of calls, with its progress.
type Job struct {
	store.Formatted
	ID        string        `json:"id"`
	Name      string        `json:"name,omitempty"`
	Operation string        `json:"operation,omitempty"` // operation of items that do not name one
	Mode      jobstate.Mode `json:"mode"`
	Caller    Caller        `json:"caller"`
	From      string        `json:"from,omitempty"` // address from which it was submitted

	State     jobstate.Job    `json:"state"`
	Why       jobstate.Reason `json:"why,omitempty"`
	Created   time.Time       `json:"created"`
	Started   time.Time       `json:"started,omitzero"`
	Ended     time.Time       `json:"ended,omitzero"`
	Expires   time.Time       `json:"expires"`            // when the job is removed
	NotBefore time.Time       `json:"notBefore,omitzero"` // wall clock and store time must both have reached it

	StopAfter     int  `json:"stopAfter"` // number of failures; 0 for no limit
	StopOnUnknown bool `json:"stopOnUnknown,omitempty"`

	Total        int       `json:"total"`
	Counts       Counts    `json:"counts"`
	Problems     []Problem `json:"problems,omitempty"` // of a list with mistakes; the first ones
	MoreProblems int       `json:"moreProblems,omitempty"`

	List      List   `json:"list"`
	ResultKey []byte `json:"resultKey,omitempty"` // X25519 public key, for which generated secrets are sealed
	Secrets   bool   `json:"secrets,omitempty"`   // items have secrets, sealed with the root's data key

	Root    string `json:"root"`              // this job, or the first one that it retries
	Retries string `json:"retries,omitempty"` // job whose items it retries
	All     bool   `json:"all,omitempty"`     // the job includes all items that can be retried
	Undoes  string `json:"undoes,omitempty"`  // job that it undoes

	Round int `json:"round,omitempty"` // number of times that the job was started after a dry run

	Bytes    int64 `json:"bytes,omitempty"`    // bytes in the store, including its items; 0 if unknown
	Listless bool  `json:"listless,omitempty"` // its items are no longer stored

	revision store.Revision
}

// List is the format of the list. The result is written in the same format.
type List struct {
	Format    string   `json:"format"`
	Separator string   `json:"separator,omitempty"`
	BOM       bool     `json:"bom,omitempty"`
	Header    []string `json:"header,omitempty"`
	Columns   []string `json:"columns,omitempty"` // parameters of the columns; nil if Header has them
}

// Problem is a mistake in a list. Message never contains a value from the list.
type Problem struct {
	Line    int    `json:"line"`
	Column  int    `json:"column,omitempty"`
	ID      string `json:"id,omitempty"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// Spec is an item as it was submitted.
type Spec struct {
	Line       int            `json:"line"`
	ID         string         `json:"id,omitempty"`
	Operation  string         `json:"operation"`
	Parameters map[string]any `json:"parameters"`       // except secrets
	Sealed     []byte         `json:"sealed,omitempty"` // the sealed secrets
	IfMatch    string         `json:"ifMatch,omitempty"`
	After      []string       `json:"after,omitempty"` // as submitted
	Lane       ps.Lane        `json:"lane"`
	Changes    []string       `json:"changes,omitempty"` // objects that items change in turn, in list order
	Uses       []string       `json:"uses,omitempty"`    // objects that must be as the preceding items left them
	Waits      []int          `json:"waits,omitempty"`   // items that must have ended before this one
	Needs      []int          `json:"needs,omitempty"`   // items of Waits that must have succeeded
	Key        string         `json:"key"`               // idempotency key; a retry uses the first one
	RequestID  string         `json:"requestId"`
	Skip       *Result        `json:"skip,omitempty"`  // if not nil, the item is not run
	Found      *Found         `json:"found,omitempty"` // nil if the item comes from a list
	Kept       map[int]string `json:"kept,omitempty"`  // cells that are not parameters, by column
}

// Found is the reason why a rule has included an object in a job.
type Found struct {
	Account string `json:"account"`
	Reason  string `json:"reason"`
	Since   string `json:"since"`
	Within  string `json:"within"` // identifies the caller's limits when it was found
}

// Result is the outcome of an item.
type Result struct {
	State    jobstate.Item `json:"state"`
	Code     string        `json:"code,omitempty"`
	Message  string        `json:"message,omitempty"`
	ChangeID string        `json:"changeId,omitempty"`
	GUID     string        `json:"guid,omitempty"`
	Plan     string        `json:"plan,omitempty"` // plan made by the dry run
	Secret   []byte        `json:"secret,omitempty"`
	Attempts int           `json:"attempts,omitempty"`

	// Within identifies the caller's limits when the item was called. It is empty if the item was not
	// called, or was called by an earlier version.
	Within string `json:"within,omitempty"`
}

// Counts are the numbers of items by state.
type Counts struct {
	Waiting int `json:"waiting"`
	Going   int `json:"running"`
	Made    int `json:"done"`
	Noop    int `json:"noop"`
	Refused int `json:"failed"`
	Unknown int `json:"unknown"`
	Skipped int `json:"skipped"`
	NotRun  int `json:"notRun"`
}

// of returns the number for a state.
func (c *Counts) of(state jobstate.Item) *int {
	switch state {
	case jobstate.Going:
		return &c.Going
	case jobstate.Made:
		return &c.Made
	case jobstate.Noop:
		return &c.Noop
	case jobstate.Refused:
		return &c.Refused
	case jobstate.Unknown:
		return &c.Unknown
	case jobstate.Skipped:
		return &c.Skipped
	case jobstate.NotRun:
		return &c.NotRun
	default:
		return &c.Waiting
	}
}

// Open returns the number of items that have not ended.
func (c Counts) Open() int { return c.Waiting + c.Going }

// retryable returns the number of items that can be retried.
func (c Counts) retryable() int { return c.Refused + c.Unknown + c.NotRun }

// ranNothing reports whether a finished job has run no item. A dry run does not run items.
func (j *Job) ranNothing() bool {
	return j.State == jobstate.Rejected ||
		j.State == jobstate.Cancelled &&
			(j.Started.IsZero() || j.Mode != jobstate.Run ||
				j.Counts == (Counts{Skipped: j.Counts.Skipped, NotRun: j.Counts.NotRun}))
}

// keepNoList records that the list of the job is not stored, so that the job only takes the space of its
// record.
func (j *Job) keepNoList() { j.Listless, j.Bytes = true, ofAJob*pageShare }

const prefix = "jb_"

// Pattern matches the ids of jobs.
const Pattern = prefix + `[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`

var pattern = regexp.MustCompile("^" + Pattern + "$")

// NewID returns an id for a job. Ids are in the order of their creation.
func NewID() string { return prefix + uuid.Must(uuid.NewV7()).String() }

// ItemKey returns the key and the request id of an item of a job.
func ItemKey(job string, index int) string { return fmt.Sprintf("%s.%d", job, index+1) }

// The errors of calls about jobs.
var (
	ErrAbsent = store.ErrAbsent
	ErrState  = errors.New("the job is not in a state for it")
	ErrOpen   = errors.New("the caller has as many jobs that have not ended as it may have")
	// ErrRemoved means that the job submitted by a call was removed.
	ErrRemoved = errors.New("the job was removed")
)
