package rows

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"adgateway/gateway/bounds"
	"adgateway/gateway/call"
	"adgateway/gateway/etag"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs"
	"adgateway/gateway/jobs/joblist"
	"adgateway/gateway/nearest"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
)

// A text that is not a list is refused. So is a list whose caller lacks a scope for an item, or whose items
// wait for each other. Any other mistake creates a rejected job that names the position of the mistake.

// listForms are the formats of lists, by media type.
var listForms = map[string]joblist.Format{
	ops.MediaCSV: joblist.CSV, ops.MediaNDJSON: joblist.NDJSON, ops.MediaJSON: joblist.JSON,
}

// submission is a list whose items are being bound.
type submission struct {
	s        *Service
	a        call.Accepted
	list     *joblist.List
	common   *ops.Operation // operation of items that do not name one; nil if there is none
	missing  identity.Scope // scope that an item needs and the caller lacks
	specs    []jobs.Spec
	secrets  []map[string]string
	faulty   []bool
	problems []jobs.Problem
	columns  map[string]bool // unknown columns that have been reported, by operation and name
	more     int             // number of problems that are not listed
	rejected bool            // the list is rejected even if items with mistakes are skipped
	cut      bool            // because of too many problems the list was not read to its end
}

// skips reports whether items with mistakes are skipped.
func skips(a call.Accepted) bool { return a.Bound.Text(ops.JobSkip) == "true" }

// submit submits a list as a job.
func (s *Service) submit(ctx context.Context, a call.Accepted) (call.Answer, error) {
	list, err := s.read(a)
	if err != nil {
		return call.Answer{}, err
	}
	sub := &submission{s: s, a: a, list: list}
	if name := a.Bound.Text(ops.JobOperation); name != "" {
		var wrong string
		if sub.common, wrong = s.listable(name); wrong != "" {
			wrong = withSent(wrong, name)
			return call.Answer{}, problem.Invalid([]schema.FieldError{
				{Field: ops.JobOperation, Code: schema.InvalidRequest, Message: wrong},
			})
		}
	}
	if err := sub.bind(); err != nil {
		return call.Answer{}, err
	}
	return s.add(ctx, a, sub.submission())
}

// read reads the list of a submission.
func (s *Service) read(a call.Accepted) (list *joblist.List, err error) {
	limits := joblist.Limits{
		MaxItems: s.Lists.MaxItems, MaxBytes: s.Lists.MaxBytes,
		MaxProblems: bounds.Problems.Own, Stop: !skips(a),
	}
	form := listForms[a.Given.Media]
	columns := joblist.Columns{Data: a.Bound.Text(ops.JobFirstRow) == ops.RowOfData}
	if a.Bound.Has(ops.JobColumns) {
		columns.Names = schema.ColumnList(a.Bound.Text(ops.JobColumns))
	}
	wrong := func(field, message string) error {
		return problem.Invalid([]schema.FieldError{{Field: field, Code: schema.InvalidRequest, Message: message}})
	}
	switch {
	case columns.Names != nil && form != joblist.CSV:
		return nil, wrong(ops.JobColumns, "is for lists in CSV: the items of other lists name their parameters")
	case columns.Data && columns.Names == nil:
		return nil, wrong(ops.JobColumns, "is missing: without a row of names, Columns has to name the columns")
	}
	defer a.Parse()()
	body := bytes.NewReader(a.Given.Document)
	if columns.Names != nil {
		list, err = joblist.ReadColumns(body, columns, limits)
	} else {
		list, err = joblist.Read(body, form, limits)
	}
	if err != nil {
		return nil, unreadableList(err)
	}
	return list, nil
}

// unreadableList returns the refusal of a text that cannot be read as a list.
func unreadableList(err error) error {
	code := schema.InvalidRequest
	var tooLarge *joblist.TooLarge
	if errors.As(err, &tooLarge) {
		code = schema.JobTooLarge
	}
	return problem.New(code, "This is no list that can be run: %s", strings.TrimSuffix(err.Error(), ".")+".")
}

// circular returns the refusal of a list whose items wait for each other.
func circular(circles []joblist.Problem) error {
	problems := make([]schema.FieldError, len(circles))
	for i, c := range circles {
		message := fmt.Sprintf("is wrong in line %d. %s", c.Line, c.Message)
		problems[i] = schema.FieldError{Field: c.Field, Code: schema.InvalidRequest, Message: message}
	}
	return problem.Invalid(problems)
}

