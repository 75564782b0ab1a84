package ops

import (
	"net/http"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
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
		ID: "change.list", Summary: "Lists what was changed, the newest first.",
		Method: http.MethodGet, Path: "/api/Changes",
		Scope: identity.ChangeRead, Effect: Read, Local: true,
		Params: []Param{
			{Name: SinceName, Kind: schema.Moment, Unsent: true, Doc: "Not before."},
			{Name: "Until", Kind: schema.Moment, Unsent: true, Doc: "Before."},
			aboutObject, byOperation, byCaller, ofOutcome,
			{Name: "Undo", Kind: schema.OneOf("How much can be undone.", schema.Undoables...), Unsent: true, Doc: "Changes of which so much can be undone."},
			{Name: LimitName, Kind: schema.Number("At most so many.", 1, 1000), Default: "100", Unsent: true, Doc: "How many records the answer has."},
			{Name: AfterName, Kind: schema.ChangeCursor, Unsent: true, Doc: "Go on where an answer ended: its next, with the same filters. With Wait: the next of an answer with Wait, or the id of an event of the stream."},
			{Name: WaitName, Kind: schema.Number("Seconds.", 0, 30), Unsent: true, Here: true, Doc: "Answer with what ended after the cursor in After, the oldest first, and wait so long for it if there is nothing yet. Without After or Since: for what is new. The answer always has a next."},
		},
		Rules:   []Rule{waitsForward},
		Lane:    ps.Directory,
		Reply:   Reply{schema.Change, List},
		Fails:   []schema.Code{schema.TokenMismatch, schema.CursorExpired},
		Subject: "changes",
	},
	{
		ID: "change.stream", Summary: "Follows what is changed: each change is an event as soon as it has ended.",
		Method: http.MethodGet, Path: "/api/Changes/stream",
		Scope: identity.ChangeRead, Effect: Read, Local: true, Here: true,
		Params: []Param{
			{Name: SinceName, Kind: schema.FeedStart, Unsent: true, Doc: "Begin after this event, or with what was begun at this time or later. Without it, and without Last-Event-ID: with what is new."},
			aboutObject, byOperation, byCaller, ofOutcome,
		},
		Lane:    ps.Directory,
		Reply:   Reply{schema.Change, Events},
		Fails:   []schema.Code{schema.CursorExpired},
		Subject: "changes",
	},
	{
		ID: "change.get", Summary: "Shows a change, and with Compare what has become of it.",
		Method: http.MethodGet, Path: "/api/Changes/{ChangeId}",
		Scope: identity.ChangeRead, Effect: Read, Local: true,
		Params: []Param{
			changeID,
			{Name: "Compare", Kind: schema.Bool, Default: "false", Unsent: true, Doc: "Read what is there now, and say for each value whether it is what the change wrote."},
		},
		Lane:    ps.Directory,
		Reply:   Reply{schema.Change, Single},
		Fails:   []schema.Code{schema.NotFound},
		Subject: changeSubject,
	},
	{
		ID: "change.undo", Summary: "Takes a change back, with the rights of whoever calls: the scope of the row that does it is needed, too.",
		Method: http.MethodPost, Also: http.MethodPut, Path: "/api/Changes/{ChangeId}/Undo",
		Scope: identity.ChangeUndo, Effect: Update, Local: true,
		Params: []Param{
			changeID,
			{Name: UndoFields, Kind: schema.Names, Narrows: true, Audited: true, Unsent: true, Example: "department", Doc: "Take back these fields only."},
			{Name: AcceptDrift, Kind: schema.Names, Audited: true, Unsent: true, Example: "department", Doc: "Fields that may be overwritten although they have been changed since."},
			dryRunParam, planIDParam, noteParam,
		},
		Rules:   []Rule{shownOrMade},
		Lane:    ps.Directory,
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
		Doc: "Changes of this object, by a name that it had before or has after: its GUID, SID, distinguished " +
			"name, account, UPN or name; of DNS a zone, or the name of a record."}
	byOperation = Param{Name: "Operation", Kind: schema.Word, Unsent: true, Example: "user.update",
		Doc: "Changes by this operation, or by all of a resource."}
	byCaller = Param{
		Name: CallerName, Kind: schema.Word, Unsent: true, Example: "token:portal",
		Doc: "Changes by this caller: a name, or the id of an account or a SID, alone or as kind:name and " +
			"kind:id, " +
			"where the kind is token, user, certificate, person or gateway; kind::id is no name. A name means " +
			"every caller that has or had it.",
	}
	ofOutcome = Param{Name: "Outcome", Kind: schema.OneOf("What became of it.", "done", "partial", "unknown"),
		Unsent: true, Doc: "Changes that ended so."}
)

// waitsForward refuses parameters that only make sense for a list of past changes.
var waitsForward = Rule{
	Doc: "Wait looks forward: it takes no Until",
	Apply: func(b *Bound) []schema.FieldError {
		if b.Has(WaitName) && b.Has("Until") {
			return []schema.FieldError{{Field: "Until", Code: schema.InvalidRequest,
				Message: "cannot be together with Wait, which looks forward"}}
		}
		return nil
	},
}

const changeSubject = "change '{ChangeId}'"

var changeID = Param{Name: ChangeIDParam, Path: ChangeIDParam, Kind: schema.ChangeID, Required: true,
	Unsent: true, Doc: "The change, as X-Change-Id shows it."}
