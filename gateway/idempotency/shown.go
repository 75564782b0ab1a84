package idempotency

import (
	"context"
	"encoding/json"
	"slices"

	"adgateway/gateway/call"
	"adgateway/gateway/change"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Shown returns the answer of an earlier call with the key of a call as its caller may see it now.
// What it may not read is left out. An answer about what lies outside its limits is refused: the call
// is not made again. made returns a change of the history, or false if there is none.
func Shown(
	ctx context.Context, a call.Accepted, earlier *call.Answer,
	made func(ctx context.Context, id string) (change.Made, bool),
) (*call.Answer, error) {
	if earlier == nil || earlier.Kept == nil {
		return earlier, nil
	}
	sight, op := change.SightOf(a.Principal), a.Op
	of, known := change.Made{}, false
	if earlier.ChangeID != "" {
		of, known = made(ctx, earlier.ChangeID)
	}
	if known {
		op = of.Op
	}
	switch sameLimits := earlier.Kept.Within == sight.Digest(); {
	case sameLimits, known && sight.Include(of), a.Op.Local && !known:
	case known:
		return nil, Hidden(a.Op)
	default:
		if within, sure := sight.Hold(a.Op, about(earlier.Kept)); !within || !sure {
			return nil, Hidden(a.Op)
		}
	}
	if sight.Reads(op) || a.Op.Local && !known {
		return earlier, nil
	}
	reduced := *earlier
	reduced.Kept = earlier.Kept.Reduced(schema.KeysOf)
	if a.Op.Local {
		reduced.Kept = earlier.Kept.Reduced(withoutValues)
	}
	reduced.Warnings = append(slices.Clip(earlier.Warnings), call.Unreadable(op))
	return &reduced, nil
}

// about returns what the records of a kept answer are about.
func about(kept *call.Kept) change.About {
	var of change.About
	for _, record := range kept.Records() {
		for _, name := range []string{"distinguishedName", "path", "memberDistinguishedName", "fqdn"} {
			if text := schema.TextIn(record, name); text != "" {
				of.Names = append(of.Names, text)
				if name == "distinguishedName" { // of a computer, path is that of its parent
					break
				}
			}
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
	_ = json.Unmarshal(record["objects"], &objects) // stays empty if it has none
	for _, object := range objects {
		object["changes"] = json.RawMessage("[]")
		delete(object, "image")
	}
	record["objects"] = call.JSON(objects)
	return call.JSON(record)
}

// Hidden returns the refusal of a repeated call whose answer its caller may not see any more: that of
// an object outside its limits.
func Hidden(op *ops.Operation) error {
	code := schema.NotFound
	if op.Lane == ps.DNS {
		code = schema.Limit
	}
	return problem.New(code, "The first call with this %s was answered, and the answer is about what lies outside "+
		"the limits of the credential now, or may. Nothing was run again.", ops.KeyHeader)
}
