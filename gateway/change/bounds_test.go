package change_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/change"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// TestWhoMaySeeAChange: a caller may see a change if all objects of it lie within the caller's
// limits, before or after it.
func TestWhoMaySeeAChange(t *testing.T) {
	const sales, other = "CN=a,OU=Sales,DC=x", "CN=b,OU=Other,DC=x"
	made := func(row, zone string, objects ...ps.Intended) change.Made {
		done := ops.Done{Op: ops.Find(ops.Table(), row), Intent: &ps.Intent{Objects: objects}}
		return change.MadeBy(ops.Table(), done, zone)
	}
	with := func(dn, name, before, after string) ps.Intended {
		return ps.Intended{DN: dn, Changes: []ps.IntendedChange{{Name: name, Before: before, After: after}}}
	}
	moved := with(other, "parent", "OU=Other,DC=x", "ou=sales,dc=x")
	record := with("www.x", "ttl www.x A 10.0.0.1", "1", "2")
	aUser, staff := made("user.update", "", ps.Intended{DN: sales}), ps.Intended{DN: sales, Account: "Staff"}
	vpn := identity.Limits{Groups: []string{"vpn"}}
	member := func(account string) ps.Intended {
		group := with(sales, change.Member, "False", "True")
		group.Account = account
		return group
	}
	nested := ps.Intended{DN: other, Account: "Staff", Class: "group"}
	person := ps.Intended{DN: other, Class: "user"}
	unit := ps.Intended{DN: "OU=a,DC=x", Class: "organizationalUnit"}
	inSales := identity.Limits{OUs: []string{"OU=Sales,DC=x"}}
	for name, c := range map[string]struct {
		limits identity.Limits
		made   change.Made
		want   bool
	}{
		"no limits":        {identity.Limits{}, made("user.update", "", ps.Intended{DN: other}), true},
		"inside":           {inSales, aUser, true},
		"outside":          {inSales, made("user.update", "", ps.Intended{DN: other}), false},
		"one outside":      {inSales, made("user.update", "", ps.Intended{DN: sales}, ps.Intended{DN: other}), false},
		"moved inside":     {inSales, made("user.update", "", moved), true},
		"a new one":        {inSales, made("user.create", "", ps.Intended{Name: "c", Parent: "OU=Sales,DC=x"}), true},
		"no such OU":       {identity.Limits{OUs: []string{"Sales"}}, aUser, false},
		"the group":        {vpn, made("group.update", "", ps.Intended{DN: sales, Account: "VPN"}), true},
		"another group":    {vpn, made("group.update", "", staff), false},
		"a user, groups":   {vpn, aUser, true},
		"copied":           {vpn, made("membership.copy", "", member("VPN"), person), true},
		"copied elsewhere": {vpn, made("membership.copy", "", member("VPN"), person, member("Staff")), false},
		"a member":         {vpn, made("membership.addMembers", "", member("VPN"), person), true},
		"a nested group":   {vpn, made("membership.addMembers", "", member("VPN"), nested), false},
		"of a group":       {vpn, made("membership.add", "", member("VPN"), nested), false},
		"restored":         {vpn, made("bin.restore", "", person), true},
		"a restored group": {vpn, made("bin.restore", "", nested), false},
		"a tree":           {vpn, made("ou.delete", "", unit, person), true},
		"a group in it":    {vpn, made("ou.delete", "", unit, nested), false},
		"the zone":         {identity.Limits{Zones: []string{"X"}}, made("a.create", "x", record), true},
		"another zone":     {identity.Limits{Zones: []string{"y"}}, made("a.create", "x", record), false},
		"the name":         {identity.Limits{Names: []string{"www.x"}}, made("a.create", "x", record), true},
		"another name":     {identity.Limits{Names: []string{"mail.x"}}, made("a.create", "x", record), false},
		"a directory name": {identity.Limits{Names: []string{"mail.x"}}, aUser, true},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, change.BoundsOf(c.limits).Include(c.made))
		})
	}
}

