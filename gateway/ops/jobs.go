package ops

import (
	"net/http"
	"slices"
	"strings"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
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
	Example: "jb_019ab3f0-0000-7000-8000-000000000000", Doc: "Job that the operation applies to."}

// stopParams determine when a job stops.
var stopParams = []Param{
	{Name: JobStopAfter, Kind: schema.Number(0, 1_000_000), Default: "20", Unsent: true, Doc: "Number of failed items after which the job stops; 0 to never stop."},
	{Name: JobOnUnknown, Kind: schema.OneOf("Not case-sensitive.", StopOnUnknown, GoOnUnknown), Default: StopOnUnknown, Unsent: true, Doc: "Whether the job stops or continues after an item with an unknown outcome."},
}

// pageParams select a part of a list.
var pageParams = []Param{
	{Name: LimitName, Kind: schema.Number(1, 1000), Default: "100", Unsent: true, Doc: "Maximum number of records in the answer."},
	{Name: AfterName, Kind: schema.ChangeCursor, Unsent: true, Doc: "Cursor of the page to return. If absent, the first page is returned."},
}

// jobRow returns a row about one job.
func jobRow(op Operation) *Operation {
	op.Local, op.Subject = true, jobSubject
	op.Params = append([]Param{jobID}, op.Params...)
	op.Fails = append(op.Fails, schema.NotFound, schema.Unavailable)
	if op.Effect.Writes() {
		op.Fails = append(op.Fails, schema.JobState)
	}
	return &op
}

