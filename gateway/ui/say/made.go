package say

import (
	"adgateway/gateway/identity"
	"adgateway/gateway/ui/texts"
)

// DidText describes a change that was made. Most operations have a sentence in the table. For the others, the
// text says whether something was created, changed or removed.
func DidText(r Record) texts.Text {
	objects := ObjectsIn(r)
	name := ""
	if len(objects) > 0 {
		name = NameOfDN(objects[0].Text("distinguishedName"))
	}
	key := "did." + r.Text("operation")
	if !texts.Has(key) {
		key = "did." + r.Text("effect")
	}
	if !texts.Has(key) {
		return texts.Raw(name)
	}
	moved := texts.Text(nil)
	for _, o := range objects {
		for _, change := range ListIn(o, "changes") {
			if change.Text("kind") == MemberChange {
				moved = movedIn(change)
			}
		}
	}
	said := texts.Of(key, "object", name, "member", moved)
	if more := len(objects) - 1; more > 0 && moved == nil {
		said = texts.Of("did.andMore", "what", said, "n", more)
	}
	return said
}

// movedIn returns the names of the members that were added or removed.
func movedIn(change Record) texts.Text {
	for _, side := range []string{"after", "before"} {
		switch v := change[side].(type) {
		case string:
			return texts.Raw(NameOfDN(v))
		case []any:
			var all []texts.Text
			for _, one := range v {
				if dn, is := one.(string); is {
					all = append(all, texts.Raw(NameOfDN(dn)))
				}
			}
			if len(all) > 0 {
				return texts.List(all...)
			}
		}
	}
	return nil
}

func ObjectsIn(r Record) []Record { return ListIn(r, "objects") }

func ListIn(r Record, field string) (all []Record) {
	list, _ := r[field].([]any)
	for _, one := range list {
		if of, is := one.(map[string]any); is {
			all = append(all, of)
		}
	}
	return all
}

// SideOf returns the value of the first changed field before or after a change.
func SideOf(r Record, side string) texts.Text {
	for _, o := range ObjectsIn(r) {
		for _, change := range ListIn(o, "changes") {
			return ValueOf(change, side)
		}
	}
	return nil
}

// ValueOf returns the value on one side of a change. Secrets are not shown.
func ValueOf(change Record, side string) texts.Text {
	switch change.Text("kind") {
	case SecretChange:
		return map[string]texts.Text{"before": texts.Of("value.secret"), "after": texts.Of("value.newSecret")}[side]
	case MemberChange:
		gone := change["before"] != nil && change["after"] == nil
		key := "value.member"
		if (side == "before") != gone {
			key = "value.noMember"
		}
		return texts.Of(key)
	}
	return ValueText(change[side])
}

// callerKinds contains the words for callers that are not people, by kind.
var callerKinds = map[string]string{
	identity.KindToken: "token", identity.KindUser: "API user", identity.KindCertificate: "certificate",
	identity.KindGateway: "the gateway",
}

// CallerText returns the name of a person or credential for a page. The kind is included
// unless it is a person, because credentials of different kinds may have the same name.
func CallerText(name, kind string) string {
	if of := callerKinds[kind]; of != "" && name != "" {
		return name + " (" + of + ")"
	}
	return name
}

// CallerIn returns the name of the caller in a record, see [CallerText].
func CallerIn(r Record) string { return CallerText(r.Text("caller"), r.Text("callerKind")) }
