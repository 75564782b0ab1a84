package ops

import (
	"slices"
	"strings"

	"adgateway/gateway/schema"
)

// Names of the parameters with which a caller first previews a change and then makes it as shown.
const (
	DryRun = "DryRun"
	PlanID = "PlanId"
)

// previewable adds the parameters of plans, and the reason, to all operations that change something.
func previewable(table []*Operation) []*Operation {
	for _, op := range table {
		if !op.Effect.Writes() {
			continue
		}
		op.Params = append(slices.Clip(op.Params), dryRunParam, planIDParam, noteParam)
		op.Rules = append(slices.Clip(op.Rules), shownOrMade)
	}
	return table
}

var (
	dryRunParam = Param{
		Name: DryRun, Kind: schema.Flag, Implied: "false", Audited: true, Narrows: true,
		Doc: "Whether to make a dry run, which changes nothing and returns a plan of the change.",
	}
	noteParam = Param{
		Name: ReasonName, Kind: schema.Note, Unsent: true, Audited: true,
		Doc: "Reason for the change, for the plan, the history, and the audit log.",
	}
	planIDParam = Param{
		Name: PlanID, Kind: schema.PlanID, Unsent: true, Audited: true, Narrows: true,
		Doc: "Plan from a dry run. The change is made exactly as planned, or not at all.",
	}
)

// Matches reports whether a pattern is the id of an operation, or its beginning and an asterisk. The id of a
// change also stands for the operation that makes the same change and takes a GUID.
func Matches(pattern, id string) bool {
	begin, open := strings.CutSuffix(pattern, "*")
	return pattern == id || pattern == strings.TrimSuffix(id, "ByGuid") || open && strings.HasPrefix(id, begin)
}

// MatchesAny reports whether a pattern matches an operation that changes something and takes a reason.
func MatchesAny(pattern string) bool {
	return slices.ContainsFunc(table, func(op *Operation) bool {
		return Matches(pattern, op.ID) && op.Effect.Writes() && op.Param(ReasonName) != nil
	})
}

var shownOrMade = Rule{
	Doc: DryRun + " and " + PlanID + " are mutually exclusive",
	Apply: func(b *Bound) []schema.FieldError {
		if b.Text(DryRun) != "true" || !b.Has(PlanID) {
			return nil
		}
		return []schema.FieldError{{Field: PlanID, Code: schema.InvalidRequest,
			Message: "applies a plan, while " + DryRun + " makes a new one: leave one of them out"}}
	},
}

// planRows are the rows about plans made by dry runs.
var planRows = []*Operation{{
	ID: "plan.get", Summary: "Shows a plan from a dry run, and whether it can be applied. Plans of other credentials require the scope change:read.",
	Path:   "/api/Plans/{PlanId}",
	Effect: Read, Local: true,
	Params:  []Param{{Name: PlanID, Path: PlanID, Kind: schema.PlanID, Required: true, Unsent: true, Example: "pl_019ab3f0-0000-7000-8000-000000000000", Doc: "Plan to show."}},
	Reply:   Reply{schema.Plan, Single},
	Fails:   []schema.Code{schema.NotFound},
	Subject: "plan '{PlanId}'",
}}
