package story

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/systemtest"
)

// groupsOf lists the groups of a user as "name: direct" or "name: nested", preceded by
// "primary" for the primary group.
func groupsOf(s *systemtest.System, user, query string) []string {
	s.T.Helper()
	a := s.Get("/api/ADUser/" + url.PathEscape(user) + "/Group/All" + query)
	require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
	var found []string
	for _, record := range a.Envelope.Result {
		how := map[any]string{true: "direct", false: "nested"}[record["direct"]]
		if record["primary"] == true {
			how = "primary " + how
		}
		found = append(found, fmt.Sprintf("%s: %s", record["name"], how))
	}
	return found
}

// members reads the direct members of a group from the directory.
func members(s *systemtest.System, group string) []string {
	s.T.Helper()
	return s.Stored("CN="+group+","+systemtest.SecurityOU, "member").Strings("member")
}

// TestTheLifeOfAMembership: every endpoint of users in groups works.
func TestTheLifeOfAMembership(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	start := s.Snapshot()
	path := systemtest.UserInGroupPath(systemtest.SampleUser, "Help Desk")
	s.Rejects(systemtest.Call{Method: http.MethodGet, Path: path}, http.StatusNotFound, "not_found")
	exists := s.OK(systemtest.Call{Method: http.MethodGet, Path: path + "/Exists"}, http.StatusOK)
	assert.Equal(t, map[string]any{"exists": false, "guid": systemtest.SampleUserGUID,
		"distinguishedName": systemtest.SampleUserDN}, exists)

	a := s.Do(systemtest.Call{Method: http.MethodPost, Path: path})
	require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)
	assert.Equal(t, "The user 'aschmidt' was added to the group 'Help Desk'.", a.Envelope.Output)
	added := a.Envelope.Result[0]
	assert.Equal(t, []any{"Help Desk", systemtest.SampleUser, "user", systemtest.SampleUserDN, true, false},
		[]any{added["samName"], added["memberName"], added["memberType"], added["memberDistinguishedName"],
			added["direct"], added["primary"]})
	assert.Contains(t, members(s, "Help Desk"), systemtest.SampleUserDN)
	assert.Equal(t, []string{"~ CN=Help Desk," + systemtest.SecurityOU + " member"}, start.Compare(s.Snapshot()))

	// The membership is read back by every form of name.
	for _, user := range []string{systemtest.SampleUser, `CORP\aschmidt`, `corp.example\aschmidt`,
		systemtest.SampleUserGUID, systemtest.SampleUserDN, "Anna Schmidt"} {
		for _, group := range []string{"help desk", added["guid"].(string),
			"CN=Help Desk," + systemtest.SecurityOU} {
			assert.Equal(t, added, s.OK(systemtest.Call{Method: http.MethodGet,
				Path: systemtest.UserInGroupPath(user, group)}, http.StatusOK))
			assert.Equal(t, true, s.OK(systemtest.Call{Method: http.MethodGet,
				Path: systemtest.UserInGroupPath(user, group) + "/Exists"}, http.StatusOK)["exists"])
		}
	}
	assert.Contains(t, groupsOf(s, systemtest.SampleUser, ""), "Help Desk: direct")

	// Repeating the call changes nothing.
	before := s.Snapshot()
	again := s.Do(systemtest.Call{Method: http.MethodPost, Path: path})
	assert.Equal(t, http.StatusOK, again.Status, "%s", again.Body)
	assert.Equal(t, "The user 'aschmidt' is a member of the group 'Help Desk' already; nothing was changed.",
		again.Envelope.Output)
	assert.Equal(t, a.Envelope.Result, again.Envelope.Result)
	assert.Empty(t, before.Compare(s.Snapshot()))

	// The member is removed twice.
	gone := s.Do(systemtest.Call{Method: http.MethodDelete, Path: path})
	assert.Equal(t, http.StatusOK, gone.Status, "%s", gone.Body)
	assert.Equal(t, "The user 'aschmidt' was removed from the group 'Help Desk'.", gone.Envelope.Output)
	assert.Equal(t, false, gone.Envelope.Result[0]["direct"])
	assert.Empty(t, start.Compare(s.Snapshot()))
	s.Rejects(systemtest.Call{Method: http.MethodGet, Path: path}, http.StatusNotFound, "not_found")
	gone = s.Do(systemtest.Call{Method: http.MethodDelete, Path: path})
	assert.Equal(t, http.StatusOK, gone.Status, "%s", gone.Body)
	assert.Equal(t, "The user 'aschmidt' is no direct member of the group 'Help Desk'; nothing was changed.",
		gone.Envelope.Output)
	assert.Empty(t, start.Compare(s.Snapshot()))
}

