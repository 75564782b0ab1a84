package test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	usersContainer = "CN=Users,DC=corp,DC=example"
	groupsOU       = "OU=Groups,OU=Corp,DC=corp,DC=example"
	securityOU     = "OU=Security," + groupsOU
	distributionOU = "OU=Distribution," + groupsOU
)

// groupPath is the path of a group, with what follows its name.
func groupPath(name, rest string) string { return "/api/ADGroups/" + url.PathEscape(name) + rest }

// TestTheLifeOfAGroup goes through every endpoint of groups, each change read
// back by a second route.
func TestTheLifeOfAGroup(t *testing.T) {
	for _, category := range []string{"Security", "Distribution"} {
		t.Run(category, func(t *testing.T) {
			s := newSystem(t, sandbox.Options{Seed: 1})
			start := s.snapshot()
			inputs := map[string]any{"OUPath": groupsOU, "GroupScope": "universal", "GroupDescription": "Line 1\r\nO'Reilly; $(x)", "GroupEmail": "r&d@corp.example"}
			a := s.do(call{method: http.MethodPost, path: groupPath("R&D (Δ)", "/"+category), params: inputs})
			require.Equal(t, http.StatusCreated, a.status, "%s", a.body)
			assert.Equal(t, "The "+strings.ToLower(category)+" group 'R&D (Δ)' was created.", a.envelope.Output)
			made := a.envelope.Result[0]
			guid, dn := made["guid"].(string), "CN=R&D (Δ),"+groupsOU
			want := map[string]any{
				"guid": guid, "name": "R&D (Δ)", "samName": "R&D (Δ)", "sid": made["sid"], "distinguishedName": dn, "scope": "Universal", "type": category,
				"description": inputs["GroupDescription"], "email": inputs["GroupEmail"], "ouPath": groupsOU, "managedBy": nil, "created": made["created"], "modified": made["modified"],
			}
			assert.Equal(t, want, made)
			groupType, _ := s.stored(dn, "groupType").Int("groupType")
			assert.Equal(t, map[string]int64{"Security": -2147483640, "Distribution": 8}[category], groupType, "facts E34")
			assert.Equal(t, []string{"+ " + dn}, start.Compare(s.snapshot()))

			// Read back by GUID in braces, DN and CN, and in the lists.
			for _, name := range []string{"r&d (Δ)", "{" + strings.ToUpper(guid) + "}", dn} {
				assert.Equal(t, made, s.ok(call{method: http.MethodGet, path: groupPath(name, "")}, http.StatusOK), name)
				exists := s.ok(call{method: http.MethodGet, path: groupPath(name, "/Exists")}, http.StatusOK)
				assert.Equal(t, map[string]any{"exists": true, "guid": guid, "distinguishedName": dn}, exists, name)
			}
			other := map[string]string{"Security": "Distribution", "Distribution": "Security"}[category]
			below := "?OUPath=" + url.QueryEscape(strings.ToLower(groupsOU))
			for path, has := range map[string]bool{
				"": true, "/All": true, "/" + category + "/All": true, "/" + other + "/All": false,
				below: true, below + "&Recursive=false": true, "/" + category + "/All" + below + "&Recursive=FALSE": true,
				"?OUPath=" + url.QueryEscape("OU=Corp,DC=corp,DC=example") + "&Recursive=false": false,
			} {
				listed := s.get("/api/ADGroups" + path)
				require.Equal(t, http.StatusOK, listed.status, path)
				isMade := func(r map[string]any) bool { return r["guid"] == guid }
				assert.Equal(t, has, slices.ContainsFunc(listed.envelope.Result, isMade), path)
			}

			// Taken: the account name anywhere, the CN in the container.
			for _, again := range []string{"Security", "Distribution"} {
				got := s.refused(call{method: http.MethodPost, path: groupPath("R&D (δ)", "/"+again)}, http.StatusConflict, "conflict")
				assert.Equal(t, "GroupName", got.envelope.Error.Details[0].Field)
			}

			// Renamed, in other case, not at all, and to a name that is taken.
			renamed := s.put(groupPath(dn, "/Rename/Lab%20%23%C3%9F"), nil)
			want["name"], want["samName"], want["distinguishedName"], want["modified"] = "Lab #ß", "Lab #ß", "CN=Lab #ß,"+groupsOU, renamed["modified"]
			assert.Equal(t, want, renamed)
			assert.Equal(t, renamed, s.ok(call{method: http.MethodGet, path: groupPath(guid, "")}, http.StatusOK))
			assert.Equal(t, false, s.ok(call{method: http.MethodGet, path: groupPath("R&D (Δ)", "/Exists")}, http.StatusOK)["exists"])
			assert.Equal(t, "LAB #ß", s.put(groupPath("lab #ß", "/Rename/LAB%20%23%C3%9F"), nil)["samName"], "case is changed, too")
			before := s.snapshot()
			same := s.do(call{method: http.MethodPut, path: groupPath("lab #ß", "/Rename/LAB%20%23%C3%9F")})
			assert.Equal(t, http.StatusOK, same.status)
			assert.Contains(t, same.envelope.Output, "nothing was changed")
			assert.Empty(t, before.Compare(s.snapshot()))
			taken := s.refused(call{method: http.MethodPut, path: groupPath(guid, "/Rename/vpn%20users")}, http.StatusConflict, "conflict")
			assert.Equal(t, "NewGroupName", taken.envelope.Error.Details[0].Field)
			s.refused(call{method: http.MethodPut, path: groupPath(guid, "/Rename/"+sampleUser)}, http.StatusConflict, "conflict")

			// Removed: only from the OU it lies directly in.
			s.refused(call{method: http.MethodDelete, path: groupPath(guid, "/Remove"), params: map[string]any{"OUPath": "OU=Corp,DC=corp,DC=example"}}, http.StatusNotFound, "not_found")
			s.refused(call{method: http.MethodDelete, path: groupPath(guid, "/Remove"), params: map[string]any{"OUPath": "OU=Nowhere,DC=corp,DC=example"}}, http.StatusNotFound, "not_found")
			last := s.ok(call{method: http.MethodGet, path: groupPath(guid, "")}, http.StatusOK)
			gone := s.ok(call{method: http.MethodDelete, path: groupPath(guid, "/Remove"), params: map[string]any{"OUPath": strings.ToLower(groupsOU)}}, http.StatusOK)
			assert.Equal(t, last, gone, "the record as it was")
			s.refused(call{method: http.MethodGet, path: groupPath(guid, "")}, http.StatusNotFound, "not_found")
			s.refused(call{method: http.MethodDelete, path: groupPath(guid, "/Remove")}, http.StatusNotFound, "not_found")
			assert.Equal(t, map[string]any{"exists": false, "guid": nil, "distinguishedName": nil}, s.ok(call{method: http.MethodGet, path: groupPath(guid, "/Exists")}, http.StatusOK))
			for _, line := range start.Compare(s.snapshot()) {
				assert.Contains(t, line, "Deleted Objects", "nothing else is left")
			}
		})
	}
}

