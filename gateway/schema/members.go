package schema

import (
	"encoding/json"
	"fmt"
	"strings"

	"adgateway/ps"
)

// maxMembers is the maximum number of members that one call may name.
const maxMembers = 1000

// MemberList is a list of up to 1,000 members of a group, each named as [Identity] or as
// DOMAIN\name. Text of [Decoded] is the list as a JSON array, which Decode also accepts.
var MemberList Kind = membersKind{base: base{"string[]"}}

// WholeMemberList is like [MemberList], but also accepts an empty list, which must be a JSON array.
var WholeMemberList Kind = membersKind{base: base{"string[]"}, empty: true}

type membersKind struct {
	base
	empty bool
}

func (k membersKind) Decode(raw any) (*Decoded, *FieldError) {
	names, problem := memberNames(raw)
	switch {
	case problem != nil:
		return nil, problem
	case len(names) == 0 && !k.empty:
		return nil, invalid("must name at least one member")
	case len(names) > maxMembers:
		return nil, invalid("must name at most %d members", maxMembers)
	}
	known := map[string]bool{}
	members := []string{}
	for _, name := range names {
		name, problem := text(strings.Trim(name, " "), identityLimit, false)
		switch {
		case problem != nil:
			return nil, problem
		case name == "":
			return nil, invalid("must not have an empty name")
		case strings.Contains(name, ";") && !strings.Contains(name, "="): // no account name contains one
			return nil, invalid("must be names separated by commas, not by semicolons")
		case !known[strings.ToLower(name)]:
			known[strings.ToLower(name)] = true
			members = append(members, name)
		}
	}
	return &Decoded{Values: []ps.Value{ps.List(members)}, Text: string(TextsOf(members))}, nil
}

// maxGUIDs is the maximum number of GUIDs in a list.
const maxGUIDs = 100

// GUIDs is a list of 1 to 100 GUIDs, separated by commas.
var GUIDs Kind = guidsKind{base{"string[]"}}

type guidsKind struct{ base }

func (guidsKind) Decode(raw any) (*Decoded, *FieldError) {
	s, problem := listText(raw, maxGUIDs*len("{00000000-0000-0000-0000-000000000000},"))
	if problem != nil {
		return nil, problem
	}
	var all []string
	for one := range strings.SplitSeq(s, listSeparator) {
		guid, problem := GUID.Decode(one)
		if problem != nil {
			return nil, problem
		}
		all = append(all, guid.Text)
	}
	if len(all) > maxGUIDs {
		return nil, invalid("must be at most %d GUIDs", maxGUIDs)
	}
	return &Decoded{Values: []ps.Value{ps.List(all)}, Text: strings.Join(all, listSeparator)}, nil
}

func (guidsKind) Doc() Doc {
	return Doc{Type: "string", Text: fmt.Sprintf("Up to %d GUIDs, separated by commas.", maxGUIDs),
		Example: "9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10"}
}

// memberNames returns the names in a list.
func memberNames(raw any) ([]string, *FieldError) {
	switch raw := raw.(type) {
	case Texts:
		return raw.List(), nil
	case List:
		return splitMembers(string(raw)), nil
	case string:
		var names []string
		if strings.HasPrefix(raw, "[") { // no name begins with a bracket
			if json.Unmarshal([]byte(raw), &names) != nil {
				return nil, invalid("must be names separated by commas, or an array of names")
			}
			return names, nil
		}
		return splitMembers(raw), nil
	default:
		return nil, invalid("must be text or an array of texts, not %s", jsonType(raw))
	}
}

// splitMembers splits a list at commas, except within a distinguished name, which ends after the
// last of its domain components. Account names, GUIDs and SIDs contain neither commas nor equals
// signs.
func splitMembers(list string) []string {
	var names []string
	// open: the last name is a distinguished name; inDomain: its domain components have begun
	open, inDomain := false, false
	for _, part := range splitEscaped(list) {
		kind, _, isPair := strings.Cut(part, "=")
		isDomain := isPair && strings.EqualFold(strings.Trim(kind, " "), "DC")
		if open && isPair && (isDomain || !inDomain) {
			names[len(names)-1] += listSeparator + part
		} else {
			names = append(names, part)
		}
		open, inDomain = isPair, isDomain
	}
	return names
}

// splitEscaped splits a text at commas that do not follow a backslash.
func splitEscaped(list string) []string {
	var parts []string
	start := 0
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '\\':
			if i+1 < len(list) && list[i+1] == ',' {
				i++
			}
		case ',':
			parts = append(parts, list[start:i])
			start = i + 1
		}
	}
	return append(parts, list[start:])
}

func (k membersKind) Doc() Doc {
	about := "Up to 1,000 objects, separated by commas; in JSON, also an array. Each is a GUID, SID, " +
		`distinguished name, sAMAccountName, or DOMAIN\name.`
	if k.empty {
		about += " The array [] means no objects."
	}
	return Doc{Type: "string", Text: about, Example: "aschmidt,lweber"}
}

// NamesMembers reports whether values of the kind are lists of members.
func NamesMembers(k Kind) bool {
	_, is := k.(membersKind)
	return is
}
