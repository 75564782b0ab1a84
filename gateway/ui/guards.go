package ui

import (
	"slices"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// Some objects, such as administrators, give control of the domain. Changing them requires a separate right.
// Their pages offer no actions to people without the right, and explain why.

// readGuard returns the reason why an object is guarded. It returns "" if the object is not guarded, or if
// the person has the right in every role.
func readGuard(c *frame.Visit, guid string) string {
	without := func(p *identity.Principal) bool { return !p.Has(identity.Privileged) }
	if !say.IsGUID(guid) || !slices.ContainsFunc(c.Principals, without) {
		return ""
	}
	for _, r := range frame.Records[say.Record](c.Get("search.guard", "ObjectGuid", guid)) {
		return r.Text("why")
	}
	return ""
}

// guards reports whether the object's guard prevents an operation by the person.
func (o *object) guards(c *frame.Visit, op *ops.Operation) bool {
	return o.guard != "" && !slices.ContainsFunc(c.Principals, func(p *identity.Principal) bool {
		return p.Has(identity.Privileged) && call.AuthoriseRow(p, op) == nil
	})
}

// Protected explains why the page does not offer all actions that the person may use on other objects. It
// returns nil if the page offers all of them.
func (o *object) Protected() texts.Text {
	if !o.withheld {
		return nil
	}
	const key = "object.protected"
	return texts.Each([2]string{
		texts.Of(key, "why", o.guard).In(texts.English), texts.Of(key + ".german").In(texts.German),
	})
}
