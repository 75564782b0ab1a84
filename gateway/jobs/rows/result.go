package rows

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/jobs"
	"adgateway/gateway/jobs/joblist"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// result answers with the list and the outcomes of its items at the time of sending. The answer never
// contains secrets from the list. Until a result has been sent completely, it contains generated secrets,
// sealed with the submitter's key.
func (s *Service) result(ctx context.Context, a call.Accepted, job *jobs.Job) (call.Answer, error) {
	if err := withList(job); err != nil {
		return call.Answer{}, err
	}
	format, media, err := formatOf(a, job)
	if err != nil {
		return call.Answer{}, err
	}
	sealed, reader, complete := len(job.ResultKey) > 0, s.readerOf(a.Principal, job), false
	document := call.Document{Media: media, Name: job.ID + "." + string(format)}
	document.Write = func(to io.Writer) (items int, err error) {
		items, complete, err = reader.writeResult(ctx, job,
			joblist.NewResult(to, listOf(job), joblist.ResultOptions{
				Format: format, Secret: s.isSecret, Sealed: sealed, Foreign: !reader.owner,
			}))
		return items, err
	}
	if sealed && reader.owner {
		document.Sent = func() {
			if !complete { // the secrets of omitted items have not been sent yet
				return
			}
			if err := s.Manager.Delivered(ctx, job); err != nil {
				s.Log.WithError(err).WithField("job", job.ID).
					Warn("the sealed secrets of a result that was sent could not be removed; they expire with the job")
			}
		}
	}
	return call.Answer{Document: &document}, nil
}

// formatOf returns the format of a result. Format decides; without it, the caller's Accept and then
// the format of the list.
func formatOf(a call.Accepted, job *jobs.Job) (format joblist.Format, media string, err error) {
	mediaCSV := ops.ContentTypeOf(ops.MediaCSV)
	offers := []string{mediaCSV, ops.ContentTypeOf(ops.MediaNDJSON)}
	wanted := a.Bound.Text(ops.JobFormat)
	if cmp.Or(wanted, job.List.Format) != string(joblist.CSV) {
		slices.Reverse(offers)
	}
	if wanted != "" {
		offers = offers[:1]
	}
	switch media = a.BestOf(offers...); media {
	case "":
		return "", "", problem.New(schema.NotAcceptable,
			"The result is %s: name it in Accept, leave Accept out, or ask for another Format.",
			strings.Join(offers, " or "))
	case mediaCSV:
		return joblist.CSV, media, nil
	}
	return joblist.NDJSON, media, nil
}

// writeResult writes the items of a job. It returns the number of written items, and whether all of
// them were shown in full.
func (r reader) writeResult(
	ctx context.Context, job *jobs.Job, to *joblist.Result,
) (items int, complete bool, err error) {
	var unwritten error
	complete = true
	err = r.Manager.Items(ctx, job, 0, func(_ int, spec *jobs.Spec, result jobs.Result) bool {
		items++
		var withheld bool
		withheld, unwritten = r.write(ctx, job, to, spec, result)
		complete = complete && !withheld
		return unwritten == nil
	})
	if err = errors.Join(err, unwritten); err == nil {
		err = to.Flush()
	}
	return items, complete, err
}

// outcomeOf returns the outcome of an item in the form for results.
func outcomeOf(result jobs.Result) joblist.Outcome {
	return joblist.Outcome{
		State: string(result.State), Code: result.Code, Message: result.Message, ChangeID: result.ChangeID,
		GUID: result.GUID, Sealed: base64.StdEncoding.EncodeToString(result.Secret),
	}
}

// listOf returns the format of a job's list.
func listOf(job *jobs.Job) *joblist.List {
	list := &joblist.List{Format: joblist.Format(job.List.Format), BOM: job.List.BOM,
		Header: job.List.Header, Columns: job.List.Columns}
	for _, separator := range job.List.Separator {
		list.Separator = separator
	}
	return list
}

// isSecret reports whether a column holds secrets, for any operation.
func (s *Service) isSecret(name string) bool {
	for _, op := range s.Operations {
		if p := op.Param(name); p != nil && p.Kind.Secret() {
			return true
		}
	}
	return false
}

// itemAsWritten returns an item with the parameter names of its list.
func (s *Service) itemAsWritten(job *jobs.Job, spec *jobs.Spec) joblist.Item {
	item := joblist.Item{
		Line: spec.Line, ID: spec.ID, Operation: spec.Operation, IfMatch: spec.IfMatch, After: spec.After,
		Parameters: map[string]any{}, Kept: spec.Kept,
	}
	op := ops.Find(s.Operations, spec.Operation)
	for name, value := range spec.Parameters {
		item.Parameters[name] = value
	}
	if found := spec.Found; found != nil {
		item.Parameters[accountColumn] = found.Account
		item.Parameters[reasonColumn], item.Parameters[sinceColumn] = found.Reason, found.Since
	}
	if op == nil {
		return item
	}
	for _, name := range listOf(job).Names() {
		p := op.Param(name)
		if p == nil || p.Name == name {
			continue
		}
		if value, has := spec.Parameters[p.Name]; has {
			delete(item.Parameters, p.Name)
			item.Parameters[name] = value
		}
	}
	return item
}