// TestNamesOutsideAreHidden: names of objects outside the limits are hidden, so the caller learns nothing
// about them.
func TestNamesOutsideAreHidden(t *testing.T) {
	bounds := change.BoundsOf(identity.Limits{OUs: []string{"OU=Sales,DC=x"}})
	c := change.Change{
		Attribute: "manager", Before: json.RawMessage(`"CN=a,OU=Sales,DC=x"`), After: json.RawMessage(`"CN=b,DC=x"`),
	}
	bounds.Hide(&c)
	assert.Equal(t, `"CN=a,OU=Sales,DC=x" null`, string(c.Before)+" "+string(c.After))
	c = change.Change{Attribute: "l", Before: json.RawMessage(`"CN=b,DC=x"`), After: json.RawMessage(`null`)}
	bounds.Hide(&c)
	assert.Equal(t, `"CN=b,DC=x" null`, string(c.Before)+" "+string(c.After))
}

// TestTheFormerPlaceOfAnObjectIsHidden: an object that was moved into the limits is shown where it is now.
func TestTheFormerPlaceOfAnObjectIsHidden(t *testing.T) {
	object := func(dn, before, after string) ps.Intended {
		return ps.Intended{DN: dn, GUID: "0a3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f11",
			Changes: []ps.IntendedChange{{Name: change.Parent, Before: before, After: after}}}
	}
	inSales := change.BoundsOf(identity.Limits{OUs: []string{"OU=Sales,DC=x"}})
	for name, c := range map[string]struct {
		bounds change.Bounds
		object ps.Intended
		want   string
	}{
		"moved in":    {inSales, object(`CN=a\,b,OU=Secret,DC=x`, "OU=Secret,DC=x", "OU=Sales,DC=x"), `CN=a\,b,OU=Sales,DC=x`},
		"written":     {inSales, object("CN=a, OU=Secret,DC=x", "ou=secret,dc=x", "OU=Sales,DC=x"), "OU=Sales,DC=x"},
		"moved out":   {inSales, object("CN=a,OU=Sales,DC=x", "OU=Sales,DC=x", "OU=Secret,DC=x"), "CN=a,OU=Sales,DC=x"},
		"no limits":   {change.Bounds{}, object("CN=a,OU=Secret,DC=x", "OU=Secret,DC=x", "OU=Sales,DC=x"), "CN=a,OU=Secret,DC=x"},
		"moved about": {inSales, object("CN=a,OU=A,OU=Sales,DC=x", "OU=A,OU=Sales,DC=x", "OU=Sales,DC=x"), "CN=a,OU=A,OU=Sales,DC=x"},
	} {
		t.Run(name, func(t *testing.T) {
			done := ops.Done{
				Op: ops.Find(ops.Table(), "user.update"), Intent: &ps.Intent{Objects: []ps.Intended{c.object}},
			}
			shown := change.MadeBy(ops.Table(), done, "").Objects(c.bounds, false)
			assert.Equal(t, c.want, shown[0].DistinguishedName)
		})
	}
}

// TestWhichGivenValuesAreShown: a value that another caller gave is hidden if it may name an object outside
// the limits.
func TestWhichGivenValuesAreShown(t *testing.T) {
	inSales := change.BoundsOf(identity.Limits{OUs: []string{"OU=Sales,DC=x"}})
	vpn := change.BoundsOf(identity.Limits{Groups: []string{"VPN"}})
	for name, c := range map[string]struct {
		bounds           change.Bounds
		row, param, text string
		want             bool
	}{
		"no limits":       {change.Bounds{}, "user.update", "Manager", "boss", true},
		"the object":      {inSales, "user.update", "Username", "anna", true},
		"a text":          {inSales, "user.update", "City", "Rome", true},
		"nothing":         {inSales, "user.update", "Manager", "", true},
		"an account":      {inSales, "user.update", "manager", "boss", false},
		"a GUID":          {inSales, "user.update", "Manager", "0a3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f11", false},
		"a name inside":   {inSales, "user.update", "Manager", "CN=Boss,OU=Sales,DC=x", true},
		"a name outside":  {inSales, "user.update", "Manager", "CN=Boss,OU=Other,DC=x", false},
		"an OU inside":    {inSales, "user.update", "OUPath", "OU=A,OU=Sales,DC=x", true},
		"an OU outside":   {inSales, "user.update", "OUPath", "OU=Other,DC=x", false},
		"members":         {inSales, "membership.addMembers", "Members", "anna", false},
		"members by name": {inSales, "membership.addMembers", "Members", "[CN=a,OU=Sales,DC=x CN=b,DC=x]", false},
		"another's":       {inSales, "membership.copy", "From", "boss", false},
		"the group":       {vpn, "user.primaryGroup", "GroupName", "vpn", true},
		"another group":   {vpn, "user.primaryGroup", "GroupName", "Staff", false},
		"a manager":       {vpn, "user.update", "Manager", "boss", true},
		"a zone":          {inSales, "a.create", "ZoneName", "x", true},
		"unknown":         {inSales, "user.update", "Nothing", "x", true},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, c.bounds.ShowsGiven(ops.Find(ops.Table(), c.row), c.param, c.text))
		})
	}
}

