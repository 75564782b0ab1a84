package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"adgateway/ps"
)

// An answer is what has come of a request so far.
type answer struct {
	boot    bool // the answer to the boot line: a ready or an error frame, nothing else
	write   bool
	sent    bool // the line, or some of it, may have reached the process
	records func(json.RawMessage) error

	intent  *ps.Intent
	steps   []ps.Step
	ready   *Ready
	result  *ps.Result
	failure *ps.Error
	refused error // what records returned
	garbled bool  // a frame was not what it should be
}

// done tells whether the last frame is there.
func (a *answer) done() bool {
	return a.ready != nil || a.result != nil || a.failure != nil
}

// take adds a frame. The error tells what is wrong with the frame; a refusal
// by the records callback is kept in a.refused instead.
func (a *answer) take(f frame) error {
	if f.kind != frameError && a.boot != (f.kind == frameReady) {
		return fmt.Errorf("%s frame out of place", f.kind)
	}
	switch f.kind {
	case frameIntent:
		intent := &ps.Intent{}
		if err := decode(f, intent); err != nil {
			return err
		}
		a.intent = intent
	case frameStep:
		var step ps.Step
		if err := decode(f, &step); err != nil {
			return err
		}
		a.steps = append(a.steps, step)
	case frameRecords:
		if !json.Valid(f.payload) || !bytes.HasPrefix(bytes.TrimLeft(f.payload, " \t\r\n"), []byte("[")) {
			return errors.New("records frame is no JSON array")
		}
		if a.records != nil && a.refused == nil {
			a.refused = a.records(f.payload)
		}
	case frameEnd:
		result := &ps.Result{}
		if err := decode(f, result); err != nil {
			return err
		}
		switch result.Effect {
		case ps.EffectNone, ps.EffectCreated, ps.EffectChanged, ps.EffectRemoved:
		default:
			return fmt.Errorf("end frame with effect %q", result.Effect)
		}
		for i := range result.Failures {
			result.Failures[i].Error.Kind = ps.KindScript
		}
		result.Steps = a.steps
		a.result = result
	case frameError:
		failure := &ps.Error{}
		if err := decode(f, failure); err != nil {
			return err
		}
		failure.Kind = ps.KindScript
		failure.Steps, failure.Intent = a.steps, a.intent
		failure.Outcome = a.outcome(failure)
		a.failure = failure
	case frameReady:
		ready := &Ready{}
		if err := decode(f, ready); err != nil {
			return err
		}
		a.ready = ready
	}
	return nil
}

// outcome checks what an error frame says of what it left behind; where it says
// nothing, no more is claimed than is known.
func (a *answer) outcome(e *ps.Error) ps.Outcome {
	switch e.Outcome {
	case ps.OutcomeNone, ps.OutcomePartial, ps.OutcomeDone, ps.OutcomeUnknown:
		return e.Outcome
	}
	switch {
	case len(e.Remains) > 0:
		return ps.OutcomePartial
	case len(a.steps) > 0:
		return ps.OutcomeUnknown
	default:
		return ps.OutcomeNone
	}
}

// decode reads a payload that is one JSON object. Its error never holds any of
// the payload.
func decode(f frame, to any) error {
	if !bytes.HasPrefix(bytes.TrimLeft(f.payload, " \t\r\n"), []byte("{")) {
		return fmt.Errorf("%s frame is no JSON object", f.kind)
	}
	if err := json.Unmarshal(f.payload, to); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return fmt.Errorf("%s frame: %s is a %s", f.kind, wrong.Field, wrong.Value)
		}
		return fmt.Errorf("%s frame is no JSON", f.kind)
	}
	return nil
}
