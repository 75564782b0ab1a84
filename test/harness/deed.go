package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Deed is a change that a gateway may be making when it dies. It has an operation and the announcement of its
// script.
type Deed struct {
	Op      string
	Effect  ps.Effect
	Objects []ps.Intended
	extent  int   // number of further objects that the change affects
	Undoes  *Deed // the earlier change that this change undoes; nil if this change is not an undo
}

// Changed returns an object with one changed value.
func Changed(guid, name, before, after string) ps.Intended {
	return ps.Intended{GUID: guid, DN: "CN=" + guid + ",OU=Sales,DC=corp",
		Changes: []ps.IntendedChange{{Name: name, Before: before, After: after}}}
}

// Created returns an object that is created.
func Created(name string) ps.Intended {
	return ps.Intended{Account: name, Name: name, Parent: "OU=Sales,DC=corp",
		Changes: []ps.IntendedChange{{Name: Existence, Before: "False", After: "True"}}}
}

// Removed returns an object that is removed.
func Removed(guid string, shape *schema.Shape) ps.Intended {
	gone := Changed(guid, Existence, "True", "False")
	gone.Record = json.RawMessage(Sample(shape))
	return gone
}

// RomeDeed is the deed for tests that need only one deed.
var RomeDeed = Deed{Op: "user.update", Effect: ps.EffectChanged,
	Objects: []ps.Intended{Changed("g-1", "l", "Oslo", "Rome")}}

// Deeds are changes of every kind.
var Deeds = []Deed{
	RomeDeed,
	{Op: "user.create", Effect: ps.EffectCreated, Objects: []ps.Intended{Created("Anna")}},
	{Op: "group.createSecurity", Effect: ps.EffectCreated, Objects: []ps.Intended{Created("Buyers")}},
	{Op: "computer.register", Effect: ps.EffectCreated, Objects: []ps.Intended{Created("PC7")}},
	{Op: "ou.create", Effect: ps.EffectCreated, Objects: []ps.Intended{Created("Berlin")}},
	{Op: "membership.add", Effect: ps.EffectChanged, Objects: []ps.Intended{Changed("g-1", "member", "False", "True"), {GUID: "g-2"}}},
	{Op: "membership.remove", Effect: ps.EffectChanged, Objects: []ps.Intended{Changed("g-1", "member", "True", "False"), {GUID: "g-2"}}},
	{Op: "membership.copy", Effect: ps.EffectChanged, Objects: []ps.Intended{Changed("g-1", "member", "False", "True"), {GUID: "g-3"}, Changed("g-2", "member", "False", "True")}},
	{Op: "user.rename", Effect: ps.EffectChanged, Objects: []ps.Intended{Changed("g-1", "sAMAccountName", "anna", "berta")}},
	{Op: "ou.move", Effect: ps.EffectChanged, Objects: []ps.Intended{Changed("g-1", "parent", "OU=a,DC=corp", "OU=b,DC=corp")}, extent: 3},
	{Op: "user.delete", Effect: ps.EffectRemoved, Objects: []ps.Intended{Removed("g-1", schema.User)}},
	{Op: "computer.deleteMany", Effect: ps.EffectRemoved, Objects: []ps.Intended{Removed("g-1", schema.Computer), Removed("g-2", schema.Computer)}},
	{Op: "cname.create", Effect: ps.EffectCreated, Objects: []ps.Intended{Changed("", Existence, "False", "True")}},
	{Op: "a.change", Effect: ps.EffectChanged, Objects: []ps.Intended{Changed("", "data", "10.0.0.1", "10.0.0.2")}},
	{Op: "lookupZone.delete", Effect: ps.EffectRemoved, Objects: []ps.Intended{Changed("", Existence, "True", "False")}, extent: 5},
}

// Undos are changes that undo other changes.
var Undos = []Deed{
	{
		Op: "user.updateByGuid", Effect: ps.EffectChanged, Objects: []ps.Intended{Changed(GUID, "l", "Rome", "Oslo")},
		Undoes: &Deed{Op: "user.update", Effect: ps.EffectChanged, Objects: []ps.Intended{Changed(GUID, "l", "Oslo", "Rome")}},
	},
	{
		Op: "membership.remove", Effect: ps.EffectChanged, Objects: []ps.Intended{Changed("g-1", "member", "True", "False"), {GUID: "g-2"}},
		Undoes: &Deed{Op: "membership.add", Effect: ps.EffectChanged, Objects: []ps.Intended{Changed("g-1", "member", "False", "True"), {GUID: "g-2"}}},
	},
	{
		Op: "bin.restore", Effect: ps.EffectCreated, Objects: []ps.Intended{Changed(GUID, Existence, "False", "True")},
		Undoes: &Deed{Op: "user.delete", Effect: ps.EffectRemoved, Objects: []ps.Intended{Removed(GUID, schema.User)}},
	},
}

