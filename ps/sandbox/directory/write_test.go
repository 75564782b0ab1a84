package directory

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	root  = "DC=corp,DC=example"
	users = "CN=Users,DC=corp,DC=example"
	corp  = "OU=Corp,DC=corp,DC=example"
	odd   = "OU=Odd Names,OU=Corp,DC=corp,DC=example"
	sec   = "OU=Security,OU=Groups,OU=Corp,DC=corp,DC=example"
	empty = "OU=Empty,OU=Corp,DC=corp,DC=example"
)

func user(sam string, more ...Values) []Values {
	return append([]Values{Attr("objectClass", "user"), Attr("sAMAccountName", sam)}, more...)
}

// TestAddRefuses: each error has the code of facts D.2, and nothing changes.
func TestAddRefuses(t *testing.T) {
	dc, _ := lab(t)
	tests := []struct {
		name  string
		dn    string
		attrs []Values
		code  int
		kind  Kind
	}{
		{"malformed DN", "CN=a,", user("a"), CodeInvalidDN, KindSyntax},
		{"empty DN", "", user("a"), CodeInvalidDN, KindSyntax},
		{"no parent (D.2)", "CN=a,OU=Nowhere," + corp, user("a"), CodeNoParent, KindNoParent},
		{"outside the domain", "CN=a,O=x", user("a"), CodeNoParent, KindNoParent},
		{"another domain (D.2)", "CN=a,DC=other,DC=example", user("a"), CodeReferral, KindReferral},
		{"no class", "CN=a," + empty, []Values{Attr("sAMAccountName", "a")}, CodeClassRequired, KindConstraint},
		{"unknown class", "CN=a," + empty, []Values{Attr("objectClass", "wizard")}, CodeInvalidParameter, KindSyntax},
		{"abstract class", "CN=a," + empty, []Values{Attr("objectClass", "leaf")}, CodeClassViolation, KindConstraint},
		{"system class", "DC=a," + root, []Values{Attr("objectClass", "domainDNS")}, CodeUnwilling, KindUnwilling},
		{"wrong naming attribute", "OU=a," + empty, user("a"), CodeNaming, KindConstraint},
		{"an OU under a container", "OU=a," + users, []Values{Attr("objectClass", "organizationalUnit")}, CodeIllegalSuperior, KindConstraint},
		{"a user under a user", "CN=a,CN=Photo Paula," + odd, user("a"), CodeIllegalSuperior, KindConstraint},
		{"CN taken (E4)", "CN=photo paula," + odd, user("a"), CodeNameExists, KindExists},
		{"CN and SAM taken (E4)", "CN=photo paula," + odd, user("paula"), CodeAccountExists, KindExists},
		{"SAM taken (E4)", "CN=a," + empty, user("PAULA"), CodeAccountExists, KindExists},
		{"SAM taken by a group", "CN=a," + empty, user("Domain Admins"), CodeAccountExists, KindExists},
		{"group SAM taken (D.2)", "CN=a," + empty, []Values{Attr("objectClass", "group"), Attr("sAMAccountName", "paula")}, CodeGroupExists, KindExists},
		{"OU taken (E46)", "OU=EMPTY," + corp, []Values{Attr("objectClass", "organizationalUnit")}, CodeNameExists, KindExists},
		{"UPN taken (D.2)", "CN=a," + empty, user("a", Attr("userPrincipalName", "Paula@corp.example")), CodeUPNExists, KindExists},
		{"SPN taken (D.2)", "CN=a," + empty, user("a", Attr("servicePrincipalName", "host/fs1")), CodeSPNExists, KindExists},
		{"SAM too long (C24)", "CN=a," + empty, user(strings.Repeat("a", 21)), CodeBadAccountName, KindConstraint},
		{"computer SAM too long", "CN=a," + empty, []Values{Attr("objectClass", "computer"), Attr("sAMAccountName", strings.Repeat("A", 20)+"$")}, CodeBadAccountName, KindConstraint},
		{"SAM with a star (C24)", "CN=a," + empty, user("a*b"), CodeBadAccountName, KindConstraint},
		{"SAM with a slash", "CN=a," + empty, user("a/b"), CodeBadAccountName, KindConstraint},
		{"SAM with a comma", "CN=a," + empty, user("a,b"), CodeBadAccountName, KindConstraint},
		{"SAM with an at sign is fine, a tab is not", "CN=a," + empty, user("a\tb"), CodeBadAccountName, KindConstraint},
		{"SAM with a trailing dot (C24)", "CN=a," + empty, user("a."), CodeBadAccountName, KindConstraint},
		{"SAM of dots and blanks", "CN=a," + empty, user(". ."), CodeBadAccountName, KindConstraint},
		{"CN too long (C24)", "CN=" + strings.Repeat("x", 65) + "," + empty, user("a"), CodeRange, KindConstraint},
		{"CN with a line feed", `CN=a\0Ab,` + empty, user("a"), CodeInvalidDN, KindSyntax},
		{"title too long", "CN=a," + empty, user("a", Attr("title", strings.Repeat("x", 129))), CodeRange, KindConstraint},
		{"range counts UTF-16 units", "CN=a," + empty, user("a", Attr("givenName", strings.Repeat("😀", 33))), CodeRange, KindConstraint},
		{"two values", "CN=a," + empty, user("a", Attr("title", "x", "y")), CodeSingleValue, KindConstraint},
		{"the same value twice", "CN=a," + empty, user("a", Attr("otherTelephone", "1", "1")), CodeValueExists, KindConstraint},
		{"empty value (E7, H22)", "CN=a," + empty, user("a", Attr("title", "")), CodeInvalidParameter, KindSyntax},
		{"unknown attribute", "CN=a," + empty, user("a", Attr("shoeSize", 43)), CodeInvalidParameter, KindSyntax},
		{"attribute of another class", "CN=a," + empty, user("a", Attr("groupType", 2)), CodeNotDefinedForClass, KindConstraint},
		{"invalid UTF-8", "CN=a," + empty, user("a", Attr("title", "\xff")), CodeInvalidParameter, KindSyntax},
		{"no number", "CN=a," + empty, user("a", Attr("countryCode", "x")), CodeInvalidParameter, KindSyntax},
		{"number out of range", "CN=a," + empty, user("a", Attr("countryCode", 70000)), CodeRange, KindConstraint},
		{"a truth value for a number", "CN=a," + empty, user("a", Attr("countryCode", true)), CodeInvalidParameter, KindSyntax},
		{"system attribute", "CN=a," + empty, user("a", Attr("objectGUID", GUID{1})), CodeIllegalModify, KindConstraint},
		{"back link", "CN=a," + empty, user("a", Attr("directReports", users)), CodeIllegalModify, KindConstraint},
		{"memberOf", "CN=a," + empty, user("a", Attr("memberOf", users)), CodeOwnedBySAM, KindUnwilling},
		{"lastLogon", "CN=a," + empty, user("a", Attr("lastLogon", 1)), CodeOwnedBySAM, KindUnwilling},
		{"absent manager (E8)", "CN=a," + empty, user("a", Attr("manager", "CN=x,"+corp)), CodeNotFound, KindNotFound},
		{"manager is no DN", "CN=a," + empty, user("a", Attr("manager", "boss")), CodeInvalidDN, KindSyntax},
		{"enabled without a password (H4)", "CN=a," + empty, user("a", Attr("userAccountControl", 512)), CodePasswordRestriction, KindPolicy},
		{"weak password (H2)", "CN=a," + empty, user("a", Attr("userAccountControl", 514), Attr("unicodePwd", QuotePassword("short"))), CodePasswordRestriction, KindPolicy},
		{"a password without quotes", "CN=a," + empty, user("a", Attr("unicodePwd", []byte("x"))), CodeUnwilling, KindUnwilling},
		{"name of a container (C32)", "OU=Users," + root, []Values{Attr("objectClass", "organizationalUnit")}, CodeNameExists, KindExists},
		{"name of an OU (C32)", "CN=empty," + corp, user("a"), CodeNameExists, KindExists},
		{"name in another width (H25)", "CN=Ｐhoto Paula," + odd, user("a"), CodeNameExists, KindExists},
		{"SAM in another width (H25)", "CN=a," + empty, user("ｐａｕｌａ"), CodeAccountExists, KindExists},
		{"two descriptions (H29)", "CN=a," + empty, user("a", Attr("description", "a", "b")), CodeSingleValue, KindConstraint},
		{"an account of another domain (H28)", "CN=a," + empty, user("a", Attr("userAccountControl", 0x102)), CodeUnwilling, KindUnwilling},
		{"a trust (H28)", "CN=a," + empty, user("a", Attr("userAccountControl", 0x802)), CodeUnwilling, KindUnwilling},
		{"a user as read-only controller (H28)", "CN=a," + empty, user("a", Attr("userAccountControl", 0x4000202)), CodeUnwilling, KindUnwilling},
		{"a service below a user", "CN=a,CN=Photo Paula," + odd, []Values{Attr("objectClass", "serviceConnectionPoint")}, CodeIllegalSuperior, KindConstraint},
		{"two account types", "CN=a," + empty, user("a", Attr("userAccountControl", 0x1200|2)), CodeUnwilling, KindUnwilling},
		{"a user as a computer", "CN=a," + empty, user("a", Attr("userAccountControl", 0x1002)), CodeUnwilling, KindUnwilling},
		{"odd primary group", "CN=a," + empty, user("a", Attr("primaryGroupID", 512)), CodeConstraint, KindConstraint},
		{"pwdLastSet", "CN=a," + empty, user("a", Attr("pwdLastSet", 5)), CodeInvalidParameter, KindConstraint},
		{"no scope (E34)", "CN=a," + empty, []Values{Attr("objectClass", "group"), Attr("groupType", -2147483648)}, CodeInvalidGroupType, KindConstraint},
		{"two scopes", "CN=a," + empty, []Values{Attr("objectClass", "group"), Attr("groupType", 6)}, CodeInvalidGroupType, KindConstraint},
		{"required attribute (D.2)", "CN=a,CN=PRINT1,OU=Servers,OU=Devices," + corp, []Values{Attr("objectClass", "printQueue")}, CodeMissingRequired, KindConstraint},
		{"RDN attribute differs", "CN=a," + empty, user("a", Attr("cn", "b")), CodeOnRDN, KindConstraint},
		{"name given", "CN=a," + empty, user("a", Attr("name", "a")), CodeOnRDN, KindConstraint},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			unchanged(t, dc, func() {
				o, err := dc.Add(bg, tt.dn, tt.attrs...)
				e := requireCode(t, tt.code, tt.kind, err)
				assert.Nil(t, o)
				assert.Equal(t, "add", e.Op)
				assert.NotEqual(t, Message(-1, ""), e.Message("en-US"), "code %d has no text of its own", tt.code)
			})
			requireSound(t, dc.rep)
		})
	}
}

