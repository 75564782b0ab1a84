package ops

import (
	"net/http"
	"slices"
	"strings"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
	"adgateway/ps"
)

// Parameter names of jobs.
const (
	JobIDParam    = "JobId"
	JobOperation  = "Operation"
	JobName       = "Name"
	JobMode       = "Mode"
	JobStopAfter  = "StopAfter"
	JobOnUnknown  = "OnUnknown"
	JobSkip       = "SkipInvalid"
	JobNotBefore  = "NotBefore"
	JobColumns    = "Columns"
	JobFirstRow   = "FirstRow"
	JobResultKey  = "ResultKey"
	JobState      = "State"
	JobItems      = "Items"
	JobFormat     = "Format"
	JobUndoFields = UndoFields
)

// Media types of lists and streams.
const (
	MediaNDJSON = "application/x-ndjson"
	MediaCSV    = "text/csv"
	MediaJSON   = "application/json"
)

// Values of OnUnknown.
const (
	StopOnUnknown = "stop"
	GoOnUnknown   = "continue"
)

// Values of FirstRow.
const (
	RowOfNames = "names"
	RowOfData  = "data"
)

const jobSubject = "job '{JobId}'"

var jobID = Param{Name: JobIDParam, Path: JobIDParam, Kind: schema.JobID, Required: true, Unsent: true,
	Example: "jb_019ab3f0-0000-7000-8000-000000000000", Doc: "The job."}

// stopParams determine when a job stops.
var stopParams = []Param{
	{Name: JobStopAfter, Kind: schema.Number("A number of items.", 0, 1_000_000), Default: "20", Unsent: true, Doc: "Stop when so many items have failed; 0: never."},
	{Name: JobOnUnknown, Kind: schema.OneOf("What follows an item of which it is not known what became.", StopOnUnknown, GoOnUnknown), Default: StopOnUnknown, Unsent: true, Doc: "Stop or go on after an item whose outcome is not known."},
}

// pageParams select a part of a list.
var pageParams = []Param{
	{Name: LimitName, Kind: schema.Number("At most so many.", 1, 1000), Default: "100", Unsent: true, Doc: "How many records the answer has."},
	{Name: AfterName, Kind: schema.ChangeCursor, Unsent: true, Doc: "Go on where an answer ended: its next."},
}

// jobRow returns a row about one job.
func jobRow(op Operation) *Operation {
	op.Local, op.Lane, op.Subject = true, ps.Directory, jobSubject
	op.Params = append([]Param{jobID}, op.Params...)
	op.Fails = append(op.Fails, schema.NotFound, schema.Unavailable)
	if op.Reply.Shape == nil {
		op.Reply = Reply{schema.Job, Single}
	}
	if op.Effect.Writes() {
		op.Fails = append(op.Fails, schema.JobState)
	}
	return &op
}

