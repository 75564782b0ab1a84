// Package settle determines the outcome of a change that was cut off.
//
// A script announces what it is about to change, with the values before and after ([ps.Intent]). If
// its run is cut off after that, another script, in another session, reads the current state from
// the same server, and judge compares the two. The remains of an unfinished create are removed.
//
// Ending a session does not stop a cmdlet that is already running in the server. So a single reading is
// enough to prove a visible change, but the absence of a change needs two equal readings with a pause between
// them. A server that takes longer than the pause cannot be distinguished from one that does nothing.
package settle

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"adgateway/gateway/ops"
	"adgateway/ps"
)

// Settler settles changes through Runner. It is safe for concurrent use.
type Settler struct {
	Runner  ps.Runner
	Scripts map[string]ps.Script // declarations by name
	Limit   time.Duration        // time limit for one change, including the clean-up
	Pause   time.Duration        // between two readings
}

// Change is a change whose run was cut off.
type Change struct {
	Operation *ops.Operation
	Bound     *ops.Bound
	Request   ps.Request
	StartedAt time.Time
	Cut       *ps.Error // error of the run
}

// Finding is the outcome of a change.
type Finding struct {
	Outcome ps.Outcome

	// Result is the result that the script would have reported, and Records has the record of each
	// object that was done. If the change was not made, Result is nil, and Err is the error of the run
	// completed with the facts known now.
	Result  *ps.Result
	Records []json.RawMessage
	Err     *ps.Error

	Unread    error // reason why the outcome stayed unknown; nil if it is known
	NoCleanUp error // reason why an unfinished create could not be removed
}

// Open returns the error of a run if the run left the outcome of its changes open, and nil otherwise.
func Open(req ps.Request, err error) *ps.Error {
	cut := ps.AsError(err)
	if !req.Write || cut.Outcome != ps.OutcomeUnknown || cut.Intent == nil || len(cut.Intent.Objects) == 0 {
		return nil
	}
	return cut
}

// Settle determines the outcome of a change. It continues if ctx is canceled.
func (s *Settler) Settle(ctx context.Context, change Change) Finding {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Limit)
	defer cancel()
	r := &run{Settler: s, Change: change}
	v, seen, unread := r.find(ctx)
	var notRemoved error
	if v.outcome == ps.OutcomePartial && r.Operation.Settle.CleanUp != "" && r.guid() != "" {
		if notRemoved = r.script(ctx, r.Operation.Settle.CleanUp, true, nil); notRemoved == nil {
			v = verdict{outcome: ps.OutcomeNone}
		}
	}
	finding := r.report(v, seen)
	finding.Outcome, finding.Unread, finding.NoCleanUp = v.outcome, unread, notRemoved
	return finding
}

// Outcome is the outcome of a change that was settled before and was made as a whole or in part.
type Outcome struct {
	Outcome ps.Outcome
	Idle    bool     // nothing had to be changed
	Failed  []string // GUIDs of the objects that were not changed
}

// Report returns the result that the script would have reported for a change that was settled
// before. The records are the announced ones, or the current objects. The error explains why the
// current objects could not be read and are missing. Nothing is judged.
func (s *Settler) Report(ctx context.Context, change Change, known Outcome) (Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Limit)
	defer cancel()
	r := &run{Settler: s, Change: change}
	var seen []observation
	var err error
	if slices.ContainsFunc(change.Cut.Intent.Objects, func(o ps.Intended) bool { return isNull(o.Record) }) {
		seen, err = r.read(ctx)
	}
	return r.known(known, seen), err
}

// Unread returns the result that the script would have reported for a change that was made, as far
// as the announcement allows. failed are the GUIDs of objects that it omits.
func Unread(change Change, failed ...string) Finding {
	o := Outcome{Outcome: ps.OutcomeDone, Failed: failed}
	if len(failed) > 0 {
		o.Outcome = ps.OutcomePartial
	}
	return (&run{Change: change}).known(o, nil)
}

// known returns the result that the script would have reported for a change that was settled
// before.
func (r *run) known(o Outcome, seen []observation) Finding {
	v := verdict{outcome: o.Outcome, idle: o.Idle}
	for i := range r.Cut.Intent.Objects {
		object, at := &r.Cut.Intent.Objects[i], made
		switch {
		case slices.Contains(o.Failed, object.GUID):
			at = notMade
		case i > 0 && len(object.Changes) == 0:
			at = idle
		}
		v.objects = append(v.objects, at)
	}
	found := r.reported(v, seen)
	found.Outcome = o.Outcome
	return found
}

// State is the state of an announced object, as a settling script has read it.
type State struct {
	DN     string
	Values map[string]string // keyed by the names of announced changes; nil if it was not read
}

// Gone reports whether the object does not exist.
func (s State) Gone() bool { return s.Values[existence] == absent }