// TestThePrimaryGroupIsAMembership: a user is a member of its primary group, although no attribute lists this
// membership (facts E18).
func TestThePrimaryGroupIsAMembership(t *testing.T) {
	for _, culture := range systemtest.Cultures {
		t.Run(culture, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: culture})
			path := systemtest.UserInGroupPath(systemtest.SampleUser, "Domain Users")
			record := s.OK(systemtest.Call{Method: http.MethodGet, Path: path}, http.StatusOK)
			assert.Equal(t, []any{true, true}, []any{record["direct"], record["primary"]})
			assert.Equal(t, true, s.OK(systemtest.Call{Method: http.MethodGet, Path: path + "/Exists"},
				http.StatusOK)["exists"])
			assert.Contains(t, groupsOf(s, systemtest.SampleUser, ""), "Domain Users: primary direct")
			start := s.Snapshot()
			a := s.Do(systemtest.Call{Method: http.MethodPost, Path: path})
			assert.Equal(t, http.StatusOK, a.Status, "facts E28: it is there already: %s", a.Body)
			assert.Contains(t, a.Envelope.Output, "nothing was changed")
			assert.Equal(t, true, a.Envelope.Result[0]["primary"])
			assert.Empty(t, start.Compare(s.Snapshot()))
			refused := s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: path}, http.StatusConflict,
				"conflict")
			assert.Contains(t, refused.Envelope.Output,
				"Nobody leaves a primary group. Set another one first: PUT /api/ADUser/{UserName}/PrimaryGroup")
			assert.Equal(t, "GroupName", refused.Envelope.Error.Details[0].Field)

			// The user gets another primary group.
			rid := s.Stored("CN=Sales Staff,"+systemtest.SecurityOU, "objectSid").SID.RID()
			s.Modify(systemtest.SampleUserDN, directory.OpReplace, "primaryGroupID", int(rid))
			assert.Subset(t, groupsOf(s, systemtest.SampleUser, ""),
				[]string{"Domain Users: direct", "Sales Staff: primary direct"})
			s.Rejects(systemtest.Call{Method: http.MethodDelete,
				Path: systemtest.UserInGroupPath(systemtest.SampleUser, "Sales Staff")}, http.StatusConflict, "conflict")
			assert.Contains(t, groupsOf(s, systemtest.SampleUser, "?Recursive=true"), "All Staff: nested",
				"by the primary group (facts E19)")
			assert.Equal(t, true, s.OK(systemtest.Call{Method: http.MethodGet,
				Path: systemtest.UserInGroupPath(systemtest.SampleUser, "File Share Readers") + "/Exists?Recursive=true"},
				http.StatusOK)["exists"])
			s.OK(systemtest.Call{Method: http.MethodDelete, Path: path}, http.StatusOK)
			assert.NotContains(t, groupsOf(s, systemtest.SampleUser, ""), "Domain Users: direct")
		})
	}
}