// jobRows are the rows for lists of calls that run as one job. An item of a list is a call of
// another row, with its scopes and limits.
var jobRows = []*Operation{
	{
		ID: "job.submit", Summary: "Submits a list of changes, which run as one job. The body is the list, as CSV, NDJSON or JSON.",
		Method: http.MethodPost, Path: "/api/Jobs",
		Scope: identity.JobSubmit, Effect: Create, Local: true, Accepted: true, Takes: []string{MediaNDJSON, MediaCSV, MediaJSON},
		Params: slices.Concat([]Param{
			{Name: JobOperation, Kind: schema.Word, Unsent: true, Audited: true, Example: "user.update", Doc: "The operation of items that name none, by its operationId."},
			{Name: JobName, Kind: schema.Label, Unsent: true, Audited: true, Doc: "A name for people."},
			{Name: JobMode, Kind: schema.OneOf("What is done with the list.", jobstate.Modes...), Default: string(jobstate.Run), Unsent: true, Audited: true, Doc: "Run the items, only check the list, or dry run each item; after the last two Start runs them."},
			{Name: JobSkip, Kind: schema.Bool, Default: "false", Unsent: true, Audited: true, Doc: "Leave out the items with mistakes; otherwise one keeps the whole list from being run."},
			{Name: JobColumns, Kind: schema.Columns, Unsent: true, Doc: "The parameters of the columns of a list in CSV, in order, in place of the names in its first row. A column without a name is no parameter; the result has it too."},
			{Name: JobFirstRow, Kind: schema.OneOf("What the first row of a list in CSV has.", RowOfNames, RowOfData), Default: RowOfNames, Unsent: true, Doc: "The names of the columns, or already an item; then Columns names them."},
			{Name: JobNotBefore, Kind: schema.Moment, Unsent: true, Audited: true, Doc: "Begin then."},
			{Name: JobResultKey, Kind: schema.ResultKey, Unsent: true, Doc: "Public key to which generated passwords are sealed in the result."},
		}, stopParams),
		Lane:    ps.Directory,
		Reply:   Reply{schema.Job, Single},
		Fails:   []schema.Code{schema.JobTooLarge, schema.UnsupportedMediaType, schema.Unavailable},
		Subject: "jobs", Success: "The list was submitted as a job.",
	},
	{
		ID: "job.list", Summary: "Lists jobs, the newest first: the caller's own, and with ops:read everybody's.",
		Method: http.MethodGet, Path: "/api/Jobs",
		Scope: identity.JobRead, Effect: Read, Local: true,
		Params: append([]Param{{Name: JobState, Kind: schema.OneOf("The state of a job.", jobstate.Jobs...), Unsent: true, Doc: "Jobs in this state."}}, pageParams...),
		Lane:   ps.Directory, Reply: Reply{schema.Job, List}, Fails: []schema.Code{schema.TokenMismatch, schema.Unavailable}, Subject: "jobs",
	},
	staleJob("job.submitStaleComputers", "Disables, moves or removes the computers that have not been used for a number of days, as a job.", "/api/Jobs/StaleComputers", "computers"),
	staleJob("job.submitStaleUsers", "Disables, moves or removes the users that have not been used for a number of days, as a job.", "/api/Jobs/StaleUsers", "users"),
	jobRow(Operation{
		ID: "job.get", Summary: "Shows a job and how far it has come.",
		Method: http.MethodGet, Path: "/api/Jobs/{JobId}", Scope: identity.JobRead, Effect: Read,
	}),
	jobRow(Operation{
		ID: "job.stream", Summary: "Streams the progress of a job until it ends, as server-sent events: progress, item and end.",
		Method: http.MethodGet, Path: "/api/Jobs/{JobId}/Stream", Scope: identity.JobRead, Effect: Read, Reply: Reply{schema.Job, Events},
		Params: []Param{{Name: JobItems, Kind: schema.OneOf("Which items are sent.", "failed", "none"), Default: "none", Unsent: true, Doc: "Send each item that fails as an event."}},
		Fails:  []schema.Code{schema.RateLimited},
	}),
	jobRow(Operation{
		ID: "job.items", Summary: "Lists the items of a job with their outcomes, in the order of the list.",
		Method: http.MethodGet, Path: "/api/Jobs/{JobId}/Items", Scope: identity.JobRead, Effect: Read,
		Reply:  Reply{schema.JobItem, List},
		Params: append([]Param{{Name: JobState, Kind: schema.OneOf("The state of an item.", jobstate.Items...), Unsent: true, Doc: "Items in this state."}}, pageParams...),
		Fails:  []schema.Code{schema.TokenMismatch},
	}),
	jobRow(Operation{
		ID: "job.result", Summary: "Downloads the list with the outcome of each item, without secrets.",
		Method: http.MethodGet, Path: "/api/Jobs/{JobId}/Result", Scope: identity.JobRead, Effect: Read, Answers: []string{MediaCSV, MediaNDJSON},
		Params: []Param{{Name: JobFormat, Kind: schema.OneOf("A format.", "csv", "ndjson"), Unsent: true, Doc: "The format; if absent, the format of the list."}},
		Fails:  []schema.Code{schema.NotAcceptable},
	}),
	jobRow(Operation{
		ID: "job.start", Summary: "Runs the items of a job that was validated or dry run; after a dry run each as it was shown, or not at all.",
		Method: http.MethodPut, Path: "/api/Jobs/{JobId}/Start", Scope: identity.JobSubmit, Effect: Update, Success: "The job was started.",
	}),
	jobRow(Operation{
		ID: "job.pause", Summary: "Pauses a job between two items.",
		Method: http.MethodPut, Path: "/api/Jobs/{JobId}/Pause", Scope: identity.JobSubmit, Effect: Update, Success: "The job was paused.",
	}),
	jobRow(Operation{
		ID: "job.resume", Summary: "Lets a paused job go on.",
		Method: http.MethodPut, Path: "/api/Jobs/{JobId}/Resume", Scope: identity.JobSubmit, Effect: Update, Success: "The job goes on.",
	}),
	jobRow(Operation{
		ID: "job.cancel", Summary: "Cancels a job: the items that were begun end, the others are not run.",
		Method: http.MethodDelete, Path: "/api/Jobs/{JobId}", Scope: identity.JobSubmit, Effect: Update, Success: "The job was cancelled.",
	}),
	jobRow(Operation{
		ID: "job.remove", Summary: "Removes a job that has ended, with its list and its results.",
		Method: http.MethodDelete, Path: "/api/Jobs/{JobId}/Record", Scope: identity.JobSubmit, Effect: Update, Success: "The job was removed.",
	}),
	jobRow(Operation{
		ID: "job.retry", Summary: "Tries items of a job again, as a new job under their first keys, so that what was done is not done again.",
		Method: http.MethodPost, Path: "/api/Jobs/{JobId}/Retry", Scope: identity.JobSubmit, Effect: Create, Accepted: true,
		Params: slices.Concat([]Param{
			{Name: JobState, Kind: schema.WordList("States of items.", string(jobstate.Refused), string(jobstate.Unknown), string(jobstate.NotRun)), Default: "failed,not_run", Unsent: true, Audited: true, Doc: "Which items: failed, unknown (it is found out first what became of them), not_run."},
		}, stopParams),
		Success: "The items were submitted again as a job.",
	}),
	jobRow(Operation{
		ID: "job.undo", Summary: "Takes back what a job has changed, as a new job, the last change first. What cannot be undone is listed and left.",
		Method: http.MethodPost, Also: http.MethodPut, Path: "/api/Jobs/{JobId}/Undo", Scope: identity.ChangeUndo, Effect: Create, Accepted: true,
		Params: slices.Concat([]Param{
			{Name: DryRun, Kind: schema.Flag, Implied: "false", Unsent: true, Audited: true, Doc: "Only show what each undo would do: a job in the mode dryRun."},
			{Name: JobUndoFields, Kind: schema.Names, Audited: true, Unsent: true, Example: "department", Doc: "Take back these fields only."},
		}, stopParams),
		Success: "The undo was submitted as a job.",
	}),
}

