package filter

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	ber "github.com/go-asn1-ber/asn1-ber"
	"github.com/go-ldap/ldap/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var noon = time.Date(2026, 6, 30, 12, 0, 0, 0, time.UTC)

// noonTicks is noon as a file time.
const noonTicks = "134272944000000000"

func TestFiltersBecomeLDAP(t *testing.T) {
	for _, test := range []struct {
		class  *Class
		text   string
		want   string // segments, with placeholders in braces
		checks []string
		slow   string
	}{
		{Users, `username eq "jdoe"`, `(sAMAccountName=jdoe)`, nil, ""},
		{Users, `USERNAME Eq "jdoe"`, `(sAMAccountName=jdoe)`, nil, ""},
		{Users, `department ne "Sales"`, `(!(department=Sales))`, nil, "department"},
		{Users, `lastName sw "Schm"`, `(sn=Schm*)`, nil, ""},
		{Users, `lastName co "chm"`, `(sn=*chm*)`, nil, "lastName"},
		{Users, `lastName ew "idt"`, `(sn=*idt)`, nil, "lastName"},
		{Users, `emailAddress pr`, `(mail=*)`, nil, "emailAddress"},
		{Users, `not (emailAddress pr)`, `(!(mail=*))`, nil, "emailAddress"},
		{Users, `department eq "Sales" and not (enabled eq false)`, `(&(department=Sales)(!(userAccountControl:1.2.840.113556.1.4.803:=2)))`, nil, "department"},
		{Users, `city eq "Oslo" and (department eq "IT" or company pr)`, `(&(l=Oslo)(|(department=IT)(company=*)))`, nil, ""},
		{Users, `city eq "Oslo" or office eq "1"`, `(|(l=Oslo)(physicalDeliveryOfficeName=1))`, nil, "city"},
		{Users, `a eq "x"`, "", nil, ""},
		{Users, `enabled eq true`, `(!(userAccountControl:1.2.840.113556.1.4.803:=2))`, nil, "enabled"},
		{Users, `enabled ne true`, `(userAccountControl:1.2.840.113556.1.4.803:=2)`, nil, "enabled"},
		{Users, `passwordNeverExpired eq true`, `(userAccountControl:1.2.840.113556.1.4.803:=65536)`, nil, "passwordNeverExpired"},
		{Users, `smartcardRequired eq false`, `(!(userAccountControl:1.2.840.113556.1.4.803:=262144))`, nil, "smartcardRequired"},
		{Users, `changePasswordNextLogon eq true`, `(&(!(userAccountControl:1.2.840.113556.1.4.803:=65536))(!(pwdLastSet>=1)))`, nil, "changePasswordNextLogon"},
		{Users, `manager eq "jdoe"`, `(manager={user:jdoe})`, nil, "manager"},
		{Users, `manager ne "jdoe"`, `(!(manager={user:jdoe}))`, nil, "manager"},
		{Users, `not (manager pr)`, `(!{present:manager})`, nil, "manager"},
		{Users, `enabled eq false and memberOf eq "VPN Users"`, `(&(userAccountControl:1.2.840.113556.1.4.803:=2){member:VPN Users})`, nil, ""},
		{Users, `memberOfNested eq "VPN Users"`, `{nested:VPN Users}`, nil, "memberOfNested"},
		{Users, `lastLogonApprox lt "-P60D"`, `(&(lastLogonTimestamp>=1)(lastLogonTimestamp<=134221103999999999))`, nil, ""},
		{Users, `passwordLastSet gt "2026-06-30T12:00:00Z"`, `(pwdLastSet>=134272944000000001)`, nil, "passwordLastSet"},
		{Users, `passwordLastSet ge "2026-06-30T14:00:00+02:00"`, `(pwdLastSet>=` + noonTicks + `)`, nil, "passwordLastSet"},
		{Users, `passwordLastSet le "P0D"`, `(&(pwdLastSet>=1)(pwdLastSet<=` + noonTicks + `))`, nil, "passwordLastSet"},
		{Users, `accountExpires ge "P0D" and accountExpires lt "P14D"`,
			`(&(&(accountExpires>=` + noonTicks + `)(accountExpires<=9223372036854775806))(&(accountExpires>=1)(accountExpires<=134285039999999999)))`, nil, "accountExpires"},
		{Users, `accountExpires pr`, `(&(accountExpires>=1)(accountExpires<=9223372036854775806))`, nil, "accountExpires"},
		{Users, `created gt "2026-06-23"`, `(whenCreated>=20260623000001.0Z)`, nil, "created"},
		{Users, `created lt "2026-06-23"`, `(whenCreated<=20260622235959.0Z)`, nil, "created"},
		{Users, `modified ge "-PT30M" and modified le "PT0S"`, `(&(whenChanged>=20260630113000.0Z)(whenChanged<=20260630120000.0Z))`, nil, "modified"},
		{Users, `lockedOut eq true`, `(lockoutTime>=1)`, []string{"locked"}, "lockedOut"},
		{Users, `passwordExpired eq true and username sw "a"`,
			`(&(&(&(!(userAccountControl:1.2.840.113556.1.4.803:=65536))(!(userAccountControl:1.2.840.113556.1.4.803:=262144))(pwdLastSet>=1))(pwdLastSet<={age:` + noonTicks + `}))(sAMAccountName=a*))`,
			[]string{"expires:1:" + noonTicks}, ""},
		{Users, `passwordExpires gt "P0D"`,
			`(&(!(userAccountControl:1.2.840.113556.1.4.803:=65536))(!(userAccountControl:1.2.840.113556.1.4.803:=262144))(pwdLastSet>=1))`,
			[]string{"expires:134272944000000001:9223372036854775806"}, "passwordExpires"},
		{Users, `accountExpired eq true`, `(&(accountExpires>=1)(accountExpires<=` + noonTicks + `))`, nil, "accountExpired"},
		{Users, `neverLoggedOn eq true and created lt "-P30D"`, `(&(!(lastLogonTimestamp>=1))(whenCreated<=20260531115959.0Z))`, nil, "neverLoggedOn"},
		{Users, `noGroups eq true`, `(!(memberOf=*))`, nil, "noGroups"},
		{Groups, `scope eq "universal"`, `(groupType:1.2.840.113556.1.4.803:=8)`, nil, "scope"},
		{Groups, `scope ne "Domain_Local"`, `(!(groupType:1.2.840.113556.1.4.803:=4))`, nil, "scope"},
		{Groups, `type eq "Security"`, `(groupType:1.2.840.113556.1.4.803:=2147483648)`, nil, "type"},
		{Groups, `type eq "Distribution"`, `(!(groupType:1.2.840.113556.1.4.803:=2147483648))`, nil, "type"},
		{Groups, `type ne "Distribution"`, `(groupType:1.2.840.113556.1.4.803:=2147483648)`, nil, "type"},
		{Groups, `managedBy eq "jdoe"`, `(managedBy={account:jdoe})`, nil, "managedBy"},
		{Groups, `empty eq true`, `(&(!(member=*)){common:})`, []string{"empty"}, "empty"},
		{Computers, `stale eq true`, `(|(&(lastLogonTimestamp>=1)(lastLogonTimestamp<={stale:file}))(&(!(lastLogonTimestamp>=1))(whenCreated<={stale:time})))`, nil, "stale"},
		{Computers, `operatingSystem sw "Windows Server 2012"`, `(operatingSystem=Windows Server 2012*)`, nil, "operatingSystem"},
		{Users, `displayName eq "a*)(objectClass=*\\\u00e9"`, `(displayName=a\2a\29\28objectClass=\2a\5c\c3\a9)`, nil, ""},
	} {
		expr, err := Parse(test.class, test.text)
		if test.want == "" {
			assert.Error(t, err, test.text)
			continue
		}
		require.NoError(t, err, test.text)
		search := expr.Compile(noon)
		assert.Equal(t, test.want, shown(search.Filter), test.text)
		assert.Equal(t, test.checks, search.Checks, test.text)
		assert.Equal(t, test.slow, search.Slow, test.text)
	}
}