// TestNestedMembership: nested groups are included on request, and a cycle of groups does not loop.
func TestNestedMembership(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	nikos := s.Stored("CN=Nikos Ioannidis,OU=Finance,OU=Athens,"+systemtest.StaffOU,
		"sAMAccountName").String("sAMAccountName")
	s.Rejects(systemtest.Call{Method: http.MethodGet, Path: systemtest.UserInGroupPath(nikos, "Nested Level 1")},
		http.StatusNotFound, "not_found")
	s.Rejects(systemtest.Call{Method: http.MethodGet,
		Path: systemtest.UserInGroupPath(nikos, "Nested Level 1") + "?Recursive=false"}, http.StatusNotFound,
		"not_found")
	record := s.OK(systemtest.Call{Method: http.MethodGet,
		Path: systemtest.UserInGroupPath(nikos, "Nested Level 1") + "?Recursive=TRUE"}, http.StatusOK)
	assert.Equal(t, []any{false, false, nikos}, []any{record["direct"], record["primary"], record["memberName"]})
	assert.Equal(t, false, s.OK(systemtest.Call{Method: http.MethodGet,
		Path: systemtest.UserInGroupPath(nikos, "Nested Level 1") + "/Exists"}, http.StatusOK)["exists"])
	assert.Equal(t, true, s.OK(systemtest.Call{Method: http.MethodGet,
		Path: systemtest.UserInGroupPath(nikos, "Nested Level 1") + "/Exists?Recursive=true"},
		http.StatusOK)["exists"])

	all := groupsOf(s, nikos, "?Recursive=true")
	assert.Subset(t, all, []string{"Nested Level 1: nested", "Nested Level 2: nested", "Nested Level 3: direct",
		"Domain Users: primary direct"})
	assert.Contains(t, all, "Users: nested", "the primary group is nested in the built-in Users")
	for _, line := range groupsOf(s, nikos, "") {
		assert.NotContains(t, line, "nested")
		assert.Contains(t, all, line)
	}
	assert.True(t, slices.IsSorted(all), "%q", all)

	ruth := s.Stored("CN=Ring Ruth,OU=Odd Names,OU=Corp,DC=corp,DC=example",
		"sAMAccountName").String("sAMAccountName")
	assert.Subset(t, groupsOf(s, ruth, "?Recursive=true"), []string{"Ring One: direct", "Ring Two: nested"})

	// A nested member can be added directly, but not removed.
	s.OK(systemtest.Call{Method: http.MethodPost, Path: systemtest.UserInGroupPath(nikos, "Nested Level 1")},
		http.StatusCreated)
	assert.Equal(t, true, s.OK(systemtest.Call{Method: http.MethodGet,
		Path: systemtest.UserInGroupPath(nikos, "Nested Level 1")}, http.StatusOK)["direct"])
	s.OK(systemtest.Call{Method: http.MethodDelete, Path: systemtest.UserInGroupPath(nikos, "Nested Level 1")},
		http.StatusOK)
	a := s.Do(systemtest.Call{Method: http.MethodDelete,
		Path: systemtest.UserInGroupPath(nikos, "Nested Level 1")})
	assert.Contains(t, a.Envelope.Output, "nothing was changed")
}

// TestTheLifeOfANesting: every endpoint of groups in groups works.
func TestTheLifeOfANesting(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	start := s.Snapshot()
	path := systemtest.GroupInGroupPath("Help Desk", "Project Phoenix")
	desk := s.OK(systemtest.Call{Method: http.MethodGet, Path: systemtest.GroupPath("Help Desk", "")},
		http.StatusOK)
	exists := s.OK(systemtest.Call{Method: http.MethodGet, Path: path + "/Exists"}, http.StatusOK)
	assert.Equal(t, map[string]any{"exists": false, "guid": desk["guid"],
		"distinguishedName": desk["distinguishedName"]}, exists)
	a := s.Do(systemtest.Call{Method: http.MethodPost, Path: path})
	require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)
	assert.Equal(t, "The group 'Help Desk' was added to the group 'Project Phoenix'.", a.Envelope.Output)
	added := a.Envelope.Result[0]
	assert.Equal(t, []any{"Project Phoenix", "Help Desk", "group", true, false},
		[]any{added["name"], added["memberName"], added["memberType"], added["direct"], added["primary"]})
	assert.Contains(t, members(s, "Project Phoenix"), desk["distinguishedName"])
	assert.Equal(t, true, s.OK(systemtest.Call{Method: http.MethodGet, Path: path + "/Exists"},
		http.StatusOK)["exists"])
	again := s.Do(systemtest.Call{Method: http.MethodPost, Path: path})
	assert.Equal(t, http.StatusOK, again.Status)
	assert.Contains(t, again.Envelope.Output, "nothing was changed")
	assert.Equal(t, a.Envelope.Result, again.Envelope.Result)
	gone := s.Do(systemtest.Call{Method: http.MethodDelete, Path: path})
	assert.Equal(t, "The group 'Help Desk' was removed from the group 'Project Phoenix'.", gone.Envelope.Output)
	gone = s.Do(systemtest.Call{Method: http.MethodDelete, Path: path})
	assert.Equal(t, http.StatusOK, gone.Status)
	assert.Contains(t, gone.Envelope.Output, "nothing was changed")
	assert.Empty(t, start.Compare(s.Snapshot()))
}

