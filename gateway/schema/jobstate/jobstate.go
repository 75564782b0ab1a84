// Package jobstate names the states of jobs and of their items. The store, the API's answers and
// the API document share them.
package jobstate

// Job is the state of a job.
type Job string

// The states of jobs. A held job continues by itself; a ready or paused job waits for a call. The states that
// follow are final.
const (
	Ready     Job = "ready"    // validated or dry run; waits to be started
	Held      Job = "held"     // waits for something, see [Reason]
	Running   Job = "running"  //
	Paused    Job = "paused"   // paused by a call
	Stopping  Job = "stopping" // items that have begun end first
	Done      Job = "done"     // every item has ended
	Failed    Job = "failed"   // stopped because of the outcomes of items
	Cancelled Job = "cancelled"
	Rejected  Job = "rejected" // the list has mistakes; nothing was run
)

// Jobs are all states of jobs.
var Jobs = []string{
	string(Ready), string(Held), string(Running), string(Paused), string(Stopping),
	string(Done), string(Failed), string(Cancelled), string(Rejected),
}

// Ended reports whether a job in this state is finished.
func (s Job) Ended() bool {
	switch s {
	case Done, Failed, Cancelled, Rejected:
		return true
	}
	return false
}

// Reason is the reason why a job is held or was stopped.
type Reason string

// The reasons.
const (
	NotBefore  Reason = "notBefore"  // held until a given time
	OtherJobs  Reason = "caller"     // held while other jobs, of its caller or of all callers, run
	Budget     Reason = "budget"     // held until an hourly limit or the caller's rate allows more
	Credential Reason = "credential" // held while its caller is revoked or lacks a scope
	Engine     Reason = "engine"     // held while the cluster's store cannot be written
	Lane       Reason = "lane"       // held while no session or server is available
	Errors     Reason = "errors"     // stopped by as many failures as StopAfter allows
	AnUnknown  Reason = "unknown"    // stopped by an item with an unknown outcome
)

// Reasons are all reasons.
var Reasons = []string{
	string(NotBefore), string(OtherJobs), string(Budget), string(Credential), string(Engine), string(Lane), string(Errors), string(AnUnknown),
}

// Item is the state of an item.
type Item string

// The states of items. All after Going are final.
const (
	Waiting Item = "waiting"
	Going   Item = "running"
	Made    Item = "done"
	Noop    Item = "noop"    // there was nothing to change
	Refused Item = "failed"  // not made, or only in part
	Unknown Item = "unknown" // the outcome is unknown
	Skipped Item = "skipped" // the item has mistakes, or cannot be undone
	NotRun  Item = "not_run" // the job ended first, or an item on which it depends was not made
)

// Items are all states of items.
var Items = []string{string(Waiting), string(Going), string(Made), string(Noop), string(Refused),
	string(Unknown), string(Skipped), string(NotRun)}

// Ended reports whether an item in this state is finished.
func (s Item) Ended() bool { return s != Waiting && s != Going }

// Succeeded reports whether the item's change is in effect.
func (s Item) Succeeded() bool { return s == Made || s == Noop }

// Mode determines how a list is processed.
type Mode string

// The modes. In the last two modes, a job becomes [Ready] at its end.
const (
	Run      Mode = "run"
	DryRun   Mode = "dryRun"
	Validate Mode = "validate"
)

// Modes are all modes.
var Modes = []string{string(Run), string(Validate), string(DryRun)}
