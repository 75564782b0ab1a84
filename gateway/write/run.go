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

// A Change is what a call is about to change, as far as it is known before its script runs. Its
// functions are called by the goroutine that calls [Run.Do]. They must not wait for other changes.
type Change struct {
	Op      *ops.Operation
	Bound   *ops.Bound      // what its script is called with
	Record  changes.Record  // for the history: what the call says of itself
	Most    int             // objects that one bulk removal may remove
	Settler *settle.Settler // under the settings of the call
	Log     *logrus.Entry   // of the call

	// Zone returns the zone that an announced change of DNS is about; empty if there is none, or several.
	Zone func(i *ps.Intent) string
	// Holds compares what is announced with what the call depends on. An error stops the script,
	// which has changed nothing.
	Holds func(i *ps.Intent) error
	// Parts returns what is stored together with the change. It may complete the record, which is
	// nil if there is no history. An announcement may come again, from another server.
	Parts func(i *ps.Intent, record *changes.Record) []Participant
	// Lines returns the lines of the audit about the change, without Change, Server and PinEpoch.
	Lines func(i *ps.Intent) []audit.Call
	// Refused returns the error of a call whose change could not begin: it was not stored, the
	// gateway does not lead, or, with [ErrUnaudited], the audit does not have it. Nil means that
	// the change begins although the history does not have it.
	Refused func(why error) error
}

// ErrUnaudited means that the audit cannot record a change, which was not begun.
var ErrUnaudited = errors.New("the audit cannot record the change")

// Later is in the chain of the error of a participant that refuses a change for the moment only.
// The run is stopped and Wait is called outside the session. If that returns true, the script
// runs again; otherwise the error stands.
type Later struct {
	Cause error
	Wait  func(ctx context.Context) bool
}

func (l *Later) Error() string { return l.Cause.Error() }

// Unwrap returns why the change is refused.
func (l *Later) Unwrap() error { return l.Cause }

// Run is a change that is being made for one call. One goroutine uses it at a time. A nil Run
// stands for a call that changes nothing: it has no record and no lines.
type Run struct {
	w      *Writer
	change Change
	record *changes.Record // in the history; nil: nothing was announced, or there is none
	hold   *hold           // what the run has locked; nil before it runs
	limit  time.Duration   // of the run
	kept   bool            // the store has the record

	doubted *hold // of a run that has left the change in doubt; nil: of none
	inDoubt bool  // the change stays open
	raced   bool  // another gateway has settled the change before it was made
	unkept  bool  // the change is not in the history, or not as it ended

	member *cluster.Run // of the script; nil: none runs, or the gateway is alone
	term   uint64       // in which it was begun; 0: none was

	lines    []line
	pinEpoch uint64 // of the announcement that was allowed last
	due      string // identity of the change whose line is noted as due; empty: none is
}

// line is a line of the audit about the change, and the outcome that is still to be written.
type line struct {
	call   audit.Call
	intent *audit.Entry
}

// Intent returns what was announced; nil: nothing is recorded.
func (r *Run) Intent() *ps.Intent {
	if r == nil || r.record == nil {
		return nil
	}
	return &r.record.Intent
}

// ID returns the identity of the record in the history; empty: there is none.
func (r *Run) ID() string {
	if r == nil || r.record == nil {
		return ""
	}
	return r.record.ID
}

// Shown returns the identity of a change that a call with an outcome reports: the first change of
// the request. It is empty if there is none.
func (r *Run) Shown(outcome ps.Outcome) string {
	if outcome == ps.OutcomeNone || r.ID() == "" {
		return ""
	}
	return cmp.Or(r.record.Batch, r.record.ID)
}

// Bytes returns about how much the change has taken on the disk, with its lines of the audit.
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

// What a change takes beside its record: around each line of the audit, and, as the record is in the
// history, in a log and as the values of the lines, its size once more.
const (
	aroundALine = 2 << 10
	lastsTwice  = 2
)

// Running reports whether the history has the change, and not yet its end.
func (r *Run) Running() bool { return r != nil && r.record != nil && r.record.Running }

// PinEpoch returns the epoch of the announcement that was allowed last; 0: none was.
func (r *Run) PinEpoch() uint64 {
	if r == nil {
		return 0
	}
	return r.pinEpoch
}

// Made is the end of a change whose script has reported a result.
type Made struct {
	Result  *ps.Result
	Settled bool              // the script was cut off, and its result was found out
	Records []json.RawMessage // in place of those that the script has sent, if it was settled
}

// Do runs the script of the change, again if it had to wait for another change, and finds out the
// outcome if it was cut off. The objects stay locked until then. Do may be called again for a
// change that was not made. ctx ends the waiting, and the script only until it has announced
// something.
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

// repeat runs the script until it need not wait. Waiting counts towards the limit of the run, and
// ends when a quarter of the limit is left: a run that begins with less would be cut off in the
// middle of its change, and would keep its object locked until its outcome is known.
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
		r.endRun() // it has changed nothing, and nobody need wait for it
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

// stoppedBy returns how a run ended that other changes kept from changing anything.
func stoppedBy(kind ps.Kind, cause error) error {
	return &ps.Error{
		Kind: kind, Outcome: ps.OutcomeNone, Message: "other changes of the object went first", Cause: cause,
	}
}

// settle finds the outcome of a change that was cut off, whether or not the client is still
// there.
func (r *Run) settle(ctx context.Context, change settle.Change) (Made, error) {
	found := r.change.Settler.Settle(ctx, change)
	log := r.change.Log
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

// staysOpen reports whether the change, whose run has ended with an outcome that is not known,
// can still be judged.
func (r *Run) staysOpen(outcome ps.Outcome) bool {
	if outcome != ps.OutcomeUnknown || !r.Running() {
		return false
	}
	_, can := settle.Recorded(r.w.operation(r.record.Operation), r.record)
	return can
}

// release unlocks what the run has locked, unless the outcome of its change is in doubt.
func (r *Run) release(outcome ps.Outcome) {
	if r.doubted == nil && r.staysOpen(outcome) {
		r.doubted = r.hold
		return
	}
	r.hold.end()
}

// How long a script may write from when it was allowed to.
const (
	writeLimit    = 15 * time.Second
	writeLimitFor = 100 * time.Millisecond // more for each object
)

// writeLimitOf returns how long the script that has announced a change may write.
func writeLimitOf(i ps.Intent) time.Duration {
	return writeLimit + time.Duration(len(i.Objects))*writeLimitFor
}

// beginRun begins a run of the script. It ends the run before, which has changed nothing.
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

// endRun notes that the script of a change has stopped writing, and that the outcome of the change
// is stored, or will be by another gateway.
func (r *Run) endRun() {
	if r.member != nil {
		r.member.End()
		r.member = nil
	}
}

// deposed reports whether the term in which the change was begun has ended.
func (r *Run) deposed() bool {
	if r.w.Member == nil || r.term == 0 {
		return false
	}
	term, _ := r.w.Member.Leads()
	return term != r.term
}
