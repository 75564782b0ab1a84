package write

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/audit"
	"adgateway/gateway/changes"
	"adgateway/gateway/cluster"
	"adgateway/gateway/ops"
	"adgateway/gateway/settle"
	"adgateway/ps"
)

// A Change is the change that a call is about to make, as far as it is known before its script runs. The
// goroutine that calls [Run.Do] calls its functions. These functions must not wait for other changes.
type Change struct {
	Op      *ops.Operation
	Bound   *ops.Bound           // arguments of its script
	Record  changes.Record       // for the history, with the call's own information
	Most    int                  // objects that one bulk removal may remove at most
	Settler *settle.Settler      // with the settings at the time of the call
	Log     func() *logrus.Entry // of the call

	// Zone returns the zone of an announced DNS change, or "" if there is none or more than one.
	Zone func(i *ps.Intent) string
	// Holds checks the announced change against the state that the call depends on. An error stops
	// the script before it changes anything.
	Holds func(i *ps.Intent) error
	// Parts returns the participants of the change. It may complete record, which is nil if there
	// is no history. It may be called again if the script runs again on another server.
	Parts func(i *ps.Intent, record *changes.Record) []Participant
	// Lines returns the audit lines of the change, without Change, Server and PinEpoch.
	Lines func(i *ps.Intent) []audit.Call
	// Refused returns the error of a call whose change could not begin, because it was not stored, the gateway
	// does not lead, or, with [ErrUnaudited], the audit cannot record it. Nil means that the change begins
	// although it is missing from the history.
	Refused func(why error) error
}

// ErrUnaudited means that a change was not begun because the audit cannot record it.
var ErrUnaudited = errors.New("the audit cannot record the change")

// Later is in the error chain of a participant that refuses a change only for the moment. The run
// is stopped, and Wait is called outside of the session. If it returns true, the script runs again;
// otherwise the error is final.
type Later struct {
	Cause error
	Wait  func(ctx context.Context) bool
}

func (l *Later) Error() string { return l.Cause.Error() }

// Unwrap returns the cause of the refusal.
func (l *Later) Unwrap() error { return l.Cause }

// Run is a change that is being made for a call. It is not safe for concurrent use. A nil Run stands for a
// call that changes nothing, which has no record and no lines.
type Run struct {
	w      *Writer
	change Change
	record *changes.Record // in the history; nil if nothing was announced or there is no history
	hold   *hold           // locks of the run; nil before it runs
	limit  time.Duration   // of the run
	kept   bool            // the record is in the store

	doubted *hold // locks of a run that has left the change in doubt, or nil
	inDoubt bool  // the change stays open
	raced   bool  // whether another gateway settled the change before it was made
	unkept  bool  // whether the change is missing from the history, or recorded without its final state

	member *cluster.Run // run of the script; nil if none runs or outside of a cluster
	term   uint64       // the term in which member began; 0 without a member

	lines    []line
	pinEpoch uint64 // of the last announcement that was allowed
	due      string // id of the change whose audit line is due; empty if none
}

// line is an audit line of the change whose outcome is still to be written.
type line struct {
	call   audit.Call
	intent *audit.Entry
}

// Intent returns the announced change, or nil if nothing is recorded.
func (r *Run) Intent() *ps.Intent {
	if r == nil || r.record == nil {
		return nil
	}
	return &r.record.Intent
}

// ID returns the id of the record in the history, or "" if there is none.
func (r *Run) ID() string {
	if r == nil || r.record == nil {
		return ""
	}
	return r.record.ID
}

// Shown returns the id of the change that a call with the given outcome reports, which is the id of
// the first change of the request. It is empty if there is none.
func (r *Run) Shown(outcome ps.Outcome) string {
	if outcome == ps.OutcomeNone || r.ID() == "" {
		return ""
	}
	return cmp.Or(r.record.Batch, r.record.ID)
}

// Bytes returns an estimate of the disk space that the change has taken, including its audit lines.
func (r *Run) Bytes() int64 {
	if r == nil {
		return 0
	}
	bytes := int64(len(r.lines)) * aroundALine
	if r.record != nil {
		bytes += lastsTwice * r.record.Bytes()
	}
	return bytes
}

// Disk space of a change in addition to its record. It consists of the overhead of each audit line, and of
// the record's size once more, because the record's values are also in a log and in the lines.
const (
	aroundALine = 2 << 10
	lastsTwice  = 2
)

// Running reports whether the history has the change without its end.
func (r *Run) Running() bool { return r != nil && r.record != nil && r.record.Running }

// PinEpoch returns the epoch of the last announcement that was allowed, or 0 if there is none.
func (r *Run) PinEpoch() uint64 {
	if r == nil {
		return 0
	}
	return r.pinEpoch
}

// Made is the result of a change whose script has reported one.
type Made struct {
	Result  *ps.Result
	Settled bool              // whether the script was interrupted and its result was determined afterwards
	Records []json.RawMessage // replace the script's records if the change was settled
}

