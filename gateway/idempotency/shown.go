package idempotency

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"adgateway/gateway/change"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Shown returns the answer, reduced to the values that its caller may see now. If the answer is about an
// object outside the caller's limits, Shown fails, and the call is not made again. made returns a change from
// the history, or false if there is none.
func (a *Answer) Shown(
	ctx context.Context, row *ops.Operation, sight change.Sight,
	made func(ctx context.Context, id string) (change.Made, bool),
) (*Answer, error) {
	op := row
	of, known := change.Made{}, false
	if a.Change != "" {
		of, known = made(ctx, a.Change)
	}
	if known {
		op = of.Op
	}
	switch {
	case a.Within == sight.Digest(), known && sight.Include(of), row.Local && !known:
	case known:
		return nil, Hidden(row)
	default:
		if within, sure := sight.Hold(row, a.about()); !within || !sure {
			return nil, Hidden(row)
		}
	}
	if sight.Reads(op) || row.Local && !known {
		return a, nil
	}
	reduce := schema.KeysOf
	if row.Local {
		reduce = withoutValues
	}
	shown := *a
	shown.Body = a.reduced(reduce)
	shown.Warnings = append(slices.Clip(a.Warnings), change.Unreadable(op))
	return &shown, nil
}

// records returns the records of the answer. It returns none if the body has no records, or is not
// an envelope.
func (a *Answer) records() (records []map[string]json.RawMessage) {
	var e keptEnvelope
	if json.Unmarshal(a.Body, &e) != nil {
		return nil
	}
	records, _ = recordsOf(e)
	return records
}

// recordsOf returns the records of an envelope, and whether they are in a list.
func recordsOf(e keptEnvelope) (records []map[string]json.RawMessage, isList bool) {
	if bytes.HasPrefix(bytes.TrimSpace(e.Result), []byte("[")) {
		if json.Unmarshal(e.Result, &records) != nil {
			return nil, true
		}
		return records, true
	}
	var single map[string]json.RawMessage
	if json.Unmarshal(e.Result, &single) != nil || single == nil {
		return nil, false
	}
	return []map[string]json.RawMessage{single}, false
}

// reduced returns the body with each record replaced by the result of reduce.
func (a *Answer) reduced(reduce func(record map[string]json.RawMessage) json.RawMessage) []byte {
	var e keptEnvelope
	if json.Unmarshal(a.Body, &e) != nil {
		return withoutRecords(a.Body)
	}
	found, isList := recordsOf(e)
	records := []json.RawMessage{}
	for _, record := range found {
		records = append(records, reduce(record))
	}
	if e.Result = schema.JSON(records); !isList && len(records) == 1 {
		e.Result = records[0]
	}
	return schema.JSON(e)
}

// about returns the objects of the answer's records.
func (a *Answer) about() change.About {
	var of change.About
	for _, record := range a.records() {
		for _, name := range []string{"distinguishedName", "path", "fqdn"} {
			if text := schema.TextIn(record, name); text != "" { // the path names a computer's parent
				of.Names = append(of.Names, text)
				break
			}
		}
		if member := schema.TextIn(record, "memberDistinguishedName"); member != "" {
			of.Names = append(of.Names, member)
		}
		for _, name := range []string{"zone", "zoneName"} {
			if text := schema.TextIn(record, name); text != "" {
				of.Zone = text
			}
		}
	}
	return of
}

// withoutValues returns the record of a change without the values of its objects.
func withoutValues(record map[string]json.RawMessage) json.RawMessage {
	var objects []map[string]json.RawMessage
	_ = json.Unmarshal(record["objects"], &objects) // stays empty if there are none
	for _, object := range objects {
		object["changes"] = json.RawMessage("[]")
		delete(object, "image")
	}
	record["objects"] = schema.JSON(objects)
	return schema.JSON(record)
}

// Hidden returns the error of a repeated call whose answer its caller may no longer see, because
// the object lies outside its limits.
func Hidden(op *ops.Operation) error {
	code := schema.NotFound
	if op.Lane == ps.DNS {
		code = schema.Limit
	}
	return problem.New(code, "The first call with this %s was answered, and the answer is about what lies "+
		"outside "+
		"the limits of the credential now, or may. Nothing was run again.", ops.KeyHeader)
}
