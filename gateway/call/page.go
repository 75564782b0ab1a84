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

// Script lists are answered as a whole, or page by page with the parameter Limit. A page says where
// the next one begins; the gateway stores nothing between pages.

// page locates the records of an answer in their list.
type page struct {
	next  string // cursor; empty: nothing follows
	total *int   // nil: not asked for
}

var errBadLast = errors.New("the script did not emit the GUID of the last record in hexadecimal digits")

// pageOf returns what a script that has emitted records reports about their page.
func pageOf(p *identity.Principal, b *ops.Bound, result *ps.Result, records int) (found page, err error) {
	if b.Text(ops.CountName) == "true" {
		total := records
		if b.Has(ops.LimitName) {
			total = result.Counts["total"]
		}
		found.total = &total
	}
	if result.Last == "" {
		return found, nil
	}
	octets, err := hex.DecodeString(result.Last)
	if err != nil || len(octets) != len(cursor.GUID{}) {
		return found, errBadLast
	}
	found.next = cursor.Cursor{Question: questionOf(p, b), Last: cursor.GUID(octets)}.String()
	return found, nil
}

// questionOf identifies a question by its parameters and what the caller may see, whatever the size
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

// checkCursor refuses a cursor of another question.
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