func TestDefaultsOfANewGroup(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	for scope, want := range map[string]string{"": "Global", "GLOBAL": "Global", "Domain_Local": "Domain_Local", "domainlocal": "Domain_Local", "Universal": "Universal"} {
		made := s.ok(call{method: http.MethodPost, path: groupPath("Fresh", "/Security"), params: map[string]any{
			"GroupScope": scope, "OUPath": "", "GroupDescription": "", "GroupEmail": "",
		}}, http.StatusCreated)
		assert.Equal(t, []any{want, usersContainer, nil, nil}, []any{made["scope"], made["ouPath"], made["description"], made["email"]}, scope)
		s.ok(call{method: http.MethodDelete, path: groupPath("Fresh", "/Remove")}, http.StatusOK)
	}
	s.refused(call{method: http.MethodPost, path: groupPath("Fresh", "/Security"), params: map[string]any{"GroupScope": "Local"}}, http.StatusBadRequest, "invalid_request")
	s.refused(call{method: http.MethodPost, path: groupPath("Fresh", "/Security"), params: map[string]any{"OUPath": "OU=Nowhere,DC=corp,DC=example"}}, http.StatusUnprocessableEntity, "unprocessable")
	s.refused(call{method: http.MethodPost, path: groupPath("Fresh", "/Security"), params: map[string]any{"OUPath": sampleUserDN}}, http.StatusUnprocessableEntity, "unprocessable")
	s.refused(call{method: http.MethodPost, path: groupPath("Fresh", "/Security"), params: map[string]any{"OUPath": "Groups"}}, http.StatusBadRequest, "invalid_request")
	s.refused(call{method: http.MethodPost, path: groupPath("Lukas Becker", "/Security"), params: map[string]any{"OUPath": itOU}}, http.StatusConflict, "conflict")
	s.refused(call{method: http.MethodGet, path: "/api/ADGroups", params: map[string]any{"OUPath": "OU=Nowhere,DC=corp,DC=example"}}, http.StatusNotFound, "not_found")
}