func TestNestingRules(t *testing.T) {
	for _, culture := range systemtest.Cultures {
		t.Run(culture, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: culture})
			for name, scope := range map[string]string{"G": "Global", "U": "Universal", "L": "DomainLocal"} {
				for _, n := range []string{"1", "2"} {
					s.OK(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupPath(name+n, "/Security"),
						Params: map[string]any{"GroupScope": scope}}, http.StatusCreated)
				}
			}
			for _, c := range []struct {
				child, parent, code, rule string
			}{
				{"G1", "G2", "", ""}, {"G1", "U1", "", ""}, {"G1", "L1", "", ""}, {"U1", "U2", "", ""}, {"U1", "L1", "", ""}, {"L1", "L2", "", ""},
				{"L1", "G1", "AD:8516", "A global group cannot have a domain local group as a member."},
				{"U1", "G1", "AD:8517", "A global group cannot have a universal group as a member."},
				{"L1", "U1", "AD:8518", "A universal group cannot have a domain local group as a member."},
				{"Guests", "L1", "AD:8520", "A domain local group cannot have another domain's local group as a member."},
			} {
				nest := systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupInGroupPath(c.child, c.parent)}
				if c.code == "" {
					s.OK(nest, http.StatusCreated)
					s.OK(systemtest.Call{Method: http.MethodDelete, Path: nest.Path}, http.StatusOK)
					continue
				}
				a := s.Rejects(nest, http.StatusUnprocessableEntity, "unprocessable")
				assert.Equal(t, []string{c.code, c.rule, "none"},
					[]string{a.Envelope.Error.DirectoryCode, a.Envelope.Output, a.Envelope.Error.Outcome})
			}

			// A group can neither join itself nor close a cycle of two or three.
			s.OK(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupInGroupPath("G1", "G2")},
				http.StatusCreated)
			s.OK(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupInGroupPath("G2", "Help Desk")},
				http.StatusCreated)
			for _, c := range []struct{ child, parent, says string }{
				{"G1", "g1", "itself"}, {"G2", "G1", "ring"}, {"Help Desk", "G1", "ring"},
			} {
				a := s.Rejects(systemtest.Call{Method: http.MethodPost,
					Path: systemtest.GroupInGroupPath(c.child, c.parent)}, http.StatusUnprocessableEntity, "unprocessable")
				assert.Contains(t, a.Envelope.Output, c.says)
				assert.Equal(t, "ChildGroupName", a.Envelope.Error.Details[0].Field)
			}
			// An existing cycle can be broken.
			s.OK(systemtest.Call{Method: http.MethodDelete, Path: systemtest.GroupInGroupPath("Ring One", "Ring Two")},
				http.StatusOK)
			s.Rejects(systemtest.Call{Method: http.MethodPost,
				Path: systemtest.GroupInGroupPath("Ring One", "Ring Two")}, http.StatusUnprocessableEntity,
				"unprocessable")
		})
	}
}

