package schema

// PlanID identifies a plan, in the format of package plan.
var PlanID = idKind("pl_", "must be the ID of a plan, as in the answer to a dry run", "")

// Results of checks.
const (
	CheckPassed = "passed"
	CheckFailed = "failed"
	NotChecked  = "not_checked"
)
