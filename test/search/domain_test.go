package search

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/systemtest"
)

const (
	root      = "DC=corp,DC=example"
	domainSID = "S-1-5-21-1004336348-1177238915-682003330"
	place     = "OU=Questions," + root
	never     = 1<<63 - 1
	day       = 24 * time.Hour
)

// ago returns the file time of a moment in the past, and in that of a moment in the future.
func ago(d time.Duration) string { return fmt.Sprint(directory.ToFileTime(time.Now().Add(-d))) }
func in(d time.Duration) string  { return ago(-d) }

// since returns a generalized time.
func since(d time.Duration) string {
	return time.Now().Add(-d).UTC().Format("20060102150405.0Z")
}

// entry writes an object for an LDIF file, with attributes as pairs of name and value.
func entry(rdn, class string, pairs ...string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "dn: %s,%s\nobjectClass: %s\n", rdn, place, class)
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&text, "%s: %s\n", pairs[i], pairs[i+1])
	}
	return text.String() + "\n"
}

// person returns the entry of a user with a recent logon, unless pairs override this.
func person(name string, pairs ...string) string {
	attrs := map[string]string{"sAMAccountName": name, "userAccountControl": "512", "pwdLastSet": ago(10 * day),
		"lastLogonTimestamp": ago(3 * day), "whenCreated": since(400 * day)}
	for i := 0; i < len(pairs); i += 2 {
		attrs[pairs[i]] = pairs[i+1]
	}
	var all []string
	for name, value := range attrs {
		if value != "" {
			all = append(all, name, value)
		}
	}
	return entry("CN="+name, "user", all...)
}

func machine(name string, pairs ...string) string {
	return entry("CN="+name, "computer",
		append([]string{"sAMAccountName", name + "$", "userAccountControl", "4096"}, pairs...)...)
}

// exemplary returns the objects for the questions of teams. All ages of objects are far from the limits in
// the questions.
func exemplary() string {
	return strings.Join([]string{
		"dn: " + place + "\nobjectClass: organizationalUnit\n\n",
		person("q.inactive", "lastLogonTimestamp", ago(100*day)),
		person("q.recent"),
		person("q.inactive.off", "lastLogonTimestamp", ago(100*day), "userAccountControl", "514"),
		person("q.never", "lastLogonTimestamp", "", "whenCreated", since(40*day)),
		person("q.never.new", "lastLogonTimestamp", "", "whenCreated", since(2*day)),
		person("q.locked", "lockoutTime", ago(time.Minute)),
		person("q.waslocked", "lockoutTime", ago(10*day)),
		person("q.unlocked", "lockoutTime", "0"),
		person("q.ended", "accountExpires", ago(day)),
		person("q.ends", "accountExpires", in(7*day)),
		person("q.ends.later", "accountExpires", in(30*day)),
		person("q.endless", "accountExpires", "0"),
		person("q.endless2", "accountExpires", fmt.Sprint(int64(never))),
		person("q.pwd.soon", "pwdLastSet", ago(39*day)),
		person("q.pwd.over", "pwdLastSet", ago(50*day)),
		person("q.pwd.never", "pwdLastSet", ago(500*day), "userAccountControl", "66048"),
		person("q.pwd.card", "pwdLastSet", ago(500*day), "userAccountControl", "262656"),
		person("q.pwd.must", "pwdLastSet", "0"),
		person("q.pwd.own", "pwdLastSet", ago(15*day)),    // its own policy: 10 days
		person("q.pwd.grace", "pwdLastSet", ago(300*day)), // its group's policy: 400 days
		person("q.off", "userAccountControl", "514"),
		person("q.mail", "mail", "q@example.net", "proxyAddresses", "smtp:alias@example.net", "userPrincipalName", "q.upn@example.net", "employeeID", "4711"),
		person("q.report", "manager", "CN=Anna Schmidt,OU=Sales,OU=Berlin,OU=Staff,OU=Corp,"+root),
		person("q.primary", "primaryGroupID", "9001"),
		person("q.nested"),
		machine("QSTALE", "lastLogonTimestamp", ago(120*day), "whenCreated", since(900*day), "pwdLastSet", ago(120*day), "operatingSystem", "Windows Server 2012 R2 Standard"),
		machine("QFRESH", "lastLogonTimestamp", ago(2*day), "whenCreated", since(900*day), "pwdLastSet", ago(2*day), "operatingSystem", "Windows Server 2022 Standard"),
		machine("QNEVER", "whenCreated", since(200*day)),
		machine("QNEW", "whenCreated", since(day), "dNSHostName", "qnew.other.example"),
		entry("CN=Q Primary", "group", "sAMAccountName", "Q Primary", "groupType", "-2147483646", "objectSid", domainSID+"-9001"),
		entry("CN=Q Empty", "group", "sAMAccountName", "Q Empty", "groupType", "-2147483640", "description", "nobody"),
		entry("CN=Q Mail", "group", "sAMAccountName", "Q Mail", "groupType", "8", "mail", "list@example.net", "managedBy", "CN=q.recent,"+place, "member", "CN=q.off,"+place),
		entry("CN=Q Inner", "group", "sAMAccountName", "Q Inner", "groupType", "-2147483646", "member", "CN=q.nested,"+place),
		entry("CN=Q Outer", "group", "sAMAccountName", "Q Outer", "groupType", "-2147483640", "member", "CN=Q Inner,"+place, "member", "CN=Q Primary,"+place, "member", "CN=q.off,"+place),
		entry("CN=Q Grace", "group", "sAMAccountName", "Q Grace", "groupType", "-2147483646", "member", "CN=q.pwd.grace,"+place),
		policy("Q Own", 10, "CN=q.pwd.own,"+place), policy("Q Grace", 400, "CN=Q Grace,"+place),
	}, "")
}

