package ops

import (
	"net/http"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

// Parameter names of the history.
const (
	ChangeIDParam = "ChangeId"
	AcceptDrift   = "AcceptDrift"
	CallerName    = "Caller"
	WaitName      = "Wait"
	SinceName     = "Since"
	UndoFields    = "Fields"
	ShowFields    = "ShowFields" // parameter of rows whose records can be reduced to some fields
)

// historyRows are the rows about the gateway's changes. A change made by an undo belongs to another
// row, with its scopes and limits.
var historyRows = []*Operation{
	{
		ID: "change.list", Summary: "Lists the changes in the history, newest first.",
		Path: "/api/Changes", Scope: identity.ChangeRead, Effect: Read, Local: true,
		Params: []Param{
			{Name: SinceName, Kind: schema.Moment, Unsent: true, Doc: "Earliest time of the changes. If absent, there is no lower bound."},
			{Name: "Until", Kind: schema.Moment, Unsent: true, Doc: "Time before which the changes began. If absent, there is no upper bound."},
			aboutObject, byOperation, byCaller, ofOutcome,
			{Name: "Undo", Kind: schema.OneOf("Not case-sensitive.", schema.Undoables...), Unsent: true, Doc: "Extent to which the changes can be undone. If absent, all changes are listed."},
			{Name: LimitName, Kind: schema.Number(1, 1000), Default: "100", Unsent: true, Doc: "Maximum number of records in the answer."},
			{Name: AfterName, Kind: schema.ChangeCursor, Unsent: true, Doc: "Cursor of the page to return, with the same filters. With Wait, next of an answer with Wait, or the ID of an event of the stream. If absent, the first page is returned."},
			{Name: WaitName, Kind: schema.Number(0, 30), Unsent: true, Here: true, Doc: "Time to wait for new changes, in seconds. The answer lists the changes that ended after the cursor in After, oldest first, and always contains next. Without After and Since, only new changes count. If absent, the answer lists past changes."},
		},
		Rules:   []Rule{waitsForward},
		Reply:   Reply{schema.Change, List},
		Fails:   []schema.Code{schema.TokenMismatch, schema.CursorExpired},
		Subject: "changes",
	},
	{
		ID: "change.stream", Summary: "Streams changes as server-sent events, each as soon as it has ended.",
		Path: "/api/Changes/stream", Scope: identity.ChangeRead, Effect: Read, Local: true, Here: true,
		Params: []Param{
			{Name: SinceName, Kind: schema.FeedStart, Unsent: true, Doc: "Start of the stream: the changes after this event, or those that began at or after this time. Without it and without Last-Event-ID, the stream contains only new changes."},
			aboutObject, byOperation, byCaller, ofOutcome,
		},
		Reply:   Reply{schema.Change, Events},
		Fails:   []schema.Code{schema.CursorExpired},
		Subject: "changes",
	},
	{
		ID: "change.get", Summary: "Shows a change; Compare adds the current values.",
		Path: "/api/Changes/{ChangeId}", Scope: identity.ChangeRead, Effect: Read, Local: true,
		Params: []Param{
			changeID,
			{Name: "Compare", Kind: schema.Bool, Default: "false", Unsent: true, Doc: "Whether to read the current values and compare each with the value that the change wrote."},
		},
		Reply:   Reply{schema.Change, Single},
		Fails:   []schema.Code{schema.NotFound},
		Subject: changeSubject,
	},
	{
		ID: "change.undo", Summary: "Undoes a change with the permissions of the caller. Also requires the scope of the operation that undoes it.",
		Method: http.MethodPost, Also: http.MethodPut, Path: "/api/Changes/{ChangeId}/Undo",
		Scope: identity.ChangeUndo, Effect: Update, Local: true,
		Params: []Param{
			changeID,
			{Name: UndoFields, Kind: schema.Names, Narrows: true, Audited: true, Unsent: true, Example: "department", Doc: "Fields to undo. If absent, all fields are undone."},
			{Name: AcceptDrift, Kind: schema.Names, Audited: true, Unsent: true, Example: "department", Doc: "Fields that can be overwritten even if they have changed since. If absent, a change is not undone if a field has changed since."},
			dryRunParam, planIDParam, noteParam,
		},
		Rules:   []Rule{shownOrMade},
		Reply:   Reply{schema.Change, List},
		Fails:   []schema.Code{schema.Partial, schema.NotFound, schema.Conflict, schema.PlanUsed, schema.PlanMismatch, schema.Expired, schema.Drifted, schema.NotUndoable, schema.Protected, schema.NotEmpty, schema.Policy, schema.Unprocessable},
		Guard:   Guard{Reader: "change.get"},
		Subject: changeSubject,
		Success: "The {subject} was undone.",
	},
}

// Filters of changes.
var (
	aboutObject = Param{Name: "Object", Kind: schema.Identity, Unsent: true,
		Doc: "Object of the changes, under a name from before or after the change: its GUID, SID, " +
			"distinguished name, account name, UPN, or name; for DNS, a zone or the name of a record."}
	byOperation = Param{Name: "Operation", Kind: schema.Word, Unsent: true, Example: "user.update",
		Doc: "ID of an operation, or the name of a resource for all its operations."}
	byCaller = Param{
		Name: CallerName, Kind: schema.Word, Unsent: true, Example: "token:portal",
		Doc: "Caller that made the changes: a name, or an account ID or SID, alone or as kind:name or kind:id. " +
			"The kind is token, user, certificate, person, or gateway; kind::id is always an ID. A name means " +
			"every caller that has or had this name.",
	}
	ofOutcome = Param{Name: "Outcome", Kind: schema.OneOf("Not case-sensitive.", "done", "partial", "unknown"),
		Unsent: true, Doc: "Outcome of the changes. If absent, changes with any outcome are listed."}
)

// waitsForward refuses parameters that only make sense for a list of past changes.
var waitsForward = Rule{
	Doc: "Wait and Until are mutually exclusive",
	Apply: func(b *Bound) []schema.FieldError {
		if b.Has(WaitName) && b.Has("Until") {
			return []schema.FieldError{{Field: "Until", Code: schema.InvalidRequest,
				Message: "cannot be combined with Wait, which only returns new changes"}}
		}
		return nil
	},
}

const changeSubject = "change '{ChangeId}'"

var changeID = Param{Name: ChangeIDParam, Path: ChangeIDParam, Kind: schema.ChangeID, Required: true,
	Unsent: true, Doc: "Change that the operation applies to."}