// shown writes segments with placeholders in braces.
func shown(segments []string) string {
	var all strings.Builder
	for i, segment := range segments {
		if i%2 == 1 {
			segment = "{" + segment + "}"
		}
		all.WriteString(segment)
	}
	return all.String()
}

func TestWrongFiltersSayWhereAndWhy(t *testing.T) {
	for text, want := range map[string]string{
		``:                            `at its end, position 1: a field is expected`,
		`  `:                          `at its end, position 3: a field is expected`,
		`username`:                    `at its end, position 9: the operators of username are eq ne sw co ew pr`,
		`username = "x"`:              `position 10, at '=': no part of a filter can begin with this`,
		`username gt "x"`:             `position 10, at 'gt': the operators of username are eq ne sw co ew pr`,
		`enabled pr`:                  `position 9, at 'pr': the operators of enabled are eq ne`,
		`passwordExpires ge "P1D"`:    `position 17, at 'ge': the operators of passwordExpires are gt lt`,
		`memberOfNested ne "x"`:       `position 16, at 'ne': the operators of memberOfNested are eq`,
		`usrname eq "x"`:              `position 1, at 'usrname': this is not a field for filtering users; did you mean username?`,
		`emails[type eq "work"] pr`:   `position 1, at 'emails': this is not a field`,
		`username eq x`:               `position 13, at 'x': username must be compared with text in double quotes`,
		`username eq 'x'`:             `position 13, at ''': text must be in straight double quotes`,
		`username eq 5`:               `position 13, at '5': username must be compared with text`,
		`username eq ""`:              `position 13, at '""': username cannot be compared with an empty text`,
		`username eq "x`:              `position 13, at '"x': the text has no closing quote`,
		`username eq "\x"`:            `position 13, at '"\x"': the text is not valid as in JSON`,
		`username eq "\u0000"`:        `position 13, at '"\u0000"': the text contains a control character`,
		`username eq "\ud800"`:        `position 13, at '"\ud800"': the text contains a control character, or one that is not valid Unicode`,
		`username eq "\uffff"`:        `position 13, at '"\uffff"': the text contains a control character`,
		`username co "ab"`:            `position 13, at '"ab"': username needs at least 3 characters with co`,
		`enabled eq "true"`:           `position 12, at '"true"': enabled must be compared with true or false, without quotes`,
		`lockedOut eq false`:          `position 14, at 'false': lockedOut can only be compared as eq true`,
		`created gt "yesterday"`:      `position 12, at '"yesterday"': created must be compared with a date`,
		`created gt "P"`:              `position 12, at '"P"': created must be compared with a date`,
		`created gt 5`:                `position 12, at '5': created must be compared with a date`,
		`city pr and`:                 `at its end, position 12: a field is expected`,
		`city pr city pr`:             `position 9, at 'city': "and", "or" or the end is expected`,
		`(city pr`:                    `at its end, position 9: "and", "or" or a closing parenthesis is expected`,
		`city pr)`:                    `position 8, at ')': "and", "or" or the end is expected`,
		`not city pr`:                 `position 5, at 'city': a parenthesis is expected after "not"`,
		`é eq "ü" and zz pr`:          `position 1, at 'é': this is not a field for filtering users`,
		`city eq "ü" and zz pr`:       `position 17, at 'zz': this is not a field for filtering users`,
		`distinguishedName eq "x"`:    `use the parameter OUPath`,
		`ouPath sw "x"`:               `use the parameter OUPath`,
		`lastLogon lt "-P1D"`:         `use lastLogonApprox`,
		`rdsProfilePath pr`:           `a packed attribute that the directory cannot search`,
		`not (lockedOut eq true)`:     `position 6, at 'lockedOut': lockedOut cannot be used in an "or" or a "not"`,
		`city pr or noGroups eq true`: `position 12, at 'noGroups': noGroups cannot be used in an "or" or a "not"`,
		`city pr and (noGroups eq true or name pr)`:                 `noGroups cannot be used in an "or" or a "not"`,
		strings.Repeat("(", 9) + "city pr" + strings.Repeat(")", 9): `nested at most 8 deep`,
		strings.Repeat("not (", 5) + "city pr" + "))))":             `nested at most 8 deep`,
		strings.Repeat("city pr or ", 30) + "city pr":               `a filter can have at most 30 comparisons`,
		`city eq "` + strings.Repeat("x", 2000) + `"`:               `must be at most 2000 characters long`,
		"city eq \"\xff\"": `must be valid UTF-8`,
	} {
		_, err := Parse(Users, text)
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want, text)
	}
	for _, text := range []string{
		strings.Repeat("(", 8) + "city pr" + strings.Repeat(")", 8),
		strings.Repeat("not (", 4) + "city pr" + "))))",
		strings.Repeat("city pr or ", 29) + "city pr",
		"city\tpr\r\nand\u00a0name pr",
		`(lockedOut eq true) and (city pr and noGroups eq true)`,
		`city eq "` + strings.Repeat("é", 1990) + `"`,
	} {
		_, err := Parse(Users, text)
		assert.NoError(t, err, text)
	}
}

