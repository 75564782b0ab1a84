package write

import (
	"context"
	"errors"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/audit"
	"adgateway/gateway/changes"
	"adgateway/gateway/cluster"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// When a gateway begins to lead, it locks the objects that open changes of earlier terms may still
// write to. It judges each change once the change's gateway has reported the end, or once its
// script can no longer write.

// attempts implements [cluster.Attempts] with the open changes of the store.
type attempts struct{ w *Writer }

// Open implements [cluster.Attempts]. It reloads the values that the gateway caches in memory,
// because other gateways may have changed them.
func (a attempts) Open(ctx context.Context) ([]cluster.Attempt, error) {
	w := a.w
	w.handOverDoubts()
	if err := w.Load(ctx); err != nil {
		return nil, err
	}
	var open []cluster.Attempt
	var wrong error
	// Every open change has a note that its audit line is due.
	err := w.Store.Store.Range(ctx, dueKind, "", func(e store.Entry) bool {
		c, err := w.History.Get(ctx, e.Key)
		switch {
		case errors.Is(err, changes.ErrAbsent):
		case err != nil:
			wrong = err
		case c.Running:
			open = append(open, cluster.Attempt{ID: c.ID, Process: c.Process, Limit: c.Limit})
		}
		return wrong == nil
	})
	return open, errors.Join(err, wrong)
}

// Lock implements [cluster.Attempts]. Keys, plans, quotas and names are locked in the store.
func (a attempts) Lock(open []cluster.Attempt) {
	for _, one := range open {
		c, err := a.w.History.Get(context.Background(), one.ID)
		if err != nil {
			a.w.Log.WithError(err).WithField("change", one.ID).
				Error("an open change cannot be read, so its objects are not locked")
			c = &changes.Record{ID: one.ID}
		}
		a.w.lockAwaited(c)
	}
}

// errUnjudged means that the outcome of a change cannot be determined yet.
var errUnjudged = errors.New("the objects of the change cannot be read yet")

// Judge implements [cluster.Attempts].
func (a attempts) Judge(ctx context.Context, one cluster.Attempt, report *cluster.Report) error {
	return a.judge(ctx, one.ID, report)
}

func (a attempts) judge(ctx context.Context, id string, report *cluster.Report) error {
	w, end := a.w, told(report)
	c, err := w.History.Get(ctx, id)
	switch {
	case errors.Is(err, changes.ErrAbsent), err == nil && !c.Running:
		w.doubts.end(id)
		if report == nil {
			return nil
		}
		return a.Raced(ctx, *report)
	case err != nil:
		return err
	case end.Verdict == nil:
		judged, err := w.Settle(ctx, true, c, w.gateway())
		if err == nil && !judged {
			w.doubts.judged(id)
			err = errUnjudged
		}
		return err
	}
	err = w.settled(true, c, end.Verdict, end.Result)
	if errors.Is(err, ErrClosed) {
		return a.Raced(ctx, *report)
	}
	if err == nil {
		err = w.evidence.record(ctx, w.gateway(), map[string]*changes.Record{id: c})
	}
	return err
}

// Raced implements [cluster.Attempts]. If the verdict was that nothing was changed, the change is
// added to the history again.
func (a attempts) Raced(ctx context.Context, report cluster.Report) error {
	w, end := a.w, told(&report)
	v := end.Verdict
	if v == nil || v.Outcome != ps.OutcomeDone && v.Outcome != ps.OutcomePartial {
		return nil
	}
	c, err := w.History.Get(ctx, report.Attempt)
	switch {
	case err == nil && c.Running && c.Process == end.Process:
		return a.judge(ctx, report.Attempt, &report)
	case err == nil && (c.Running || c.Raced != "" || c.Outcome == v.Outcome):
		return nil
	case err == nil:
		err = w.History.Update(ctx, c.ID, func(c *changes.Record) { c.Raced = v.Outcome })
	case errors.Is(err, changes.ErrAbsent) && end.Record != nil:
		c = end.Record
		c.Outcome, c.Raced, c.Failed = v.Outcome, v.Outcome, v.Failed
		err = w.History.Adopt(ctx, c, w.Store.Now())
	// the record was removed from the history, and was too long to be part of the report
	case errors.Is(err, changes.ErrAbsent):
		c, err = &changes.Record{ID: report.Attempt}, nil
	}
	if err != nil {
		return err
	}
	w.Log.WithFields(logrus.Fields{
		"change": c.ID, "request_id": c.RequestID, "operation": c.Operation, "outcome": v.Outcome,
	}).Error("a change was made after another gateway had judged it, as its host stood still: " +
		"it may have been made twice")
	return a.recordRaced(c, v.Outcome, end.Process.Gateway)
}

// recordRaced writes an audit line for a change that the gateway by made after it had been judged.
func (a attempts) recordRaced(c *changes.Record, outcome ps.Outcome, by string) error {
	if a.w.Audit == nil {
		return nil
	}
	who := c.Who()
	line := audit.Call{
		RequestID: c.RequestID, Who: &who,
		Operation: c.Operation, Parameters: c.Parameters, Change: c.ID,
	}
	result := audit.Result{Outcome: string(outcome), Code: changes.RacedCode, Server: c.Server, SettledBy: by}
	return a.w.Audit.Settled(line, 0, result)
}
