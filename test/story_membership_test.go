package test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// userIn and groupIn are the paths of memberships.
func userIn(user, group string) string {
	return "/api/ADUser/" + url.PathEscape(user) + "/Group/" + url.PathEscape(group)
}

func groupIn(child, parent string) string {
	return "/api/ADGroup/" + url.PathEscape(parent) + "/Group/" + url.PathEscape(child)
}

// groupsOf lists the groups of a user: the name, with "direct" or "nested", and
// "primary" for the primary group.
func (s *system) groupsOf(user, query string) []string {
	s.t.Helper()
	a := s.get("/api/ADUser/" + url.PathEscape(user) + "/Group/All" + query)
	require.Equal(s.t, http.StatusOK, a.status, "%s", a.body)
	var found []string
	for _, record := range a.envelope.Result {
		how := map[any]string{true: "direct", false: "nested"}[record["direct"]]
		if record["primary"] == true {
			how = "primary " + how
		}
		found = append(found, fmt.Sprintf("%s: %s", record["name"], how))
	}
	return found
}

// members are the direct members of a group in the directory itself.
func (s *system) members(group string) []string {
	s.t.Helper()
	return s.stored("CN="+group+","+securityOU, "member").Strings("member")
}

// TestTheLifeOfAMembership goes through every endpoint of users in groups.
func TestTheLifeOfAMembership(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	start := s.snapshot()
	path := userIn(sampleUser, "Help Desk")
	s.refused(call{method: http.MethodGet, path: path}, http.StatusNotFound, "not_found")
	exists := s.ok(call{method: http.MethodGet, path: path + "/Exists"}, http.StatusOK)
	assert.Equal(t, map[string]any{"exists": false, "guid": sampleUserGUID, "distinguishedName": sampleUserDN}, exists)

	a := s.do(call{method: http.MethodPost, path: path})
	require.Equal(t, http.StatusCreated, a.status, "%s", a.body)
	assert.Equal(t, "The user 'aschmidt' was added to the group 'Help Desk'.", a.envelope.Output)
	added := a.envelope.Result[0]
	assert.Equal(t, []any{"Help Desk", sampleUser, "user", sampleUserDN, true, false},
		[]any{added["samName"], added["memberName"], added["memberType"], added["memberDistinguishedName"], added["direct"], added["primary"]})
	assert.Contains(t, s.members("Help Desk"), sampleUserDN)
	assert.Equal(t, []string{"~ CN=Help Desk," + securityOU + " member"}, start.Compare(s.snapshot()))

	// Read back, by every kind of name.
	for _, user := range []string{sampleUser, sampleUserGUID, sampleUserDN, "Anna Schmidt"} {
		for _, group := range []string{"help desk", added["guid"].(string), "CN=Help Desk," + securityOU} {
			assert.Equal(t, added, s.ok(call{method: http.MethodGet, path: userIn(user, group)}, http.StatusOK))
			assert.Equal(t, true, s.ok(call{method: http.MethodGet, path: userIn(user, group) + "/Exists"}, http.StatusOK)["exists"])
		}
	}
	assert.Contains(t, s.groupsOf(sampleUser, ""), "Help Desk: direct")

	// Once more: nothing changes.
	before := s.snapshot()
	again := s.do(call{method: http.MethodPost, path: path})
	assert.Equal(t, http.StatusOK, again.status, "%s", again.body)
	assert.Equal(t, "The user 'aschmidt' is a member of the group 'Help Desk' already; nothing was changed.", again.envelope.Output)
	assert.Equal(t, a.envelope.Result, again.envelope.Result)
	assert.Empty(t, before.Compare(s.snapshot()))

	// Removed, and once more.
	gone := s.do(call{method: http.MethodDelete, path: path})
	assert.Equal(t, http.StatusOK, gone.status, "%s", gone.body)
	assert.Equal(t, "The user 'aschmidt' was removed from the group 'Help Desk'.", gone.envelope.Output)
	assert.Equal(t, false, gone.envelope.Result[0]["direct"])
	assert.Empty(t, start.Compare(s.snapshot()))
	s.refused(call{method: http.MethodGet, path: path}, http.StatusNotFound, "not_found")
	gone = s.do(call{method: http.MethodDelete, path: path})
	assert.Equal(t, http.StatusOK, gone.status, "%s", gone.body)
	assert.Equal(t, "The user 'aschmidt' is no direct member of the group 'Help Desk'; nothing was changed.", gone.envelope.Output)
	assert.Empty(t, start.Compare(s.snapshot()))
}