func TestAdd(t *testing.T) {
	dc, clock := lab(t)
	o, err := dc.Add(bg, "CN=Nova\\, Nina,"+empty, user("nnova",
		Attr("givenName", "Nina"), Attr("cn", "nova, nina"),
		Attr("manager", "<SID="+dc.domain.SID().WithRID(500).String()+">"),
		Attr("accountExpires", time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), Attr("otherTelephone", "1", "2"))...)
	require.NoError(t, err)
	assert.Equal(t, "CN=Nova\\, Nina,"+empty, o.DN)
	assert.Equal(t, "Nova, Nina", o.String("cn"))
	assert.Equal(t, "546", o.String("userAccountControl"), "facts H1: a raw add without userAccountControl")
	assert.Equal(t, "0", o.String("pwdLastSet"), "facts H1")
	assert.Equal(t, "513", o.String("primaryGroupID"), "facts H18")
	assert.False(t, o.Has("memberOf"), "facts H18: the primary group is not in memberOf")
	assert.Equal(t, []string{"CN=Administrator," + users}, o.Strings("manager"))
	assert.Equal(t, clock.now, o.Value("whenCreated"))
	assert.Equal(t, o.Value("uSNCreated"), o.Value("uSNChanged"))
	at, ok := o.Time("accountExpires")
	require.True(t, ok)
	assert.Equal(t, 2030, at.Year())
	assert.Equal(t, []string{"top", "person", "organizationalPerson", "user"}, o.Strings("objectClass"))
	assert.False(t, o.GUID.IsZero())
	assert.Equal(t, dc.domain.SID(), o.SID.Domain())
	boss, err := dc.BySAM(bg, "administrator", "directReports")
	require.NoError(t, err)
	assert.Contains(t, boss.Strings("directReports"), o.DN)

	again, err := dc.ByGUID(bg, o.GUID)
	require.NoError(t, err)
	assert.Equal(t, o, again)

	c, err := dc.Add(bg, "CN=NEWPC,CN=Computers,"+root, Attr("objectClass", "computer"),
		Attr("sAMAccountName", "NEWPC$"))
	require.NoError(t, err)
	assert.Equal(t, "515", c.String("primaryGroupID"), "facts E18")
	assert.Equal(t, "4098", c.String("userAccountControl"))
	assert.Equal(t, "805306369", c.String("sAMAccountType"))
	g, err := dc.Add(bg, "CN=newgroup,"+users, Attr("objectClass", "top", "group"))
	require.NoError(t, err)
	assert.Equal(t, "-2147483646", g.String("groupType"))
	assert.True(t, strings.HasPrefix(g.String("sAMAccountName"), "$"), "a generated name")
	assert.Equal(t, "268435456", g.String("sAMAccountType"))
	assert.Equal(t, o.SID.RID()+2, g.SID.RID(), "RIDs are consecutive")
	long, err := dc.Add(bg, "CN=LONG,CN=Computers,"+root, Attr("objectClass", "computer"),
		Attr("sAMAccountName", "ABCDEFGHIJKLMNOPQRS$"))
	require.NoError(t, err, "facts C24: the directory itself allows 20 units")
	require.NoError(t, setUAC(dc, long.DN, 4096), "facts H27: a computer needs no password")
	p, err := dc.Add(bg, "CN=person,"+users, Attr("objectClass", "person"), Attr("description", "a", "b"))
	require.NoError(t, err, "a class of X.500 is structural")
	assert.Len(t, p.Strings("description"), 2, "facts H29: only accounts and groups have one")
	q, err := dc.Add(bg, "CN=queue,"+c.DN, Attr("objectClass", "printQueue"), Attr("printerName", "q"),
		Attr("serverName", "x"),
		Attr("shortServerName", "x"), Attr("uNCName", `\\x\q`), Attr("versionNumber", 4))
	require.NoError(t, err)
	assert.True(t, q.SID.IsZero())
	pw, err := dc.Add(bg, "CN=pw,"+users,
		user("pw", Attr("userAccountControl", 512), Attr("unicodePwd", QuotePassword("Str0ng-Pass!")))...)
	require.NoError(t, err, "a password in the add enables (facts H3)")
	assert.Equal(t, "512", pw.String("userAccountControl"))
	assert.NotEqual(t, "0", pw.String("pwdLastSet"))
	assert.False(t, pw.Has("unicodePwd"))
	requireSound(t, dc.rep)
}

