package ui

import (
	"slices"

	"adgateway/gateway/identity"
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/texts"
)

// kind is a kind of object that has pages.
type kind struct {
	hitType string // of the API's search
	path    string // of its pages
	scope   identity.Scope
	reader  string // operation that reads one
	object  string // parameter that names it there and in actions
	facts   []factSection
	actions []action
	special bool   // its page is not made by [visit.show]
	key     string // the field that its address has; empty: guid
}

// Path is the address of the search.
func (k *kind) Path() string { return address(k.path) }

// at returns the page of an object of the kind, or one below it.
func (k *kind) at(guid string, below ...string) string {
	return address(append([]string{k.path, guid}, below...)...)
}

// Title is what the objects are called.
func (k *kind) Title() texts.Text { return texts.Of("page." + k.path) }

func (k *kind) Section() string { return k.path }
func (k *kind) Type() string    { return k.hitType }

// action is a change that a page offers, with the form of its row.
type action struct {
	ID        string
	operation string
	target    string            // the parameter that names the object of the page
	asks      []string          // parameters that the page asks for itself
	whole     bool              // the form of the row asks for them
	values    map[string]string // of parameters
	// fits reports whether the action makes sense for the object as it is, or for that of
	// the row; nil: always.
	fits   func(record) bool
	Inline bool   // offered at the rows of a table that it is about
	input  string // the parameter that names the object of the row
}

// Label returns what people call the action.
func (a action) Label() texts.Text { return texts.Each(form.Of(a.operation).Label) }

// Secondary reports whether the action takes inputs, so that it stands folded.
func (a action) Secondary() bool { return len(a.asks) > 0 || a.whole }

func is(name string, value any) func(record) bool {
	return func(r record) bool { return r[name] == value }
}

func not(name string, value any) func(record) bool {
	return func(r record) bool { return r[name] != value }
}

// removable reports whether the page of a group can take a member out of it.
func removable(member record) bool { return member["type"] == "user" && member["primary"] != true }

var kinds = []*kind{
	{
		hitType: "user", path: "people", scope: identity.UserRead,
		reader: "user.get", object: "Username", facts: userFacts,
		actions: []action{
			{ID: "unlock", operation: "user.unlock", fits: is("lockedOut", true)},
			{ID: "reset", operation: "user.resetPassword", values: map[string]string{
				"ChangePassword": "true", "Generate": "words",
			}},
			{ID: "edit", operation: "user.update", whole: true},
			{ID: "join", operation: "membership.add", asks: []string{"GroupName"}},
			{ID: "leave", operation: "membership.remove", fits: not(
				"primary", true,
			), Inline: true, input: "GroupName"},
			{ID: "copy", operation: "membership.copy", asks: []string{"From", "Remove"}},
			{ID: "rename", operation: "user.rename", whole: true},
			{ID: "expiry", operation: "user.expiry", whole: true},
			{ID: "primary", operation: "user.primaryGroup", whole: true},
			{ID: "photo", operation: "user.setPhoto", whole: true},
			{ID: "protect", operation: "user.protect", whole: true},
			{ID: "enable", operation: "user.enable", fits: is("enabled", false)},
			{ID: "disable", operation: "user.disable", fits: is("enabled", true)},
			{ID: "delete", operation: "user.delete"},
		},
	},
	{
		hitType: "group", path: "groups", scope: identity.GroupRead,
		reader: "group.get", object: "GroupName", facts: groupFacts,
		actions: []action{
			{ID: "add", operation: "membership.add", asks: []string{"Username"}},
			{ID: "remove", operation: "membership.remove", fits: removable, Inline: true, input: "Username"},
			{ID: "members", operation: "membership.addMembers", whole: true},
			{ID: "edit", operation: "group.update", whole: true},
			{ID: "rename", operation: "group.rename", whole: true},
			{ID: "protect", operation: "group.protect", whole: true},
			{ID: "delete", operation: "group.delete"},
		},
	},
	{
		hitType: "computer", path: "computers", scope: identity.ComputerRead,
		reader: "computer.get", object: "ADComputerName",
		facts: computerFacts,
		actions: []action{
			{ID: "edit", operation: "computer.update", whole: true},
			{ID: "rename", operation: "computer.rename", whole: true},
			{ID: "move", operation: "computer.move", asks: []string{"OUPath"}},
			{ID: "protect", operation: "computer.protect", whole: true},
			{ID: "enable", operation: "computer.enable", fits: is("enabled", false)},
			{ID: "disable", operation: "computer.disable", fits: is("enabled", true)},
			{ID: "delete", operation: "computer.delete"},
		},
	},
	{hitType: "ou", path: "ous", scope: identity.OURead, reader: "ou.get", object: "OUPath", special: true, key: "path"},
	{
		hitType: "zone", path: "zones", scope: identity.DNSRead,
		reader: "zone.get", object: "ZoneName", special: true, key: "zoneName",
	},
}

func init() {
	for _, k := range kinds {
		for i := range k.actions {
			k.actions[i].target = k.object
		}
	}
}

func kindOf(hitType string) *kind {
	return find(func(k *kind) bool { return k.hitType == hitType })
}

func kindAt(path string) *kind { return find(func(k *kind) bool { return k.path == path }) }

func find(match func(*kind) bool) *kind {
	if i := slices.IndexFunc(kinds, match); i >= 0 {
		return kinds[i]
	}
	return nil
}
