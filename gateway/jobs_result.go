package gateway

import (
	"encoding/base64"
	"net/http"
	"time"

	"adgateway/gateway/joblist"
	"adgateway/gateway/jobs"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/transport"
)

// sendResult sends the list with what became of each item, as it is now. Secrets of the
// list are never in it; those that were generated are, sealed to the key of whoever
// submitted the job, until a result was sent to its end.
func (s *Server) sendResult(r *request, job *jobs.Job) error {
	format, media := joblist.NDJSON, ops.MediaNDJSON
	switch wanted := r.bound.Text(ops.JobFormat); {
	case wanted == "csv", wanted == "" && job.List.Format == string(joblist.CSV):
		format, media = joblist.CSV, ops.MediaCSV+"; charset=utf-8; header=present"
	}
	if !accepts(r.c.Request.Header.Values("Accept"), media) {
		return problem.New(schema.NotAcceptable, "The result is %s: ask for it with Accept, or for another Format.", media)
	}
	header := r.c.Writer.Header()
	header.Set("Content-Type", media)
	header.Set("Content-Disposition", `attachment; filename="`+job.ID+"."+string(format)+`"`)
	r.c.Status(http.StatusOK)
	r.answeredAt = time.Now()
	sealed := len(job.ResultKey) > 0
	to := &resultWriter{r: r}
	options := joblist.ResultOptions{Format: format, Secret: s.isSecret, Sealed: sealed, Foreign: !owns(r.principal, job)}
	result := joblist.NewResult(to, listOf(job), options)
	err := s.jobs.Items(r.c.Request.Context(), job, 0, func(_ int, spec *jobs.Spec, outcome jobs.Result) bool {
		to.err = result.Write(s.itemAsWritten(job, spec), joblist.Outcome{
			State: string(outcome.State), Code: outcome.Code, Message: outcome.Message,
			ChangeID: outcome.ChangeID, GUID: outcome.GUID, Sealed: base64.StdEncoding.EncodeToString(outcome.Secret),
		})
		r.records++
		return to.err == nil
	})
	if err == nil && to.err == nil {
		to.err = result.Flush()
	}
	if err == nil && to.err == nil {
		to.err = to.flush()
	}
	if err != nil || to.err != nil {
		r.abort(&problem.Error{Code: schema.Internal, Cause: err})
		return nil
	}
	if sealed && owns(r.principal, job) {
		if err := s.jobs.Delivered(r.c.Request.Context(), job); err != nil {
			s.Log.WithError(err).WithField("job", job.ID).Warn("the sealed secrets of a result that was sent could not be removed; they expire with the job")
		}
	}
	return nil
}

// listOf returns the form of the list of a job.
func listOf(job *jobs.Job) *joblist.List {
	list := &joblist.List{Format: joblist.Format(job.List.Format), BOM: job.List.BOM, Header: job.List.Header}
	for _, separator := range job.List.Separator {
		list.Separator = separator
	}
	return list
}

// isSecret reports whether a column holds secrets, of any operation.
func (s *Server) isSecret(name string) bool {
	for _, op := range s.Operations {
		if p := op.Param(name); p != nil && p.Kind.Secret() {
			return true
		}
	}
	return false
}

// itemAsWritten returns an item with the names that its list has.
func (s *Server) itemAsWritten(job *jobs.Job, spec *jobs.Spec) joblist.Item {
	item := joblist.Item{Line: spec.Line, ID: spec.ID, Operation: spec.Operation, IfMatch: spec.IfMatch, After: spec.After, Parameters: map[string]any{}}
	op := s.operationOf(spec.Operation)
	for name, value := range spec.Parameters {
		item.Parameters[name] = value
	}
	if op == nil {
		return item
	}
	for _, name := range job.List.Header {
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

// resultWriter collects a result, and sends it in pieces.
type resultWriter struct {
	r      *request
	buffer []byte
	err    error
}

func (w *resultWriter) Write(part []byte) (int, error) {
	w.buffer = append(w.buffer, part...)
	if len(w.buffer) < transport.Piece {
		return len(part), nil
	}
	return len(part), w.flush()
}

func (w *resultWriter) flush() error {
	err := w.r.write(w.buffer)
	w.buffer = w.buffer[:0]
	return err
}