// The primary group counts as membership, though no attribute lists it (facts E18).
func TestThePrimaryGroupIsAMembership(t *testing.T) {
	for _, culture := range cultures {
		t.Run(culture, func(t *testing.T) {
			s := newSystem(t, sandbox.Options{Seed: 1, Culture: culture})
			path := userIn(sampleUser, "Domain Users")
			record := s.ok(call{method: http.MethodGet, path: path}, http.StatusOK)
			assert.Equal(t, []any{true, true}, []any{record["direct"], record["primary"]})
			assert.Equal(t, true, s.ok(call{method: http.MethodGet, path: path + "/Exists"}, http.StatusOK)["exists"])
			assert.Contains(t, s.groupsOf(sampleUser, ""), "Domain Users: primary direct")
			start := s.snapshot()
			a := s.do(call{method: http.MethodPost, path: path})
			assert.Equal(t, http.StatusOK, a.status, "facts E28: it is there already: %s", a.body)
			assert.Contains(t, a.envelope.Output, "nothing was changed")
			assert.Equal(t, true, a.envelope.Result[0]["primary"])
			assert.Empty(t, start.Compare(s.snapshot()))
			refused := s.refused(call{method: http.MethodDelete, path: path}, http.StatusConflict, "conflict")
			assert.Contains(t, refused.envelope.Output, "primary group")
			assert.Equal(t, "GroupName", refused.envelope.Error.Details[0].Field)

			// Another primary group.
			rid := s.stored("CN=Sales Staff,"+securityOU, "objectSid").SID.RID()
			s.modify(sampleUserDN, directory.OpReplace, "primaryGroupID", int(rid))
			assert.Subset(t, s.groupsOf(sampleUser, ""), []string{"Domain Users: direct", "Sales Staff: primary direct"})
			s.refused(call{method: http.MethodDelete, path: userIn(sampleUser, "Sales Staff")}, http.StatusConflict, "conflict")
			assert.Contains(t, s.groupsOf(sampleUser, "?Recursive=true"), "All Staff: nested", "by the primary group (facts E19)")
			assert.Equal(t, true, s.ok(call{method: http.MethodGet, path: userIn(sampleUser, "File Share Readers") + "/Exists?Recursive=true"}, http.StatusOK)["exists"])
			s.ok(call{method: http.MethodDelete, path: path}, http.StatusOK)
			assert.NotContains(t, s.groupsOf(sampleUser, ""), "Domain Users: direct")
		})
	}
}

// Nested groups count when asked for; a ring of groups has an end.
func TestNestedMembership(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	nikos := s.stored("CN=Nikos Ioannidis,OU=Finance,OU=Athens,"+staffOU, "sAMAccountName").String("sAMAccountName")
	s.refused(call{method: http.MethodGet, path: userIn(nikos, "Nested Level 1")}, http.StatusNotFound, "not_found")
	s.refused(call{method: http.MethodGet, path: userIn(nikos, "Nested Level 1") + "?Recursive=false"}, http.StatusNotFound, "not_found")
	record := s.ok(call{method: http.MethodGet, path: userIn(nikos, "Nested Level 1") + "?Recursive=TRUE"}, http.StatusOK)
	assert.Equal(t, []any{false, false, nikos}, []any{record["direct"], record["primary"], record["memberName"]})
	assert.Equal(t, false, s.ok(call{method: http.MethodGet, path: userIn(nikos, "Nested Level 1") + "/Exists"}, http.StatusOK)["exists"])
	assert.Equal(t, true, s.ok(call{method: http.MethodGet, path: userIn(nikos, "Nested Level 1") + "/Exists?Recursive=true"}, http.StatusOK)["exists"])

	all := s.groupsOf(nikos, "?Recursive=true")
	assert.Subset(t, all, []string{"Nested Level 1: nested", "Nested Level 2: nested", "Nested Level 3: direct", "Domain Users: primary direct"})
	assert.Contains(t, all, "Users: nested", "the primary group is nested in the built-in Users")
	for _, line := range s.groupsOf(nikos, "") {
		assert.NotContains(t, line, "nested")
		assert.Contains(t, all, line)
	}
	assert.True(t, slices.IsSorted(all), "%q", all)

	ruth := s.stored("CN=Ring Ruth,OU=Odd Names,OU=Corp,DC=corp,DC=example", "sAMAccountName").String("sAMAccountName")
	assert.Subset(t, s.groupsOf(ruth, "?Recursive=true"), []string{"Ring One: direct", "Ring Two: nested"})

	// Nested membership is no reason not to add, and none to remove.
	s.ok(call{method: http.MethodPost, path: userIn(nikos, "Nested Level 1")}, http.StatusCreated)
	assert.Equal(t, true, s.ok(call{method: http.MethodGet, path: userIn(nikos, "Nested Level 1")}, http.StatusOK)["direct"])
	s.ok(call{method: http.MethodDelete, path: userIn(nikos, "Nested Level 1")}, http.StatusOK)
	a := s.do(call{method: http.MethodDelete, path: userIn(nikos, "Nested Level 1")})
	assert.Contains(t, a.envelope.Output, "nothing was changed")
}

