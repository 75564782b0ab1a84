package ui

import (
	"adgateway/gateway/identity"
	"adgateway/gateway/ui/frame"
)

// with returns a condition that holds for people with a scope.
func with(scope identity.Scope) func(*frame.Visit) bool {
	return func(c *frame.Visit) bool { return c.May(scope) }
}

func always(*frame.Visit) bool { return true }

// menu contains the rows of the menu, in order. The text of a row has the key "page." and its path; the title
// of its section has the key "frame." and the section.
var menu = []frame.MenuRow{
	{Section: "", Path: "home", Icon: "home", May: func(c *frame.Visit) bool { return len(c.Principals) > 0 }},
	{Section: "directory", Path: "people", Icon: "person", May: with(identity.UserRead)},
	{Section: "directory", Path: "groups", Icon: "group", May: with(identity.GroupRead)},
	{Section: "directory", Path: "computers", Icon: "computer", May: with(identity.ComputerRead)},
	{Section: "directory", Path: "ous", Icon: "ou", May: with(identity.OURead)},
	{Section: "directory", Path: "bin", Icon: "bin", May: with(identity.BinRead)},
	{Section: "dns", Path: "zones", Icon: "zone", May: with(identity.DNSRead)},
	{Section: "work", Path: "procedures", Icon: "steps", May: func(c *frame.Visit) bool {
		return c.May(identity.JobSubmit) && len(c.Procedures) > 0
	}},
	{Section: "work", Path: "jobs", Icon: "list", May: with(identity.JobRead)},
	{Section: "work", Path: "changes", Icon: "history", May: with(identity.ChangeRead)},
	{Section: "gateway", Path: "status", Icon: "pulse", May: always},
	// People without ops:read see their own calls.
	{Section: "gateway", Path: "audit", Icon: "info", May: func(c *frame.Visit) bool { return c.Log != nil }},
	{Section: "gateway", Path: "rights", Icon: "shield", May: always},
}
