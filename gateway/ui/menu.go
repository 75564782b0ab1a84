package ui

import "adgateway/gateway/identity"

// with is for those with a scope.
func with(scope identity.Scope) func(*visit) bool { return func(c *visit) bool { return c.may(scope) } }

func always(*visit) bool { return true }

// menu are the rows of the menu, in order. A row has the texts "page." and its path, and stands below
// "frame." and its section.
var menu = []menuRow{
	{"", "home", "home", func(c *visit) bool { return len(c.principals) > 0 }},
	{"directory", "people", "person", with(identity.UserRead)},
	{"directory", "groups", "group", with(identity.GroupRead)},
	{"directory", "computers", "computer", with(identity.ComputerRead)},
	{"directory", "ous", "ou", with(identity.OURead)},
	{"directory", "bin", "bin", with(identity.BinRead)},
	{"dns", "zones", "zone", with(identity.DNSRead)},
	{"work", "jobs", "list", with(identity.JobRead)},
	{"work", "changes", "history", with(identity.ChangeRead)},
	{"gateway", "status", "pulse", always},
	// Without a right, one's own calls.
	{"gateway", "audit", "info", func(c *visit) bool { return c.Log != nil }},
	{"gateway", "rights", "shield", always},
}
