package call

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// partial returns the error of a run that failed for some objects: the records of the others, and a
// detail for each that failed. If all failed, it is an error like any other, with the code of the
// first object. The classic dialect knows no status but 200 with records: there the objects that
// failed are warnings.
func (c *Collector) partial(result *ps.Result) error {
	a := c.call
	p, f := a.Op.Protocol, &problem.Error{Server: result.Server}
	part := &Partly{Problem: f, Warnings: result.Warnings, PerSet: p != nil && p.PerSet}
	var codes []schema.Code
	for i := range result.Failures {
		failed := &result.Failures[i]
		of := problem.Of(Failure(a.Op, a.Bound, &failed.Error))
		if i == 0 {
			f.Code, f.Message, f.DirectoryCode, f.Cause = of.Code, of.Message, of.DirectoryCode, &failed.Error
		}
		codes = append(codes, of.Code)
		message := fmt.Sprintf("'%s': %s", cmp.Or(failed.DN, failed.GUID), of.Message)
		f.Details = append(f.Details, problem.Detail{Message: message})
	}
	f.Outcome = ps.OutcomeNone
	if result.Effect == ps.EffectNone {
		return part
	}
	f.Code, f.Outcome, f.DirectoryCode = schema.Partial, ps.OutcomePartial, ""
	record := WithSecret(c.rendered.Bytes(), a.Bound.Generated)
	part.Records = append(append(json.RawMessage{'['}, record...), ']')
	where := "details"
	if a.Classic {
		part.AsSuccess, where = true, "warnings"
		for i, d := range f.Details {
			failed := &result.Failures[i]
			part.Warnings = append(slices.Clip(part.Warnings), ps.Warning{
				Code: string(codes[i]), Target: cmp.Or(failed.DN, failed.GUID), Message: d.Message,
			})
		}
	}
	f.Message = fmt.Sprintf("%s %s failed; see %s.",
		ended(c.sentence(result)), objects(len(result.Failures)), where)
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

// Partly is the error of a change that failed for some of its objects, and what was done.
type Partly struct {
	Problem   *problem.Error
	Records   json.RawMessage // array of the records that were done; nil: none
	Warnings  []ps.Warning
	PerSet    bool // each set that was refused is in the details
	AsSuccess bool // is answered as a success, which only clients of the classic dialect need
}

func (p *Partly) Error() string { return p.Problem.Error() }

// Unwrap returns the [problem.Error].
func (p *Partly) Unwrap() error { return p.Problem }

// With returns the error with another problem. Of nil it is the problem alone.
func (p *Partly) With(e *problem.Error) error {
	if p == nil {
		return e
	}
	other := *p
	other.Problem = e
	return &other
}

// PartOf returns the part of a change that was done although err is its error; nil: none is.
func PartOf(err error) *Partly {
	part := (*Partly)(nil)
	errors.As(err, &part)
	return part
}

// Warned returns an error whose answer has a warning.
func Warned(err error, warning ps.Warning) error {
	part := PartOf(err)
	if part == nil {
		part = &Partly{Problem: problem.Of(err)}
	}
	with := *part
	with.Warnings = append(slices.Clip(with.Warnings), warning)
	return &with
}
