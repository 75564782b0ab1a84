package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/schema"
	"adgateway/ps"
)

// partial returns the answer to a run that failed for some objects: the records of
// the others, and a detail for each that failed. If all failed, it is a failure like
// any other, with the code of the first object. The classic dialect knows no status but
// 200 with records: there the objects that failed are warnings.
func (e *envelope) partial(result *ps.Result) *failure {
	p := e.r.op.Protocol
	f := &failure{server: result.Server, warnings: result.Warnings, ofSets: p != nil && p.PerSet}
	for i := range result.Failures {
		failed := &result.Failures[i]
		of := failureOf(e.r.op, e.r.bound, &failed.Error)
		if i == 0 {
			f.code, f.message, f.directoryCode, f.cause = of.code, of.message, of.directoryCode, &failed.Error
		}
		f.details = append(f.details, detail{Field: "", Message: fmt.Sprintf("'%s': %s", cmp.Or(failed.DN, failed.GUID), of.message)})
	}
	f.outcome = ps.OutcomeNone
	if result.Effect == ps.EffectNone {
		return f
	}
	f.code, f.outcome, f.directoryCode = schema.Partial, ps.OutcomePartial, ""
	f.result = append(append(json.RawMessage{'['}, e.result.Bytes()...), ']')
	where := "details"
	if e.classic {
		f.asSuccess, where = true, "warnings"
		for i, d := range f.details {
			failed := &result.Failures[i]
			code := string(failureOf(e.r.op, e.r.bound, &failed.Error).code)
			f.warnings = append(slices.Clip(f.warnings), ps.Warning{Code: code, Target: cmp.Or(failed.DN, failed.GUID), Message: d.Message})
		}
	}
	f.message = fmt.Sprintf("%s %s failed; see %s.", ended(e.sentence(result)), objects(len(result.Failures)), where)
	return f
}

// ended returns a sentence with a full stop.
func ended(sentence string) string { return strings.TrimSuffix(sentence, ".") + "." }

func objects(n int) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}
