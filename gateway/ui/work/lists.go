package work

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/texts"
)

// A list is submitted as a file or as text. It runs as a job that belongs to the person, also after
// the session has ended.

// listForm is the form of a list.
type listForm struct {
	Once                        string // the key under which the list is submitted, so that it is only once
	Name, Operation, Mode, List string
	Changes, Modes              []frame.Choice
	Open                        bool // it was not accepted
}

// listModes are what is done with a list at first.
var listModes = []frame.Choice{
	{ID: string(jobstate.DryRun), Label: texts.Of("list.mode.dryRun")},
	{ID: string(jobstate.Validate), Label: texts.Of("list.mode.validate")},
	{ID: string(jobstate.Run), Label: texts.Of("list.mode.run")},
}

// chosen returns choices of which one was made before.
func chosen(all []frame.Choice, id string) []frame.Choice {
	all = slices.Clone(all)
	for i := range all {
		all[i].Chosen = all[i].ID == id
	}
	return all
}

// uploaded are the parameters of a list and the list.
type uploaded struct {
	values   call.Values
	document []byte
	media    string
}

// Read implements [call.Input].
func (u uploaded) Read(context.Context) (call.Given, error) {
	return call.Given{Values: map[string]any(u.values), Document: u.document, Media: u.media}, nil
}

// mediaOf returns what a list is by the name of its file, or by how it begins.
func mediaOf(name string, document []byte) string {
	text := strings.TrimSpace(string(document))
	switch ending := strings.ToLower(filepath.Ext(name)); {
	case ending == ".ndjson", ending == ".jsonl":
		return "application/x-ndjson"
	case ending == ".json", ending != ".csv" && strings.HasPrefix(text, "{"):
		return "application/json" // it may have an item on each line all the same
	}
	return "text/csv"
}