func TestDates(t *testing.T) {
	for text, want := range map[string]string{
		"P1Y2M3W4DT5H6M7S": "2027-09-24T17:06:07Z",
		"-P1Y":             "2025-06-30T12:00:00Z",
		"+P1W":             "2026-07-07T12:00:00Z",
		"-PT90M":           "2026-06-30T10:30:00Z",
		"2026-02-28":       "2026-02-28T00:00:00Z",
		"-P9999Y":          "1601-01-01T00:00:00Z",
		"P9999Y":           "9999-12-31T23:59:59Z",
	} {
		w, ok := parseWhen(text)
		require.True(t, ok, text)
		assert.Equal(t, want, w.resolve(noon).Format(time.RFC3339), text)
	}
	for _, text := range []string{"", "P", "PT", "-P", "P1", "1D", "P1H", "PT1D", "P-1D", "P1D ", "2026-13-01",
		"2026-06-30T12:00:00", "12:00", "P1DT", "p1d"} {
		_, ok := parseWhen(text)
		assert.False(t, ok, text)
	}
}

func TestTextsFindPeople(t *testing.T) {
	for text, want := range map[string]string{
		"anna":               `(|(anr=anna)(mail=anna*)(userPrincipalName=anna*))`,
		" Anna \t Schmidt ":  `(|(anr=Anna Schmidt)(mail=Anna Schmidt*)(userPrincipalName=Anna Schmidt*)(&(givenName=Anna*)(sn=Schmidt*))(&(givenName=Schmidt*)(sn=Anna*)))`,
		"Anna Maria Schmidt": `(|(anr=Anna Maria Schmidt)(mail=Anna Maria Schmidt*)(userPrincipalName=Anna Maria Schmidt*)(&(givenName=Anna*)(sn=Maria Schmidt*))(&(givenName=Maria Schmidt*)(sn=Anna*))(&(givenName=Anna Maria*)(sn=Schmidt*))(&(givenName=Schmidt*)(sn=Anna Maria*)))`,
		"G4711":              `(|(anr=G4711)(mail=G4711*)(userPrincipalName=G4711*)(employeeID=G4711))`,
		"a*)(x=":             `(|(anr=a\2a\29\28x=)(mail=a\2a\29\28x=*)(userPrincipalName=a\2a\29\28x=*))`,
	} {
		parsed, err := ParseText(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, parsed.Clause(Users), text)
	}
	host, err := ParseText("fs1.corp.example")
	require.NoError(t, err)
	assert.Equal(t, `(|(anr=fs1.corp.example)(name=fs1*))`, host.Clause(Computers))
	assert.Equal(t, `(|(anr=fs1.corp.example)(mail=fs1.corp.example*))`, host.Clause(Groups))
	for _, text := range []string{"", "a", "   a ", "=anna", " *anna", strings.Repeat("x", 65)} {
		_, err := ParseText(text)
		assert.Error(t, err, text)
	}
}

