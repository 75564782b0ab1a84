package ui

import (
	"slices"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
	"adgateway/gateway/ui/work"
)

// Some objects, such as administrators, give control of the domain. Changing them requires a separate right.
// Their pages offer no actions to people without the right, and explain why.

// guarding contains the reasons why the object of a page is guarded.
type guarding struct {
	reasons  say.Record // answer about the guard; empty if the object is not guarded, or does not matter
	withheld string     // why some actions are not offered; empty if all are offered
}

// Fields of [guarding.reasons]. Each applies to some actions.
const (
	whyChanged = "why"
	whyMoved   = "whyMoved"  // to moving, renaming and deleting
	whyFilled  = "whyFilled" // to creating something in an organizational unit
	whyAging   = "whyAging"  // to the aging of a zone
)

// mostGuards is the maximum number of objects in one question about their guards.
const mostGuards = 100

// asksGuards reports whether guards apply to the person: a role lacks the right to change guarded objects.
func asksGuards(c *frame.Visit) bool {
	without := func(p *identity.Principal) bool { return !p.Has(identity.Privileged) }
	return slices.ContainsFunc(c.Principals, without)
}

// readGuards returns the answers about the guards of objects, by GUID. It returns nil if the person has the
// right in every role.
func readGuards(c *frame.Visit, guids ...string) map[string]say.Record {
	guids = slices.DeleteFunc(slices.Clone(guids), func(guid string) bool { return !say.IsGUID(guid) })
	if !asksGuards(c) {
		return nil
	}
	found := map[string]say.Record{}
	for some := range slices.Chunk(guids, mostGuards) {
		a := c.Get("search.guard", "ObjectGuid", strings.Join(some, ","))
		for _, r := range frame.Records[say.Record](a) {
			found[r.Text("guid")] = r
		}
	}
	return found
}

// readGuard returns the guard of an object.
func readGuard(c *frame.Visit, guid string) guarding {
	return guarding{reasons: readGuards(c, guid)[strings.ToLower(strings.Trim(guid, "{}"))]}
}

// guardsOfGroups returns the answers about the guards of a person's groups, if the page lets the person be
// removed from them.
func guardsOfGroups(c *frame.Visit, o *object, groups *frame.Answer) map[string]say.Record {
	if o.inline["leave"] == nil {
		return nil
	}
	var guids []string
	for _, r := range frame.Records[say.Record](groups) {
		guids = append(guids, r.Text("guid"))
	}
	return readGuards(c, guids...)
}

// guardOfUnit returns the guard of an organizational unit. It is only read if the person may do something
// with units, because the directory searches everything below the unit.
func guardOfUnit(c *frame.Visit, guid string) guarding {
	if !slices.ContainsFunc(actions["ou"], func(a action) bool { return work.MayDo(c, a.row()) }) {
		return guarding{}
	}
	return readGuard(c, guid)
}

// guardOfRecords returns the guard of the records of a name in a zone, given the names to which they lead.
// Without a name it is the guard of the zone.
func guardOfRecords(c *frame.Visit, zone, name string, targets ...string) guarding {
	if !asksGuards(c) {
		return guarding{}
	}
	pairs := []string{"ZoneName", zone}
	if name != "" {
		pairs = append(pairs, "DNS_HostName", name)
	}
	if len(targets) > 0 {
		pairs = append(pairs, "Target", strings.Join(targets, ","))
	}
	for _, r := range frame.Records[say.Record](c.Get("record.guard", pairs...)) {
		return guarding{reasons: r}
	}
	return guarding{}
}

// keeps reports whether a guard with the given reason keeps the person from an operation. It does not if
// the reason is empty.
func keeps(c *frame.Visit, why string, op *ops.Operation) bool {
	return why != "" && !slices.ContainsFunc(c.Principals, func(p *identity.Principal) bool {
		return p.Has(identity.Privileged) && call.AuthorizeRow(p, op) == nil
	})
}

// guards reports whether the object's guard keeps the person from an operation, and notes why.
func (g *guarding) guards(c *frame.Visit, field string, op *ops.Operation) bool {
	why := g.reasons.Text(field)
	if !keeps(c, why, op) {
		return false
	}
	if g.withheld == "" {
		g.withheld = why
	}
	return true
}

// leadsTo reports whether a guard keeps the person from an operation on PTR records that lead to a name.
func (g guarding) leadsTo(c *frame.Visit, target string, op *ops.Operation) bool {
	all, _ := g.reasons["guardedTargets"].([]any)
	return slices.Contains(all, any(target)) && keeps(c, target, op)
}

// Protected explains why the page does not offer all actions that the person may use on other objects. It
// returns nil if it offers them all.
func (g guarding) Protected() texts.Text {
	if g.withheld == "" {
		return nil
	}
	return texts.Guarded("object.protected", g.withheld)
}