// Lists are whole, and their order is by name in upper case, by code unit.
func TestListsOfGroups(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	names := func(path string) []string {
		var found []string
		for _, record := range s.get(path).envelope.Result {
			found = append(found, strings.ToUpper(record["name"].(string)))
		}
		return found
	}
	all, security, distribution := names("/api/ADGroups/All"), names("/api/ADGroups/Security/All"), names("/api/ADGroups/Distribution/All")
	objects, err := s.dc1().Search(context.Background(), directory.SearchRequest{Filter: "(objectCategory=group)"})
	require.NoError(t, err)
	assert.Len(t, all, len(objects))
	assert.True(t, slices.IsSorted(all), "%q", all)
	assert.Equal(t, []string{"BERLIN ANNOUNCEMENTS", "LOCAL LIST", "NEWSLETTER", "SALES LIST"}, distribution)
	both := slices.Sorted(slices.Values(slices.Concat(security, distribution)))
	assert.Equal(t, all, both, "each group has one category")
	assert.Equal(t, all, names("/api/ADGroups"))
	assert.Equal(t, []string{"BERLIN ANNOUNCEMENTS"}, names("/api/ADGroups/Distribution/All?OUPath=" + url.QueryEscape(distributionOU))[:1])
	assert.Empty(t, names("/api/ADGroups/Security/All?OUPath="+url.QueryEscape(distributionOU)))
	assert.Empty(t, names("/api/ADGroups?Recursive=false&OUPath="+url.QueryEscape(groupsOU)))
}

// What is not a group, or only by its common name, is not found by name.
func TestNamesOfGroups(t *testing.T) {
	for _, culture := range cultures {
		t.Run(culture, func(t *testing.T) {
			s := newSystem(t, sandbox.Options{Seed: 1, Culture: culture})
			const commonName = "O'Reilly, Readers & Co"
			assert.Equal(t, "O'Reilly Readers", s.ok(call{method: http.MethodGet, path: groupPath(commonName, "")}, http.StatusOK)["samName"])
			for _, c := range []call{
				{method: http.MethodPut, path: groupPath(commonName, "/Rename/Readers")},
				{method: http.MethodDelete, path: groupPath(commonName, "/Remove")},
			} {
				a := s.refused(c, http.StatusNotFound, "not_found")
				assert.Contains(t, a.envelope.Output, "O'Reilly Readers", "it says which account name to use")
				assert.Equal(t, "none", a.envelope.Error.Outcome)
			}
			for _, name := range []string{"nobody", sampleUser, sampleUserDN, sampleUserGUID, "*", "VPN*", usersContainer, "FS1$"} {
				a := s.refused(call{method: http.MethodGet, path: groupPath(name, "")}, http.StatusNotFound, "not_found")
				assert.Equal(t, "GroupName", a.envelope.Error.Details[0].Field)
				assert.Equal(t, false, s.ok(call{method: http.MethodGet, path: groupPath(name, "/Exists")}, http.StatusOK)["exists"], name)
				s.refused(call{method: http.MethodDelete, path: groupPath(name, "/Remove")}, http.StatusNotFound, "not_found")
			}
			for _, ou := range []string{securityOU, distributionOU} {
				_, err := s.dc1().Add(context.Background(), "CN=Twins,"+ou, directory.Attr("objectClass", "group"),
					directory.Attr("sAMAccountName", "Twin of "+ou[3:7]), directory.Attr("groupType", "8"))
				require.NoError(t, err)
			}
			twice := s.refused(call{method: http.MethodGet, path: groupPath("Twins", "")}, http.StatusConflict, "ambiguous")
			assert.Contains(t, twice.envelope.Output, "Twin of Secu")
			s.refused(call{method: http.MethodDelete, path: groupPath("Twins", "/Remove")}, http.StatusNotFound, "not_found")
		})
	}
}

