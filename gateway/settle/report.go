package settle

import (
	"bytes"
	"encoding/json"

	"adgateway/gateway/ops"
	"adgateway/ps"
)

// report returns the result that the script would have reported, or the error of the run, completed with the
// facts known now.
func (r *run) report(v verdict, seen []observation) Finding {
	intent := r.Cut.Intent
	_, done := v.subjects(intent)
	someListed := r.Operation.Reply.Mark == ops.List && v.outcome == ps.OutcomePartial && done > 0
	if v.outcome != ps.OutcomeDone && !someListed {
		return Finding{Err: r.failure(v, seen)}
	}
	return r.reported(v, seen)
}

// reported returns the result that the script would have reported for a change that was made, or
// was made for some of its objects.
func (r *run) reported(v verdict, seen []observation) Finding {
	intent := r.Cut.Intent
	subjects, done := v.subjects(intent)
	result := &ps.Result{
		Effect: intent.Effect, Warnings: intent.Warnings, Counts: intent.Counts, Steps: r.Cut.Steps,
		Server: r.Cut.Server,
	}
	if v.idle {
		result.Effect = ps.EffectNone
	}
	if done < subjects { // a script that returns a list reports counts of its records
		result.Counts = map[string]int{}
		for name := range intent.Counts {
			result.Counts[name] = done
		}
	}
	var records []json.RawMessage
	for i := range intent.Objects {
		object, record := &intent.Objects[i], recordOf(intent, seen, i)
		if v.objects[i] != made {
			if !isNull(object.Record) {
				result.Failures = append(result.Failures,
					ps.Failure{GUID: object.GUID, DN: object.DN, Error: ps.Error{Kind: r.Cut.Kind}})
			}
			continue
		}
		if !isNull(record) {
			records = append(records, record)
		}
		if result.Effect != ps.EffectNone && len(object.Changes) > 0 {
			result.Changes = append(result.Changes, changeOf(object, record))
		}
	}
	return Finding{Result: result, Records: records}
}

// failure completes the error of the run with the facts known now.
func (r *run) failure(v verdict, seen []observation) *ps.Error {
	e := *r.Cut
	e.Outcome, e.Notes = v.outcome, v.notes
	if v.outcome == ps.OutcomePartial && e.Intent.Effect == ps.EffectCreated {
		e.Remains = append(e.Remains, ps.Object{GUID: seen[0].GUID, DN: seen[0].DN})
	}
	return &e
}

// recordOf returns the record of an announced object. If the object was to be removed, that is the announced
// record, otherwise the record that was read.
func recordOf(intent *ps.Intent, seen []observation, i int) json.RawMessage {
	if record := intent.Objects[i].Record; !isNull(record) {
		return record
	}
	if i < len(seen) {
		return seen[i].Record
	}
	return nil
}

func isNull(record json.RawMessage) bool {
	return len(record) == 0 || bytes.Equal(record, []byte("null"))
}

// changeOf returns a change in the form in which the script would have reported it, for the audit.
func changeOf(object *ps.Intended, record json.RawMessage) ps.Change {
	change := ps.Change{GUID: object.GUID, DN: object.DN, Before: map[string]json.RawMessage{},
		After: map[string]json.RawMessage{}}
	for _, c := range object.Changes {
		switch {
		case c.Name == existence && c.After == absent:
			_ = json.Unmarshal(record, &change.Before) // stays empty unless it is an object
			return change
		case c.Name == existence:
			_ = json.Unmarshal(record, &change.After)
			_ = json.Unmarshal(change.After["guid"], &change.GUID)
			_ = json.Unmarshal(change.After["distinguishedName"], &change.DN)
			return change
		case c.Before != c.After:
			change.Before[c.Name], change.After[c.Name] = text(c.Before), text(c.After)
		}
	}
	return change
}

// text encodes a string as JSON without the escapes that only HTML needs.
func text(s string) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string always encodes
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
