package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"adgateway/gateway/schema"
	"adgateway/ps"
)

// partial makes the answer to a run that ended well for some objects and not
// for others: the records of those that were done, and a detail for each that
// was not. Where none was done it is a failure like any other, of the first
// object's code.
func (e *envelope) partial(result *ps.Result) *failure {
	f := &failure{server: result.Server, warnings: result.Warnings}
	for i := range result.Failures {
		failed := &result.Failures[i]
		of := failureOf(e.r.op, e.r.bound, &failed.Error)
		if i == 0 {
			f.code, f.message, f.directoryCode, f.cause = of.code, of.message, of.directoryCode, &failed.Error
		}
		f.details = append(f.details, detail{"", fmt.Sprintf("'%s': %s", cmp.Or(failed.DN, failed.GUID), of.message)})
	}
	f.outcome = ps.OutcomeNone
	if result.Effect == ps.EffectNone {
		return f
	}
	f.code, f.outcome, f.directoryCode = schema.Partial, ps.OutcomePartial, ""
	f.result = append(append(json.RawMessage{'['}, e.result.Bytes()...), ']')
	f.message = fmt.Sprintf("%s %s failed; see details.", ended(e.sentence(result)), objects(len(result.Failures)))
	return f
}

// ended is a sentence with its full stop.
func ended(sentence string) string { return strings.TrimSuffix(sentence, ".") + "." }

func objects(n int) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}
