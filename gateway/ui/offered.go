package ui

import (
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// action is a change that a page offers with the form of an operation.
type action struct {
	ID        string
	operation string
	target    string            // parameter that names the object of the page
	asks      []string          // parameters that the page itself asks for
	whole     bool              // the operation's form asks for the parameters
	values    map[string]string // fixed values of parameters
	// fits reports whether the action makes sense for the current state of the page's object or, if Inline is
	// set, of the row's object. If fits is nil, the action always makes sense.
	fits   func(say.Record) bool
	free   bool   // the guard of the page's object does not apply, because the action changes another object
	guard  string // field with the reason why the object is guarded from the action; empty for [whyChanged]
	Inline bool   // offered in the rows of a table
	input  string // parameter that names the object of the row
}

// Label returns the name of the action for people.
func (a action) Label() texts.Text { return texts.Each(form.Of(a.operation).Label) }

// Secondary reports whether the action takes inputs. Pages fold such actions.
func (a action) Secondary() bool { return len(a.asks) > 0 || a.whole }

// unit reports whether a record is an organizational unit rather than a container.
func unit(r say.Record) bool { return r["container"] != true }

func is(name string, value any) func(say.Record) bool {
	return func(r say.Record) bool { return r[name] == value }
}

func not(name string, value any) func(say.Record) bool {
	return func(r say.Record) bool { return r[name] != value }
}

// kept reports whether LAPS manages the password of a computer's local administrator.
func kept(r say.Record) bool {
	kind := r.Text("localAdmin")
	return kind != "" && kind != "none"
}

// removable reports whether the page of a group can remove a member.
func removable(member say.Record) bool { return member["type"] == "user" && member["primary"] != true }

// actions contains the changes that an object's page offers, in their order, by the type of the object.
var actions = map[string][]action{
	"user": {
		{ID: "unlock", operation: "user.unlock", fits: is("lockedOut", true)},
		{ID: "reset", operation: "user.resetPassword", values: map[string]string{
			"ChangePassword": "true", "Generate": "words",
		}},
		{ID: "edit", operation: "user.update", whole: true},
		{ID: "join", operation: "membership.add", asks: []string{"GroupName"}, free: true},
		{ID: "leave", operation: "membership.remove", fits: not(
			"primary", true,
		), Inline: true, input: "GroupName", free: true},
		{ID: "copy", operation: "membership.copy", asks: []string{"From", "Remove"}, free: true},
		{ID: "rename", operation: "user.rename", whole: true},
		{ID: "expiry", operation: "user.expiry", whole: true},
		{ID: "primary", operation: "user.primaryGroup", whole: true},
		{ID: "photo", operation: "user.setPhoto", whole: true},
		{ID: "protect", operation: "user.protect", whole: true},
		{ID: "enable", operation: "user.enable", fits: is("enabled", false)},
		{ID: "disable", operation: "user.disable", fits: is("enabled", true)},
		{ID: "delete", operation: "user.delete"},
	},
	"group": {
		{ID: "add", operation: "membership.add", asks: []string{"Username"}},
		{ID: "remove", operation: "membership.remove", fits: removable, Inline: true, input: "Username"},
		{ID: "members", operation: "membership.addMembers", whole: true},
		{ID: "edit", operation: "group.update", whole: true},
		{ID: "rename", operation: "group.rename", whole: true},
		{ID: "protect", operation: "group.protect", whole: true},
		{ID: "delete", operation: "group.delete"},
	},
	"computer": {
		{ID: "edit", operation: "computer.update", whole: true},
		{ID: "rename", operation: "computer.rename", whole: true},
		{ID: "move", operation: "computer.move", asks: []string{"OUPath"}},
		{ID: "expire", operation: "computer.expireLocalAdmin", fits: kept},
		{ID: "protect", operation: "computer.protect", whole: true},
		{ID: "enable", operation: "computer.enable", fits: is("enabled", false)},
		{ID: "disable", operation: "computer.disable", fits: is("enabled", true)},
		{ID: "delete", operation: "computer.delete"},
	},
	"ou": {
		{ID: "person", operation: "user.create", target: "OUPath", whole: true, guard: whyFilled},
		{ID: "group", operation: "group.createSecurity", target: "OUPath", whole: true, guard: whyFilled},
		{ID: "computer", operation: "computer.register", target: "OUPath", whole: true, guard: whyFilled},
		{ID: "unit", operation: "ou.create", target: "OUDestinationPath", whole: true, guard: whyFilled},
		{ID: "edit", operation: "ou.update", whole: true, fits: unit},
		{ID: "rename", operation: "ou.rename", whole: true, fits: unit, guard: whyMoved},
		{ID: "move", operation: "ou.move", whole: true, fits: unit, guard: whyMoved},
		{ID: "delete", operation: "ou.delete", fits: unit, guard: whyMoved},
	},
	"zone": {
		{ID: "a", operation: "a.create", whole: true, fits: forward},
		{ID: "cname", operation: "cname.create", whole: true, fits: forward},
		{ID: "txt", operation: "txt.create", whole: true, fits: forward},
		{ID: "mx", operation: "mx.create", whole: true, fits: forward},
		{ID: "srv", operation: "srv.create", whole: true, fits: forward},
		{ID: "ptr", operation: "ptr.create", whole: true, fits: reverse},
		{ID: "aging", operation: "zone.setAging", whole: true, fits: writable, guard: whyAging},
	},
}

func init() {
	for _, k := range frame.Kinds {
		for i := range actions[k.HitType] {
			if a := &actions[k.HitType][i]; a.target == "" {
				a.target = k.Object
			}
		}
	}
}

// sections contains the cards with facts on an object's page, by the type of the object.
var sections = map[string][]say.FactSection{"user": userFacts, "group": groupFacts, "computer": computerFacts}
