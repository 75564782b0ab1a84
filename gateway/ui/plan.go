package ui

import "encoding/json"

// plan is the answer to a dry run.
type plan struct {
	ID        string
	Operation string
	Effect    string
	Server    string
	Made      string
	Undo      string
	Objects   []planned
	Checks    []planCheck
}

type planned struct {
	GUID              string
	DistinguishedName string
	Changes           []plannedChange
}

type plannedChange struct {
	Field, Kind   string
	Before, After json.RawMessage
}

type planCheck struct{ Name, State, Message string }

// What the kinds of changes of a plan mean for its values.
const (
	secretChange = "secret" // they must not be shown
	memberChange = "member" // they are members that go and come
)

// The effect of a plan that changes nothing.
const noEffect = "none"

// existsField is the field of a plan that says whether the object is there.
const existsField = "exists"