// listable returns the operation with the given name, or the name's fault. The fault repeats the name only if
// it resembles the name of an operation. If the cells of a row have moved, the name may be a password, and
// the problems of a list are kept and shown to others.
func (s *Service) listable(name string) (*ops.Operation, string) {
	named := func(op *ops.Operation) bool { return strings.EqualFold(op.ID, name) }
	if at := slices.IndexFunc(s.Operations, named); at >= 0 {
		switch op := s.Operations[at]; {
		case op.Listable():
			return op, ""
		case !op.Effect.Writes():
			return nil, "names an operation that changes nothing: a list has changes only"
		}
		return nil, "names an operation that cannot be in a list"
	}
	var known []string
	for _, op := range s.Operations {
		if op.Listable() {
			known = append(known, op.ID)
		}
	}
	wrong := "is not the operationId of a change; 'adgateway help endpoints' and /openapi.json list them"
	if near := nearest.Of(name, known); near != "" {
		wrong = withSent(wrong+": did you mean "+near+"?", name)
	}
	return nil, wrong
}

// withSent adds to a fault what was sent, once.
func withSent(wrong, sent string) string {
	const most = 100
	if text := "; '" + problem.Printable(sent, most) + "' was sent"; !strings.HasSuffix(wrong, text) {
		wrong += text
	}
	return wrong
}

// bind binds the items of the list.
func (sub *submission) bind() error {
	items := sub.list.Items
	n := len(items)
	sub.specs, sub.faulty = make([]jobs.Spec, n), make([]bool, n)
	for _, p := range sub.list.Problems {
		sub.note(jobs.Problem(p))
	}
	sub.more += sub.list.TotalProblems - len(sub.list.Problems)
	sub.rejected = sub.list.Broken
	sub.cut = sub.list.Cut
	for i := range items {
		if sub.cut = sub.cut || !skips(sub.a) && len(sub.problems) >= bounds.Problems.Own; sub.cut {
			break // no item of the list will run
		}
		if sub.faulty[i] = items[i].Invalid; !sub.faulty[i] || len(items[i].Parameters) > 0 {
			sub.bindItem(i)
		}
	}
	if sub.missing != "" {
		return call.Authorize(sub.a.Principal, sub.missing)
	}
	if sub.cut {
		sub.more = max(sub.more, 1)
		return nil
	}
	units, problems, circles := joblist.Order(items, touches(sub.specs))
	if len(circles) > 0 {
		return circular(circles)
	}
	for _, p := range problems {
		p.Column = sub.column(nil, p.Field)
		sub.note(jobs.Problem(p))
	}
	sub.sortProblems()
	sub.rejected = sub.rejected || len(problems) > 0 // skipping items does not repair the order
	for i, unit := range units {
		sub.specs[i].Waits, sub.specs[i].Needs = unit.Before, unit.After
	}
	return nil
}

// touches returns a function that lists the objects that item i touches.
func touches(specs []jobs.Spec) func(i int) joblist.Touch {
	return func(i int) joblist.Touch { return joblist.Touch{Changes: specs[i].Changes, Uses: specs[i].Uses} }
}