// GUID is an identity that is passed as a parameter.
const GUID = "9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10"

// Scene is a directory in which one deed is done. Gateways that use the directory can be stopped in the
// middle of the deed. A script that runs twice writes twice.
type Scene struct {
	Deed
	Row *ops.Operation

	mu     sync.Mutex
	made   map[int]bool // the created objects
	Writes int
}

// NewScene returns a directory in which a deed has not been done yet.
func NewScene(t *testing.T, d *Deed) *Scene {
	t.Helper()
	s := &Scene{}
	s.begin(t, d)
	return s
}

// begin resets the directory to the state before a deed.
func (d *Scene) begin(t *testing.T, what *Deed) {
	t.Helper()
	d.Deed, d.Row, d.made, d.Writes = *what, nil, map[int]bool{}, 0
	for _, row := range ops.Table() {
		if row.ID == what.Op {
			d.Row = row
		}
	}
	require.NotNil(t, d.Row, "there is no such operation: %s", what.Op)
}

// Once returns the number of writes that the deed needs if it is done exactly once.
func (d *Scene) Once() (writes int) {
	for i := range d.Objects {
		if len(d.Objects[i].Changes) > 0 {
			writes++
		}
	}
	return writes
}

// Outcome returns the outcome of the writes made so far.
func (d *Scene) Outcome() ps.Outcome {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch len(d.made) {
	case 0:
		return ps.OutcomeNone
	case d.Once():
		return ps.OutcomeDone
	}
	return ps.OutcomePartial
}

// seen returns the state that the script for settling a change reads.
func (d *Scene) seen() json.RawMessage {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []map[string]any
	for i := range d.Objects {
		state := map[string]string{Existence: "True"}
		for _, c := range d.Objects[i].Changes {
			state[c.Name] = map[bool]string{true: c.After, false: c.Before}[d.made[i]]
		}
		all = append(all, map[string]any{"guid": d.guid(i), "dn": d.Objects[i].DN, "age": 1, "state": state,
			"record": json.RawMessage(Sample(d.Row.Reply.Shape))})
	}
	return JSON(all)
}

// guid returns the GUID of an object, even of an object that the deed creates.
func (d *Scene) guid(i int) string {
	if guid := d.Objects[i].GUID; guid != "" || d.Row.Lane == ps.DNS {
		return guid
	}
	return fmt.Sprintf("new-%d", i)
}

// Run returns a runner that runs the scripts on the usual server, see on.
func (d *Scene) Run(at func(point string) (dies bool)) ps.Runner { return d.on("dc9", at) }

// on returns a runner that runs the scripts on a server. The runner calls at before and after the
// announcement of a change, and after each write. If at returns true, the gateway has died and the script
// stops there.
func (d *Scene) on(server string, at func(point string) (dies bool)) ps.Runner {
	return &Runner{Do: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		if req.Settles {
			return &ps.Result{Effect: ps.EffectNone}, req.Records(d.seen())
		}
		intent := ps.Intent{Effect: d.Effect, Server: server, Objects: d.Objects, Counts: map[string]int{}}
		if d.Row.Extent != "" {
			intent.Counts[d.Row.Extent] = d.extent
		}
		if req.Write {
			at("read")
		}
		if err := req.Announced(intent); err != nil {
			return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
		}
		result := &ps.Result{Effect: d.Effect, Server: server, Counts: intent.Counts}
		dies, point := at("announced"), "written"
		var records []json.RawMessage
		for i := range d.Objects {
			if len(d.Objects[i].Changes) == 0 {
				continue
			}
			if dies {
				return nil, &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Intent: &intent, Server: server}
			}
			d.mu.Lock()
			d.made[i] = true
			d.Writes++
			d.mu.Unlock()
			change := ps.Change{GUID: d.guid(i), DN: d.Objects[i].DN}
			if d.Effect != ps.EffectRemoved {
				change.After = map[string]json.RawMessage{"x": nil}
			}
			result.Changes = append(result.Changes, change)
			records = append(records, json.RawMessage(Sample(d.Row.Reply.Shape)))
			dies = at(point)
		}
		return result, req.Records(JSON(records))
	}}
}

// Spends returns the amount of a budget that the deed uses.
func (d *Scene) Spends(of identity.Impact) int {
	bound, _ := d.Row.Bind(ops.Given{})
	if !slices.ContainsFunc(bound.Impacts(), func(i ops.Impact) bool { return i.Kind == of }) {
		return 0
	}
	if of == identity.Deletion {
		return d.Once() + d.extent
	}
	return 1 + d.extent
}