func TestModifyRefuses(t *testing.T) {
	dc, _ := lab(t)
	paula := "CN=Photo Paula," + odd
	tests := []struct {
		name   string
		ref    string
		change Change
		code   int
		kind   Kind
	}{
		{"absent DN", "CN=x," + corp, Change{OpReplace, "title", []any{"x"}}, CodeNoSuchObject, KindNotFound},
		{"absent GUID", GUID{9}.Ref(), Change{OpReplace, "title", []any{"x"}}, CodeNotFound, KindNotFound},
		{"absent SID", "<SID=S-1-5-21-1-1-1-1>", Change{OpReplace, "title", []any{"x"}}, CodeNotFound, KindNotFound},
		{"malformed reference", "<GUID=1>", Change{OpReplace, "title", []any{"x"}}, CodeInvalidDN, KindSyntax},
		{"unknown reference", "<WKGUID=1,x>", Change{OpReplace, "title", []any{"x"}}, CodeInvalidDN, KindSyntax},
		{"cut reference", "<GUID=1", Change{OpReplace, "title", []any{"x"}}, CodeInvalidDN, KindSyntax},
		{"empty DN", "", Change{OpReplace, "title", []any{"x"}}, CodeNoSuchObject, KindNotFound},
		{"another domain", "CN=x,DC=other,DC=example", Change{OpReplace, "title", []any{"x"}}, CodeReferral, KindReferral},
		{"unknown attribute", paula, Change{OpReplace, "shoeSize", []any{"x"}}, CodeInvalidParameter, KindSyntax},
		{"RDN", paula, Change{OpReplace, "cn", []any{"x"}}, CodeOnRDN, KindConstraint},
		{"name", paula, Change{OpReplace, "name", []any{"x"}}, CodeOnRDN, KindConstraint},
		{"class", paula, Change{OpAdd, "objectClass", []any{"computer"}}, CodeModifyClass, KindConstraint},
		{"whenCreated", paula, Change{OpReplace, "whenCreated", []any{"20200101000000.0Z"}}, CodeIllegalModify, KindConstraint},
		{"security descriptor", paula, Change{OpReplace, "nTSecurityDescriptor", []any{[]byte{1}}}, CodeUnwilling, KindUnwilling},
		{"computed", paula, Change{OpReplace, "canonicalName", []any{"x"}}, CodeIllegalModify, KindConstraint},
		{"SID", paula, Change{OpReplace, "objectSid", []any{Everyone}}, CodeOwnedBySAM, KindUnwilling},
		{"clear accountExpires (E9)", paula, Change{OpClear, "accountExpires", nil}, CodeIllegalModify, KindConstraint},
		{"negative accountExpires", paula, Change{OpReplace, "accountExpires", []any{-1}}, CodeInvalidParameter, KindConstraint},
		{"clear userAccountControl", paula, Change{OpClear, "userAccountControl", nil}, CodeIllegalModify, KindConstraint},
		{"clear SAM", paula, Change{OpClear, "sAMAccountName", nil}, CodeMissingRequired, KindConstraint},
		{"SAM taken", paula, Change{OpReplace, "sAMAccountName", []any{"rita"}}, CodeAccountExists, KindExists},
		{"rename krbtgt's account", "CN=krbtgt," + users, Change{OpReplace, "sAMAccountName", []any{"kdc"}}, CodeSpecialAccount, KindProtected},
		{"enable krbtgt", "CN=krbtgt," + users, Change{OpReplace, "userAccountControl", []any{512}}, CodeSpecialAccount, KindProtected},
		{"UPN taken", paula, Change{OpReplace, "userPrincipalName", []any{"RITA@corp.example"}}, CodeUPNExists, KindExists},
		{"add a second value", paula, Change{OpAdd, "displayName", []any{"x"}}, CodeSingleValue, KindConstraint},
		{"add the present value", paula, Change{OpAdd, "displayName", []any{"photo paula"}}, CodeValueExists, KindConstraint},
		{"replace with two", paula, Change{OpReplace, "displayName", []any{"x", "y"}}, CodeSingleValue, KindConstraint},
		{"replace with the same twice", "CN=Hidden User," + odd, Change{OpReplace, "otherTelephone", []any{"x", "X"}}, CodeValueExists, KindConstraint},
		{"delete an absent attribute", paula, Change{OpDelete, "title", nil}, CodeMissingAttribute, KindConstraint},
		{"delete an absent value", paula, Change{OpDelete, "displayName", []any{"x"}}, CodeMissingValue, KindConstraint},
		{"delete an absent reference", paula, Change{OpDelete, "manager", []any{"CN=Rds Rita," + odd}}, CodeMissingValue, KindConstraint},
		{"clear by delete: no manager", paula, Change{OpDelete, "manager", nil}, CodeMissingAttribute, KindConstraint},
		{"too long", paula, Change{OpReplace, "initials", []any{"1234567"}}, CodeRange, KindConstraint},
		{"empty", paula, Change{OpReplace, "title", []any{""}}, CodeInvalidParameter, KindSyntax},
		{"nil", paula, Change{OpReplace, "title", []any{nil}}, CodeInvalidParameter, KindSyntax},
		{"pwdLastSet", paula, Change{OpReplace, "pwdLastSet", []any{int64(132254171030000000)}}, CodeInvalidParameter, KindConstraint},
		{"lockoutTime", paula, Change{OpReplace, "lockoutTime", []any{1}}, CodeInvalidParameter, KindConstraint},
		{"add a password", paula, Change{OpAdd, "unicodePwd", []any{QuotePassword("Str0ng-Pass!")}}, CodeUnwilling, KindUnwilling},
		{"a password of a group", "CN=Empty Group," + sec, Change{OpReplace, "unicodePwd", []any{QuotePassword("Str0ng-Pass!")}}, CodeNotDefinedForClass, KindConstraint},
		{"enable without a password (H5)", "CN=Never Set,OU=IT,OU=Berlin,OU=Staff," + corp, Change{OpReplace, "userAccountControl", []any{512}}, CodePasswordRestriction, KindPolicy},
		{"a domain controller by hand", "CN=PC01,OU=Berlin,OU=Workstations,OU=Devices," + corp, Change{OpReplace, "userAccountControl", []any{0x2000}}, CodeUnwilling, KindUnwilling},
		{"primary group without membership", paula, Change{OpReplace, "primaryGroupID", []any{512}}, CodeMemberNotInGroup, KindConstraint},
		{"primary group that is none", paula, Change{OpReplace, "primaryGroupID", []any{99999}}, CodeConstraint, KindConstraint},
		{"primary group domain local", paula, Change{OpReplace, "primaryGroupID", []any{553}}, CodeConstraint, KindConstraint},
		{"a second description (H29)", paula, Change{OpAdd, "description", []any{"another"}}, CodeSingleValue, KindConstraint},
		{"groupType of a user", paula, Change{OpReplace, "groupType", []any{2}}, CodeNotDefinedForClass, KindConstraint},
		{"builtin group's type", "CN=Administrators,CN=Builtin," + root, Change{OpReplace, "groupType", []any{-2147483640}}, CodeUnwilling, KindUnwilling},
		{"system group's type", "CN=Domain Admins," + users, Change{OpReplace, "groupType", []any{-2147483640}}, CodeUnwilling, KindUnwilling},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			unchanged(t, dc, func() {
				// a valid change comes first and must be rolled back
				changes := []Change{{OpReplace, "description", []any{"changed"}}, tt.change}
				e := requireCode(t, tt.code, tt.kind, dc.Modify(bg, tt.ref, changes, ModifyOptions{}))
				assert.Equal(t, "modify", e.Op)
			})
		})
	}
}