// bindItem binds one item in the same way as a request with the same parameters.
func (sub *submission) bindItem(i int) {
	item, spec := &sub.list.Items[i], &sub.specs[i]
	spec.Line, spec.ID, spec.IfMatch, spec.After = item.Line, item.ID, item.IfMatch, item.After
	spec.Kept = item.Kept
	maps.DeleteFunc(spec.Kept, func(at int, _ string) bool { return sub.s.isSecret(sub.list.Header[at]) })
	op := sub.common
	if item.Operation != "" {
		var wrong string
		if op, wrong = sub.s.listable(item.Operation); wrong != "" {
			sub.problem(i, "Operation", wrong)
			return
		}
	}
	if op == nil {
		sub.problem(i, "Operation",
			"is missing: name it for each item, or for all with the parameter Operation (--operation)")
		return
	}
	spec.Operation, spec.Lane = op.ID, op.Lane
	if call.AuthorizeRow(sub.a.Principal, op) != nil {
		sub.missing = cmp.Or(sub.missing, op.Scope)
	}
	c := &call.Parameters{Op: op, Names: sub.s.names, Given: ops.Given{}}
	for _, name := range slices.Sorted(maps.Keys(item.Parameters)) {
		if len(c.Problems) > 0 && len(sub.problems)+len(c.Problems) > bounds.Problems.Own {
			break // further problems of the item would not be listed
		}
		sub.take(i, c, name, item.Parameters[name])
	}
	bound, problems := op.Bind(c.Given, c.Problems...)
	for _, p := range problems {
		sub.problem(i, p.Field, p.Message)
	}
	for _, scope := range bound.Scopes {
		if scope != "" && !sub.a.Principal.Has(scope) {
			sub.missing = cmp.Or(sub.missing, scope)
		}
	}
	if bound.Generated != nil && !sub.a.Bound.Has(ops.JobResultKey) {
		sub.problem(i, generatedBy(op, bound), "is missing, so a password would be generated, which only a "+
			"result sealed to your key may show: send ResultKey, as adgateway job submit --passwords-to does")
	}
	sub.guard(i, op, item.IfMatch)
	spec.Changes, spec.Uses = bound.Touches()
	sub.keepParameters(i, c.Given, op)
}

// take reads one value of an item.
func (sub *submission) take(i int, c *call.Parameters, name string, value any) {
	if sub.columns[columnOf(c.Op, name)] {
		sub.faulty[i] = true // the column was reported before
		return
	}
	found := len(c.Problems)
	p := c.Pair(name) // in a list without a header row, the name may be a value
	switch {
	case p == nil:
		c.Problems = sub.unknown(i, c, name, found)
		return
	case p.Name == ops.DryRun || p.Name == ops.PlanID:
		c.Wrong(p.Name, "does not belong in a list: Mode of the job says whether its items are dry run, "+
			"and Start applies the plans")
		return
	}
	decoded, err := listValue(value, p.Kind)
	if err != nil {
		c.Wrong(p.Name, err.Error())
		return
	}
	if before, twice := c.Given[p.Name]; twice && before != decoded {
		c.Wrong(p.Name, "is given twice, under two names")
		return
	}
	c.Given[p.Name] = decoded
}

// listValue converts a value from a list to the form of a value in a body.
func listValue(value any, kind schema.Kind) (any, error) {
	if text, isText := value.(string); isText {
		return text, nil
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, errors.New("is no value that a call takes")
	}
	return call.Scalar(raw, kind)
}

// generatedBy returns the name of the parameter that a generated secret replaces.
func generatedBy(op *ops.Operation, b *ops.Bound) string {
	at := slices.IndexFunc(op.Params, func(p ops.Param) bool { return p.Generated == b.Generated.Member })
	return op.Params[at].Name
}

// guard checks the If-Match of an item.
func (sub *submission) guard(i int, op *ops.Operation, text string) {
	if text == "" {
		return
	}
	if !op.Guard.Matches() {
		sub.problem(i, "IfMatch", "is not honored by "+op.ID+": "+op.Guard.Never)
		return
	}
	if _, err := etag.Parse([]string{text}); err != nil {
		sub.problem(i, "IfMatch", err.Error())
	}
}

// keepParameters stores the values of an item, and its secrets separately.
func (sub *submission) keepParameters(i int, given ops.Given, op *ops.Operation) {
	spec := &sub.specs[i]
	if sub.faulty[i] {
		return // the item will not run
	}
	spec.Parameters = map[string]any{}
	for name, value := range given {
		p := op.Param(name)
		if !p.Kind.Secret() {
			if texts, repeated := value.(schema.Texts); repeated {
				value = texts.List()
			}
			spec.Parameters[p.Name] = value
			continue
		}
		if !sub.s.Lists.Secrets {
			sub.problem(i, p.Name, "is a secret, which lists must not hold here (jobs.secrets: refuse). "+
				"Leave it out, so that a password is generated, and send ResultKey")
			continue
		}
		if sub.secrets == nil {
			sub.secrets = make([]map[string]string, len(sub.specs))
		}
		if sub.secrets[i] == nil {
			sub.secrets[i] = map[string]string{}
		}
		sub.secrets[i][p.Name] = fmt.Sprint(value)
	}
}