// A rename whose second half fails takes the first half back.
func TestAGroupIsRenamedWholeOrNotAtAll(t *testing.T) {
	for _, culture := range cultures {
		t.Run(culture, func(t *testing.T) {
			s := newSystem(t, sandbox.Options{Seed: 1, Culture: culture})
			const builtin = "CN=Builtin,DC=corp,DC=example" // common names stay there
			require.NoError(t, s.dc1().Move(context.Background(), "CN=Project Phoenix,"+securityOU, builtin))
			mark := sandbox.Mark{}
			_, mark = s.world.Since(mark)
			a := s.refused(call{method: http.MethodPut, path: groupPath("Project Phoenix", "/Rename/Visitors")}, http.StatusUnprocessableEntity, "unprocessable")
			assert.Equal(t, "none", a.envelope.Error.Outcome)
			assert.Equal(t, "AD:8245", a.envelope.Error.DirectoryCode)
			writes, _ := s.world.Since(mark)
			assert.Equal(t, 2, writes, "the account name was set and set back")
			assert.Equal(t, "Project Phoenix", s.stored("CN=Project Phoenix,"+builtin, "sAMAccountName").String("sAMAccountName"))

			// Without the right to write there is nothing to take back.
			s.deny(securityOU, directory.RightWriteProperty)
			a = s.refused(call{method: http.MethodPut, path: groupPath(sampleGroup, "/Rename/Dial%20In")}, http.StatusForbidden, "directory_denied")
			assert.Equal(t, "AD:8344", a.envelope.Error.DirectoryCode)
		})
	}
}

// deny takes a right away from everyone, on an object and all below it.
func (s *system) deny(ref string, right directory.Rights) {
	s.t.Helper()
	require.NoError(s.t, s.dc1().SetACL(context.Background(), ref, []directory.ACE{{Trustee: directory.Everyone, Rights: right, Inherit: true}}))
}

// modify changes an object in the directory itself.
func (s *system) modify(ref string, op directory.ChangeOp, attribute string, value any) {
	s.t.Helper()
	change := directory.Change{Op: op, Name: attribute, Values: []any{value}}
	require.NoError(s.t, s.dc1().Modify(context.Background(), ref, []directory.Change{change}, directory.ModifyOptions{}))
}

func TestGroupsThatStay(t *testing.T) {
	for _, culture := range cultures {
		t.Run(culture, func(t *testing.T) {
			s := newSystem(t, sandbox.Options{Seed: 1, Culture: culture})
			for _, name := range []string{"Administrators", "Domain Admins", "Domain Users", "Guests", "Cert Publishers", "DnsAdmins"} {
				a := s.do(call{method: http.MethodDelete, path: groupPath(name, "/Remove")})
				if name == "DnsAdmins" { // made by the DNS server, not by the system
					assert.Equal(t, http.StatusOK, a.status, "%s", a.body)
					continue
				}
				s.refused(call{method: http.MethodDelete, path: groupPath(name, "/Remove")}, http.StatusConflict, "protected")
			}
			a := s.refused(call{method: http.MethodPut, path: groupPath("Administrators", "/Rename/Admins")}, http.StatusConflict, "protected")
			assert.Equal(t, "GroupName", a.envelope.Error.Details[0].Field)
			s.put(groupPath("Domain Users", "/Rename/Everybody"), nil)
			require.NoError(t, s.dc1().SetProtected(context.Background(), "CN=VPN Users,"+securityOU, true))
			a = s.refused(call{method: http.MethodDelete, path: groupPath(sampleGroup, "/Remove")}, http.StatusConflict, "protected")
			assert.Contains(t, a.envelope.Output, "accidental deletion")
			s.put(groupPath(sampleGroup, "/Rename/Dial%20In"), nil) // facts E40: renaming is not blocked

			// Someone's primary group.
			rid := s.stored("CN=Sales Staff,"+securityOU, "objectSid").SID.RID()
			s.modify(sampleUserDN, directory.OpReplace, "primaryGroupID", int(rid))
			a = s.refused(call{method: http.MethodDelete, path: groupPath("Sales Staff", "/Remove")}, http.StatusConflict, "conflict")
			assert.Contains(t, a.envelope.Output, "primary group")
		})
	}
}