// jobRows are the rows for lists of calls that run as one job. An item of a list is a call of
// another row, with its scopes and limits.
var jobRows = []*Operation{
	{
		ID: "job.submit", Summary: "Submits a list of changes to run as one job. The body is the list, in CSV, NDJSON, or JSON.",
		Path:  "/api/Jobs",
		Scope: identity.JobSubmit, Effect: Create, Local: true, Accepted: true, Takes: []string{MediaNDJSON, MediaCSV, MediaJSON},
		Params: slices.Concat([]Param{
			{Name: JobOperation, Kind: schema.Word, Unsent: true, Audited: true, Example: "user.update", Doc: "operationId of the operation for items that do not name one. If absent, each item must name its operation."},
			{Name: JobName, Kind: schema.Label, Unsent: true, Audited: true, Doc: "Name of the job, for display."},
			{Name: JobMode, Kind: schema.OneOf("Not case-sensitive.", jobstate.Modes...), Default: string(jobstate.Run), Unsent: true, Audited: true, Doc: "Mode of the job: run the items, only check the list, or make a dry run of each item. After a check or a dry run, job.start runs the items."},
			{Name: JobSkip, Kind: schema.Bool, Default: "false", Unsent: true, Audited: true, Doc: "Whether to skip invalid items. Otherwise, a single invalid item prevents the whole list from running."},
			{Name: JobColumns, Kind: schema.Columns, Unsent: true, Doc: "Parameters for the columns of a CSV list, in order, instead of the names in its first row. A column without a name is not a parameter, but is kept in the result."},
			{Name: JobFirstRow, Kind: schema.OneOf("Not case-sensitive.", RowOfNames, RowOfData), Default: RowOfNames, Unsent: true, Doc: "Content of the first row of a CSV list: column names, or data of the first item. For data, Columns must name the columns."},
			{Name: JobNotBefore, Kind: schema.Moment, Unsent: true, Audited: true, Doc: "Earliest time at which the job begins. If absent, it begins immediately."},
			{Name: JobResultKey, Kind: schema.ResultKey, Unsent: true, Doc: "Public key with which generated passwords are encrypted in the result. If absent, items cannot generate passwords."},
		}, stopParams),
		Fails:   []schema.Code{schema.JobTooLarge, schema.UnsupportedMediaType, schema.Unavailable},
		Subject: "jobs", Success: "The list was submitted as a job.",
	},
	{
		ID: "job.list", Summary: "Lists the caller's jobs, newest first; with the scope ops:read, the jobs of all callers.",
		Path: "/api/Jobs", Scope: identity.JobRead, Effect: Read, Local: true,
		Params: append([]Param{{Name: JobState, Kind: schema.OneOf("Not case-sensitive.", jobstate.Jobs...), Unsent: true, Doc: "State of the jobs to list. If absent, jobs in all states are listed."}}, pageParams...),
		Reply:  Reply{schema.Job, List}, Fails: []schema.Code{schema.TokenMismatch, schema.Unavailable}, Subject: "jobs",
	},
	staleJob("job.submitStaleComputers", "Disables, moves, or removes the computers that have not been used for a number of days, as a job.", "/api/Jobs/StaleComputers", "computers"),
	staleJob("job.submitStaleUsers", "Disables, moves, or removes the users that have not been used for a number of days, as a job.", "/api/Jobs/StaleUsers", "users"),
	jobRow(Operation{
		ID: "job.get", Summary: "Shows a job and its progress.",
		Path: "/api/Jobs/{JobId}", Scope: identity.JobRead, Effect: Read,
	}),
	jobRow(Operation{
		ID: "job.stream", Summary: "Streams the progress of a job until it ends, as the server-sent events progress, item, and end.",
		Path: "/api/Jobs/{JobId}/Stream", Scope: identity.JobRead, Effect: Read, Reply: Reply{schema.Job, Events},
		Params: []Param{{Name: JobItems, Kind: schema.OneOf("Not case-sensitive.", "failed", "none"), Default: "none", Unsent: true, Doc: "Items to send as events: failed for each item that fails, or none."}},
		Fails:  []schema.Code{schema.RateLimited},
	}),
	jobRow(Operation{
		ID: "job.items", Summary: "Lists the items of a job with their outcomes, in the order of the list.",
		Path: "/api/Jobs/{JobId}/Items", Scope: identity.JobRead, Effect: Read,
		Reply:  Reply{schema.JobItem, List},
		Params: append([]Param{{Name: JobState, Kind: schema.OneOf("Not case-sensitive.", jobstate.Items...), Unsent: true, Doc: "State of the items to list. If absent, items in all states are listed."}}, pageParams...),
		Fails:  []schema.Code{schema.TokenMismatch},
	}),
	jobRow(Operation{
		ID: "job.result", Summary: "Downloads the list with the outcome of each item, without secrets.",
		Path: "/api/Jobs/{JobId}/Result", Scope: identity.JobRead, Effect: Read, Answers: []string{MediaCSV, MediaNDJSON},
		Params: []Param{{Name: JobFormat, Kind: schema.OneOf("Not case-sensitive.", "csv", "ndjson"), Unsent: true, Doc: "Format of the result. If absent, the format of the list is used."}},
		Fails:  []schema.Code{schema.NotAcceptable},
	}),
	jobRow(Operation{
		ID: "job.start", Summary: "Runs the items of a job after a check or a dry run. After a dry run, each item runs exactly as shown, or not at all.",
		Path: "/api/Jobs/{JobId}/Start", Scope: identity.JobSubmit, Effect: Update, Success: "The job was started.",
	}),
	jobRow(Operation{
		ID: "job.pause", Summary: "Pauses a job between two items.",
		Path: "/api/Jobs/{JobId}/Pause", Scope: identity.JobSubmit, Effect: Update, Success: "The job was paused.",
	}),
	jobRow(Operation{
		ID: "job.resume", Summary: "Resumes a paused job.",
		Path: "/api/Jobs/{JobId}/Resume", Scope: identity.JobSubmit, Effect: Update, Success: "The job goes on.",
	}),
	jobRow(Operation{
		ID: "job.cancel", Summary: "Cancels a job. Items that have begun are finished; the others do not run.",
		Method: http.MethodDelete, Path: "/api/Jobs/{JobId}", Scope: identity.JobSubmit, Effect: Update, Success: "The job was canceled.",
	}),
	jobRow(Operation{
		ID: "job.remove", Summary: "Removes a job that has ended, with its list and its results.",
		Method: http.MethodDelete, Path: "/api/Jobs/{JobId}/Record", Scope: identity.JobSubmit, Effect: Update, Success: "The job was removed.",
	}),
	jobRow(Operation{
		ID: "job.retry", Summary: "Retries items of a job as a new job. The items keep their idempotency keys, so nothing is done twice.",
		Path: "/api/Jobs/{JobId}/Retry", Scope: identity.JobSubmit, Effect: Create, Accepted: true,
		Params: slices.Concat([]Param{
			{Name: JobState, Kind: schema.WordList("One or more of failed, unknown, not_run, separated by commas.", string(jobstate.Refused), string(jobstate.Unknown), string(jobstate.NotRun)), Default: "failed,not_run", Unsent: true, Audited: true, Doc: "States of the items to retry. For items in the state unknown, the gateway first determines the outcome."},
		}, stopParams),
		Success: "The items were submitted again as a job.",
	}),
	jobRow(Operation{
		ID: "job.undo", Summary: "Undoes the changes of a job as a new job, latest change first. Changes that cannot be undone are listed and skipped.",
		Also: http.MethodPut, Path: "/api/Jobs/{JobId}/Undo", Scope: identity.ChangeUndo, Effect: Create, Accepted: true,
		Params: slices.Concat([]Param{
			{Name: DryRun, Kind: schema.Flag, Implied: "false", Unsent: true, Audited: true, Doc: "Whether to make only a dry run of each undo: the job has the mode dryRun."},
			{Name: JobUndoFields, Kind: schema.Names, Audited: true, Unsent: true, Example: "department", Doc: "Fields to undo. If absent, all fields are undone."},
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
	"One or more of disable, move, remove, separated by commas; in JSON, also an array.",
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
		ID: id, Summary: summary,
		Path: path, Scope: identity.JobSubmit, Effect: Create, Local: true, Accepted: true,
		Params: slices.Concat(rule, []Param{
			{Name: StaleAction, Kind: staleActions, Required: true, Unsent: true, Example: "disable", Doc: "Actions for each account, in this order; remove cannot be combined with other actions. Accounts that already have the resulting state are left out."},
			{Name: StaleTarget, Kind: schema.DN, Unsent: true, Audited: true, Example: "OU=Retired,OU=Devices,OU=Corp,DC=corp,DC=example", Doc: "OU or container to which the accounts are moved. Accounts in it or below it are left out. Required with the action move."},
			{Name: DryRun, Kind: schema.Flag, Implied: "false", Unsent: true, Audited: true, Doc: "Whether to make only a dry run of each item: the job has the mode dryRun, and job.start runs it."},
			{Name: JobName, Kind: schema.Label, Unsent: true, Audited: true, Doc: "Name of the job, for display."},
		}, stopParams),
		Rules: []Rule{targetOfMove},
		Fails: []schema.Code{
			schema.NotFound, schema.Ambiguous, schema.Unprocessable, schema.TooMany, schema.Unavailable,
		},
		Subject: what + " unused for {Days} days", Success: "The {subject} were submitted as a job.",
	}
}

// targetOfMove rejects combined actions that exclude each other, and a target without a move.
var targetOfMove = Rule{
	Doc: StaleTarget + " is required with the action move and not allowed without it; remove cannot be " +
		"combined with other actions",
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