// TestEveryFieldIsDescribed: every field appears in the rows for people.
func TestEveryFieldIsDescribed(t *testing.T) {
	for _, class := range []*Class{Users, Groups, Computers} {
		var names []string
		for _, row := range class.Rows() {
			names = append(names, row.Fields...)
		}
		assert.ElementsMatch(t, class.Names(), names)
	}
}

// print formats a filter.
func (n *node) print() string {
	switch n.kind {
	case comparison:
		switch v := n.value; {
		case n.op == Present:
			return n.field.name + " pr"
		case v.text != "":
			encoded, _ := json.Marshal(v.text)
			return fmt.Sprintf("%s %s %s", n.field.name, n.op, encoded)
		case v.when.relative:
			sign := ""
			if v.when.sign < 0 {
				sign = "-"
			}
			return fmt.Sprintf(`%s %s "%sP%dY%dM%dDT%dS"`, n.field.name, n.op, sign, v.when.years, v.when.months, v.when.days, v.when.seconds)
		case !v.when.moment.IsZero():
			return fmt.Sprintf(`%s %s "%s"`, n.field.name, n.op, v.when.moment.Format(time.RFC3339Nano))
		default:
			return fmt.Sprintf("%s %s %v", n.field.name, n.op, v.yes)
		}
	case not:
		return "not (" + n.subs[0].print() + ")"
	}
	words := map[nodeKind]string{and: " and ", or: " or "}
	subs := make([]string, len(n.subs))
	for i, sub := range n.subs {
		subs[i] = sub.print()
		if sub.kind == or || sub.kind == n.kind {
			subs[i] = "(" + subs[i] + ")"
		}
	}
	return strings.Join(subs, words[n.kind])
}