// What guards the domain needs the scope privileged: built-in groups, those with
// adminCount, and those nested in one.
func TestPrivilegedGroups(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	s.modify("CN=Remote Desktop Users,CN=Builtin,DC=corp,DC=example", directory.OpAdd, "member", "CN=Nested Level 1,"+securityOU)
	for _, name := range []string{"Domain Admins", "Guests", "Domain Computers", "Server Admins", "Nested Level 1", "Nested Level 3"} {
		for _, c := range []call{
			{method: http.MethodPut, path: groupPath(name, "/Rename/Harmless")},
			{method: http.MethodDelete, path: groupPath(name, "/Remove")},
		} {
			c.token = plainToken
			a := s.refused(c, http.StatusForbidden, "forbidden")
			assert.Contains(t, a.envelope.Output, "'privileged'", name)
			assert.Equal(t, "none", a.envelope.Error.Outcome)
		}
	}
	for _, path := range []string{groupPath("Domain Admins", ""), groupPath("Domain Admins", "/Exists"), "/api/ADGroups/All"} {
		assert.Equal(t, http.StatusOK, s.do(call{method: http.MethodGet, path: path, token: plainToken}).status, "reading needs no privilege: %s", path)
	}
	a := s.do(call{method: http.MethodPut, path: groupPath("Help Desk", "/Rename/Service%20Desk"), token: plainToken})
	assert.Equal(t, http.StatusOK, a.status, "%s", a.body)
	s.put(groupPath("Nested Level 3", "/Rename/Deep"), nil)
	s.put(groupPath("Domain Admins", "/Rename/Root"), nil)
}

// A token limited to OUs sees and changes the groups in them; one limited to
// groups sees and changes those.
func TestLimitsOfGroups(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	inside := s.ok(call{method: http.MethodPost, path: groupPath("Berlin Team", "/Security"), params: map[string]any{"OUPath": itOU}, token: limitedToken}, http.StatusCreated)
	for _, c := range []call{
		{method: http.MethodGet, path: groupPath(sampleGroup, "")},
		{method: http.MethodGet, path: groupPath(sampleGroup, "/Exists")},
		{method: http.MethodPut, path: groupPath(sampleGroup, "/Rename/Dial%20In")},
		{method: http.MethodDelete, path: groupPath(sampleGroup, "/Remove")},
		{method: http.MethodPost, path: groupPath("Fresh", "/Security")},
		{method: http.MethodPost, path: groupPath("Fresh", "/Distribution"), params: map[string]any{"OUPath": groupsOU}},
	} {
		c.token = limitedToken
		s.refused(c, http.StatusForbidden, "limit")
	}
	for _, path := range []string{"/api/ADGroups", "/api/ADGroups/All", "/api/ADGroups/Security/All"} {
		assert.Equal(t, []map[string]any{inside}, s.do(call{method: http.MethodGet, path: path, token: limitedToken}).envelope.Result, path)
	}
	assert.Empty(t, s.do(call{method: http.MethodGet, path: "/api/ADGroups/Distribution/All", token: limitedToken}).envelope.Result)
	assert.Equal(t, inside, s.ok(call{method: http.MethodGet, path: groupPath("Berlin Team", ""), token: limitedToken}, http.StatusOK))
	s.ok(call{method: http.MethodPut, path: groupPath("Berlin Team", "/Rename/B"), token: limitedToken}, http.StatusOK)
	s.ok(call{method: http.MethodDelete, path: groupPath("B", "/Remove"), token: limitedToken}, http.StatusOK)
}

