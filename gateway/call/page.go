package call

import (
	"encoding/hex"
	"errors"
	"slices"
	"strconv"

	"adgateway/gateway/cursor"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// A list from a script is returned as a whole or, with the parameter Limit, page by page. Each page contains
// the cursor of the next one. The gateway stores nothing between pages.

// page is the position of an answer's records in their list.
type page struct {
	next  string // cursor of the next page; empty if this is the last
	total *int   // number of records of all pages; nil if not requested
}

var errBadLast = errors.New("the script did not emit the GUID of the last record in hexadecimal digits")

// pageOf returns the position in the list that a script reports for the records that it has emitted.
func pageOf(p *identity.Principal, b *ops.Bound, result *ps.Result, records int) (found page, err error) {
	if b.Text(ops.CountName) == "true" {
		total := records
		if b.Has(ops.LimitName) {
			total = result.Counts["total"]
		}
		found.total = &total
	}
	if result.Last == "" || b.Op.Param(ops.AfterName) == nil {
		return found, nil
	}
	octets, err := hex.DecodeString(result.Last)
	if err != nil || len(octets) != len(cursor.GUID{}) {
		return found, errBadLast
	}
	found.next = cursor.Cursor{Question: questionOf(p, b), Last: cursor.GUID(octets)}.String()
	return found, nil
}

// questionOf identifies a query by its parameters and the caller's limits, regardless of the size
// and the fields of a page.
func questionOf(p *identity.Principal, b *ops.Bound) cursor.Digest {
	parts := []string{b.Op.ID}
	for i := range b.Op.Params {
		param := &b.Op.Params[i]
		switch {
		case param.Name == ops.LimitName, param.Name == ops.AfterName, param.Name == ops.CountName,
			schema.ChoosesFields(param.Kind):
		default:
			parts = append(parts, param.Name, b.Text(param.Name))
		}
	}
	for _, limits := range [][]string{p.Limits.OUs, p.Limits.Groups} {
		limits = slices.Clone(limits)
		slices.Sort(limits)
		parts = append(append(parts, strconv.Itoa(len(limits))), limits...)
	}
	return cursor.DigestOf(parts...)
}

// checkCursor refuses a cursor that was issued for another query.
func checkCursor(p *identity.Principal, b *ops.Bound) error {
	text := b.Text(ops.AfterName)
	if text == "" || b.Op.Local {
		return nil
	}
	if c, err := cursor.Parse(text); err != nil || c.Question != questionOf(p, b) {
		return OtherQuestion()
	}
	return nil
}