// plain returns a filter without the positions of its tokens.
func (n *node) plain() *node {
	copied := *n
	copied.at = token{}
	copied.value.when.moment = copied.value.when.moment.UTC()
	copied.subs = nil
	for _, sub := range n.subs {
		copied.subs = append(copied.subs, sub.plain())
	}
	return &copied
}

var seeds = []string{
	`department eq "Sales" and not (enabled eq false)`,
	// RFC 7644, 3.4.2.2, with our fields
	`userName eq "bjensen"`, `title pr`, `title pr and userType eq "Employee"`, `title pr or userType eq "Intern"`,
	`meta.lastModified gt "2011-05-13T04:42:34Z"`, `userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")`,
	`userType ne "Employee" and not (emails co "example.com")`, `emails[type eq "work" and value co "@example.com"]`,
	`lockedOut eq true and created gt "-P1Y2M3DT4H"`, `manager eq "CN=*)(x=\\2a,DC=x"`, `memberOf ne "{0}"`, `username eq "\ufffe\\\""`,
	`((city pr) or (city pr and name sw "\u0130")) and passwordExpires lt "9999-12-31T23:59:59.999999999Z"`, `accountExpires le "-P9999Y"`,
	`scope eq "GLOBAL" or type ne "security"`, `empty eq true`, `stale eq true and operatingSystem ew "\u2028x\u00ad"`,
}

func FuzzFiltersPrintAndParse(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, class := range []*Class{Users, Groups, Computers} {
			expr, err := Parse(class, text)
			if err != nil {
				var wrong *Error
				require.ErrorAs(t, err, &wrong)
				require.LessOrEqual(t, wrong.Position, utf8.RuneCountInString(text)+1)
				require.True(t, utf8.ValidString(err.Error()))
				continue
			}
			printed := expr.root.print()
			again, err := Parse(class, printed)
			if tooMuch(err) {
				continue // it is longer in a different spelling
			}
			require.NoError(t, err, printed)
			require.True(t, reflect.DeepEqual(expr.root.plain(), again.root.plain()), printed)
		}
	})
}

func tooMuch(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "at most") || strings.Contains(err.Error(), "nested") ||
		strings.Contains(err.Error(), "duration"))
}

func FuzzFiltersMeanTheirTree(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, class := range []*Class{Users, Groups, Computers} {
			expr, err := Parse(class, text)
			if err != nil {
				continue
			}
			search := &Search{}
			tree := search.compile(expr.root, moment{noon})
			sameTree(t, tree, tree.segments())
		}
	})
}

