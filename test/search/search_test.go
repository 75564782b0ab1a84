// Package search tests how clients find objects: filters, texts and pages, over a
// generated domain.
package search

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/directory"
	"adgateway/test/systemtest"
)

// Paths of the lists, and the fields that name their objects.
const (
	users     = "/api/ADUser/ListUsers/All"
	groups    = "/api/ADGroups/All"
	computers = "/api/Computers/All"
)

func list(s *systemtest.System, path string, params map[string]any) systemtest.Answer {
	s.T.Helper()
	return listAs(s, "", path, params)
}

func listAs(s *systemtest.System, token, path string, params map[string]any) systemtest.Answer {
	s.T.Helper()
	params = maps.Clone(params)
	if path == users && params["ShowFields"] == nil {
		params["ShowFields"] = "username,guid"
	}
	a := s.Do(systemtest.Call{Method: http.MethodGet, Path: path, Params: params, Token: token})
	require.Equal(s.T, http.StatusOK, a.Status, "%s %v: %s", path, params, a.Body)
	return a
}

// names returns the names of the records, sorted.
func names(a systemtest.Answer) []string {
	found := []string{}
	for _, record := range a.Envelope.Result {
		for _, field := range []string{"username", "computerName", "samName"} {
			if name, has := record[field].(string); has {
				found = append(found, name)
				break
			}
		}
	}
	slices.Sort(found)
	return found
}

// exemplaryOf returns the names of exemplary objects.
func exemplaryOf(names []string) []string {
	return slices.DeleteFunc(names,
		func(name string) bool { return name[0] != 'q' && name[0] != 'Q' || name[1] != '.' && name[0] != 'Q' })
}

// question is a question that teams ask.
type question struct {
	path, filter string
	exemplary    []string // expected exemplary objects; nil if not checked
	holds        func(o *directory.Object, now int64) bool
	slow         string // target of the warning slow_filter
	tree         string // an OU that replaces the whole domain
}

// inTree returns the question that asks for the users below an OU.
func (q question) inTree(ou string) question {
	holds := q.holds
	q.tree, q.holds = ou, func(o *directory.Object, now int64) bool {
		return strings.HasSuffix(o.DN, ","+ou) && holds(o, now)
	}
	return q
}

const (
	off          = 2
	neverExpires = 65536
	smartcard    = 262144
)

func number(o *directory.Object, name string) int64 { n, _ := o.Int(name); return n }

func between(o *directory.Object, name string, from, to int64) bool {
	n, has := o.Int(name)
	return has && n >= from && n <= to
}

func in2(o *directory.Object, name, value string) bool {
	return slices.Contains(o.Strings(name), value)
}

const (
	ticksPerDay = int64(day / 100)
	vpn         = "CN=VPN Users,OU=Security,OU=Groups,OU=Corp," + root
	boss        = "CN=Anna Schmidt,OU=Sales,OU=Berlin,OU=Staff,OU=Corp," + root
)

func withoutExpiry(o *directory.Object, _ int64) bool {
	return number(o, "userAccountControl")&neverExpires != 0
}

func has(o *directory.Object, name string) bool { return len(o.Values(name)) > 0 }

func createdAfter(o *directory.Object, days int) bool {
	created, _ := o.Value("whenCreated").(time.Time)
	return created.After(time.Now().AddDate(0, 0, -days))
}