// TestMissingMembersAndGroups: every missing name results in a 404 that names its parameter.
func TestMissingMembersAndGroups(t *testing.T) {
	for _, culture := range systemtest.Cultures {
		t.Run(culture, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: culture})
			for _, c := range []struct {
				method, path, field string
			}{
				{http.MethodGet, systemtest.UserInGroupPath("nobody", systemtest.SampleGroup), "Username"},
				{http.MethodGet, systemtest.UserInGroupPath(systemtest.SampleUser, "Nothing"), "GroupName"},
				{http.MethodGet, systemtest.UserInGroupPath(systemtest.SampleGroup, systemtest.SampleGroup), "Username"},
				{http.MethodGet, systemtest.UserInGroupPath(systemtest.SampleUser, systemtest.SampleUser), "GroupName"},
				{http.MethodGet, systemtest.UserInGroupPath("nobody", systemtest.SampleGroup) + "/Exists", "Username"},
				{http.MethodGet, systemtest.UserInGroupPath("nobody", "Nothing") + "/Exists", "Username"},
				{http.MethodGet, systemtest.UserInGroupPath(systemtest.SampleUser, "Nothing") + "/Exists", "GroupName"},
				{http.MethodGet, "/api/ADUser/nobody/Group/All", "Username"},
				{http.MethodPost, systemtest.UserInGroupPath("nobody", systemtest.SampleGroup), "Username"},
				{http.MethodPost, systemtest.UserInGroupPath("Anna Schmidt", systemtest.SampleGroup), "Username"},
				{http.MethodPost, systemtest.UserInGroupPath(systemtest.SampleUser, "Nothing"), "GroupName"},
				{http.MethodDelete, systemtest.UserInGroupPath("nobody", systemtest.SampleGroup), "Username"},
				{http.MethodDelete, systemtest.UserInGroupPath(systemtest.SampleUser, "Nothing"), "GroupName"},
				{http.MethodPost, systemtest.GroupInGroupPath("Nothing", "Help Desk"), "ChildGroupName"},
				{http.MethodPost, systemtest.GroupInGroupPath(systemtest.SampleUser, "Help Desk"), "ChildGroupName"},
				{http.MethodPost, systemtest.GroupInGroupPath("Help Desk", "Nothing"), "ParentGroupName"},
				{http.MethodDelete, systemtest.GroupInGroupPath("Nothing", "Help Desk"), "ChildGroupName"},
				{http.MethodDelete, systemtest.GroupInGroupPath("Help Desk", "Nothing"), "ParentGroupName"},
				{http.MethodGet, systemtest.GroupInGroupPath("Nothing", "Help Desk") + "/Exists", "ChildGroupName"},
				{http.MethodGet, systemtest.GroupInGroupPath("Help Desk", "Nothing") + "/Exists", "ParentGroupName"},
			} {
				a := s.Rejects(systemtest.Call{Method: c.method, Path: c.path}, http.StatusNotFound, "not_found")
				require.Len(t, a.Envelope.Error.Details, 1)
				assert.Equal(t, c.field, a.Envelope.Error.Details[0].Field, c.path)
			}
			s.DenyBelow(systemtest.SecurityOU, directory.RightWriteProperty)
			a := s.Rejects(systemtest.Call{Method: http.MethodPost,
				Path: systemtest.UserInGroupPath(systemtest.SampleUser, "Help Desk")}, http.StatusForbidden,
				"directory_denied")
			assert.Equal(t, "AD:8344", a.Envelope.Error.DirectoryCode, "facts E30")
			assert.Equal(t, "none", a.Envelope.Error.Outcome)
		})
	}
}

// TestPrivilegedMembership: changing the members of a privileged group needs the scope privileged.
func TestPrivilegedMembership(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for _, group := range []string{"Domain Admins", "Server Admins", "Administrators", "Guests",
		"Remote Desktop Users"} {
		for _, c := range []systemtest.Call{
			{Method: http.MethodPost, Path: systemtest.UserInGroupPath(systemtest.SampleUser, group)},
			{Method: http.MethodDelete, Path: systemtest.UserInGroupPath("adm.beate", group)},
			{Method: http.MethodPost, Path: systemtest.GroupInGroupPath("Help Desk", group)},
			{Method: http.MethodDelete, Path: systemtest.GroupInGroupPath("Help Desk", group)},
		} {
			c.Token = systemtest.PlainToken
			a := s.Rejects(c, http.StatusForbidden, "forbidden")
			assert.Contains(t, a.Envelope.Output, "'privileged'", group)
		}
	}
	// The same applies one level below, because members of a nested group are members of the outer group.
	s.OK(systemtest.Call{Method: http.MethodPost,
		Path: systemtest.GroupInGroupPath("Nested Level 2", "Help Desk")}, http.StatusCreated)
	s.OK(systemtest.Call{Method: http.MethodPost,
		Path: systemtest.GroupInGroupPath("Help Desk", "Remote Desktop Users")}, http.StatusCreated)
	for _, group := range []string{"Help Desk", "Nested Level 3"} {
		a := s.Rejects(systemtest.Call{Method: http.MethodPost,
			Path: systemtest.UserInGroupPath(systemtest.SampleUser, group), Token: systemtest.PlainToken},
			http.StatusForbidden, "forbidden")
		assert.Contains(t, a.Envelope.Output, "nested in")
		s.OK(systemtest.Call{Method: http.MethodPost,
			Path: systemtest.UserInGroupPath(systemtest.SampleUser, group)}, http.StatusCreated)
	}
	s.OK(systemtest.Call{Method: http.MethodPost,
		Path: systemtest.UserInGroupPath(systemtest.SampleUser, "Project Phoenix"), Token: systemtest.PlainToken},
		http.StatusCreated)
	s.OK(systemtest.Call{Method: http.MethodGet, Path: systemtest.UserInGroupPath("adm.beate", "Server Admins"),
		Token: systemtest.PlainToken}, http.StatusOK)
}

