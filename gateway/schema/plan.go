package schema

import (
	"regexp"

	"adgateway/ps"
)

// PlanID identifies a plan, in the format of package plan.
var PlanID Kind = patternKind{
	base: base{"string"}, pattern: regexp.MustCompile(`^pl_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$`), limit: 39,
	must: "must be the id of a plan, as a dry run shows it",
}

// ObjectChanges are the fields of an object in a list of changed objects.
var ObjectChanges = []Field{
	{Name: "guid", Type: GUIDField, Null: true, Doc: "null for what does not exist yet"},
	{Name: "distinguishedName", Doc: "of a DNS record its full name"},
	{Name: "changes", Type: ObjectListField, Of: []Field{
		{Name: "field"},
		{Name: "attribute", Doc: "the directory's name"},
		{Name: "before", Type: ValueField, Doc: "as records have it; null if there is none, and for secrets"},
		{Name: "after", Type: ValueField},
		{Name: "kind", Enum: changeKindNames()},
		{Name: "undo", Enum: []string{string(UndoFull), string(UndoNone), string(UndoRestore)}, Doc: "whether it can be taken back; restore: by the Recycle Bin"},
	}},
}

// Results of checks.
const (
	CheckPassed = "passed"
	CheckFailed = "failed"
	NotChecked  = "not_checked"
)

// Plan is the record of a plan that a dry run shows.
var Plan = &Shape{Name: "Plan", Fields: []Field{
	{Name: "id", Null: true, Doc: "for PlanId; null if the gateway keeps no plans"},
	{Name: "operation"},
	{Name: "effect", Enum: []string{string(ps.EffectNone), string(ps.EffectCreated), string(ps.EffectChanged), string(ps.EffectRemoved)}},
	{Name: "server", Doc: "that was asked"},
	{Name: "made", Type: TimeField},
	{Name: "expires", Type: TimeField, Null: true, Doc: "when it can no longer be applied"},
	{Name: "state", Enum: []string{"open", "used", "expired", "drifted"}, Doc: "drifted: it did not hold when it was last applied"},
	{Name: "reason", Null: true, Doc: "why, as its caller has said"},
	{Name: "undo", Enum: Undoables, Doc: "how much can be undone once it is made"},
	{Name: "objects", Type: ObjectListField, Of: ObjectChanges, Doc: "what would be changed, in order"},
	{Name: "checks", Type: ObjectListField, Doc: "what may still keep it from being made", Of: []Field{
		{Name: "name", Enum: []string{
			"write_rights", "delete_rights", "other_rights", "password_policy", "forest_uniqueness", "recycle_bin", "replication",
		}},
		{Name: "state", Enum: []string{CheckPassed, CheckFailed, NotChecked}},
		{Name: "message"},
	}},
	{Name: "requires", Type: TextListField, Doc: "the scopes that the change needs"},
	{Name: "change", Null: true, Optional: true, Doc: "that it has made; null if it was not applied, or changed nothing"},
}}