// TestUndoable: parts that were undone do not count, and a change cannot be undone if the row that would undo
// it is missing.
func TestUndoable(t *testing.T) {
	done := func(row string, effect ps.Effect, changes ...ps.IntendedChange) ops.Done {
		object := ps.Intended{GUID: "0a3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f11", DN: "CN=a,DC=x", Changes: changes}
		return ops.Done{
			Op: ops.Find(ops.Table(), row), Intent: &ps.Intent{Effect: effect, Objects: []ps.Intended{object}},
		}
	}
	update := done("user.update", ps.EffectChanged, ps.IntendedChange{Name: "l", Before: "Oslo", After: "Rome"},
		ps.IntendedChange{Name: "lockoutTime", Before: "1", Renewed: true})
	made := change.MadeBy(ops.Table(), update, "")
	assert.Equal(t, schema.UndoPartial, made.Undoable(nil), "the server chooses one of the values")
	city := func(fields ...string) bool { return len(fields) == 1 && fields[0] == "city" }
	assert.Equal(t, schema.UndoNone, made.Undoable(city))
	assert.Equal(t, schema.UndoNone, change.MadeBy(nil, update, "").Undoable(nil))
	gone := ps.IntendedChange{Name: "exists", Before: "True", After: "False"}
	removed := done("user.delete", ps.EffectRemoved, gone)
	assert.Equal(t, schema.UndoRestore, change.MadeBy(ops.Table(), removed, "").Undoable(nil))
	assert.Equal(t, schema.UndoNone, change.MadeBy(nil, removed, "").Undoable(nil), "no row restores")
}

// TestPlansOfOneUndoAreOne: the plans of one undo are merged, and name each scope once.
func TestPlansOfOneUndoAreOne(t *testing.T) {
	plan := func(dn string, scopes ...identity.Scope) change.Plan {
		return change.Plan{Server: dn, Objects: []change.ShownObject{{DistinguishedName: dn}}, Requires: scopes}
	}
	one := plan("a", identity.ChangeUndo, "x:y")
	all := one.And(plan("b", "x:y"), plan("c"))
	assert.Equal(t, "a", all.Server)
	assert.Len(t, all.Objects, 3)
	assert.Equal(t, []identity.Scope{identity.ChangeUndo, "x:y"}, all.Requires)
	assert.Len(t, one.Objects, 1)
}

// TestARecordThatLacksObjectsIsShown: a record of a damaged store, or of another version, can be
// shown even if it names fewer objects than a script announces.
func TestARecordThatLacksObjectsIsShown(t *testing.T) {
	one := ps.Intended{GUID: "0a3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f11", DN: "CN=a,DC=x"}
	one.Changes = []ps.IntendedChange{
		{Name: change.Member, Before: "False", After: "True"}, {Name: "exists", Before: "True", After: "False"},
	}
	for _, op := range ops.Table() {
		if !op.Effect.Writes() || op.Script == "" {
			continue
		}
		for n := range 3 {
			intent := &ps.Intent{Effect: ps.EffectChanged, Objects: []ps.Intended{one, one}[:min(n, 2)]}
			made := change.MadeBy(ops.Table(), ops.Done{Op: op, Intent: intent}, "")
			assert.NotPanics(t, func() { made.Undoable(nil); made.Objects(change.Bounds{}, true) }, "%s %d", op.ID, n)
		}
	}
}
