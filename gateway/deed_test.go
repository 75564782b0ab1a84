package gateway

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

// deed is a change that a gateway may be making when it dies: an operation, and what its
// script announces.
type deed struct {
	op      string
	effect  ps.Effect
	objects []ps.Intended
	extent  int   // of what else goes with it
	undoes  *deed // what was done before, which it takes back; nil: it is no undo
}

// changed returns an object of which one value is changed.
func changed(guid, name, before, after string) ps.Intended {
	return ps.Intended{GUID: guid, DN: "CN=" + guid + ",OU=Sales,DC=corp", Changes: []ps.IntendedChange{{Name: name, Before: before, After: after}}}
}

// created returns an object that is made.
func created(name string) ps.Intended {
	return ps.Intended{Account: name, Name: name, Parent: "OU=Sales,DC=corp", Changes: []ps.IntendedChange{{Name: existence, Before: "False", After: "True"}}}
}

// removed returns an object that is removed.
func removed(guid string, shape *schema.Shape) ps.Intended {
	gone := changed(guid, existence, "True", "False")
	gone.Record = json.RawMessage(sample(shape))
	return gone
}

// toRomeOf is the deed that most tests need only one of.
var toRomeOf = deed{op: "user.update", effect: ps.EffectChanged, objects: []ps.Intended{changed("g-1", "l", "Oslo", "Rome")}}

// deeds are changes of all kinds.
var deeds = []deed{
	toRomeOf,
	{op: "user.create", effect: ps.EffectCreated, objects: []ps.Intended{created("Anna")}},
	{op: "group.createSecurity", effect: ps.EffectCreated, objects: []ps.Intended{created("Buyers")}},
	{op: "computer.register", effect: ps.EffectCreated, objects: []ps.Intended{created("PC7")}},
	{op: "ou.create", effect: ps.EffectCreated, objects: []ps.Intended{created("Berlin")}},
	{op: "membership.add", effect: ps.EffectChanged, objects: []ps.Intended{changed("g-1", "member", "False", "True"), {GUID: "g-2"}}},
	{op: "membership.remove", effect: ps.EffectChanged, objects: []ps.Intended{changed("g-1", "member", "True", "False"), {GUID: "g-2"}}},
	{op: "membership.copy", effect: ps.EffectChanged, objects: []ps.Intended{changed("g-1", "member", "False", "True"), {GUID: "g-3"}, changed("g-2", "member", "False", "True")}},
	{op: "user.rename", effect: ps.EffectChanged, objects: []ps.Intended{changed("g-1", "sAMAccountName", "anna", "berta")}},
	{op: "ou.move", effect: ps.EffectChanged, objects: []ps.Intended{changed("g-1", "parent", "OU=a,DC=corp", "OU=b,DC=corp")}, extent: 3},
	{op: "user.delete", effect: ps.EffectRemoved, objects: []ps.Intended{removed("g-1", schema.User)}},
	{op: "computer.deleteMany", effect: ps.EffectRemoved, objects: []ps.Intended{removed("g-1", schema.Computer), removed("g-2", schema.Computer)}},
	{op: "cname.create", effect: ps.EffectCreated, objects: []ps.Intended{changed("", existence, "False", "True")}},
	{op: "a.change", effect: ps.EffectChanged, objects: []ps.Intended{changed("", "data", "10.0.0.1", "10.0.0.2")}},
	{op: "lookupZone.delete", effect: ps.EffectRemoved, objects: []ps.Intended{changed("", existence, "True", "False")}, extent: 5},
}

// undos are changes that take back another one.
var undos = []deed{
	{
		op: "user.updateByGuid", effect: ps.EffectChanged, objects: []ps.Intended{changed(guid, "l", "Rome", "Oslo")},
		undoes: &deed{op: "user.update", effect: ps.EffectChanged, objects: []ps.Intended{changed(guid, "l", "Oslo", "Rome")}},
	},
	{
		op: "membership.remove", effect: ps.EffectChanged, objects: []ps.Intended{changed("g-1", "member", "True", "False"), {GUID: "g-2"}},
		undoes: &deed{op: "membership.add", effect: ps.EffectChanged, objects: []ps.Intended{changed("g-1", "member", "False", "True"), {GUID: "g-2"}}},
	},
	{
		op: "bin.restore", effect: ps.EffectCreated, objects: []ps.Intended{changed(guid, existence, "False", "True")},
		undoes: &deed{op: "user.delete", effect: ps.EffectRemoved, objects: []ps.Intended{removed(guid, schema.User)}},
	},
}

// guid is an identity that is given as a parameter.
const guid = "9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10"

