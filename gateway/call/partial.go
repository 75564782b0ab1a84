package call

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// partial returns the answer to a run that failed for some objects: the records of the others, and a detail
// for each failure. If all objects failed, it returns an ordinary error with the code of the first. In the
// classic dialect only status 200 has records, so there the failures become warnings.
func (c *Collector) partial(result *ps.Result) (Answer, error) {
	a := c.call
	f := &problem.Error{Server: result.Server}
	var codes []schema.Code
	for i := range result.Failures {
		failed := &result.Failures[i]
		of := problem.Of(Failure(a.Op, a.Bound, &failed.Error))
		if i == 0 {
			f.Code, f.Message, f.DirectoryCode = of.Code, of.Message, of.DirectoryCode
			f.Cause = &eachRefused{&failed.Error}
		}
		codes = append(codes, of.Code)
		message := fmt.Sprintf("'%s': %s", cmp.Or(failed.DN, failed.GUID), of.Message)
		f.Details = append(f.Details, problem.Detail{Message: message})
	}
	f.Outcome = ps.OutcomeNone
	if result.Effect == ps.EffectNone {
		f.Warnings = result.Warnings
		return Answer{}, f
	}
	f.Code, f.Outcome, f.DirectoryCode = schema.Partial, ps.OutcomePartial, ""
	answer := Answer{
		Records: withSecret(c.rendered.Bytes(), a.Bound.Generated), Effect: result.Effect,
		Warnings: result.Warnings, Server: result.Server, Partly: f,
	}
	where := "details"
	if a.Classic {
		where = "warnings"
		for i, d := range f.Details {
			failed := &result.Failures[i]
			answer.Warnings = append(slices.Clip(answer.Warnings), ps.Warning{
				Code: string(codes[i]), Target: cmp.Or(failed.DN, failed.GUID), Message: d.Message,
			})
		}
	}
	f.Message = fmt.Sprintf("%s %s failed; see %s.",
		ended(c.sentence(result)), objects(len(result.Failures)), where)
	return answer, nil
}

// eachRefused is the cause of an error if every object failed. The details hold the reasons.
type eachRefused struct{ error }

func (e *eachRefused) Unwrap() error { return e.error }

// ended returns a sentence that ends with a full stop.
func ended(sentence string) string { return strings.TrimSuffix(sentence, ".") + "." }

func objects(n int) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}

// Problem returns the error of a call, or the reason why it was made only in part, or nil.
// errors.As finds a [problem.Error] in it.
func Problem(answer Answer, err error) error {
	if err == nil && answer.Partly != nil {
		return answer.Partly
	}
	return err
}

// Warned returns err with a warning added to its answer.
func Warned(err error, warning ps.Warning) error {
	with := *problem.Of(err)
	with.Warnings = append(slices.Clip(with.Warnings), warning)
	return &with
}
