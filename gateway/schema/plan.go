package schema

import (
	"adgateway/ps"
)

// PlanID identifies a plan, in the format of package plan.
var PlanID = idKind("pl_", "must be the ID of a plan, as in the answer to a dry run", "")

// ObjectChanges are the fields of an object in a list of changed objects.
var ObjectChanges = []Field{
	{Name: "guid", Type: GUIDField, Null: true, Doc: "objectGUID; null if the object does not exist yet."},
	{Name: "distinguishedName", Doc: "Distinguished name; for a DNS record, its fully qualified name."},
	{Name: "changes", Type: ObjectListField, Of: []Field{
		{Name: "field"},
		{Name: "attribute", Doc: "Name of the attribute in the directory."},
		{Name: "before", Type: ValueField, Doc: "Current value, in the form that records use; null if there is none or if it is a secret."},
		{Name: "after", Type: ValueField, Doc: "Value after the change."},
		{Name: "kind", Enum: changeKindNames()},
		{Name: "undo", Enum: []string{string(UndoFull), string(UndoNone), string(UndoRestore)}, Doc: "Whether the value can be undone; restore means by the Recycle Bin."},
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
	{Name: "id", Null: true, Doc: "ID of the plan, for the parameter PlanId; null if the gateway keeps no plans."},
	{Name: "operation"},
	{Name: "effect", Enum: []string{string(ps.EffectNone), string(ps.EffectCreated), string(ps.EffectChanged), string(ps.EffectRemoved)}},
	{Name: "server", Doc: "Server that the dry run queried."},
	{Name: "made", Type: TimeField},
	{Name: "expires", Type: TimeField, Null: true, Doc: "Time after which the plan can no longer be applied."},
	{Name: "state", Enum: []string{"open", "used", "expired", "drifted"}, Doc: "State of the plan; drifted if the objects had changed when the plan was last applied."},
	{Name: "reason", Null: true, Doc: "Reason that the caller gave; null if there is none."},
	{Name: "undo", Enum: Undoables, Doc: "Extent to which the change can be undone once it is made."},
	{Name: "objects", Type: ObjectListField, Of: ObjectChanges, Doc: "Objects that the change would affect, in order."},
	{Name: "checks", Type: ObjectListField, Doc: "Checks of conditions that could still prevent the change.", Of: []Field{
		{Name: "name", Enum: []string{
			"write_rights", "delete_rights", "other_rights", "password_policy", "forest_uniqueness", "recycle_bin", "replication",
		}},
		{Name: "state", Enum: []string{CheckPassed, CheckFailed, NotChecked}},
		{Name: "message"},
	}},
	{Name: "requires", Type: TextListField, Doc: "Scopes that the change requires."},
	{Name: "change", Null: true, Optional: true, Doc: "ID of the change that the plan made; null if the plan was not applied or changed nothing."},
}}