func TestModify(t *testing.T) {
	dc, clock := lab(t)
	ref := "CN=Hidden User," + odd
	before, err := dc.Get(bg, ref)
	require.NoError(t, err)
	get := func(name string) []string {
		o, err := dc.Get(bg, ref)
		require.NoError(t, err)
		return o.Strings(name)
	}
	change := func(opts ModifyOptions, changes ...Change) {
		require.NoError(t, dc.Modify(bg, ref, changes, opts))
	}
	change(ModifyOptions{}, Change{OpAdd, "otherTelephone", []any{"4"}},
		Change{OpDelete, "otherTelephone", []any{"1", "2"}})
	assert.Equal(t, []string{"3", "4"}, get("otherTelephone"))
	change(ModifyOptions{Permissive: true}, Change{OpAdd, "otherTelephone", []any{"4"}},
		Change{OpDelete, "otherTelephone", []any{"9"}}, Change{OpDelete, "title", nil})
	assert.Equal(t, []string{"3", "4"}, get("otherTelephone"))
	change(ModifyOptions{}, Change{OpReplace, "otherTelephone", nil}, Change{OpClear, "title", nil})
	assert.Nil(t, get("otherTelephone"))
	change(ModifyOptions{}, Change{OpReplace, "TITLE", []any{"Chief"}},
		Change{OpReplace, "displayName", []any{"hidden user"}})
	assert.Equal(t, []string{"Chief"}, get("title"))
	assert.Equal(t, []string{"hidden user"}, get("displayName"), "a change of case is a write")

	// facts H22: only a write changes whenChanged and uSNChanged
	was, err := dc.Get(bg, ref, "whenChanged", "uSNChanged")
	require.NoError(t, err)
	clock.advance(time.Hour)
	change(ModifyOptions{}, Change{OpReplace, "title", []any{"Chief"}},
		Change{OpReplace, "userAccountControl", []any{512}})
	same, err := dc.Get(bg, ref, "whenChanged", "uSNChanged")
	require.NoError(t, err)
	assert.Equal(t, was, same)
	change(ModifyOptions{}, Change{OpReplace, "title", []any{"Boss"}})
	now, err := dc.Get(bg, ref, "whenChanged", "uSNChanged")
	require.NoError(t, err)
	assert.Equal(t, clock.now, now.Value("whenChanged"))
	assert.Greater(t, now.Value("uSNChanged"), was.Value("uSNChanged"))
	assert.Equal(t, before.GUID, now.GUID)

	// the earlier copy is unchanged
	assert.Equal(t, []string{"1", "2", "3"}, before.Strings("otherTelephone"))
	before.Strings("otherTelephone")[0] = "x"
	assert.Equal(t, []string{"1", "2", "3"}, before.Strings("otherTelephone"))
	requireSound(t, dc.rep)
}