// scene is a directory in which one deed is done, whose gateways can be stopped in the
// middle. A script that runs twice writes twice.
type scene struct {
	deed
	row *ops.Operation

	mu     sync.Mutex
	made   map[int]bool // the objects
	writes int
}

func newScene(t *testing.T, d *deed) *scene {
	t.Helper()
	s := &scene{}
	s.begin(t, d)
	return s
}

// begin makes it a directory in which a deed has yet to be done.
func (d *scene) begin(t *testing.T, what *deed) {
	t.Helper()
	d.deed, d.row, d.made, d.writes = *what, nil, map[int]bool{}, 0
	for _, row := range ops.Table() {
		if row.ID == what.op {
			d.row = row
		}
	}
	require.NotNil(t, d.row, "there is no such operation: %s", what.op)
}

// once is how often a directory is written to in which the deed is done.
func (d *scene) once() (writes int) {
	for i := range d.objects {
		if len(d.objects[i].Changes) > 0 {
			writes++
		}
	}
	return writes
}

// outcome returns what has become of the deed.
func (d *scene) outcome() ps.Outcome {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch len(d.made) {
	case 0:
		return ps.OutcomeNone
	case d.once():
		return ps.OutcomeDone
	}
	return ps.OutcomePartial
}

// seen returns what a script reads that settles.
func (d *scene) seen() json.RawMessage {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []map[string]any
	for i := range d.objects {
		state := map[string]string{existence: "True"}
		for _, c := range d.objects[i].Changes {
			state[c.Name] = map[bool]string{true: c.After, false: c.Before}[d.made[i]]
		}
		all = append(all, map[string]any{"guid": d.guid(i), "dn": d.objects[i].DN, "age": 1, "state": state, "record": json.RawMessage(sample(d.row.Reply.Shape))})
	}
	return encode(all)
}

// guid returns the identity of an object, also of one that is made.
func (d *scene) guid(i int) string {
	if guid := d.objects[i].GUID; guid != "" || d.row.Lane == ps.DNS {
		return guid
	}
	return fmt.Sprintf("new-%d", i)
}

// run is what the scripts do on the usual server; see on.
func (d *scene) run(at func(point string) (dies bool)) ps.Runner { return d.on("dc9", at) }

// on is what the scripts do on a server; at is called before and after the announcement of
// a change, and after each write. A gateway that dies there goes no further.
func (d *scene) on(server string, at func(point string) (dies bool)) ps.Runner {
	return &fakeRunner{run: func(_ context.Context, req ps.Request) (*ps.Result, error) {
		if req.Settles {
			return &ps.Result{Effect: ps.EffectNone}, req.Records(d.seen())
		}
		intent := ps.Intent{Effect: d.effect, Server: server, Objects: d.objects, Counts: map[string]int{}}
		if d.row.Extent != "" {
			intent.Counts[d.row.Extent] = d.extent
		}
		if req.Write {
			at("read")
		}
		if err := req.Announced(intent); err != nil {
			return nil, &ps.Error{Kind: ps.KindStopped, Outcome: ps.OutcomeNone, Cause: err}
		}
		result := &ps.Result{Effect: d.effect, Server: server, Counts: intent.Counts}
		dies, point := at("announced"), "written"
		var records []json.RawMessage
		for i := range d.objects {
			if len(d.objects[i].Changes) == 0 {
				continue
			}
			if dies {
				return nil, &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeUnknown, Intent: &intent, Server: server}
			}
			d.mu.Lock()
			d.made[i] = true
			d.writes++
			d.mu.Unlock()
			change := ps.Change{GUID: d.guid(i), DN: d.objects[i].DN}
			if d.effect != ps.EffectRemoved {
				change.After = map[string]json.RawMessage{"x": nil}
			}
			result.Changes = append(result.Changes, change)
			records = append(records, json.RawMessage(sample(d.row.Reply.Shape)))
			dies = at(point)
		}
		return result, req.Records(encode(records))
	}}
}

// spends returns how much of a budget the deed takes.
func (d *scene) spends(of identity.Impact) int {
	bound, _ := d.row.Bind(ops.Given{})
	if !slices.ContainsFunc(bound.Impacts(), func(i ops.Impact) bool { return i.Kind == of }) {
		return 0
	}
	result := &ps.Result{Effect: d.effect, Counts: map[string]int{d.row.Extent: d.extent}}
	for range d.once() {
		result.Changes = append(result.Changes, ps.Change{After: map[string]json.RawMessage{"x": nil}})
		if d.effect == ps.EffectRemoved {
			result.Changes[len(result.Changes)-1].After = nil
		}
	}
	return affected(of, d.row, result, nil)
}
