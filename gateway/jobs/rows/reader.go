package rows

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"adgateway/gateway/change"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs"
	"adgateway/gateway/jobs/joblist"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema/jobstate"
)

// A job is shown to its submitter, and its figures to callers with ops:read. An item is shown if the reader
// may read its object now. Otherwise only its number, its state, and a sentence with the reason are shown.

// reader is a caller that reads a job, with its current rights.
type reader struct {
	*Service
	sight change.Sight
	owner bool // whether the reader owns the job
}

func (s *Service) readerOf(p *identity.Principal, job *jobs.Job) reader {
	return reader{s, change.SightOf(p), owns(p, job)}
}

// withheld returns the reason why an item is not shown, as a sentence, or "" if it is shown.
func (r reader) withheld(ctx context.Context, spec *jobs.Spec, result jobs.Result) string {
	op := ops.Find(r.Operations, spec.Operation)
	switch {
	case op == nil && !r.owner:
		return "This gateway does not have the operation of the item any more, so nobody else is shown it."
	case op == nil:
		return ""
	case r.owner && !r.sight.Answered(op), !r.owner && !r.sight.Reads(op):
		return lacks(op)
	}
	made, known := r.made(ctx, spec, result)
	switch {
	case known && !r.owner && !r.sight.Reads(made.Op):
		return lacks(made.Op)
	case known && r.sight.Include(made), !known && r.sight.Free(spec.Lane):
		return ""
	case !known && r.owner && r.unlearned(spec, result):
		return ""
	}
	return "The item is not shown: it is about an object outside the limits of the credential, or may be."
}

// made returns the change made by an item, or the change that the item undoes.
func (r reader) made(ctx context.Context, spec *jobs.Spec, result jobs.Result) (change.Made, bool) {
	undone, _ := spec.Parameters[ops.ChangeIDParam].(string)
	id := cmp.Or(result.ChangeID, undone)
	if id == "" || undone == "" && r.sight.Free(spec.Lane) {
		return change.Made{}, false
	}
	return r.History.Made(ctx, id)
}

// unlearned reports whether the reader's own item reveals nothing new, because it was found within
// the reader's current limits, or nothing was looked up.
func (r reader) unlearned(spec *jobs.Spec, result jobs.Result) bool {
	if spec.Found != nil && spec.Found.Within != r.sight.Digest() {
		return false
	}
	switch result.State {
	case jobstate.Waiting, jobstate.Going, jobstate.Skipped, jobstate.NotRun:
		return true
	}
	return result.Within == "" || result.Within == r.sight.Digest()
}

func lacks(op *ops.Operation) string {
	return fmt.Sprintf("The item is not shown: it needs the scope '%s', which the credential does not have.",
		op.ReadScope())
}

// item returns an item as shown to the reader.
func (r reader) item(ctx context.Context, spec *jobs.Spec, result jobs.Result) shownItem {
	if why := r.withheld(ctx, spec, result); why != "" {
		return shownItem{
			Line: spec.Line, Operation: spec.Operation, State: result.State, Message: &why,
		}
	}
	return showItem(spec, result)
}

// write writes an item into a result as shown to the reader, and reports whether the item is
// withheld.
func (r reader) write(
	ctx context.Context, job *jobs.Job, to *joblist.Result, spec *jobs.Spec, result jobs.Result,
) (withheld bool, err error) {
	if why := r.withheld(ctx, spec, result); why != "" {
		outcome := joblist.Outcome{State: string(result.State), Message: fmt.Sprintf("Line %d: %s", spec.Line, why)}
		return true, to.Write(joblist.Item{Line: spec.Line}, outcome)
	}
	return false, to.Write(r.itemAsWritten(job, r.shownSpec(spec)), outcomeOf(result))
}

// shownSpec returns an item without the values that the reader may not see.
func (r reader) shownSpec(spec *jobs.Spec) *jobs.Spec {
	op := ops.Find(r.Operations, spec.Operation)
	if r.owner || op == nil {
		return spec
	}
	shown := *spec
	shown.Parameters = maps.Clone(spec.Parameters)
	maps.DeleteFunc(shown.Parameters, func(name string, value any) bool {
		return !r.sight.ShowsGiven(op, name, fmt.Sprint(value))
	})
	return &shown
}

// job returns a job as shown to the reader. Readers other than the owner see texts of the list only
// if they may read everything that the list may refer to.
func (r reader) job(p *jobs.Progress) shownJob {
	shown := show(p)
	if r.owner || r.readsAll(p.Operation) {
		return shown
	}
	shown.Name = nil
	for i := range shown.Problems {
		shown.Problems[i].ID, shown.Problems[i].Field, shown.Problems[i].Column = "", "", 0
		shown.Problems[i].Message = "is not shown to other credentials that may not read what the list is about"
	}
	return shown
}

// readsAll reports whether the reader may read everything that items of an operation may refer to.
// An empty operation stands for several operations.
func (r reader) readsAll(operation string) bool {
	if op := ops.Find(r.Operations, operation); op != nil && op.ReadScope() != identity.ChangeRead {
		return r.sight.Free(op.Lane) && r.sight.Reads(op)
	}
	return r.sight.None() && r.sight.ReadsAll()
}