// Facts E12, E40, C21
func TestRename(t *testing.T) {
	dc, _ := lab(t)
	o, err := dc.BySAM(bg, "paula")
	require.NoError(t, err)
	require.NoError(t, dc.Rename(bg, o.GUID.Ref(), "Weird, #1 \\ Name "))
	now, err := dc.ByGUID(bg, o.GUID)
	require.NoError(t, err)
	assert.Equal(t, `CN=Weird\, \#1 \\ Name\ ,`+odd, now.DN)
	assert.Equal(t, "Photo Paula", now.String("displayName"), "facts E12: only the name changes")
	assert.Equal(t, "paula", now.String("sAMAccountName"))
	_, err = dc.Get(bg, o.DN)
	requireCode(t, CodeNoSuchObject, KindNotFound, err)
	unchanged(t, dc, func() {
		require.NoError(t, dc.Rename(bg, o.GUID.Ref(), "Weird, #1 \\ Name "), "facts E12: the same name again")
		requireCode(t, CodeNameExists, KindExists, dc.Rename(bg, o.GUID.Ref(), "rds RITA"))
		// facts C32: the name of an OU
		requireCode(t, CodeNameExists, KindExists, dc.Rename(bg, o.GUID.Ref(), "vertrieb/NORD"))
		requireCode(t, CodeRange, KindConstraint, dc.Rename(bg, o.GUID.Ref(), strings.Repeat("x", 65)))
		requireCode(t, CodeNaming, KindConstraint, dc.Rename(bg, o.GUID.Ref(), ""))
		requireCode(t, CodeInvalidDN, KindSyntax, dc.Rename(bg, o.GUID.Ref(), "a\nb"))
		requireCode(t, CodeUnwilling, KindUnwilling, dc.Rename(bg, root, "other"))
		requireCode(t, CodeUnwilling, KindUnwilling, dc.Rename(bg, users, "People"))
		requireCode(t, CodeUnwilling, KindUnwilling, dc.Rename(bg, "CN=Administrators,CN=Builtin,"+root, "Admins"))
		requireCode(t, CodeNoSuchObject, KindNotFound, dc.Rename(bg, "CN=x,"+odd, "y"))
	})
	require.NoError(t, dc.Rename(bg, o.GUID.Ref(), "WEIRD, #1 \\ name "), "other case is a change")
	protected := "OU=Protected empty," + corp
	require.NoError(t, dc.Rename(bg, protected, "Renamed"), "facts E40: protection does not stop a rename")
	on, err := dc.Protected(bg, "OU=Renamed,"+corp)
	require.NoError(t, err)
	assert.True(t, on)
	require.NoError(t, dc.Rename(bg, "CN=Administrator,"+users, "Root"), "built-in accounts can be renamed")
	requireSound(t, dc.rep)
}