// TestTheLifeOfANesting goes through every endpoint of groups in groups.
func TestTheLifeOfANesting(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	start := s.snapshot()
	path := groupIn("Help Desk", "Project Phoenix")
	desk := s.ok(call{method: http.MethodGet, path: groupPath("Help Desk", "")}, http.StatusOK)
	exists := s.ok(call{method: http.MethodGet, path: path + "/Exists"}, http.StatusOK)
	assert.Equal(t, map[string]any{"exists": false, "guid": desk["guid"], "distinguishedName": desk["distinguishedName"]}, exists)
	a := s.do(call{method: http.MethodPost, path: path})
	require.Equal(t, http.StatusCreated, a.status, "%s", a.body)
	assert.Equal(t, "The group 'Help Desk' was added to the group 'Project Phoenix'.", a.envelope.Output)
	added := a.envelope.Result[0]
	assert.Equal(t, []any{"Project Phoenix", "Help Desk", "group", true, false},
		[]any{added["name"], added["memberName"], added["memberType"], added["direct"], added["primary"]})
	assert.Contains(t, s.members("Project Phoenix"), desk["distinguishedName"])
	assert.Equal(t, true, s.ok(call{method: http.MethodGet, path: path + "/Exists"}, http.StatusOK)["exists"])
	again := s.do(call{method: http.MethodPost, path: path})
	assert.Equal(t, http.StatusOK, again.status)
	assert.Contains(t, again.envelope.Output, "nothing was changed")
	assert.Equal(t, a.envelope.Result, again.envelope.Result)
	gone := s.do(call{method: http.MethodDelete, path: path})
	assert.Equal(t, "The group 'Help Desk' was removed from the group 'Project Phoenix'.", gone.envelope.Output)
	gone = s.do(call{method: http.MethodDelete, path: path})
	assert.Equal(t, http.StatusOK, gone.status)
	assert.Contains(t, gone.envelope.Output, "nothing was changed")
	assert.Empty(t, start.Compare(s.snapshot()))
}