// submission returns the bound list in the form for the manager.
func (sub *submission) submission() jobs.Submission {
	b := sub.a.Bound
	job := newJob(sub.a)
	job.Name, job.Mode = b.Text(ops.JobName), jobstate.Mode(b.Text(ops.JobMode))
	if sub.common != nil {
		job.Operation = sub.common.ID
	}
	job.NotBefore = b.Moment(ops.JobNotBefore)
	job.ResultKey, _ = base64.StdEncoding.DecodeString(b.Text(ops.JobResultKey)) // its kind has checked it
	job.List = jobs.List{
		Format: string(sub.list.Format), BOM: sub.list.BOM, Header: sub.list.Header, Columns: sub.list.Columns,
	}
	if sub.list.Separator != 0 {
		job.List.Separator = string(sub.list.Separator)
	}
	sub.sortProblems()
	job.Problems, job.MoreProblems = sub.problems, sub.more
	if len(sub.problems) > 0 && (sub.rejected || !skips(sub.a)) {
		sub.specs, sub.secrets = nil, nil
	}
	for i := range sub.specs {
		if sub.faulty[i] {
			sub.specs[i].Skip = &jobs.Result{
				State: jobstate.Skipped, Code: string(schema.InvalidRequest),
				Message: "The item has mistakes, which the problems of the job list.",
			}
			if sub.secrets != nil {
				sub.secrets[i] = nil
			}
		}
	}
	return jobs.Submission{Job: job, Specs: sub.specs, Secrets: sub.secrets}
}

// newJob returns a job of the caller.
func newJob(a call.Accepted) *jobs.Job {
	job := &jobs.Job{Mode: jobstate.Run, Caller: a.Principal.Who(), From: a.From.String()}
	job.StopAfter, _ = strconv.Atoi(a.Bound.Text(ops.JobStopAfter)) // its kind has checked it
	job.StopOnUnknown = a.Bound.Text(ops.JobOnUnknown) == ops.StopOnUnknown
	return job
}

// notAdded returns the refusal of a job that could not be added.
func notAdded(err error) error {
	var failed *problem.Error
	var full *bounds.Full
	switch {
	case errors.Is(err, jobs.ErrRemoved):
		return problem.New(schema.NotFound,
			"The job that this call has submitted was removed. Submit the list with a new %s.", ops.KeyHeader)
	case errors.Is(err, jobs.ErrOpen):
		failed = problem.New(schema.RateLimited, "The credential has %d jobs that have not ended, which is the "+
			"limit. Start or cancel those that are ready or paused, or wait until others have ended.",
			bounds.OpenJobs.Own)
	case errors.As(err, &full):
		failed = problem.New(schema.RateLimited, "%s", full.Sentences())
	default:
		return unavailable(err)
	}
	failed.RetryAfter = time.Minute
	return failed
}

// add adds a job and answers with it.
func (s *Service) add(ctx context.Context, a call.Accepted, submission jobs.Submission) (call.Answer, error) {
	switch now, err := s.Rights(ctx, submission.Job.Caller.Identity()); {
	case err != nil:
		failed := problem.New(schema.Unavailable, "The directory does not show now what you may do, "+
			"which a job asks before each item. Submit the list again later.")
		failed.Cause = err
		return call.Answer{}, failed
	case len(now) == 0:
		return call.Answer{}, problem.New(schema.Forbidden, "Jobs are submitted with a token or a user of the "+
			"gateway, or by a person with a role, because their rights are checked again for each item.")
	}
	submission.Once = a.Once
	job, err := s.Manager.Submit(ctx, submission)
	if err != nil {
		return call.Answer{}, notAdded(err)
	}
	items := "items"
	if job.Total == 1 {
		items = "item"
	}
	output := fmt.Sprintf("The job '%s' was submitted: %d %s.", job.ID, job.Total, items)
	if job.State == jobstate.Rejected {
		output = fmt.Sprintf("The job '%s' was rejected, and nothing was run: see problems for what is wrong with "+
			"the list, %d in all.", job.ID, len(job.Problems)+job.MoreProblems)
	}
	answer := a.Answer(output, show(&jobs.Progress{Job: *job}))
	answer.Location = "/api/Jobs/" + job.ID
	return answer, nil
}