// Facts E45, H19: links and GUIDs are kept, the DNs of objects below change.
func TestMove(t *testing.T) {
	dc, _ := lab(t)
	berlin := "OU=Berlin,OU=Staff," + corp
	unchanged(t, dc, func() {
		requireCode(t, CodeUnwilling, KindUnwilling, dc.Move(bg, "OU=Staff,"+corp, berlin))
		requireCode(t, CodeUnwilling, KindUnwilling,
			dc.Move(bg, "OU=Athens,OU=Staff,"+corp, "OU=Athens,OU=Staff,"+corp))
		requireCode(t, CodeNoParent, KindNoParent, dc.Move(bg, "OU=Athens,OU=Staff,"+corp, "OU=Nowhere,"+corp))
		requireCode(t, CodeReferral, KindReferral, dc.Move(bg, "OU=Athens,OU=Staff,"+corp, "DC=other,DC=example"))
		requireCode(t, CodeIllegalSuperior, KindConstraint, dc.Move(bg, "OU=Athens,OU=Staff,"+corp, users))
		requireCode(t, CodeUnwilling, KindUnwilling, dc.Move(bg, users, corp))
		requireCode(t, CodeUnwilling, KindUnwilling, dc.Move(bg, root, corp))
		requireCode(t, CodeAccessDenied, KindDenied, dc.Move(bg, berlin, empty)) // facts E40
		require.NoError(t, dc.Move(bg, "OU=Athens,OU=Staff,"+corp, "OU=Staff,"+corp), "where it is")
	})
	head, err := dc.Search(bg, SearchRequest{Filter: "(title=Head of Finance)",
		Base: "OU=Athens,OU=Staff," + corp})
	require.NoError(t, err)
	require.Len(t, head, 1)
	require.NoError(t, dc.Move(bg, "OU=Athens,OU=Staff,"+corp, empty))
	moved, err := dc.ByGUID(bg, head[0].GUID, "distinguishedName", "memberOf", "directReports", "canonicalName")
	require.NoError(t, err)
	assert.Equal(t, strings.Replace(head[0].DN, "OU=Staff,", "OU=Empty,", 1), moved.DN)
	assert.Equal(t, moved.DN, moved.String("distinguishedName"))
	assert.True(t, strings.HasPrefix(moved.String("canonicalName"), "corp.example/Corp/Empty/Athens/"))
	for _, dn := range moved.Strings("directReports") {
		assert.Contains(t, dn, "OU=Athens,OU=Empty,")
	}
	g, err := dc.Get(bg, "CN=Athens Office,"+sec, "member")
	require.NoError(t, err)
	assert.Contains(t, g.Strings("member"), moved.DN)
	unchanged(t, dc, func() {
		_, err := dc.Add(bg, "OU=Athens,"+odd, Attr("objectClass", "organizationalUnit"))
		require.NoError(t, err)
		requireCode(t, CodeNameExists, KindExists, dc.Move(bg, "OU=Athens,"+empty, odd))
		require.NoError(t, dc.Delete(bg, "OU=Athens,"+odd))
		dc.domain.journal.entries = dc.domain.journal.entries[:len(dc.domain.journal.entries)-2]
	})
	requireSound(t, dc.rep)
}

