// Package write implements how a change begins, runs, ends and is recovered. Before its script may write, one
// update stores everything that depends on the change. After its end, another update stores the outcome.
//
// A call describes its change as a [Change], and gets a [Run] from [Writer.Prepare]. [Run.Do] runs
// the script. When the script announces its change, the run locks the objects, stores the beginning
// and writes the audit's intent. [Writer.Close] stores the end of the call. Changes that a dead
// process or a failing store has left open are closed by [Writer.SettleHistory],
// [Writer.RunClosing] and, in a cluster, the [Writer.Attempts] of the leader.
package write

import (
	"errors"

	"adgateway/gateway/changes"
	"adgateway/gateway/settle"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// An Attempt is a change that is about to begin.
type Attempt struct {
	Intent *ps.Intent
	Token  string          // of the decision that allows the change
	Record *changes.Record // in the history, or nil
}

// A Participant is stored together with the beginning of a change. The record, the applied plan, the key, the
// spent quota and reserved names are participants.
type Participant interface {
	// Begin decides with the newest state, and puts its values. An error refuses the change, and
	// nothing of the update is stored. Begin may be called again for a retried update, and must
	// start over then.
	Begin(tx *store.Tx, a *Attempt) error
	// Begun is called once the values of Begin are stored.
	Begun()
}

// ErrBegun ends an update that an earlier attempt has already stored.
var ErrBegun = errors.New("the change has begun")

// A Kind ends its part of a change based on the record alone, so that both the call and another process can
// end the change.
type Kind interface {
	// End puts the values that follow from the end of the change with record c.
	End(tx *store.Tx, c *changes.Record, e *End) error
}

// A Verdict describes how a change has ended, in the same terms as its call. It is decided once and never
// revised.
type Verdict struct {
	Outcome ps.Outcome `json:"outcome"`
	Idle    bool       `json:"idle,omitempty"`   // nothing had to be changed
	Failed  []string   `json:"failed,omitempty"` // GUIDs of the objects that were not changed
	// sentences for people about the changed and the unchanged parts
	Notes   []string    `json:"notes,omitempty"`
	Remains []ps.Object `json:"remains,omitempty"` // of an incomplete creation
}

// VerdictOn returns the verdict on a change with an outcome, given the result of its script, which is nil if
// there is none.
func VerdictOn(outcome ps.Outcome, result *ps.Result) Verdict {
	v := Verdict{Outcome: outcome}
	if result != nil {
		v.Idle = result.Effect == ps.EffectNone
		for i := range result.Failures {
			v.Failed = append(v.Failed, result.Failures[i].GUID)
		}
	}
	return v
}

// VerdictOf returns the verdict for a finding.
func VerdictOf(found settle.Finding) *Verdict {
	v := VerdictOn(found.Outcome, found.Result)
	if found.Err != nil {
		v.Notes, v.Remains = found.Err.Notes, found.Err.Remains
	}
	return &v
}

// End describes how a change has ended.
type End struct {
	Verdict  Verdict
	Record   *changes.Record // final record; nil if the change is not in the history
	Token    string          // of the record while the change was running
	Spent    map[string]int  // used quota by impact; nil means all that the change reserved
	Answered bool            // the call itself stores its answer in the key
}

// Close closes the record of a change in memory, and returns the end.
func Close(c *changes.Record, v Verdict) *End {
	e := &End{Verdict: v, Record: c, Token: c.Token}
	c.End(v.Outcome)
	return e
}

// ErrClosed means that the change was closed before with another outcome.
var ErrClosed = errors.New("the change was closed before")

// ErrEnded ends an update that an earlier attempt has already stored.
var ErrEnded = errors.New("the change has ended so already")
