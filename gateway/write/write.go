// Package write has how a change begins, runs, ends and is recovered: before its script may write,
// all that depends on it is stored in one update, and once it has ended, its outcome is, in another
// one.
//
// A call describes its change as a [Change], and gets a [Run] of it from [Writer.Prepare]. [Run.Do]
// runs the script: when that announces what it is about to change, the run locks the objects, stores
// the beginning and writes the audit's intent. [Writer.Close] stores how the call has ended. What is
// left open, by a dead process or a store that takes nothing, is closed by [Writer.SettleHistory],
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
	Token  string          // of the decision that allows it
	Record *changes.Record // in the history; nil: there is none
}

// A Participant is something that is stored together with the beginning of a change: its record,
// the plan that it applies, its key, what it spends, the names that it gives.
type Participant interface {
	// Begin decides with the newest state, and puts what must be stored before the change. An error
	// refuses the change: then nothing of the update is stored. It is called again if the update is
	// tried again, and then starts over.
	Begin(tx *store.Tx, a *Attempt) error
	// Begun notes that what Begin has put is stored.
	Begun()
}

// ErrBegun ends an update whose changes an earlier try has stored.
var ErrBegun = errors.New("the change has begun")

// A Kind ends its part of any change from the record alone, whether the call itself ends the
// change or another process does.
type Kind interface {
	// End puts what follows from the end of a change, whose record is c.
	End(tx *store.Tx, c *changes.Record, e *End) error
}

// A Verdict says how a change has ended, as its call would have reported it. It is decided once,
// and read after that.
type Verdict struct {
	Outcome ps.Outcome  `json:"outcome"`
	Idle    bool        `json:"idle,omitempty"`    // nothing had to be changed
	Failed  []string    `json:"failed,omitempty"`  // GUIDs of the objects that were not done
	Notes   []string    `json:"notes,omitempty"`   // what was changed and what was not, for people
	Remains []ps.Object `json:"remains,omitempty"` // of a creation that was not completed
}

// VerdictOf returns what was found out about a change.
func VerdictOf(found settle.Finding) *Verdict {
	v := &Verdict{Outcome: found.Outcome}
	if result := found.Result; result != nil {
		v.Idle = result.Effect == ps.EffectNone
		for i := range result.Failures {
			v.Failed = append(v.Failed, result.Failures[i].GUID)
		}
	}
	if found.Err != nil {
		v.Notes, v.Remains = found.Err.Notes, found.Err.Remains
	}
	return v
}

// End is how a change has ended.
type End struct {
	Verdict  Verdict
	Record   *changes.Record // as it is kept from now on; nil: the history has none
	Token    string          // of the record while the change runs
	Spent    map[string]int  // by impact, of what it has reserved; nil: all of that stays spent
	Answered bool            // its call keeps its answer in the key itself
}

// Close closes the record of a change in memory and returns how the change has ended.
func Close(c *changes.Record, v Verdict) *End {
	e := &End{Verdict: v, Record: c, Token: c.Token}
	c.End(v.Outcome)
	return e
}

// ErrClosed means that another one has closed a change, with another outcome.
var ErrClosed = errors.New("the change was closed before")

// ErrEnded ends an update whose changes an earlier try has stored.
var ErrEnded = errors.New("the change has ended so already")