func TestDelete(t *testing.T) {
	dc, _ := lab(t)
	for _, tt := range []struct {
		name, ref string
		code      int
		kind      Kind
	}{
		{"absent", "CN=x," + corp, CodeNoSuchObject, KindNotFound},
		{"the root", root, CodeCannotDelete, KindProtected},
		{"a standard container", users, CodeCannotDelete, KindProtected},
		{"Administrator (D.2)", "CN=Administrator," + users, CodeSpecialAccount, KindProtected},
		{"krbtgt", "CN=krbtgt," + users, CodeSpecialAccount, KindProtected},
		{"a built-in group", "CN=Domain Admins," + users, CodeSpecialAccount, KindProtected},
		{"a group of Builtin", "CN=Backup Operators,CN=Builtin," + root, CodeSpecialAccount, KindProtected},
		{"a domain controller", "CN=DC1,OU=Domain Controllers," + root, CodeCannotDelete, KindProtected},
		{"an OU with children (E43)", "OU=Groups," + corp, CodeAccessDenied, KindDenied},
		{"an unprotected OU with children (E43)", "OU=Athens,OU=Staff," + corp, CodeNonLeaf, KindNotEmpty},
		{"a protected empty OU (E40)", "OU=Protected empty," + corp, CodeAccessDenied, KindDenied},
		{"a user with devices (E16)", "CN=Sync Sandra,OU=Sales,OU=Dublin,OU=Staff," + corp, CodeNonLeaf, KindNotEmpty},
		{"a computer with recovery keys (E50)", "CN=PC01,OU=Berlin,OU=Workstations,OU=Devices," + corp, CodeNonLeaf, KindNotEmpty},
		{"a computer with printers (E50)", "CN=PRINT1,OU=Servers,OU=Devices," + corp, CodeNonLeaf, KindNotEmpty},
		{"a computer with a service connection point (E50)", "CN=APP3,OU=Servers,OU=Devices," + corp, CodeNonLeaf, KindNotEmpty},
	} {
		t.Run(tt.name, func(t *testing.T) {
			unchanged(t, dc, func() { requireCode(t, tt.code, tt.kind, dc.Delete(bg, tt.ref)) })
		})
	}
	ruth, err := dc.BySAM(bg, "ring.ruth")
	require.NoError(t, err)
	require.NoError(t, dc.Delete(bg, ruth.GUID.Ref()))
	_, err = dc.ByGUID(bg, ruth.GUID)
	requireCode(t, CodeNotFound, KindNotFound, err) // facts G11
	rolf, err := dc.BySAM(bg, "ring.rolf")
	require.NoError(t, err)
	assert.False(t, rolf.Has("manager"), "facts H19: references to a deleted object are removed")
	g, err := dc.Get(bg, "CN=Ring One,"+sec, "member")
	require.NoError(t, err)
	assert.Len(t, g.Strings("member"), 1)

	// facts H20: the tombstone has the GUID, and a new object has a different GUID
	gone, err := dc.Search(bg, SearchRequest{Filter: "(objectGUID=" + EscapeFilterBytes(ruth.GUID[:]) + ")",
		Deleted: true, Attributes: []string{"*"}})
	require.NoError(t, err)
	require.Len(t, gone, 1)
	assert.Equal(t, `CN=Ring Ruth\0ADEL:`+ruth.GUID.String()+",CN=Deleted Objects,"+root, gone[0].DN)
	assert.Equal(t, "TRUE", gone[0].String("isDeleted"))
	assert.Equal(t, odd, gone[0].String("lastKnownParent"))
	assert.False(t, gone[0].Has("displayName"))
	again, err := dc.Add(bg, ruth.DN, user("ring.ruth")...)
	require.NoError(t, err)
	assert.NotEqual(t, ruth.GUID, again.GUID)
	assert.NotEqual(t, ruth.SID, again.SID)
	requireSound(t, dc.rep)
}