// FuzzValuesStayValues checks that no value becomes a part of the surrounding filter.
func FuzzValuesStayValues(f *testing.F) {
	for _, seed := range []string{"jdoe", "*)(objectClass=*", `\2a`, "a\\", "(", ")", "&|!", "é\U0001F600",
		"x)(|(a=b)", "\u0085", " "} {
		f.Add(seed, uint8(0))
		f.Add(seed, uint8(3))
	}
	ops := []Op{Equal, NotEqual, StartsWith, Contains, EndsWith}
	f.Fuzz(func(t *testing.T, text string, pick uint8) {
		op := ops[int(pick)%len(ops)]
		encoded, err := json.Marshal(text)
		require.NoError(t, err)
		if expr, err := Parse(Users, "name "+string(op)+" "+string(encoded)); err == nil && utf8.ValidString(text) {
			tree := (&Search{}).compile(expr.root, moment{noon})
			item := tree
			if op == NotEqual {
				item = tree.subs[0]
			}
			require.Equal(t, text, strings.Join(item.parts, ""))
			sameTree(t, tree, tree.segments())
		}
		parsed, err := ParseText(text)
		if err != nil || !utf8.ValidString(text) {
			return
		}
		for _, class := range []*Class{Users, Groups, Computers} {
			packet, err := ldap.CompileFilter(parsed.Clause(class))
			require.NoError(t, err)
			require.EqualValues(t, ldap.FilterOr, packet.Tag)
			require.Equal(t, parsed.String(), data(packet.Children[0].Children[1]))
		}
	})
}

// sameTree compares a clause with the tree that a directory parses from its text.
func sameTree(t *testing.T, tree *clause, segments []string) {
	t.Helper()
	for i := 1; i < len(segments); i += 2 {
		word, value, found := strings.Cut(segments[i], ":")
		require.True(t, found)
		segments[i] = ldap.EscapeFilter(value)
		if word == "member" || word == "nested" || word == "common" {
			segments[i] = "(ref=" + segments[i] + ")"
		}
	}
	text := strings.Join(segments, "")
	packet, err := ldap.CompileFilter(text)
	require.NoError(t, err, text)
	compareTrees(t, tree, packet)
}

func compareTrees(t *testing.T, tree *clause, packet *ber.Packet) {
	t.Helper()
	if tree.join != 0 {
		require.EqualValues(t, map[byte]int{'&': ldap.FilterAnd, '|': ldap.FilterOr,
			'!': ldap.FilterNot}[tree.join], packet.Tag)
		require.Len(t, packet.Children, len(tree.subs))
		for i, sub := range tree.subs {
			compareTrees(t, sub, packet.Children[i])
		}
		return
	}
	attr, parts := tree.attr, tree.parts
	if tree.ref != "" {
		_, value, _ := strings.Cut(tree.ref, ":")
		parts = []string{value}
	}
	if attr == "" {
		attr = "ref"
	}
	switch packet.Tag {
	case ldap.FilterPresent:
		require.Equal(t, []string{"", ""}, parts)
		require.Equal(t, attr, data(packet))
	case ldap.FilterSubstrings:
		require.Equal(t, attr, data(packet.Children[0]))
		var found []string
		for _, part := range packet.Children[1].Children {
			if part.Tag != ldap.FilterSubstringsInitial && len(found) == 0 {
				found = append(found, "")
			}
			found = append(found, data(part))
			if part.Tag != ldap.FilterSubstringsFinal &&
				part == packet.Children[1].Children[len(packet.Children[1].Children)-1] {
				found = append(found, "")
			}
		}
		require.Equal(t, parts, found)
	case ldap.FilterExtensibleMatch:
		require.Equal(t, bitRule, tree.rule)
		var found []string
		for _, child := range packet.Children {
			found = append(found, data(child))
		}
		require.Equal(t, []string{strings.Trim(bitRule, ":="), attr, parts[0]}, found[:3])
	default:
		require.EqualValues(t, map[string]int{"=": ldap.FilterEqualityMatch, ">=": ldap.FilterGreaterOrEqual,
			"<=": ldap.FilterLessOrEqual, "": ldap.FilterEqualityMatch}[tree.rule], packet.Tag)
		require.Equal(t, attr, data(packet.Children[0]))
		require.Equal(t, parts, []string{data(packet.Children[1])})
	}
}

func data(packet *ber.Packet) string { return packet.Data.String() }
