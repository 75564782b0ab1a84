package ui

import (
	"slices"

	"adgateway/gateway/identity"
	"adgateway/gateway/ui/texts"
)

// kind is a kind of object that has pages.
type kind struct {
	hitType string // of the API's search
	path    string // of its pages
	scope   identity.Scope
	reader  string // operation that reads one
	object  string // parameter that names it there and in actions
	facts   []factRow
	actions []action
	special bool // its page is not made by [visit.show]
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

// action is a change that a page offers.
type action struct {
	ID        string
	Label     string
	says      string // what it does, see [action.sentence]
	Help      string
	scope     identity.Scope
	operation string
	Fields    []field
	// fits reports whether the action makes sense for the object as it is, or for that of
	// the row; nil: always.
	fits      func(record) bool
	Inline    bool // offered at the rows of a table that it is about
	generates bool // a password, which is shown once
}

// field is an input of an action.
type field struct {
	Name, Label, Help, Type string
	parameter               string // of the operation; empty: it has the name of the field
	Required                bool
	On                      bool                // a box that is ticked at first
	orBox                   string              // the box that leaves it empty; without that it is required
	unsent                  bool                // the API does not know it
	names                   string              // the path of the kind of object that it names
	present                 func(record) string // the value that the object has
}

const (
	box    = "checkbox"
	ticked = "true"
)

// Secondary reports whether the action takes inputs, so that it stands folded.
func (a action) Secondary() bool { return len(a.Fields) > 0 }

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
			{ID: "unlock", Label: "Unlock", says: "Unlock the account of {object}", Help: "The person can try to log on again.", scope: identity.UserWrite, operation: "user.unlock", fits: is("lockedOut", true)},
			{ID: "reset", Label: "Reset password", says: "Reset the password of {object}", Help: "A new password is generated and shown once.", scope: identity.UserPassword, operation: "user.resetPassword", generates: true,
				Fields: []field{{Name: "ChangePassword", Label: "Must be changed at the next logon", Type: box, On: true}}},
			{ID: "enable", Label: "Enable account", says: "Enable the account of {object}", scope: identity.UserWrite, operation: "user.enable", fits: is("enabled", false)},
			{ID: "disable", Label: "Disable account", says: "Disable the account of {object}", Help: "The person cannot log on any more.", scope: identity.UserWrite, operation: "user.disable", fits: is("enabled", true)},
			{ID: "expiry", Label: "Set expiry", says: "Set when the account of {object} expires", scope: identity.UserWrite, operation: "user.expiry",
				Fields: []field{
					{Name: "AccountExpires", Label: "Last day", Type: "date", orBox: "Never", present: lastDay},
					{Name: "Never", Label: "The account never expires", Type: box, unsent: true},
				}},
			{ID: "join", Label: "Add to a group", says: "Add {object} to {Group}", scope: identity.MemberWrite, operation: "membership.add",
				Fields: []field{{Name: "Group", Label: "Group", Type: "text", names: "groups", parameter: "GroupName", Required: true}}},
			{ID: "leave", Label: "Remove", says: "Remove {object} from {Group}", fits: not("primary", true), scope: identity.MemberWrite, operation: "membership.remove", Inline: true,
				Fields: []field{{Name: "Group", Label: "Group", Type: "text", names: "groups", parameter: "GroupName", Required: true}}},
			{ID: "copy", Label: "Copy groups from", says: "Copy groups of {From} to {object}", scope: identity.MemberWrite, operation: "membership.copy",
				Fields: []field{
					{Name: "From", Label: "Person", Type: "text", names: "people", Help: "A logon name. The groups that are missing are added.", Required: true},
					{Name: "Remove", Label: "Also remove groups that this person does not have", Type: box},
				}},
		},
	},
	{
		hitType: "group", path: "groups", scope: identity.GroupRead,
		reader: "group.get", object: "GroupName", facts: groupFacts,
		actions: []action{
			{ID: "add", Label: "Add a person", says: "Add {Member} to {object}", scope: identity.MemberWrite, operation: "membership.add",
				Fields: []field{{Name: "Member", Label: "Person", Type: "text", names: "people", Help: "A logon name.", parameter: "Username", Required: true}}},
			{ID: "remove", Label: "Remove", says: "Remove {Member} from {object}", fits: removable, scope: identity.MemberWrite, operation: "membership.remove", Inline: true,
				Fields: []field{{Name: "Member", Label: "Person", Type: "text", names: "people", parameter: "Username", Required: true}}},
		},
	},
	{
		hitType: "computer", path: "computers", scope: identity.ComputerRead,
		reader: "computer.get", object: "ADComputerName",
		facts: computerFacts,
		actions: []action{
			{ID: "enable", Label: "Enable account", says: "Enable the account of {object}", scope: identity.ComputerWrite, operation: "computer.enable", fits: is("enabled", false)},
			{ID: "disable", Label: "Disable account", says: "Disable the account of {object}", Help: "Nobody can log on to the computer with a domain account any more.", scope: identity.ComputerWrite, operation: "computer.disable", fits: is("enabled", true)},
			{ID: "move", Label: "Move", says: "Move {object} to {OUPath}", scope: identity.ComputerWrite, operation: "computer.move",
				Fields: []field{{Name: "OUPath", Label: "Organizational unit", Type: "text", Help: "Its distinguished name, such as OU=Devices,DC=corp,DC=example.", Required: true}}},
		},
	},
	{hitType: "ou", path: "ous", scope: identity.OURead, reader: "ou.get", object: "OUPath", special: true},
	{hitType: "zone", path: "zones", scope: identity.DNSRead, reader: "zone.get", object: "ZoneName", special: true},
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

// action returns the action with an id; nil: there is none.
func (k *kind) action(id string) *action {
	for i := range k.actions {
		if k.actions[i].ID == id {
			return &k.actions[i]
		}
	}
	return nil
}
