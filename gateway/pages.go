package gateway

import (
	"encoding/hex"
	"errors"
	"slices"
	"strconv"

	"adgateway/gateway/call"
	"adgateway/gateway/cursor"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Lists are answered whole, or with the parameter Limit page by page. A page says where
// the next one begins; nothing is kept between them.

// page is what an answer says about the list that its records are from.
type page struct {
	next    string // cursor; empty: nothing follows
	counted bool   // total was asked for
	total   int
}

var errBadLast = errors.New("the script did not emit the GUID of the last record in hexadecimal digits")

// setPage reads what the script reports about the page.
func (e *envelope) setPage(result *ps.Result) error {
	if e.page.counted = e.r.bound.Text(ops.CountName) == "true"; e.page.counted {
		e.page.total = e.records
		if e.r.bound.Has(ops.LimitName) {
			e.page.total = result.Counts["total"]
		}
	}
	if result.Last == "" {
		return nil
	}
	octets, err := hex.DecodeString(result.Last)
	if err != nil || len(octets) != len(cursor.GUID{}) {
		return errBadLast
	}
	e.page.next = cursor.Cursor{Question: questionOf(e.r), Last: cursor.GUID(octets)}.String()
	return nil
}

// questionOf identifies what the caller asks for, whatever the size and the fields of a
// page: the parameters, and what the caller may see.
func questionOf(r *request) cursor.Digest {
	parts := []string{r.op.ID}
	for i := range r.op.Params {
		p := &r.op.Params[i]
		switch {
		case p.Name == ops.LimitName, p.Name == ops.AfterName, p.Name == ops.CountName, schema.ChoosesFields(p.Kind):
		default:
			parts = append(parts, p.Name, r.bound.Text(p.Name))
		}
	}
	for _, limits := range [][]string{r.principal.Limits.OUs, r.principal.Limits.Groups} {
		limits = slices.Clone(limits)
		slices.Sort(limits)
		parts = append(append(parts, strconv.Itoa(len(limits))), limits...)
	}
	return cursor.DigestOf(parts...)
}

// checkCursor refuses a cursor of another question.
func checkCursor(r *request) error {
	text := r.bound.Text(ops.AfterName)
	if text == "" || r.op.Local {
		return nil
	}
	if c, err := cursor.Parse(text); err != nil || c.Question != questionOf(r) {
		return call.OtherQuestion()
	}
	return nil
}