// TestLimitsOfMembership: limits apply to both sides of a membership.
func TestLimitsOfMembership(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	nikos := s.Stored("CN=Nikos Ioannidis,OU=Finance,OU=Athens,"+systemtest.StaffOU,
		"sAMAccountName").String("sAMAccountName")
	for _, c := range []struct {
		path, token, field string
	}{
		{systemtest.UserInGroupPath(nikos, "Help Desk"), systemtest.DeskToken, "Username"},
		{systemtest.UserInGroupPath(systemtest.SampleUser, "Project Phoenix"), systemtest.DeskToken, "GroupName"},
		{systemtest.UserInGroupPath(systemtest.SampleUser, systemtest.SampleGroup), systemtest.LimitedToken, "GroupName"},
		{systemtest.GroupInGroupPath("Project Phoenix", "Help Desk"), systemtest.DeskToken, "ChildGroupName"},
		{systemtest.GroupInGroupPath("Help Desk", "Project Phoenix"), systemtest.DeskToken, "ParentGroupName"},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			path := c.path
			if method == http.MethodGet {
				path += "/Exists"
			}
			a := s.Rejects(systemtest.Call{Method: method, Path: path, Token: c.token}, http.StatusNotFound,
				"not_found")
			assert.Equal(t, c.field, a.Envelope.Error.Details[0].Field, path)
		}
	}
	s.Rejects(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/" + nikos + "/Group/All",
		Token: systemtest.DeskToken}, http.StatusNotFound, "not_found")
	s.OK(systemtest.Call{Method: http.MethodPost,
		Path: systemtest.UserInGroupPath(systemtest.SampleUser, "Help Desk"), Token: systemtest.DeskToken},
		http.StatusCreated)
	listed := s.Do(systemtest.Call{Method: http.MethodGet,
		Path: "/api/ADUser/" + systemtest.SampleUser + "/Group/All?Recursive=true", Token: systemtest.DeskToken})
	var names []any
	for _, record := range listed.Envelope.Result {
		names = append(names, record["name"])
	}
	assert.Equal(t, []any{"All Staff", "Help Desk", systemtest.SampleGroup}, names)
	assert.Empty(t, s.Do(systemtest.Call{Method: http.MethodGet,
		Path:  "/api/ADUser/" + systemtest.SampleUser + "/Group/All",
		Token: systemtest.LimitedToken}).Envelope.Result)
}

// TestMembersThatCannotBeResolvedAreNoObstacle: the members of a group can be read even if one of them
// cannot be resolved. The cmdlet that lists members would fail (facts E23), so no script uses it.
func TestMembersThatCannotBeResolvedAreNoObstacle(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	const foreign = "CN=S-1-5-21-1-2-3-1000,CN=ForeignSecurityPrincipals,DC=corp,DC=example"
	_, err := s.DC1().Add(context.Background(), foreign,
		directory.Attr("objectClass", "foreignSecurityPrincipal"))
	require.NoError(t, err)
	const group = "File Share Readers"
	s.Modify("CN="+group+","+systemtest.SecurityOU, directory.OpAdd, "member", foreign)
	s.OK(systemtest.Call{Method: http.MethodPost,
		Path: systemtest.UserInGroupPath(systemtest.SampleUser, group)}, http.StatusCreated)
	s.OK(systemtest.Call{Method: http.MethodGet, Path: systemtest.UserInGroupPath(systemtest.SampleUser, group)},
		http.StatusOK)
	s.OK(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupInGroupPath("Help Desk", group)},
		http.StatusCreated)
	s.OK(systemtest.Call{Method: http.MethodGet,
		Path: systemtest.GroupInGroupPath("Help Desk", group) + "/Exists"}, http.StatusOK)
	assert.Contains(t, groupsOf(s, systemtest.SampleUser, "?Recursive=true"), group+": direct")
	s.OK(systemtest.Call{Method: http.MethodDelete,
		Path: systemtest.UserInGroupPath(systemtest.SampleUser, group)}, http.StatusOK)
	assert.Contains(t, members(s, group), foreign)
}