func TestNestingRules(t *testing.T) {
	for _, culture := range cultures {
		t.Run(culture, func(t *testing.T) {
			s := newSystem(t, sandbox.Options{Seed: 1, Culture: culture})
			for name, scope := range map[string]string{"G": "Global", "U": "Universal", "L": "DomainLocal"} {
				for _, n := range []string{"1", "2"} {
					s.ok(call{method: http.MethodPost, path: groupPath(name+n, "/Security"), params: map[string]any{"GroupScope": scope}}, http.StatusCreated)
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
				nest := call{method: http.MethodPost, path: groupIn(c.child, c.parent)}
				if c.code == "" {
					s.ok(nest, http.StatusCreated)
					s.ok(call{method: http.MethodDelete, path: nest.path}, http.StatusOK)
					continue
				}
				a := s.refused(nest, http.StatusUnprocessableEntity, "unprocessable")
				assert.Equal(t, []string{c.code, c.rule, "none"}, []string{a.envelope.Error.DirectoryCode, a.envelope.Output, a.envelope.Error.Outcome})
			}

			// Into itself, and rings of two and of three.
			s.ok(call{method: http.MethodPost, path: groupIn("G1", "G2")}, http.StatusCreated)
			s.ok(call{method: http.MethodPost, path: groupIn("G2", "Help Desk")}, http.StatusCreated)
			for _, c := range []struct{ child, parent, says string }{
				{"G1", "g1", "itself"}, {"G2", "G1", "ring"}, {"Help Desk", "G1", "ring"},
			} {
				a := s.refused(call{method: http.MethodPost, path: groupIn(c.child, c.parent)}, http.StatusUnprocessableEntity, "unprocessable")
				assert.Contains(t, a.envelope.Output, c.says)
				assert.Equal(t, "ChildGroupName", a.envelope.Error.Details[0].Field)
			}
			// A ring that is there can be opened.
			s.ok(call{method: http.MethodDelete, path: groupIn("Ring One", "Ring Two")}, http.StatusOK)
			s.refused(call{method: http.MethodPost, path: groupIn("Ring One", "Ring Two")}, http.StatusUnprocessableEntity, "unprocessable")
		})
	}
}

// Every missing name is 404, and the details say which parameter it is.
func TestMissingMembersAndGroups(t *testing.T) {
	for _, culture := range cultures {
		t.Run(culture, func(t *testing.T) {
			s := newSystem(t, sandbox.Options{Seed: 1, Culture: culture})
			for _, c := range []struct {
				method, path, field string
			}{
				{http.MethodGet, userIn("nobody", sampleGroup), "Username"},
				{http.MethodGet, userIn(sampleUser, "Nothing"), "GroupName"},
				{http.MethodGet, userIn(sampleGroup, sampleGroup), "Username"},
				{http.MethodGet, userIn(sampleUser, sampleUser), "GroupName"},
				{http.MethodGet, userIn("nobody", sampleGroup) + "/Exists", "Username"},
				{http.MethodGet, userIn("nobody", "Nothing") + "/Exists", "Username"},
				{http.MethodGet, userIn(sampleUser, "Nothing") + "/Exists", "GroupName"},
				{http.MethodGet, "/api/ADUser/nobody/Group/All", "Username"},
				{http.MethodPost, userIn("nobody", sampleGroup), "Username"},
				{http.MethodPost, userIn("Anna Schmidt", sampleGroup), "Username"},
				{http.MethodPost, userIn(sampleUser, "Nothing"), "GroupName"},
				{http.MethodDelete, userIn("nobody", sampleGroup), "Username"},
				{http.MethodDelete, userIn(sampleUser, "Nothing"), "GroupName"},
				{http.MethodPost, groupIn("Nothing", "Help Desk"), "ChildGroupName"},
				{http.MethodPost, groupIn(sampleUser, "Help Desk"), "ChildGroupName"},
				{http.MethodPost, groupIn("Help Desk", "Nothing"), "ParentGroupName"},
				{http.MethodDelete, groupIn("Nothing", "Help Desk"), "ChildGroupName"},
				{http.MethodDelete, groupIn("Help Desk", "Nothing"), "ParentGroupName"},
				{http.MethodGet, groupIn("Nothing", "Help Desk") + "/Exists", "ChildGroupName"},
				{http.MethodGet, groupIn("Help Desk", "Nothing") + "/Exists", "ParentGroupName"},
			} {
				a := s.refused(call{method: c.method, path: c.path}, http.StatusNotFound, "not_found")
				require.Len(t, a.envelope.Error.Details, 1)
				assert.Equal(t, c.field, a.envelope.Error.Details[0].Field, c.path)
			}
			s.deny(securityOU, directory.RightWriteProperty)
			a := s.refused(call{method: http.MethodPost, path: userIn(sampleUser, "Help Desk")}, http.StatusForbidden, "directory_denied")
			assert.Equal(t, "AD:8344", a.envelope.Error.DirectoryCode, "facts E30")
			assert.Equal(t, "none", a.envelope.Error.Outcome)
		})
	}
}

// Changing who is in a group that guards the domain needs the scope privileged.
func TestPrivilegedMembership(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	for _, group := range []string{"Domain Admins", "Server Admins", "Administrators", "Guests", "Remote Desktop Users"} {
		for _, c := range []call{
			{method: http.MethodPost, path: userIn(sampleUser, group)},
			{method: http.MethodDelete, path: userIn("adm.beate", group)},
			{method: http.MethodPost, path: groupIn("Help Desk", group)},
			{method: http.MethodDelete, path: groupIn("Help Desk", group)},
		} {
			c.token = plainToken
			a := s.refused(c, http.StatusForbidden, "forbidden")
			assert.Contains(t, a.envelope.Output, "'privileged'", group)
		}
	}
	// One more below: the members of a nested group are those of the group above.
	s.ok(call{method: http.MethodPost, path: groupIn("Nested Level 2", "Help Desk")}, http.StatusCreated)
	s.ok(call{method: http.MethodPost, path: groupIn("Help Desk", "Remote Desktop Users")}, http.StatusCreated)
	for _, group := range []string{"Help Desk", "Nested Level 3"} {
		a := s.refused(call{method: http.MethodPost, path: userIn(sampleUser, group), token: plainToken}, http.StatusForbidden, "forbidden")
		assert.Contains(t, a.envelope.Output, "nested in")
		s.ok(call{method: http.MethodPost, path: userIn(sampleUser, group)}, http.StatusCreated)
	}
	s.ok(call{method: http.MethodPost, path: userIn(sampleUser, "Project Phoenix"), token: plainToken}, http.StatusCreated)
	s.ok(call{method: http.MethodGet, path: userIn("adm.beate", "Server Admins"), token: plainToken}, http.StatusOK)
}

// Limits hold for both sides of a membership.
func TestLimitsOfMembership(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	nikos := s.stored("CN=Nikos Ioannidis,OU=Finance,OU=Athens,"+staffOU, "sAMAccountName").String("sAMAccountName")
	for _, c := range []struct {
		path, token, field string
	}{
		{userIn(nikos, "Help Desk"), deskToken, "Username"},
		{userIn(sampleUser, "Project Phoenix"), deskToken, "GroupName"},
		{userIn(sampleUser, sampleGroup), limitedToken, "GroupName"},
		{groupIn("Project Phoenix", "Help Desk"), deskToken, "ChildGroupName"},
		{groupIn("Help Desk", "Project Phoenix"), deskToken, "ParentGroupName"},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			path := c.path
			if method == http.MethodGet {
				path += "/Exists"
			}
			a := s.refused(call{method: method, path: path, token: c.token}, http.StatusForbidden, "limit")
			assert.Equal(t, c.field, a.envelope.Error.Details[0].Field, path)
		}
	}
	s.refused(call{method: http.MethodGet, path: "/api/ADUser/" + nikos + "/Group/All", token: deskToken}, http.StatusForbidden, "limit")
	s.ok(call{method: http.MethodPost, path: userIn(sampleUser, "Help Desk"), token: deskToken}, http.StatusCreated)
	listed := s.do(call{method: http.MethodGet, path: "/api/ADUser/" + sampleUser + "/Group/All?Recursive=true", token: deskToken})
	var names []any
	for _, record := range listed.envelope.Result {
		names = append(names, record["name"])
	}
	assert.Equal(t, []any{"All Staff", "Help Desk", sampleGroup}, names)
	assert.Empty(t, s.do(call{method: http.MethodGet, path: "/api/ADUser/" + sampleUser + "/Group/All", token: limitedToken}).envelope.Result)
}

