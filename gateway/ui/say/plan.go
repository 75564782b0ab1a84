package say

import "encoding/json"

// Plan is the answer to a dry run.
type Plan struct {
	ID        string
	Operation string
	Effect    string
	Server    string
	Made      string
	Undo      string
	Objects   []Planned
	Checks    []PlanCheck
}

type Planned struct {
	GUID              string
	DistinguishedName string
	Changes           []PlannedChange
}

type PlannedChange struct {
	Field, Kind   string
	Before, After json.RawMessage
}

type PlanCheck struct{ Name, State, Message string }

// The kinds of changes in a plan whose values need special treatment.
const (
	SecretChange = "secret" // the values must not be shown
	MemberChange = "member" // the values are members that are added or removed
)

// NoEffect is the effect of a plan that changes nothing.
const NoEffect = "none"

// ExistsField is the field of a plan that reports whether the object exists.
const ExistsField = "exists"
