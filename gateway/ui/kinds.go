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

var kinds = []*kind{
	{hitType: "user", path: "people", scope: identity.UserRead, reader: "user.get", object: "Username"},
	{hitType: "group", path: "groups", scope: identity.GroupRead, reader: "group.get", object: "GroupName"},
	{
		hitType: "computer", path: "computers", scope: identity.ComputerRead,
		reader: "computer.get", object: "ADComputerName",
	},
	{hitType: "ou", path: "ous", scope: identity.OURead, reader: "ou.get", object: "OUPath", key: "path"},
	{
		hitType: "zone", path: "zones", scope: identity.DNSRead,
		reader: "zone.get", object: "ZoneName", key: "zoneName",
	},
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