func TestLimitsToNamedGroups(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	do := func(method, path string, params map[string]any) answer {
		return s.do(call{method: method, path: path, params: params, token: deskToken})
	}
	var names []string
	for _, record := range do(http.MethodGet, "/api/ADGroups/All", nil).envelope.Result {
		names = append(names, record["name"].(string))
	}
	assert.Equal(t, []string{"All Staff", "Help Desk", "VPN Users"}, names, "wherever they lie")
	for _, c := range []call{
		{method: http.MethodGet, path: groupPath("Project Phoenix", "")},
		{method: http.MethodPut, path: groupPath("Project Phoenix", "/Rename/Team")},
		{method: http.MethodPut, path: groupPath(sampleGroup, "/Rename/Other")},
		{method: http.MethodPost, path: groupPath("Other", "/Security"), params: map[string]any{"OUPath": itOU}},
		{method: http.MethodPost, path: groupPath("Team", "/Security"), params: map[string]any{"OUPath": groupsOU}},
		{method: http.MethodPost, path: groupPath("Te\u00adam", "/Security"), params: map[string]any{"OUPath": itOU}},
		{method: http.MethodDelete, path: groupPath("Project Phoenix", "/Remove")},
	} {
		c.token = deskToken
		s.refused(c, http.StatusForbidden, "limit")
	}
	assert.Equal(t, http.StatusCreated, do(http.MethodPost, groupPath("Team", "/Security"), map[string]any{"OUPath": itOU}).status)
	assert.Equal(t, http.StatusOK, do(http.MethodPut, groupPath("Help Desk", "/Rename/Desk"), nil).status, "named by its GUID")
	assert.Equal(t, http.StatusOK, do(http.MethodDelete, groupPath("Team", "/Remove"), nil).status)
	assert.Equal(t, http.StatusOK, do(http.MethodGet, groupPath("Desk", ""), nil).status)
}

// Account name and common name may differ: a rename makes them the same, by
// changing what differs.
func TestRenamingAGroupWhoseNamesDiffer(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	start := s.snapshot()
	record := s.put(groupPath("O'Reilly Readers", "/Rename/O'Reilly%20Readers"), nil)
	assert.Equal(t, []any{"O'Reilly Readers", "O'Reilly Readers"}, []any{record["name"], record["samName"]})
	for _, line := range start.Compare(s.snapshot()) {
		assert.NotContains(t, line, "sAMAccountName")
	}
	// Its old common name is free now, its members are still there.
	s.refused(call{method: http.MethodGet, path: groupPath("O'Reilly, Readers & Co", "")}, http.StatusNotFound, "not_found")
	assert.Len(t, s.members("O'Reilly Readers"), 1)
}

// Places that hold no groups are refused by the directory, in words.
func TestPlacesOfNewGroups(t *testing.T) {
	for _, culture := range cultures {
		t.Run(culture, func(t *testing.T) {
			s := newSystem(t, sandbox.Options{Seed: 1, Culture: culture})
			for ou, want := range map[string]int{
				"DC=corp,DC=example": http.StatusCreated, "CN=Computers,DC=corp,DC=example": http.StatusCreated, "CN=Builtin,DC=corp,DC=example": http.StatusUnprocessableEntity,
				"CN=Deleted Objects,DC=corp,DC=example": http.StatusUnprocessableEntity, "DC=other,DC=example": http.StatusUnprocessableEntity,
			} {
				c := call{method: http.MethodPost, path: groupPath("Fresh", "/Security"), params: map[string]any{"OUPath": ou}}
				if want != http.StatusCreated {
					s.refused(c, want, "unprocessable")
					continue
				}
				assert.Equal(t, ou, s.ok(c, want)["ouPath"])
				s.ok(call{method: http.MethodDelete, path: groupPath("Fresh", "/Remove"), params: map[string]any{"OUPath": ou}}, http.StatusOK)
			}
			s.deny(securityOU, directory.RightCreateChild)
			a := s.refused(call{method: http.MethodPost, path: groupPath("Fresh", "/Security"), params: map[string]any{"OUPath": securityOU}}, http.StatusForbidden, "directory_denied")
			assert.Equal(t, "none", a.envelope.Error.Outcome)
		})
	}
}
