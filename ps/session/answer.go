package session

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"adgateway/ps"
	"adgateway/ps/sorted"
)

// An answer collects the frames of one request.
type answer struct {
	boot    bool // answers the boot line: one ready or error frame
	write   bool
	sent    bool // at least part of the data line may have reached the process
	records func(json.RawMessage) error
	newList func() *sorted.Records // returns an empty list for records with keys
	// announced receives the intent before the first change and answers the process. It reports whether the
	// process may have been told to proceed. An error means that the change was refused. announced is nil during
	// a boot.
	announced func(*ps.Intent) (bool, error)

	list    *sorted.Records // records with keys; nil if there are none
	intent  *ps.Intent      // nil unless the process was told to proceed
	steps   []ps.Step
	secrets []ps.Value
	ready   *Ready
	result  *ps.Result
	failure *ps.Error
	refused error // error returned by records
	denied  error // reason why the announced change was refused
	garbled bool  // a frame was invalid
}

// done reports whether the last frame has arrived.
func (a *answer) done() bool {
	return a.ready != nil || a.result != nil || a.failure != nil
}

// take adds a frame. It returns an error for an invalid frame; an error of the
// records callback is kept in a.refused instead.
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
		if a.announced == nil {
			return errors.New("intent frame out of place")
		}
		dropNulls(intent.Objects)
		var allowed bool
		if allowed, a.denied = a.announced(intent); allowed {
			a.intent = intent
		}
	case frameStep:
		var step ps.Step
		if err := decode(f, &step); err != nil {
			return err
		}
		a.steps = append(a.steps, step)
	case frameRecords:
		if !bytes.HasPrefix(f.payload, []byte("[")) || !bytes.HasSuffix(f.payload, []byte("]")) {
			return errors.New("records frame is not a JSON array")
		}
		if a.records == nil || a.refused != nil {
			break // they are discarded
		}
		if a.refused = a.records(f.payload); errors.Is(a.refused, ps.ErrInvalidRecords) {
			return a.refused
		}
	case frameKeyed:
		return a.takeKeyed(f)
	case frameSecrets:
		for packed := range bytes.SplitSeq(f.payload, []byte{' '}) {
			secret, err := base64.StdEncoding.DecodeString(string(packed))
			if err != nil {
				return errors.New("secrets frame is not base64")
			}
			a.secrets = append(a.secrets, ps.Secret(string(secret)))
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
		result.Steps, result.Secrets = a.steps, a.secrets
		a.result = result
		return a.passSorted()
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

// keyed is the payload of a keyed frame: records in no particular order, each with a sort key.
type keyed struct {
	Keys    []string
	Records []json.RawMessage

	Most  int    // maximum number of records of a page; zero for a whole list
	First string // smallest key of the page
	Again string // the records of the page whose keys are not less are sent again, beginning with this frame
}

// takeKeyed adds records with keys. They are passed on only at the end, so if reading a list fails, none of
// its records has been passed on.
func (a *answer) takeKeyed(f frame) error {
	var batch keyed
	if err := decode(f, &batch); err != nil {
		return err
	}
	if a.records == nil || a.refused != nil {
		return nil
	}
	switch {
	case a.list == nil && batch.Most > 0:
		a.list = sorted.NewPage(batch.First, batch.Most)
	case a.list == nil:
		a.list = a.newList()
	case batch.Again != "":
		a.list.Discard(batch.Again)
	}
	return a.list.Add(batch.Keys, batch.Records)
}

// passSorted passes on the records with keys, in the order of their keys.
func (a *answer) passSorted() error {
	if a.list == nil || a.refused != nil {
		return nil
	}
	err := a.list.Each(func(batch json.RawMessage) error {
		a.refused = a.records(batch)
		return a.refused
	})
	a.result.Last = a.list.Last()
	switch {
	case errors.Is(a.refused, ps.ErrInvalidRecords):
		return a.refused
	case err != nil && a.refused == nil:
		a.refused = &ps.Error{Kind: ps.KindInternal, Message: "the list could not be sorted", Cause: err}
	}
	return nil
}

// close releases the file of a list.
func (a *answer) close() {
	if a.list != nil {
		a.list.Close()
	}
}

// outcome returns the outcome in an error frame, or the safest outcome if the frame contains none.
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

// dropNulls sets members of announced objects that are null in JSON to nil, so they take no space in
// the history.
func dropNulls(objects []ps.Intended) {
	for i := range objects {
		for _, value := range []*json.RawMessage{&objects[i].Record, &objects[i].Image} {
			if string(*value) == "null" {
				*value = nil
			}
		}
	}
}

// decode decodes a payload that must be one JSON object. Its error never contains any of the payload.
func decode(f frame, to any) error {
	if !bytes.HasPrefix(bytes.TrimLeft(f.payload, " \t\r\n"), []byte("{")) {
		return fmt.Errorf("%s frame is not a JSON object", f.kind)
	}
	if err := json.Unmarshal(f.payload, to); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return fmt.Errorf("%s frame: %s is a %s", f.kind, wrong.Field, wrong.Value)
		}
		return fmt.Errorf("%s frame is not JSON", f.kind)
	}
	return nil
}