// Parameter names of jobs that treat unused accounts.
const (
	StaleAction = "Action"
	StaleTarget = "TargetPath"
)

// Values of StaleAction.
const (
	StaleDisable = "disable"
	StaleMove    = "move"
	StaleRemove  = "remove"
)

// staleActions are the actions of a job that treats unused accounts.
var staleActions = schema.WordList(
	"What is done with each account, separated by commas; in JSON also an array: disable, move, remove.",
	StaleDisable, StaleMove, StaleRemove)

// staleJob returns a row that creates a job for the accounts that a rule finds. Each item is a call
// of another row, with its scopes and limits. The row that lists such accounts also finds them for
// the job.
func staleJob(id, summary, path, what string) *Operation {
	rule := slices.Clone(StaleRule)
	for i := range rule {
		rule[i].Unsent, rule[i].Audited = true, !rule[i].Required
	}
	return &Operation{
		ID: id, Summary: summary, Method: http.MethodPost, Path: path,
		Scope: identity.JobSubmit, Effect: Create, Local: true, Accepted: true,
		Params: slices.Concat(rule, []Param{
			{Name: StaleAction, Kind: staleActions, Required: true, Unsent: true, Example: "disable", Doc: "What is done with each, in this order; remove stands alone. What is so already is left out."},
			{Name: StaleTarget, Kind: schema.DN, Unsent: true, Audited: true, Example: "OU=Retired,OU=Devices,OU=Corp,DC=corp,DC=example", Doc: "The OU or container to which they are moved. What is in it or below it is left out."},
			{Name: DryRun, Kind: schema.Flag, Implied: "false", Unsent: true, Audited: true, Doc: "Only show what each item would do: a job in the mode dryRun, which Start runs."},
			{Name: JobName, Kind: schema.Label, Unsent: true, Audited: true, Doc: "A name for people."},
		}, stopParams),
		Rules: []Rule{targetOfMove},
		Lane:  ps.Directory,
		Reply: Reply{schema.Job, Single},
		Fails: []schema.Code{
			schema.NotFound, schema.Ambiguous, schema.Unprocessable, schema.TooMany, schema.Unavailable,
		},
		Subject: what + " unused for {Days} days", Success: "The {subject} were submitted as a job.",
	}
}

