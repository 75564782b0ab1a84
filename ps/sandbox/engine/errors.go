package engine

import (
	"errors"
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
)

// psError is an error record that propagates up the call chain.
type psError struct {
	rec *dotnet.ErrorRecord
	// whether a throw statement raised it; it then ends the script unless an action preference ignores it
	thrown bool
	stop   bool // by -ErrorAction Stop or the preference: ends the script
}

func (e *psError) Error() string { return e.rec.Error() }

// Unwrap returns the record.
func (e *psError) Unwrap() error { return e.rec }

// Control flow that leaves blocks as an error value.
type (
	breakFlow    struct{ _ byte } // not empty, so that each value has its own address
	continueFlow struct{ _ byte }
	returnFlow   struct{ _ byte }

	// pipelineStopped unwinds the commands upstream of a failed one. Their finally blocks run,
	// but not their catch clauses.
	pipelineStopped struct{ p *pipelineRun }
)

func (*breakFlow) Error() string       { return "break outside of a loop" }
func (*continueFlow) Error() string    { return "continue outside of a loop" }
func (*returnFlow) Error() string      { return "return outside of a block" }
func (*pipelineStopped) Error() string { return "the pipeline has been stopped" }

var (
	flowReturn   error = &returnFlow{}
	flowBreak    error = &breakFlow{}
	flowContinue error = &continueFlow{}
)

// asPS returns the error record of an error that a script can catch, or nil.
func asPS(err error) *psError {
	switch e := err.(type) {
	case *psError:
		return e
	case *dotnet.ErrorRecord:
		return &psError{rec: e}
	case *dotnet.Exception:
		return &psError{rec: dotnet.AsRecord(e)}
	}
	return nil
}

// fail sets the position of an error without one, and converts the limits of package dotnet.
func fail(err error, at *place) error {
	if refused, ok := err.(*dotnet.Refused); ok && refused.Record.Position == nil {
		refused.Record.Position = at.position()
	}
	pe := asPS(err)
	if pe == nil {
		return limitOf(err, at)
	}
	if pe.rec.Position == nil {
		pe.rec.Position = at.position()
	}
	return pe
}

// statementError handles the error of a statement in a block. Nil means that the block
// continues with the next statement.
func (f *frame) statementError(err error, at *place) error {
	pe := asPS(err)
	if pe == nil {
		return fail(err, at)
	}
	locate(pe.rec, at)
	f.s.ok = false
	f.s.addError(pe.rec)
	if f.s.inTry > 0 || pe.stop {
		return pe
	}
	switch f.errorAction() {
	case actionSilent, actionIgnore:
		return nil
	case actionStop:
		pe.stop = true
		return pe
	}
	if pe.thrown {
		return pe
	}
	f.streams.error(pe.rec)
	return nil
}

// locate sets the position of a record that has none.
func locate(rec *dotnet.ErrorRecord, at *place) {
	if rec.Position == nil {
		rec.Position = at.position()
	}
}

// addError adds a record to the -ErrorVariable lists and prepends it to $Error, unless it is already the
// newest one there.
func (s *Session) addError(rec *dotnet.ErrorRecord) {
	for _, list := range s.running.watching {
		if n := len(list.Items); n == 0 || list.Items[n-1] != any(rec) {
			list.Items = append(list.Items, rec)
		}
	}
	list := s.errorList
	if len(list.Items) > 0 {
		if first, ok := list.Items[0].(*dotnet.ErrorRecord); ok &&
			(first == rec || first.Exception == rec.Exception) {
			return
		}
	}
	if len(list.Items) >= maxErrors {
		list.Items = list.Items[:maxErrors-1]
	}
	list.Items = append(list.Items, nil)
	copy(list.Items[1:], list.Items)
	list.Items[0] = rec
}

// maxErrors is the maximum length of $Error.
const maxErrors = 256

// action is an ActionPreference.
type action int64

const (
	actionSilent   action = 0
	actionStop     action = 1
	actionContinue action = 2
	actionInquire  action = 3
	actionIgnore   action = 4
)

var actionNames = map[string]action{
	"silentlycontinue": actionSilent, "stop": actionStop, "continue": actionContinue,
	"inquire": actionInquire, "ignore": actionIgnore, "break": actionContinue, "suspend": actionContinue,
}

// asAction converts an enumeration value, a name or a number to an ActionPreference.
func asAction(v any) (action, bool) {
	switch v := v.(type) {
	case nil:
		return 0, false
	case dotnet.Enum:
		return action(v.Value), true
	case string:
		a, ok := actionNames[strings.ToLower(strings.TrimSpace(v))]
		return a, ok
	case int32:
		return action(v), v >= 0 && v <= 4
	case bool:
		return 0, false
	}
	a, ok := actionNames[strings.ToLower(dotnet.ToText(v))]
	return a, ok
}

// preferenceIn returns the value of a preference variable.
func preferenceIn(sc *scope, sym symbol, fallback action) action {
	if v := sc.find(sym); v != nil {
		if a, ok := asAction(v.value); ok {
			return a
		}
	}
	return fallback
}

func (f *frame) errorAction() action { return preferenceIn(f.scope, symErrorAction, actionContinue) }

// runtimeError returns an error raised by the language itself.
func runtimeError(
	id string, category dotnet.Category, target any, format string, args ...any,
) *dotnet.ErrorRecord {
	return dotnet.RuntimeError(id, category, target, format, args...)
}

// isFlow reports whether an error is control flow rather than a failure.
func isFlow(err error) bool {
	switch err.(type) {
	case *breakFlow, *continueFlow, *returnFlow, *pipelineStopped:
		return true
	}
	return false
}

// defect wraps an error from a command's body, unless it is an error of this package.
func defect(command string, err error) error {
	if err == nil || asPS(err) != nil || isFlow(err) {
		return err
	}
	var limit *LimitError
	var over *dotnet.LimitError
	var exit *ExitError
	var bad *DefectError
	var refused *dotnet.Refused
	if errors.As(err, &refused) || errors.As(err, &limit) || errors.As(err, &over) || errors.As(err, &exit) ||
		errors.As(err, &bad) {
		return err
	}
	return &DefectError{Command: command, Cause: err}
}