// policy writes a password settings object.
func policy(name string, days int, appliesTo string) string {
	text := entry("CN="+name, "msDS-PasswordSettings",
		"msDS-PasswordSettingsPrecedence", "10", "msDS-PasswordReversibleEncryptionEnabled", "FALSE",
		"msDS-PasswordHistoryLength", "5",
		"msDS-PasswordComplexityEnabled", "TRUE", "msDS-MinimumPasswordLength", "12", "msDS-MinimumPasswordAge",
		"0",
		"msDS-MaximumPasswordAge", fmt.Sprint(-int64(days)*int64(day/100)), "msDS-LockoutThreshold", "3",
		"msDS-LockoutObservationWindow", "-18000000000",
		"msDS-LockoutDuration", "-36000000000", "msDS-PSOAppliesTo", appliesTo)
	return strings.Replace(text, place, "CN=Password Settings Container,CN=System,"+root, 1)
}

// newSystem returns a system with the exemplary objects and some generated users. Passwords
// are valid for 42 days, and a lockout lasts 30 minutes.
func newSystem(t *testing.T, users int, settings ...string) *systemtest.System {
	t.Helper()
	file := filepath.Join(t.TempDir(), "questions.ldif")
	require.NoError(t, os.WriteFile(file, []byte(exemplary()), 0o600))
	s := systemtest.New(t, sandbox.Options{LDIF: []string{file}, Users: users}, settings...)
	for _, warning := range s.World.Directory.Warnings() {
		require.NotContains(t, warning.Error(), "Questions")
	}
	dc := s.World.Directory.DCs()[0]
	require.NoError(t, dc.Modify(t.Context(), root, []directory.Change{
		{Op: directory.OpReplace, Name: "maxPwdAge", Values: []any{-int64(42 * day / 100)}},
		{Op: directory.OpReplace, Name: "lockoutDuration", Values: []any{-int64(30 * time.Minute / 100)}},
	}, directory.ModifyOptions{}))
	s.World.Directory.Replicate()
	return s
}
