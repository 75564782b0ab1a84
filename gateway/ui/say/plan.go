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

// What the kinds of changes of a plan mean for its values.
const (
	SecretChange = "secret" // they must not be shown
	MemberChange = "member" // they are members that go and come
)

// NoEffect is the effect of a plan that changes nothing.
const NoEffect = "none"

// ExistsField is the field of a plan that says whether the object is there.
const ExistsField = "exists"
