package call

import (
	"encoding/json"
	"errors"
	"slices"

	"adgateway/gateway/problem"
	"adgateway/ps"
)

// Partly is the error of a change that failed for some of its objects, and what was done.
type Partly struct {
	Problem   *problem.Error
	Records   json.RawMessage // array of those of the part that was done; nil: none
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
