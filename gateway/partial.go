package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// partial returns the error of a run that failed for some objects: the records of
// the others, and a detail for each that failed. If all failed, it is an error like
// any other, with the code of the first object. The classic dialect knows no status but
// 200 with records: there the objects that failed are warnings.
func (e *envelope) partial(result *ps.Result) error {
	p, f := e.r.op.Protocol, &problem.Error{Server: result.Server}
	part := &call.Partly{Problem: f, Warnings: result.Warnings, PerSet: p != nil && p.PerSet}
	var codes []schema.Code
	for i := range result.Failures {
		failed := &result.Failures[i]
		of := problem.Of(call.Failure(e.r.op, e.r.bound, &failed.Error))
		if i == 0 {
			f.Code, f.Message, f.DirectoryCode, f.Cause = of.Code, of.Message, of.DirectoryCode, &failed.Error
		}
		codes = append(codes, of.Code)
		f.Details = append(f.Details, problem.Detail{Message: fmt.Sprintf("'%s': %s", cmp.Or(failed.DN, failed.GUID), of.Message)})
	}
	f.Outcome = ps.OutcomeNone
	if result.Effect == ps.EffectNone {
		return part
	}
	f.Code, f.Outcome, f.DirectoryCode = schema.Partial, ps.OutcomePartial, ""
	record := call.WithSecret(e.result.Bytes(), e.r.bound.Generated)
	part.Records = append(append(json.RawMessage{'['}, record...), ']')
	where := "details"
	if e.r.call.Classic {
		part.AsSuccess, where = true, "warnings"
		for i, d := range f.Details {
			failed := &result.Failures[i]
			part.Warnings = append(slices.Clip(part.Warnings), ps.Warning{Code: string(codes[i]), Target: cmp.Or(failed.DN, failed.GUID), Message: d.Message})
		}
	}
	f.Message = fmt.Sprintf("%s %s failed; see %s.", ended(e.sentence(result)), objects(len(result.Failures)), where)
	return part
}

// ended returns a sentence with a full stop.
func ended(sentence string) string { return strings.TrimSuffix(sentence, ".") + "." }

func objects(n int) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}
