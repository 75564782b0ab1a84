package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// partlyDone is the error of a change that failed for some of its objects, and what was done.
type partlyDone struct {
	problem   *problem.Error
	result    json.RawMessage // records of the part that was done; nil: none
	warnings  []ps.Warning
	perSet    bool // each set that was refused is in the details
	asSuccess bool // is answered as a success, which only clients of the classic dialect need
}

func (p *partlyDone) Error() string { return p.problem.Error() }

// Unwrap returns the [problem.Error].
func (p *partlyDone) Unwrap() error { return p.problem }

// with returns the error with another problem. Of nil it is the problem alone.
func (p *partlyDone) with(e *problem.Error) error {
	if p == nil {
		return e
	}
	other := *p
	other.problem = e
	return &other
}

// warned returns an error whose answer has a warning.
func warned(err error, warning ps.Warning) error {
	part := partOf(err)
	if part == nil {
		part = &partlyDone{problem: problem.Of(err)}
	}
	with := *part
	with.warnings = append(slices.Clip(with.warnings), warning)
	return &with
}

// partial returns the error of a run that failed for some objects: the records of
// the others, and a detail for each that failed. If all failed, it is an error like
// any other, with the code of the first object. The classic dialect knows no status but
// 200 with records: there the objects that failed are warnings.
func (e *envelope) partial(result *ps.Result) error {
	p, f := e.r.op.Protocol, &problem.Error{Server: result.Server}
	part := &partlyDone{problem: f, warnings: result.Warnings, perSet: p != nil && p.PerSet}
	var codes []schema.Code
	for i := range result.Failures {
		failed := &result.Failures[i]
		of := problem.Of(failureOf(e.r.op, e.r.bound, &failed.Error))
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
	record := withSecret(e.result.Bytes(), e.r.bound.Generated)
	part.result = append(append(json.RawMessage{'['}, record...), ']')
	where := "details"
	if e.r.call.Classic {
		part.asSuccess, where = true, "warnings"
		for i, d := range f.Details {
			failed := &result.Failures[i]
			part.warnings = append(slices.Clip(part.warnings), ps.Warning{Code: string(codes[i]), Target: cmp.Or(failed.DN, failed.GUID), Message: d.Message})
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