var questions = []question{
	{computers, `stale eq true`, []string{"QNEVER", "QSTALE"}, func(o *directory.Object, now int64) bool {
		last := number(o, "lastLogonTimestamp")
		return last >= 1 && last <= now-90*ticksPerDay || last < 1 && !createdAfter(o, 90)
	}, "stale", ""},
	{computers, `lastLogonApprox lt "-P90D" and passwordLastSet lt "-P90D"`, []string{"QSTALE"}, func(o *directory.Object, now int64) bool {
		return between(o, "lastLogonTimestamp", 1, now-90*ticksPerDay) &&
			between(o, "pwdLastSet", 1, now-90*ticksPerDay)
	}, "", ""},
	{users, `enabled eq true and lastLogonApprox lt "-P60D"`, []string{"q.inactive"}, func(o *directory.Object, now int64) bool {
		return number(o, "userAccountControl")&off == 0 && between(o, "lastLogonTimestamp", 1, now-60*ticksPerDay)
	}, "", ""},
	{users, `neverLoggedOn eq true and created lt "-P30D"`, []string{"q.never"}, func(o *directory.Object, now int64) bool {
		return number(o, "lastLogonTimestamp") < 1 && !createdAfter(o, 30)
	}, "neverLoggedOn", ""},
	{users, `lockedOut eq true`, []string{"q.locked"}, func(o *directory.Object, now int64) bool {
		return number(o, "msDS-User-Account-Control-Computed")&0x10 != 0
	}, "lockedOut", ""},
	{users, `accountExpired eq true`, []string{"q.ended"}, func(o *directory.Object, now int64) bool {
		return between(o, "accountExpires", 1, now)
	}, "accountExpired", ""},
	{users, `accountExpires ge "P0D" and accountExpires lt "P14D"`, []string{"q.ends"}, func(o *directory.Object, now int64) bool {
		return between(o, "accountExpires", now, now+14*ticksPerDay)
	}, "accountExpires", ""},
	{users, `passwordExpires lt "P7D" and passwordExpires gt "P0D"`, []string{"q.pwd.soon"}, func(o *directory.Object, now int64) bool {
		return between(o, "msDS-UserPasswordExpiryTimeComputed", now, now+7*ticksPerDay)
	}, "passwordExpires", ""},
	{users, `passwordExpired eq true and username sw "q."`, []string{"q.pwd.over", "q.pwd.own"}, func(o *directory.Object, now int64) bool {
		return between(o, "msDS-UserPasswordExpiryTimeComputed", 1, now) && len(o.String("sAMAccountName")) > 2 &&
			o.String("sAMAccountName")[:2] == "q."
	}, "", ""},
	{users, `enabled eq false and memberOf eq "VPN Users"`, []string{}, func(o *directory.Object, _ int64) bool {
		return number(o, "userAccountControl")&off != 0 && in2(o, "memberOf", vpn)
	}, "", ""},
	{users, `enabled eq false and memberOf eq "Q Mail"`, []string{"q.off"}, func(o *directory.Object, _ int64) bool {
		return in2(o, "memberOf", "CN=Q Mail,"+place)
	}, "", ""},
	{users, `passwordNeverExpired eq true`, []string{"q.pwd.never"}, withoutExpiry, "passwordNeverExpired", ""},
	question{users, `passwordNeverExpired eq true`, []string{}, withoutExpiry, "passwordNeverExpired", ""}.inTree("OU=Staff,OU=Corp," + root),
	question{users, `passwordNeverExpired eq true`, []string{"q.pwd.never"}, withoutExpiry, "passwordNeverExpired", ""}.inTree(place),
	{users, `noGroups eq true`, nil, func(o *directory.Object, _ int64) bool { return !has(o, "memberOf") }, "noGroups", ""},
	{users, `noGroups eq true and username sw "q.r"`, []string{"q.recent", "q.report"}, nil, "", ""},
	{groups, `empty eq true`, []string{"Q Empty"}, nil, "empty", ""},
	{users, `emailAddress eq "Q@EXAMPLE.net"`, []string{"q.mail"}, nil, "", ""},
	{users, `proxyAddress eq "smtp:alias@example.net"`, []string{"q.mail"}, nil, "", ""},
	{users, `userPrincipalName eq "q.upn@example.net"`, []string{"q.mail"}, nil, "", ""},
	{users, `employeeId eq "4711"`, []string{"q.mail"}, nil, "employeeId", ""},
	{users, `manager eq "aschmidt"`, []string{"q.report"}, func(o *directory.Object, _ int64) bool { return in2(o, "manager", boss) }, "manager", ""},
	{computers, `operatingSystem sw "Windows Server 2012"`, []string{"QSTALE"}, nil, "operatingSystem", ""},
	{computers, `created gt "-P7D"`, []string{"QNEW"}, func(o *directory.Object, _ int64) bool { return createdAfter(o, 7) }, "created", ""},
	{users, `not (manager pr)`, nil, func(o *directory.Object, _ int64) bool { return !has(o, "manager") }, "manager", ""},
	{users, `not (emailAddress pr)`, nil, func(o *directory.Object, _ int64) bool { return !has(o, "mail") }, "emailAddress", ""},
	{users, `not (manager pr) and username sw "q.re"`, []string{"q.recent"}, nil, "", ""},
	{users, `not (emailAddress pr) and username sw "q.m"`, []string{}, nil, "", ""},
	{users, `changePasswordNextLogon eq true and username sw "q."`, []string{"q.pwd.must"}, nil, "", ""},
	{users, `smartcardRequired eq true`, []string{"q.pwd.card"}, nil, "smartcardRequired", ""},
	{users, `memberOf eq "Q Primary"`, []string{"q.primary"}, nil, "", ""},
	{users, `memberOfNested eq "Q Outer"`, []string{"q.nested", "q.off", "q.primary"}, nil, "memberOfNested", ""},
	{users, `accountExpires pr and username sw "q."`, []string{"q.ended", "q.ends", "q.ends.later"}, nil, "", ""},
	{groups, `managedBy eq "q.recent"`, []string{"Q Mail"}, nil, "managedBy", ""},
	{groups, `type eq "Distribution" and scope eq "Universal" and name sw "Q "`, []string{"Q Mail"}, nil, "", ""},
	{groups, `memberOf eq "Q Outer"`, []string{"Q Inner", "Q Primary"}, nil, "", ""},
	{groups, `email eq "list@example.net" or description eq "nobody"`, []string{"Q Empty", "Q Mail"}, nil, "email", ""},
}

