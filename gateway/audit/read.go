package audit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/identity"
	"adgateway/ps"
)

// Outcomes that a [Record] may have in addition to the outcomes of [ps.Outcome].
const (
	OutcomeRefused     = outcomeRefused
	OutcomeInterrupted = "interrupted" // the gateway stopped while the call was running
	OutcomeRunning     = "running"     // there is no outcome yet
)

// Record is one call, or one line that counts rejected calls.
type Record struct {
	Intent  *Line // nil if the call was rejected
	Outcome *Line // nil if interrupted or still running
	outcome string
}

// State returns the outcome of the call as a word.
func (r *Record) State() string { return r.outcome }

// Call returns the line that identifies the caller and the call.
func (r *Record) Call() *Line {
	if r.Intent != nil {
		return r.Intent
	}
	return r.Outcome
}

// Lines returns the lines of the record.
func (r *Record) Lines() []*Line {
	return slices.DeleteFunc([]*Line{r.Intent, r.Outcome}, func(l *Line) bool { return l == nil })
}

// Filter selects records. Empty fields match everything. Texts are compared regardless of case.
type Filter struct {
	Since, Until time.Time
	Who          string // part of the caller's name, the caller's id, or an [identity.Reference] with a kind
	// part of a DN, a GUID or the value of a parameter, or the id of the request or the change
	Target    string
	Outcome   string // exactly
	Operation string // a pattern such as "user.*"

	// Names are other names of the target. A call whose parameter equals one of them is about the
	// target, too.
	Names []string
}

