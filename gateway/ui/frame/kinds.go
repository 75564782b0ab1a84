package frame

import (
	"slices"

	"adgateway/gateway/identity"
	"adgateway/gateway/ui/say"
)

// Kind is a kind of object that has pages.
type Kind struct {
	HitType string // type in the API's search
	Path    string // path of the pages
	Scope   identity.Scope
	Reader  string // operation that reads an object
	Object  string // parameter that names the object in Reader and in actions
	Key     string // field that names an object in its page's address; empty means guid
}

// At returns the address of an object's page, or of a page below it.
func (k *Kind) At(guid string, below ...string) string {
	return say.Address(append([]string{k.Path, guid}, below...)...)
}

// Kinds contains all kinds of objects that have pages.
var Kinds = []*Kind{
	{HitType: "user", Path: "people", Scope: identity.UserRead, Reader: "user.get", Object: "Username"},
	{HitType: "group", Path: "groups", Scope: identity.GroupRead, Reader: "group.get", Object: "GroupName"},
	{
		HitType: "computer", Path: "computers", Scope: identity.ComputerRead,
		Reader: "computer.get", Object: "ADComputerName",
	},
	{HitType: "ou", Path: "ous", Scope: identity.OURead, Reader: "ou.get", Object: "OUPath", Key: "path"},
	{
		HitType: "zone", Path: "zones", Scope: identity.DNSRead,
		Reader: "zone.get", Object: "ZoneName", Key: "zoneName",
	},
}

// KindOf returns the kind for a type of the search, or nil if that type has no pages.
func KindOf(hitType string) *Kind {
	return find(func(k *Kind) bool { return k.HitType == hitType })
}

// KindAt returns the kind whose pages are below a path, or nil if there is none.
func KindAt(path string) *Kind { return find(func(k *Kind) bool { return k.Path == path }) }

func find(match func(*Kind) bool) *Kind {
	if i := slices.IndexFunc(Kinds, match); i >= 0 {
		return Kinds[i]
	}
	return nil
}
