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

// Some objects can be changed only by those with a right of its own, as they lead to the domain. Their pages
// offer nothing to others, and say why.

// readGuard returns why an object is guarded against somebody without that right; empty: it is not, or the
// person has the right in each role.
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

// guards reports whether the guard of the object keeps the person from a row.
func (o *object) guards(c *frame.Visit, op *ops.Operation) bool {
	return o.guard != "" && !slices.ContainsFunc(c.Principals, func(p *identity.Principal) bool {
		return p.Has(identity.Privileged) && call.AuthoriseRow(p, op) == nil
	})
}

// Protected says why the page offers less than the person may do elsewhere; nil: it offers all.
func (o *object) Protected() texts.Text {
	if !o.withheld {
		return nil
	}
	const key = "object.protected"
	return texts.Each([2]string{
		texts.Of(key, "why", o.guard).In(texts.English), texts.Of(key + ".german").In(texts.German),
	})
}