// Read calls each with the records of a log that the filter selects, in the order in which the
// calls ended. Interrupted calls without a later outcome come last. It does not check the chain:
// see [Verify].
func Read(file string, files []string, f Filter, each func(*Record) error) error {
	ordered, err := logFiles(file, files)
	if err != nil {
		return err
	}
	open, interrupted, unknown := map[uint64]*Line{}, map[uint64]*Line{}, map[uint64]*Line{}
	emit := func(intent, outcome *Line, state string) error {
		if r := (&Record{intent, outcome, state}); f.takes(r) {
			return each(r)
		}
		return nil
	}
	left := func(of map[uint64]*Line, state string) error {
		for _, seq := range slices.Sorted(maps.Keys(of)) {
			if err := emit(of[seq], nil, state); err != nil {
				return err
			}
		}
		return nil
	}
	for _, path := range ordered {
		err := eachLine(path, func(_ int, raw []byte, _ bool) error {
			line, _, _, err := parse(raw)
			if err != nil {
				return nil // reported by Verify
			}
			switch line.Event {
			case EventIntent:
				open[line.Seq] = line
			case EventOutcome:
				intent := cmp.Or(open[line.Intent], interrupted[line.Intent], unknown[line.Intent])
				delete(open, line.Intent)
				delete(interrupted, line.Intent)
				if line.Outcome == string(ps.OutcomeUnknown) && intent != nil {
					unknown[line.Intent] = intent // its outcome may be determined later
				}
				return emit(intent, line, line.Outcome)
			case EventRefused, EventCounted:
				return emit(nil, line, line.Outcome)
			case EventOpen:
				maps.Copy(interrupted, open)
				clear(open)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := left(interrupted, OutcomeInterrupted); err != nil {
		return err
	}
	return left(open, OutcomeRunning)
}

// Found holds a log's lines about a change. There are several intents if each object of the change has one.
type Found struct{ Intents, Outcomes []*Line }

// Find returns the lines that a log has about changes since a time, by change id.
func (l *Log) Find(changes map[string]bool, since time.Time) (map[string]*Found, error) {
	found := map[string]*Found{}
	ordered, err := logFiles(l.o.File, nil)
	if err != nil {
		return nil, err
	}
	for _, path := range ordered {
		if info, err := os.Stat(path); err == nil && info.ModTime().Before(since.Add(-time.Hour)) {
			continue // it was complete before since
		}
		err := eachLine(path, func(_ int, raw []byte, _ bool) error {
			if !bytes.Contains(raw, []byte(`"change":`)) {
				return nil
			}
			line, _, _, err := parse(raw)
			if err != nil || !changes[line.Change] {
				return nil
			}
			of := found[line.Change]
			if of == nil {
				of = &Found{}
				found[line.Change] = of
			}
			switch line.Event {
			case EventIntent:
				of.Intents = append(of.Intents, line)
			case EventOutcome:
				of.Outcomes = append(of.Outcomes, line)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// mostUnended limits the age of the intents that [Log.Unended] looks for, relative to the last line
// of the earlier process.
const mostUnended = 10 * time.Minute

// Unended returns the ids of the changes that an earlier process announced in its last minutes and that have
// no outcome in the log.
func (l *Log) Unended() ([]string, error) {
	if l == nil {
		return nil, nil
	}
	ordered, err := logFiles(l.o.File, nil)
	if err != nil {
		return nil, err
	}
	since, open := l.endedAt.Add(-mostUnended), map[uint64]string{}
	for _, path := range ordered {
		if info, err := os.Stat(path); err == nil && info.ModTime().Before(since.Add(-time.Hour)) {
			continue
		}
		err := eachLine(path, func(_ int, raw []byte, _ bool) error {
			if !bytes.Contains(raw, []byte(`"change":`)) || writtenBefore(raw, since) {
				return nil
			}
			line, _, _, err := parse(raw)
			switch {
			case err != nil || line.Change == "" || line.Seq >= l.openedAt:
			case line.Event == EventIntent:
				open[line.Seq] = line.Change
			case line.Event == EventOutcome:
				delete(open, line.Intent)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	all := slices.Sorted(maps.Values(open))
	return slices.Compact(all), nil
}

// writtenBefore reports whether a line was written before a time, without parsing all of it.
func writtenBefore(raw []byte, since time.Time) bool {
	_, after, found := bytes.Cut(raw, []byte(`"time":"`))
	text, _, ends := bytes.Cut(after, []byte{'"'})
	at, err := time.Parse(timeFormat, string(text))
	return found && ends && err == nil && at.Before(since)
}

// Outcomes returns every possible result of [Record.State].
func Outcomes() []string {
	return []string{
		string(ps.OutcomeDone), string(ps.OutcomeNone), string(ps.OutcomePartial), string(ps.OutcomeUnknown),
		OutcomeRefused, OutcomeInterrupted, OutcomeRunning,
	}
}

// Check returns an error if a value of the filter is invalid.
func (f Filter) Check() error {
	var outcome, operation error
	if f.Outcome != "" && !slices.Contains(Outcomes(), strings.ToLower(f.Outcome)) {
		outcome = fmt.Errorf("there is no outcome %q; use one of %s", f.Outcome, strings.Join(Outcomes(), ", "))
	}
	if _, err := path.Match(f.Operation, ""); err != nil {
		operation = fmt.Errorf("%q is not a pattern of operations: write for example user.delete or user.*",
			f.Operation)
	}
	_, err := identity.ParseReference(f.Who)
	if err != nil {
		err = fmt.Errorf("the caller %q %w", f.Who, err)
	}
	return errors.Join(outcome, operation, err)
}

func (f Filter) takes(r *Record) bool {
	call := r.Call()
	if at, err := time.Parse(timeFormat, call.Time); err == nil {
		if !f.Since.IsZero() && at.Before(f.Since) || !f.Until.IsZero() && !at.Before(f.Until) {
			return false
		}
	}
	operation, _ := path.Match(strings.ToLower(f.Operation), strings.ToLower(call.Operation))
	return f.by(call.Who) &&
		(f.Outcome == "" || strings.EqualFold(f.Outcome, r.outcome)) &&
		(f.Operation == "" || operation) &&
		(f.Target == "" || strings.EqualFold(call.RequestID, f.Target) ||
			strings.EqualFold(call.Change, f.Target) ||
			slices.ContainsFunc(r.about(), f.concerns))
}

// by reports whether the filter selects the calls of a caller. A nil who is an unknown caller.
func (f Filter) by(who *Who) bool {
	switch ref, err := identity.ParseReference(f.Who); {
	case f.Who == "":
		return true
	case who == nil:
		return false
	case err == nil && !ref.Unqualified():
		return ref.Means(*who)
	default:
		return holds(who.Name, f.Who) || f.Who == who.ID
	}
}

// concerns reports whether a text from a call matches the target.
func (f Filter) concerns(text string) bool {
	if holds(text, f.Target) {
		return true
	}
	return len(f.Names) > 0 && slices.ContainsFunc(namesIn(text), func(name string) bool {
		return slices.ContainsFunc(f.Names, func(o string) bool { return strings.EqualFold(name, o) })
	})
}

// namesIn returns the names that a parameter may contain: the whole text, each part of a list, and
// an account without its domain.
func namesIn(text string) []string {
	names := []string{text}
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		names = append(names, part, part[strings.LastIndexByte(part, '\\')+1:])
	}
	return names
}

func holds(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// about returns every text that identifies an object of the call.
func (r *Record) about() []string {
	texts := slices.Collect(maps.Values(r.Call().Parameters))
	for _, line := range r.Lines() {
		for _, o := range line.Targets() {
			texts = append(texts, o.GUID, o.DN)
		}
	}
	return texts
}