// Do runs the script of the change. It runs the script again if the change had to wait for another one, and
// determines the outcome if the script was interrupted. The objects stay locked until the outcome is known.
// Do may be called again for a change that was not made. If ctx ends, Do stops waiting, and stops the script
// unless it has announced a change.
func (r *Run) Do(ctx context.Context, req ps.Request) (made Made, err error) {
	outcome := ps.OutcomeNone
	r.hold, r.limit = r.w.locks.begin(), req.Limit
	defer func() { r.release(outcome) }()
	req.Announced = r.announced
	if r.w.Member != nil {
		req.WriteLimit = writeLimitOf
	}
	startedAt := time.Now()
	made.Result, err = r.repeat(ctx, req)
	if cut := settle.Open(req, err); cut != nil {
		made, err = r.settle(ctx, settle.Change{
			Operation: r.change.Op, Bound: r.change.Bound, Request: req, StartedAt: startedAt, Cut: cut,
		})
	}
	outcome = ps.AsError(err).Outcome
	return made, err
}

// repeat runs the script until it need not wait for another change. Waiting counts towards the limit of the
// run, and ends when a quarter of the limit is left. A run that begins with less could be interrupted in the
// middle of its change, and its objects would stay locked until the outcome is known.
func (r *Run) repeat(ctx context.Context, req ps.Request) (*ps.Result, error) {
	until := time.Now().Add(req.Limit)
	waiting, cancel := context.WithDeadline(ctx, until.Add(-req.Limit/4))
	defer cancel()
	for {
		if err := r.beginRun(req.Limit); err != nil {
			return nil, err
		}
		result, err := r.w.Runner.Run(ctx, req)
		later := (*Later)(nil)
		switch {
		case errors.As(err, &later):
			if !later.Wait(waiting) {
				return result, err
			}
		case !errors.Is(err, errContended):
			return result, err
		}
		r.endRun() // the run has changed nothing, so no change needs to wait for it
		if err := r.hold.wait(waiting); err != nil {
			kind := ps.KindTimeout
			if ctx.Err() != nil {
				kind = ps.KindCancelled
			}
			return nil, stoppedBy(kind, fmt.Errorf("%w: %w", ErrOvertaken, err))
		}
		req.Limit = max(time.Until(until), time.Nanosecond)
	}
}

// stoppedBy returns the error of a run that changed nothing because of other changes.
func stoppedBy(kind ps.Kind, cause error) error {
	return &ps.Error{
		Kind: kind, Outcome: ps.OutcomeNone, Message: "other changes of the object went first", Cause: cause,
	}
}

// settle determines the outcome of an interrupted change, even if the client is gone.
func (r *Run) settle(ctx context.Context, change settle.Change) (Made, error) {
	found := r.change.Settler.Settle(ctx, change)
	log := r.change.Log()
	if found.NoCleanUp != nil {
		log.WithField("error", found.NoCleanUp.Error()).
			Error("what an unfinished create left behind could not be removed")
	}
	fields := logrus.Fields{"cause": change.Cut.Error(), "outcome": found.Outcome}
	if found.Unread != nil {
		fields["error"] = found.Unread.Error()
	}
	log.WithFields(fields).Warn("a write that was cut off was settled")
	if found.Result == nil {
		return Made{}, found.Err
	}
	return Made{Result: found.Result, Settled: true, Records: found.Records}, nil
}

// staysOpen reports whether a change with an unknown outcome can still be judged.
func (r *Run) staysOpen(outcome ps.Outcome) bool {
	if outcome != ps.OutcomeUnknown || !r.Running() {
		return false
	}
	_, can := settle.Recorded(r.w.operation(r.record.Operation), r.record)
	return can
}

// release unlocks the objects of the run, unless the change is in doubt.
func (r *Run) release(outcome ps.Outcome) {
	if r.doubted == nil && r.staysOpen(outcome) {
		r.doubted = r.hold
		return
	}
	r.hold.end()
}

// Limits of how long a script may write after its change was allowed.
const (
	writeLimit    = 15 * time.Second
	writeLimitFor = 100 * time.Millisecond // in addition for each object
)

// writeLimitOf returns how long a script may write after it has announced a change.
func writeLimitOf(i ps.Intent) time.Duration {
	return writeLimit + time.Duration(len(i.Objects))*writeLimitFor
}

// beginRun begins a run of the script. It ends the previous run, which has changed nothing.
func (r *Run) beginRun(limit time.Duration) error {
	member := r.w.Member
	if member == nil {
		return nil
	}
	r.endRun()
	term, _ := member.Leads()
	most := writeLimit + time.Duration(r.change.Most)*writeLimitFor
	run, err := member.Begin(max(limit, most))
	if err != nil {
		return stoppedBy(ps.KindStopped, r.change.Refused(err))
	}
	r.member, r.term = run, term
	return nil
}

// endRun records that the script of a change has stopped writing, and that the outcome of the
// change is stored or will be stored by another gateway.
func (r *Run) endRun() {
	if r.member != nil {
		r.member.End()
		r.member = nil
	}
}

// deposed reports whether the term in which the change began has ended.
func (r *Run) deposed() bool {
	if r.w.Member == nil || r.term == 0 {
		return false
	}
	term, _ := r.w.Member.Leads()
	return term != r.term
}