// targetOfMove rejects combined actions that exclude each other, and a target without a move.
var targetOfMove = Rule{
	Doc: StaleTarget + " is given with the action move and with no other; remove stands alone",
	Apply: func(b *Bound) (problems []schema.FieldError) {
		actions := strings.Split(b.Text(StaleAction), ",")
		moves := slices.Contains(actions, StaleMove)
		wrong := func(field, message string) {
			problems = append(problems, schema.FieldError{Field: field, Code: schema.InvalidRequest, Message: message})
		}
		if len(actions) > 1 && slices.Contains(actions, StaleRemove) {
			wrong(StaleAction, "combines remove with another action: what is removed is not disabled or moved first")
		}
		switch {
		case moves && !b.Has(StaleTarget):
			wrong(StaleTarget, "is required with the action move")
		case !moves && b.Has(StaleTarget):
			wrong(StaleTarget, "is given without the action move")
		}
		return problems
	},
}

// Listable reports whether calls of the operation can be items of a job.
func (op *Operation) Listable() bool {
	return op.Effect.Writes() && op.Protocol == nil && op.Reply.Shape != schema.Job
}

// Touches returns the objects that the request changes and the objects that it only uses. Equal names stand
// for the same object. An object can have two names, however, if one request uses its account name and
// another its distinguished name.
func (b *Bound) Touches() (changes, uses []string) {
	if names := b.NamesChanged(); len(names) > 0 {
		for _, name := range names {
			changes = append(changes, "dns "+Fold(strings.TrimSuffix(name, ".")))
		}
		return changes, nil
	}
	if b.Op.Reply.Shape == schema.Membership {
		pair := "membership"
		for i := range b.Op.Params {
			if p := &b.Op.Params[i]; p.Required {
				name := strings.ToLower(b.Text(p.Name))
				pair += "\x00" + name
				uses = append(uses, name)
			}
		}
		return []string{pair}, uses
	}
	isOU := b.Op.Reply.Shape == schema.OU
	if isOU && b.Op.Effect.Creates() {
		path := strings.ToLower(b.Text("OUDestinationPath"))
		return []string{"ou=" + strings.ToLower(b.Text("OUName")) + "," + path}, []string{path}
	}
	for i := range b.Op.Params {
		p := &b.Op.Params[i]
		text := strings.ToLower(b.Text(p.Name))
		switch {
		case text == "":
		case schema.NamesMembers(p.Kind):
			uses = append(uses, schema.Texts(text).List()...)
		case p.Path != "":
			changes = append(changes, text)
		case p.Kind != schema.DN && p.Kind != schema.GUID && p.Kind != schema.GUIDOrSID &&
			p.Kind != schema.Reference && p.Kind != schema.Identity:
		case p.Required || isOU:
			changes = append(changes, text)
		default:
			uses = append(uses, text)
		}
	}
	return changes, uses
}
