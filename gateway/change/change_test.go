package change_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/change"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// lines returns objects as text, one line per change.
func lines(objects []change.Object) []string {
	var lines []string
	for _, object := range objects {
		for _, c := range object.Changes {
			lines = append(lines, object.DistinguishedName+" "+string(c.Kind)+" "+c.Field+": "+string(c.Before)+" -> "+
				string(c.After))
		}
	}
	return lines
}

func TestWhatAnAnnouncementAmountsTo(t *testing.T) {
	user := func(changes ...ps.IntendedChange) ps.Intended {
		return ps.Intended{GUID: "1", DN: "CN=a,DC=x", Changes: changes}
	}
	for name, c := range map[string]struct {
		shape  *schema.Shape
		secret bool
		given  []ps.Intended
		want   []string
	}{
		"values": {schema.User, false, []ps.Intended{user(
			ps.IntendedChange{Name: "department", Before: "Sales", After: "IT"},
			ps.IntendedChange{Name: "company", Before: "x", After: ""},
			ps.IntendedChange{Name: "title", Before: "same", After: "same"},
		)}, []string{`CN=a,DC=x set department: "Sales" -> "IT"`, `CN=a,DC=x clear company: "x" -> null`}},
		"nothing": {schema.User, false, []ps.Intended{user(ps.IntendedChange{Name: "title", Before: "same", After: "same"})}, nil},
		"a password that must be changed": {schema.User, true, []ps.Intended{user(ps.IntendedChange{Name: "pwdLastSet", Before: "133", After: "0"})},
			[]string{`CN=a,DC=x secret password: null -> null`, `CN=a,DC=x flag changePasswordNextLogon: false -> true`}},
		"chosen by the server": {schema.User, false, []ps.Intended{user(ps.IntendedChange{Name: "lockoutTime", Before: "133", Renewed: true})},
			[]string{`CN=a,DC=x server lockoutTime: null -> null`}},
		"a new object": {schema.User, false, []ps.Intended{{Name: "b, c", Parent: "OU=o,DC=x", Changes: []ps.IntendedChange{{Name: "exists", Before: "False", After: "True"}},
			Also: map[string]string{"department": "IT"}}},
			[]string{`CN=b\, c,OU=o,DC=x create exists: false -> true`, `CN=b\, c,OU=o,DC=x set department: null -> "IT"`}},
		"an OU that moves": {schema.OU, false, []ps.Intended{{GUID: "1", DN: "OU=a,OU=b,DC=x", Changes: []ps.IntendedChange{{Name: "parent", Before: "OU=b,DC=x", After: "DC=x"}}}},
			[]string{`OU=a,OU=b,DC=x move path: "OU=a,OU=b,DC=x" -> "OU=a,DC=x"`}},
		"a member": {schema.Membership, false, []ps.Intended{
			{GUID: "1", DN: "CN=g,DC=x", Changes: []ps.IntendedChange{{Name: "member", Before: "False", After: "True"}}}, {GUID: "2", DN: "CN=u,DC=x"},
		}, []string{`CN=g,DC=x member member: null -> "CN=u,DC=x"`}},
		"DNS records": {schema.User, false, []ps.Intended{{DN: "www.x", Changes: []ps.IntendedChange{
			{Name: "ttl www.x A 10.0.0.3", Before: "300", After: "600"}, {Name: "ttl www.x A 10.0.0.2", Before: "False", After: "600"},
			{Name: "www.x A 10.0.0.1", Before: "True", After: "False"}, {Name: "www.x A 10.0.0.2", Before: "False", After: "True"},
		}}}, []string{`www.x set ttl: 300 -> 600`, `www.x set ttl: null -> 600`, `www.x remove records: "www.x A 10.0.0.1" -> null`, `www.x create records: null -> "www.x A 10.0.0.2"`}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, lines(
				change.Of(change.Announcement{Intent: &ps.Intent{Objects: c.given}, Shape: c.shape, Secret: c.secret})))
		})
	}
}

