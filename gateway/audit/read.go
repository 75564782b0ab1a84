package audit

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"adgateway/ps"
)

// The outcomes that a [Record] may have besides those of [ps.Outcome].
const (
	OutcomeRefused     = outcomeRefused
	OutcomeInterrupted = "interrupted" // the gateway ended while the call ran
	OutcomeRunning     = "running"     // there is no outcome yet
)

// Record is one call, or one line that counts refused ones.
type Record struct {
	Intent  *Line // nil: it was refused
	Outcome *Line // nil: interrupted or still running
	outcome string
}

// State is the outcome of the call in a word.
func (r *Record) State() string { return r.outcome }

// Call is the line that says who wanted what.
func (r *Record) Call() *Line {
	if r.Intent != nil {
		return r.Intent
	}
	return r.Outcome
}

// Lines are the lines of the record.
func (r *Record) Lines() []*Line {
	return slices.DeleteFunc([]*Line{r.Intent, r.Outcome}, func(l *Line) bool { return l == nil })
}

// Filter chooses records; what is empty chooses all. Texts are compared in any case.
type Filter struct {
	Since, Until time.Time
	Who          string // a part of the caller's name
	Target       string // a part of a DN, a GUID or a parameter's value
	Outcome      string // exactly
	Operation    string // a pattern: "user.*"
}

// Read calls each with the records of a log's files that the filter chooses, in
// the order in which they ended. It checks nothing of the chain: see [Verify].
func Read(file string, files []string, f Filter, each func(*Record) error) error {
	ordered, err := logFiles(file, files)
	if err != nil {
		return err
	}
	open := map[uint64]*Line{}
	emit := func(intent, outcome *Line, state string) error {
		if r := (&Record{intent, outcome, state}); f.takes(r) {
			return each(r)
		}
		return nil
	}
	left := func(state string) error {
		for _, seq := range slices.Sorted(maps.Keys(open)) {
			if err := emit(open[seq], nil, state); err != nil {
				return err
			}
		}
		clear(open)
		return nil
	}
	for _, path := range ordered {
		err := eachLine(path, func(_ int, raw []byte, _ bool) error {
			line, _, _, err := parse(raw)
			if err != nil {
				return nil // Verify's business
			}
			switch line.Event {
			case EventIntent:
				open[line.Seq] = line
			case EventOutcome:
				intent := open[line.Intent]
				delete(open, line.Intent)
				return emit(intent, line, line.Outcome)
			case EventRefused, EventCounted:
				return emit(nil, line, line.Outcome)
			case EventOpen:
				return left(OutcomeInterrupted)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return left(OutcomeRunning)
}

// Outcomes are all that [Record.State] may tell of a call.
func Outcomes() []string {
	return []string{
		string(ps.OutcomeDone), string(ps.OutcomeNone), string(ps.OutcomePartial), string(ps.OutcomeUnknown),
		OutcomeRefused, OutcomeInterrupted, OutcomeRunning,
	}
}

// Check tells what in a filter no record can match because it is mistyped.
func (f Filter) Check() error {
	var outcome, operation error
	if f.Outcome != "" && !slices.Contains(Outcomes(), strings.ToLower(f.Outcome)) {
		outcome = fmt.Errorf("there is no outcome %q; it is one of %s", f.Outcome, strings.Join(Outcomes(), ", "))
	}
	if _, err := path.Match(f.Operation, ""); err != nil {
		operation = fmt.Errorf("%q is no pattern of operations: write such as user.delete or user.*", f.Operation)
	}
	return errors.Join(outcome, operation)
}

func (f Filter) takes(r *Record) bool {
	call := r.Call()
	if at, err := time.Parse(timeFormat, call.Time); err == nil {
		if !f.Since.IsZero() && at.Before(f.Since) || !f.Until.IsZero() && !at.Before(f.Until) {
			return false
		}
	}
	who := ""
	if call.Who != nil {
		who = call.Who.Name
	}
	operation, _ := path.Match(strings.ToLower(f.Operation), strings.ToLower(call.Operation))
	return holds(who, f.Who) &&
		(f.Outcome == "" || strings.EqualFold(f.Outcome, r.outcome)) &&
		(f.Operation == "" || operation) &&
		(f.Target == "" || slices.ContainsFunc(r.about(), func(text string) bool { return holds(text, f.Target) }))
}

func holds(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// about is every text that says what the call was about.
func (r *Record) about() []string {
	texts := slices.Collect(maps.Values(r.Call().Parameters))
	if r.Outcome != nil {
		for _, o := range r.Outcome.Targets() {
			texts = append(texts, o.GUID, o.DN)
		}
	}
	return texts
}