// Facts E43, E50, D.2
func TestDeleteTree(t *testing.T) {
	dc, _ := lab(t)
	unchanged(t, dc, func() {
		requireCode(t, CodeAccessDenied, KindDenied, dc.DeleteTree(bg, corp))
		requireCode(t, CodeCannotDelete, KindProtected, dc.DeleteTree(bg, root))
		requireCode(t, CodeCannotDelete, KindProtected, dc.DeleteTree(bg, "OU=Domain Controllers,"+root))
		requireCode(t, CodeNoSuchObject, KindNotFound, dc.DeleteTree(bg, "OU=x,"+root))
	})
	pc := "CN=PC01,OU=Berlin,OU=Workstations,OU=Devices," + corp
	require.NoError(t, dc.DeleteTree(bg, pc))
	_, err := dc.Get(bg, pc)
	require.Error(t, err)
	// protected children are deleted
	berlin := "OU=Berlin,OU=Staff," + corp
	require.NoError(t, dc.SetProtected(bg, berlin, false))
	require.NoError(t, dc.SetProtected(bg, "OU=Sales,"+berlin, true))
	require.NoError(t, dc.DeleteTree(bg, berlin))
	left, err := dc.Search(bg, SearchRequest{Filter: "(l=Berlin)", Attributes: []string{"name"}})
	require.NoError(t, err)
	assert.Empty(t, left)
	// a critical object in the tree
	require.NoError(t, dc.Move(bg, "CN=DC2,OU=Domain Controllers,"+root, empty))
	unchanged(t, dc, func() { requireCode(t, CodeCriticalObject, KindProtected, dc.DeleteTree(bg, empty)) })
	// a primary group can be deleted only together with its members (facts E28)
	nest := "OU=Trailing space\\ ," + odd
	g, err := dc.Add(bg, "CN=pg,"+nest, Attr("objectClass", "group"), Attr("sAMAccountName", "pg"),
		Attr("member", "CN=Photo Paula,"+odd))
	require.NoError(t, err)
	require.NoError(t, dc.Modify(bg, "CN=Photo Paula,"+odd,
		[]Change{{OpReplace, "primaryGroupID", []any{int64(g.SID.RID())}}}, ModifyOptions{}))
	unchanged(t, dc, func() {
		requireCode(t, CodeCriticalObject, KindProtected, dc.DeleteTree(bg, nest))
		requireCode(t, CodeCannotDelete, KindProtected, dc.Delete(bg, g.GUID.Ref()))
	})
	require.NoError(t, dc.DeleteTree(bg, odd))
	requireSound(t, dc.rep)
}