func TestDrift(t *testing.T) {
	object := func(guid, dn string, changes ...change.Change) change.Object {
		o := change.Object{DistinguishedName: dn, Changes: changes}
		if guid != "" {
			o.GUID = &guid
		}
		return o
	}
	set := func(field, before, after string) change.Change {
		return change.Change{Field: field, Attribute: field, Before: json.RawMessage(before),
			After: json.RawMessage(after), Kind: schema.SetsValue}
	}
	record := func(text string) change.Change {
		return change.Change{Field: "records", Attribute: "dnsRecord", Before: json.RawMessage("null"),
			After: json.RawMessage(text), Kind: schema.Creates}
	}
	one := []change.Object{object("1", "CN=a", set("x", `1`, `2`), set("y", `3`, `4`))}
	for name, c := range map[string]struct {
		planned, found []change.Object
		want           []string // field: expected, found
	}{
		"equal":              {one, one, nil},
		"none":               {nil, []change.Object{}, nil},
		"another value":      {one, []change.Object{object("1", "CN=a", set("x", `9`, `2`), set("y", `3`, `4`))}, []string{"x: 1, 9"}},
		"another new value":  {one, []change.Object{object("1", "CN=a", set("x", `1`, `9`), set("y", `3`, `4`))}, []string{"x: 2, 9"}},
		"made by others":     {one, []change.Object{object("1", "CN=a", set("y", `3`, `4`))}, []string{"x: 1, 2"}},
		"all made by others": {one, nil, []string{`distinguishedName: "CN=a", null`}},
		"needed now":         {one, []change.Object{object("1", "CN=a", set("x", `1`, `2`), set("y", `3`, `4`), set("z", `5`, `6`))}, []string{"z: 6, 5"}},
		"another order":      {one, []change.Object{object("1", "CN=a", set("y", `3`, `4`), set("x", `1`, `2`))}, []string{`changes: "the planned order", "another order"`}},
		"renamed":            {one, []change.Object{object("1", "CN=b", set("x", `1`, `2`), set("y", `3`, `4`))}, []string{`distinguishedName: "CN=a", "CN=b"`}},
		"another object":     {one, []change.Object{object("2", "CN=a", set("x", `1`, `2`), set("y", `3`, `4`))}, []string{`distinguishedName: "CN=a", null`, `distinguishedName: null, "CN=a"`}},
		"one more":           {one, append([]change.Object{one[0]}, object("2", "CN=b", set("x", `1`, `2`))), []string{`distinguishedName: null, "CN=b"`}},
		"there now":          {[]change.Object{object("", "CN=a", set("x", `1`, `2`))}, []change.Object{object("1", "CN=a", set("x", `1`, `2`))}, []string{`distinguishedName: "CN=a", null`, `distinguishedName: null, "CN=a"`}},
		"another record":     {[]change.Object{object("", "www", record(`"a"`))}, []change.Object{object("", "www", record(`"b"`))}, []string{`records: null, "a"`, `records: "b", null`}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, d := range change.Drift(c.planned, c.found) {
				got = append(got, d.Field+": "+string(d.Expected)+", "+string(d.Found))
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// TestMembershipsAreComparedByIdentity: renaming or moving a group or a member changes no membership.
func TestMembershipsAreComparedByIdentity(t *testing.T) {
	object := func(guid, dn, before, after string) change.Object {
		o := change.Object{GUID: &guid, DistinguishedName: dn}
		if after != "" {
			o.Changes = []change.Change{{
				Field: "member", Attribute: "member", Before: json.RawMessage(before), After: json.RawMessage(after),
			}}
		}
		return o
	}
	planned := []change.Object{
		object("1", "CN=a", `false`, `true`), object("2", "CN=b", `true`, `false`), object("3", "CN=anna,OU=x", "", ""),
	}
	for name, c := range map[string]struct {
		found []change.Object
		want  []string
	}{
		"member moved": {[]change.Object{planned[0], planned[1], object("3", "CN=anna,OU=y", "", "")}, nil},
		"group renamed": {[]change.Object{
			planned[1], object("1", "CN=z", `false`, `true`), planned[2],
		}, nil},
		"member already": {[]change.Object{
			object("1", "CN=z", `true`, `true`), planned[1], planned[2],
		}, []string{"member: false, true"}},
		"another group of the name": {[]change.Object{
			object("4", "CN=a", `false`, `true`), planned[1], planned[2],
		}, []string{`distinguishedName: "CN=a", null`}},
		"another member of the name": {[]change.Object{
			planned[0], planned[1], object("4", "CN=anna,OU=x", "", ""),
		}, []string{`distinguishedName: null, "CN=anna,OU=x"`}},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(planned)
			var got []string
			for _, d := range change.Drift(planned, c.found) {
				got = append(got, d.Field+": "+string(d.Expected)+", "+string(d.Found))
			}
			if c.want == nil {
				assert.Empty(t, got)
			}
			for _, want := range c.want {
				assert.Contains(t, got, want)
			}
			assert.Equal(t, before, planned, "the plan is not changed")
		})
	}
}

// TestMembersAreComparedByIdentity: a plan of several members, or of one, holds if a member was renamed
// or moved since. It does not hold for another object that has taken the member's name.
func TestMembersAreComparedByIdentity(t *testing.T) {
	const group, anna, bert = "CN=Staff,DC=x", "CN=Anna,OU=a,DC=x", "CN=Bert,OU=a,DC=x"
	several := func(annaGUID, annaDN, bertGUID, bertDN string) *ps.Intent {
		return &ps.Intent{Objects: []ps.Intended{
			{GUID: "1", DN: group, Changes: []ps.IntendedChange{
				{Name: change.MemberPrefix + annaGUID, Before: "False", After: "True"},
				{Name: change.MemberPrefix + bertGUID, Before: "True", After: "False"},
			}},
			{GUID: annaGUID, DN: annaDN}, {GUID: bertGUID, DN: bertDN},
		}}
	}
	single := func(guid, dn string) *ps.Intent {
		return &ps.Intent{Objects: []ps.Intended{
			{GUID: "1", DN: group, Changes: []ps.IntendedChange{{Name: change.Member, Before: "False", After: "True"}}},
			{GUID: guid, DN: dn},
		}}
	}
	both := several("2", anna, "3", bert)
	for name, c := range map[string]struct {
		was, now *ps.Intent
		want     []string
	}{
		"unchanged":        {both, both, nil},
		"one renamed":      {both, several("2", "CN=Änne,OU=a,DC=x", "3", bert), nil},
		"both moved":       {both, several("2", "CN=Anna,OU=b,DC=x", "3", "CN=Bert,OU=b,DC=x"), nil},
		"names exchanged":  {both, several("2", bert, "3", anna), nil},
		"single, renamed":  {single("2", anna), single("2", "CN=Änne,OU=a,DC=x"), nil},
		"another Anna":     {both, several("4", anna, "3", bert), []string{`member: null, "2"`, `member: "CN=Anna,OU=a,DC=x", null`}},
		"single, another":  {single("2", anna), single("4", anna), []string{`member: null, "2"`, `member: "CN=Anna,OU=a,DC=x", null`}},
		"a member already": {both, &ps.Intent{Objects: []ps.Intended{{GUID: "1", DN: group, Changes: both.Objects[0].Changes[1:]}, both.Objects[1], both.Objects[2]}}, []string{`member: null, "CN=Anna,OU=a,DC=x"`}},
		"all done by others": {both, &ps.Intent{Objects: []ps.Intended{{GUID: "1", DN: group}, {GUID: "2", DN: "CN=Änne,OU=a,DC=x"}, both.Objects[2]}},
			[]string{`member: null, "CN=Änne,OU=a,DC=x"`, `member: "CN=Bert,OU=a,DC=x", null`}},
	} {
		t.Run(name, func(t *testing.T) {
			planned := change.Of(change.Announcement{Intent: c.was, Shape: schema.MemberChange})
			before := lines(planned)
			now := change.Announcement{Intent: c.now, Shape: schema.MemberChange}
			named := now.Named(planned, c.was)
			var got []string
			for _, d := range change.Drift(named, now.Against(named)) {
				got = append(got, d.Field+": "+string(d.Expected)+", "+string(d.Found))
			}
			assert.Equal(t, c.want, got)
			assert.Equal(t, before, lines(planned), "the plan is not changed")
		})
	}
}

// TestAKeptPlanHasNotDrifted: a plan that is stored as JSON and read back has not drifted.
func TestAKeptPlanHasNotDrifted(t *testing.T) {
	intent := &ps.Intent{Objects: []ps.Intended{{GUID: "1", DN: "CN=a,DC=x", Changes: []ps.IntendedChange{
		{Name: "pwdLastSet", Before: "1", After: "0"}, {Name: "lockoutTime", Renewed: true}, {Name: "department", Before: "", After: "<&>\u2028"},
	}}}}
	planned := change.Of(change.Announcement{Intent: intent, Shape: schema.User, Secret: true})
	raw, err := json.Marshal(planned)
	require.NoError(t, err)
	var kept []change.Object
	require.NoError(t, json.Unmarshal(raw, &kept))
	assert.Empty(t, change.Drift(kept, planned))
}