// Listing the members of a group fails as a whole when one cannot be resolved
// (facts E23), so nothing here lists them.
func TestMembersThatCannotBeResolvedAreNoObstacle(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	const foreign = "CN=S-1-5-21-1-2-3-1000,CN=ForeignSecurityPrincipals,DC=corp,DC=example"
	_, err := s.dc1().Add(context.Background(), foreign, directory.Attr("objectClass", "foreignSecurityPrincipal"))
	require.NoError(t, err)
	const group = "File Share Readers"
	s.modify("CN="+group+","+securityOU, directory.OpAdd, "member", foreign)
	s.ok(call{method: http.MethodPost, path: userIn(sampleUser, group)}, http.StatusCreated)
	s.ok(call{method: http.MethodGet, path: userIn(sampleUser, group)}, http.StatusOK)
	s.ok(call{method: http.MethodPost, path: groupIn("Help Desk", group)}, http.StatusCreated)
	s.ok(call{method: http.MethodGet, path: groupIn("Help Desk", group) + "/Exists"}, http.StatusOK)
	assert.Contains(t, s.groupsOf(sampleUser, "?Recursive=true"), group+": direct")
	s.ok(call{method: http.MethodDelete, path: userIn(sampleUser, group)}, http.StatusOK)
	assert.Contains(t, s.members(group), foreign)
}
