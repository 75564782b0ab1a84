package change_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/change"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// described returns an object with one change, which is described as its name, the field, and the values before
// and after. An empty text describes no object.
func described(text string) []change.Object {
	if text == "" {
		return nil
	}
	guid, words := "1", strings.Fields(text)
	c := change.Change{
		Field: words[1], Attribute: words[1], Kind: schema.SetsValue,
		Before: json.RawMessage(words[2]), After: json.RawMessage(words[3]),
	}
	if c.Field == "members" {
		c.Attribute, c.Kind = "member", schema.SetsMember
	}
	return []change.Object{{GUID: &guid, DistinguishedName: words[0], Changes: []change.Change{c}}}
}

// TestRebased: a plan is compared with an announcement as if it had been made after earlier changes. Whatever
// these changes do not explain stays a difference.
func TestRebased(t *testing.T) {
	for name, c := range map[string]struct {
		planned, found string
		left           string // the latest first
		drifts         bool
	}{
		"the value that was left":  {"a x 1 3", "a x 2 3", "a x 1 2", false},
		"another value":            {"a x 1 3", "a x 9 3", "a x 1 2", true},
		"already as planned":       {"a x 1 2", "", "a x 1 2", false},
		"another property":         {"a y 1 3", "a y 2 3", "a x 1 2", true},
		"the latest counts":        {"a x 1 4", "a x 3 4", "a x 2 3;a x 1 2", false},
		"an earlier one does not":  {"a x 1 4", "a x 2 4", "a x 2 3;a x 1 2", true},
		"needed only now":          {"", "a x 2 1", "a x 1 2", false},
		"needed because of others": {"", "a x 9 1", "a x 1 2", true},
		"moved":                    {"a,OU=b x 1 2", "a,OU=c x 1 2", "a,OU=c p 1 2", false},
		"moved elsewhere":          {"a,OU=b x 1 2", "a,OU=d x 1 2", "a,OU=c p 1 2", true},
		"joined":                   {"", `a members "u" null`, `a members null "u"`, false},
		"somebody else joined":     {"", `a members "v" null`, `a members null "u"`, true},
		"joined, left, joined": {
			`a members null "u"`, `a members null "u"`, `a members "u" null;a members null "u"`, false,
		},
		"a record replaced twice":  {`www records "1" "3"`, `www records "2" "3"`, `www records "1" "2"`, false},
		"a record replaced thrice": {"w records 1 4", "w records 3 4", "w records 2 3;w records 1 2", false},
		"a record of others":       {"w records 1 3", "w records 9 3", "w records 1 2", true},
		"a record that came back":  {"", "w records null 1", "w records 1 null", false},
		"a record that is new":     {"", "w records null 2", "w records 1 null", true},
		"a secret":                 {"a x null null", "a x null null", "a x null null", false},
		"a secret set by others":   {"a x null null", "", "a x null null", true},
	} {
		t.Run(name, func(t *testing.T) {
			var left []change.Object
			for one := range strings.SplitSeq(c.left, ";") {
				left = append(left, described(one)...)
			}
			planned, found := described(c.planned), described(c.found)
			if found == nil {
				found = slices.Clone(planned)
				found[0].Changes = nil
			}
			drift := change.Drift(change.Rebased(planned, found, left), found)
			assert.Equal(t, c.drifts, drift != nil, "%v", drift)
		})
	}
}

// TestLeft: the objects of a change have their new names, and lack those that were not changed.
func TestLeft(t *testing.T) {
	moved := []ps.IntendedChange{{Name: change.Parent, Before: "OU=b", After: "OU=c"}}
	intent := &ps.Intent{Objects: []ps.Intended{
		{GUID: "1", DN: "CN=a,OU=b", Changes: moved},
		{GUID: "2", DN: "CN=d,OU=b", Changes: moved},
	}}
	left := change.Left(change.Announcement{Intent: intent, Shape: schema.User}, []string{"2"})
	if assert.Len(t, left, 1) {
		assert.Equal(t, "CN=a,OU=c", left[0].DistinguishedName)
	}
}