// Value returns a value, or false if it was not read.
func (s State) Value(name string) (string, bool) {
	value, known := s.Values[name]
	if !known {
		value, known = s.Values[otherwise]
	}
	return value, known
}

// Now reads the current state of the objects of an earlier change.
func (s *Settler) Now(ctx context.Context, change Change) ([]State, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Limit)
	defer cancel()
	r := &run{Settler: s, Change: change}
	seen, err := r.read(ctx)
	var states []State
	for _, object := range seen {
		states = append(states, State{DN: object.DN, Values: object.State})
	}
	return states, err
}

// Seen reports whether a server shows the whole of a change, which may have been made on another
// server. It changes nothing.
func (s *Settler) Seen(ctx context.Context, change Change) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Limit)
	defer cancel()
	r := &run{Settler: s, Change: change}
	seen, err := r.read(ctx)
	return err == nil && judge(r.Cut.Intent, r.Cut.Steps, seen).outcome == ps.OutcomeDone, err
}

// run settles one change.
type run struct {
	*Settler
	Change
}

// find reads until the outcome of the changes is clear. The error explains why it is not.
func (r *run) find(ctx context.Context) (verdict, []observation, error) {
	var last verdict
	for first := true; ; first = false {
		seen, err := r.read(ctx)
		if err != nil {
			return verdict{outcome: ps.OutcomeUnknown}, nil, err
		}
		v := judge(r.Cut.Intent, r.Cut.Steps, seen)
		if v.outcome == ps.OutcomeDone || !first && v.equal(last) {
			return v, seen, nil
		}
		last = v
		select {
		case <-time.After(r.Pause):
		case <-ctx.Done():
			return verdict{outcome: ps.OutcomeUnknown, notes: v.notes}, seen, context.Cause(ctx)
		}
	}
}

var errNoRecord = errors.New("the script that settles emitted no record")

// read reads the announced objects.
func (r *run) read(ctx context.Context) ([]observation, error) {
	var seen []observation
	maxAge := r.maxAge()
	err := r.script(ctx, r.Operation.Settle.Script, false, ps.Collect(&seen))
	if err != nil {
		return nil, err
	}
	if len(seen) == 0 {
		return nil, errNoRecord
	}
	if r.guid() == "" && seen[0].Age > maxAge {
		// The object is older than the request, so it is a different object of that name.
		seen[0] = observation{State: map[string]string{existence: absent}}
	}
	return seen, nil
}

// guid returns the GUID of the first object: as announced, or as reported by the step that created
// the object.
func (r *run) guid() string {
	if guid := r.Cut.Intent.Objects[0].GUID; guid != "" || len(r.Cut.Steps) == 0 {
		return guid
	}
	return r.Cut.Steps[0].GUID
}

// maxAge returns the maximum age, in seconds, of an object that the request created. The directory
// stores times in whole seconds.
func (r *run) maxAge() int { return int(time.Since(r.StartedAt)/time.Second) + 2 }

// allowedOU is the argument for the caller's OUs.
const allowedOU = "AllowedOU"

// script runs one of the settling scripts, on the server of the change.
func (r *run) script(
	ctx context.Context, name string, write bool, records func(json.RawMessage) error,
) error {
	script := r.Scripts[name]
	object := &r.Cut.Intent.Objects[0]
	var guids, names []string
	for i := range r.Cut.Intent.Objects {
		guids = append(guids, r.Cut.Intent.Objects[i].GUID)
		names = append(names, r.Cut.Intent.Objects[i].Name)
	}
	packed := false
	for _, change := range object.Changes {
		packed = packed || change.Name == userParameters
	}
	args := r.Operation.Settle.Args(script, ps.Args{
		ops.SettleGuid: ps.Text(r.guid()), ops.SettleGuids: ps.List(guids), ops.SettleNames: ps.List(names),
		ops.SettleAccount: ps.Text(object.Account),
		ops.SettleName:    ps.Text(object.Name), ops.SettleParent: ps.Text(object.Parent),
		ops.SettleUserParameters: ps.Bool(packed), ops.SettleMaxAge: ps.Int(int64(r.maxAge())),
	}, r.Bound)
	for _, server := range ops.ServerArgs {
		if _, declared := script.Param(server); declared && r.Cut.Server != "" {
			args[server] = ps.Text(r.Cut.Server)
		}
	}
	if _, declared := script.Param(allowedOU); declared { // the record shows no more than the request would
		args[allowedOU] = r.Request.Args[allowedOU]
	}
	deadline, _ := ctx.Deadline()
	_, err := r.Runner.Run(ctx, ps.Request{
		ID: r.Request.ID, Script: name, Lane: r.Operation.Lane, Args: args, Write: write, Settles: true,
		Limit: max(time.Until(deadline), time.Millisecond), Records: records,
	})
	return err
}
