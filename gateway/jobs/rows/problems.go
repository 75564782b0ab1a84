package rows

import (
	"cmp"
	"slices"
	"strings"

	"adgateway/gateway/bounds"
	"adgateway/gateway/call"
	"adgateway/gateway/jobs"
	"adgateway/gateway/jobs/joblist"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
)

// problem notes a fault of an item.
func (sub *submission) problem(i int, field, message string) {
	sub.faulty[i] = true
	item := &sub.list.Items[i]
	op := sub.common
	if item.Operation != "" {
		op, _ = sub.s.listable(item.Operation)
	}
	sub.note(jobs.Problem{
		Line: item.Line, Column: sub.column(op, field), ID: item.ID, Field: field, Message: message,
	})
}

func (sub *submission) note(p jobs.Problem) {
	if len(sub.problems) == bounds.Problems.Own {
		sub.more++
		return
	}
	sub.problems = append(sub.problems, p)
}

// column returns the number of the column for a field, or 0 if there is none or the list has no columns. The
// column of a parameter may have a different name than the field of its problem.
func (sub *submission) column(op *ops.Operation, field string) int {
	if sub.list.Format != joblist.CSV || len(sub.problems) == bounds.Problems.Own {
		return 0
	}
	names := sub.list.Names()
	at := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, field) })
	if at < 0 && op != nil && op.Param(field) != nil {
		at = slices.IndexFunc(names, func(name string) bool { return op.Param(name) == op.Param(field) })
	}
	return at + 1
}

// unknown reports a column that is not a parameter as a problem with the list, instead of once per item. It
// is called once for each operation. Column names are not secret, so the message shows them in full.
func (sub *submission) unknown(i int, c *call.Parameters, name string, found int) []schema.FieldError {
	if sub.list.Format != joblist.CSV || len(c.Problems) == found {
		return c.Problems
	}
	sub.faulty[i] = true
	if sub.columns == nil {
		sub.columns = map[string]bool{}
	}
	sub.columns[columnOf(c.Op, name)] = true
	sub.note(jobs.Problem{
		Line: sub.list.HeaderLine, Column: sub.column(nil, name), Field: name, Message: c.Problems[found].Message,
	})
	return c.Problems[:found]
}

// columnOf returns the key of a column in submission.columns.
func columnOf(op *ops.Operation, name string) string { return op.ID + "\x00" + name }

// sortProblems sorts the problems by position.
func (sub *submission) sortProblems() {
	slices.SortStableFunc(sub.problems, func(a, b jobs.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