var classFilters = map[string]string{
	users:     "(&(objectCategory=person)(objectClass=user))",
	groups:    "(objectCategory=group)",
	computers: "(&(objectCategory=computer)(objectClass=computer))",
}

var needed = []string{
	"sAMAccountName", "userAccountControl", "lastLogonTimestamp", "pwdLastSet", "accountExpires", "memberOf", "manager", "mail", "whenCreated", "name",
	"msDS-User-Account-Control-Computed", "msDS-UserPasswordExpiryTimeComputed",
}

// TestQuestionsOfTeams queries a domain of 20,000 users and compares the answers with a walk
// over all objects.
func TestQuestionsOfTeams(t *testing.T) {
	s := newSystem(t, 20_000)
	objects := map[string][]*directory.Object{}
	for path, filter := range classFilters {
		var err error
		objects[path], err = s.World.Directory.DCs()[0].Search(t.Context(),
			directory.SearchRequest{Filter: filter, Attributes: needed})
		require.NoError(t, err)
	}
	require.Greater(t, len(objects[users]), 20_000)
	for _, q := range questions {
		startedAt := time.Now()
		path, params := q.path, map[string]any{"Filter": q.filter}
		if q.tree != "" {
			path, params["OUPath"], params["ShowFields"] = "/api/ADUser/ListUsers", q.tree, "username,guid"
		}
		a := list(s, path, params)
		took := time.Since(startedAt)
		found := names(a)
		t.Logf("%4d in %4d ms: %s", len(found), took.Milliseconds(), strings.TrimSpace(q.filter+" "+q.tree))
		if q.exemplary != nil {
			assert.Equal(t, q.exemplary, exemplaryOf(slices.Clone(found)), q.filter)
		}
		if q.slow == "" {
			assert.Empty(t, a.Envelope.Warnings, q.filter)
		} else {
			require.Len(t, a.Envelope.Warnings, 1, q.filter)
			assert.Equal(t, [2]string{"slow_filter", q.slow},
				[2]string{a.Envelope.Warnings[0].Code, a.Envelope.Warnings[0].Target}, q.filter)
		}
		if q.holds == nil {
			continue
		}
		want := []string{}
		for _, o := range objects[q.path] {
			if q.holds(o, directory.ToFileTime(time.Now())) {
				name := o.String("sAMAccountName")
				if q.path == computers {
					name = o.String("name")
				}
				want = append(want, name)
			}
		}
		slices.Sort(want)
		assert.Equal(t, want, found, q.filter)
	}
}
