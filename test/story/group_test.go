package story

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/sandboxtest"
	"adgateway/test/systemtest"
)

// TestTheLifeOfAGroup: every endpoint of groups works, and each change can be read back in a second way.
func TestTheLifeOfAGroup(t *testing.T) {
	for _, category := range []string{"Security", "Distribution"} {
		t.Run(category, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1})
			start := s.Snapshot()
			inputs := map[string]any{"OUPath": systemtest.GroupsOU, "GroupScope": "universal", "GroupDescription": "Line 1\r\nO'Reilly; $(x)", "GroupEmail": "r&d@corp.example"}
			a := s.Do(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupPath("R&D (Δ)", "/"+category), Params: inputs})
			require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)
			assert.Equal(t, "The "+strings.ToLower(category)+" group 'R&D (Δ)' was created.", a.Envelope.Output)
			made := a.Envelope.Result[0]
			guid, dn := made["guid"].(string), "CN=R&D (Δ),"+systemtest.GroupsOU
			want := map[string]any{
				"guid": guid, "name": "R&D (Δ)", "samName": "R&D (Δ)", "sid": made["sid"], "distinguishedName": dn, "scope": "Universal", "type": category,
				"description": inputs["GroupDescription"], "email": inputs["GroupEmail"], "ouPath": systemtest.GroupsOU, "managedBy": nil, "created": made["created"], "modified": made["modified"],
			}
			assert.Equal(t, want, made)
			groupType, _ := s.Stored(dn, "groupType").Int("groupType")
			assert.Equal(t, map[string]int64{"Security": -2147483640, "Distribution": 8}[category], groupType, "facts E34")
			assert.Equal(t, []string{"+ " + dn}, start.Compare(s.Snapshot()))

			// The group is read back by GUID in braces, DN and CN, and in the lists.
			for _, name := range []string{"r&d (Δ)", "{" + strings.ToUpper(guid) + "}", dn} {
				assert.Equal(t, made, s.OK(systemtest.Call{Method: http.MethodGet, Path: systemtest.GroupPath(name, "")}, http.StatusOK), name)
				exists := s.OK(systemtest.Call{Method: http.MethodGet, Path: systemtest.GroupPath(name, "/Exists")}, http.StatusOK)
				assert.Equal(t, map[string]any{"exists": true, "guid": guid, "distinguishedName": dn}, exists, name)
			}
			other := map[string]string{"Security": "Distribution", "Distribution": "Security"}[category]
			below := "?OUPath=" + url.QueryEscape(strings.ToLower(systemtest.GroupsOU))
			for path, has := range map[string]bool{
				"": true, "/All": true, "/" + category + "/All": true, "/" + other + "/All": false,
				below: true, below + "&Recursive=false": true, "/" + category + "/All" + below + "&Recursive=FALSE": true,
				"?OUPath=" + url.QueryEscape("OU=Corp,DC=corp,DC=example") + "&Recursive=false": false,
			} {
				listed := s.Get("/api/ADGroups" + path)
				require.Equal(t, http.StatusOK, listed.Status, path)
				isMade := func(r map[string]any) bool { return r["guid"] == guid }
				assert.Equal(t, has, slices.ContainsFunc(listed.Envelope.Result, isMade), path)
			}

			// Names in use are refused: the account name in the domain, the CN in the container.
			for _, again := range []string{"Security", "Distribution"} {
				got := s.Rejects(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupPath("R&D (δ)", "/"+again)}, http.StatusConflict, "conflict")
				assert.Equal(t, "GroupName", got.Envelope.Error.Details[0].Field)
			}

			// The group is renamed to another name, to another letter case, to the same name, and to a name in use.
			renamed := s.Put(systemtest.GroupPath(dn, "/Rename/Lab%20%23%C3%9F"), nil)
			want["name"], want["samName"], want["distinguishedName"], want["modified"] = "Lab #ß", "Lab #ß", `CN=Lab \#ß,`+systemtest.GroupsOU, renamed["modified"]
			assert.Equal(t, want, renamed)
			assert.Equal(t, renamed, s.OK(systemtest.Call{Method: http.MethodGet, Path: systemtest.GroupPath(guid, "")}, http.StatusOK))
			assert.Equal(t, false, s.OK(systemtest.Call{Method: http.MethodGet, Path: systemtest.GroupPath("R&D (Δ)", "/Exists")}, http.StatusOK)["exists"])
			assert.Equal(t, "LAB #ß", s.Put(systemtest.GroupPath("lab #ß", "/Rename/LAB%20%23%C3%9F"), nil)["samName"], "case is changed, too")
			before := s.Snapshot()
			same := s.Do(systemtest.Call{Method: http.MethodPut, Path: systemtest.GroupPath("lab #ß", "/Rename/LAB%20%23%C3%9F")})
			assert.Equal(t, http.StatusOK, same.Status)
			assert.Contains(t, same.Envelope.Output, "nothing was changed")
			assert.Empty(t, before.Compare(s.Snapshot()))
			taken := s.Rejects(systemtest.Call{Method: http.MethodPut, Path: systemtest.GroupPath(guid, "/Rename/vpn%20users")}, http.StatusConflict, "conflict")
			assert.Equal(t, "NewGroupName", taken.Envelope.Error.Details[0].Field)
			s.Rejects(systemtest.Call{Method: http.MethodPut, Path: systemtest.GroupPath(guid, "/Rename/"+systemtest.SampleUser)}, http.StatusConflict, "conflict")

			// A removal can be limited to the OU that directly contains the group.
			s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: systemtest.GroupPath(guid, "/Remove"), Params: map[string]any{"OUPath": "OU=Corp,DC=corp,DC=example"}}, http.StatusNotFound, "not_found")
			s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: systemtest.GroupPath(guid, "/Remove"), Params: map[string]any{"OUPath": "OU=Nowhere,DC=corp,DC=example"}}, http.StatusNotFound, "not_found")
			last := s.OK(systemtest.Call{Method: http.MethodGet, Path: systemtest.GroupPath(guid, "")}, http.StatusOK)
			gone := s.OK(systemtest.Call{Method: http.MethodDelete, Path: systemtest.GroupPath(guid, "/Remove"), Params: map[string]any{"OUPath": strings.ToLower(systemtest.GroupsOU)}}, http.StatusOK)
			assert.Equal(t, last, gone, "the record as it was")
			s.Rejects(systemtest.Call{Method: http.MethodGet, Path: systemtest.GroupPath(guid, "")}, http.StatusNotFound, "not_found")
			s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: systemtest.GroupPath(guid, "/Remove")}, http.StatusNotFound, "not_found")
			assert.Equal(t, map[string]any{"exists": false, "guid": nil, "distinguishedName": nil}, s.OK(systemtest.Call{Method: http.MethodGet, Path: systemtest.GroupPath(guid, "/Exists")}, http.StatusOK))
			for _, line := range start.Compare(s.Snapshot()) {
				assert.Contains(t, line, "Deleted Objects", "nothing else is left")
			}
		})
	}
}

func TestDefaultsOfANewGroup(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for scope, want := range map[string]string{"": "Global", "GLOBAL": "Global", "Domain_Local": "Domain_Local", "domainlocal": "Domain_Local", "Universal": "Universal"} {
		made := s.OK(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupPath("Fresh", "/Security"), Params: map[string]any{
			"GroupScope": scope, "OUPath": "", "GroupDescription": "", "GroupEmail": "",
		}}, http.StatusCreated)
		assert.Equal(t, []any{want, systemtest.UsersContainer, nil, nil}, []any{made["scope"], made["ouPath"], made["description"], made["email"]}, scope)
		s.OK(systemtest.Call{Method: http.MethodDelete, Path: systemtest.GroupPath("Fresh", "/Remove")}, http.StatusOK)
	}
	s.Rejects(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupPath("Fresh", "/Security"), Params: map[string]any{"GroupScope": "Local"}}, http.StatusBadRequest, "invalid_request")
	s.Rejects(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupPath("Fresh", "/Security"), Params: map[string]any{"OUPath": "OU=Nowhere,DC=corp,DC=example"}}, http.StatusUnprocessableEntity, "unprocessable")
	s.Rejects(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupPath("Fresh", "/Security"), Params: map[string]any{"OUPath": systemtest.SampleUserDN}}, http.StatusUnprocessableEntity, "unprocessable")
	s.Rejects(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupPath("Fresh", "/Security"), Params: map[string]any{"OUPath": "Groups"}}, http.StatusBadRequest, "invalid_request")
	s.Rejects(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupPath("Lukas Becker", "/Security"), Params: map[string]any{"OUPath": systemtest.ITOU}}, http.StatusConflict, "conflict")
	s.Rejects(systemtest.Call{Method: http.MethodGet, Path: "/api/ADGroups", Params: map[string]any{"OUPath": "OU=Nowhere,DC=corp,DC=example"}}, http.StatusNotFound, "not_found")
}

// TestListsOfGroups: lists are complete and sorted by the code units of the upper-case name.
func TestListsOfGroups(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	names := func(path string) []string {
		var found []string
		for _, record := range s.Get(path).Envelope.Result {
			found = append(found, strings.ToUpper(record["name"].(string)))
		}
		return found
	}
	all, security, distribution := names("/api/ADGroups/All"), names("/api/ADGroups/Security/All"), names("/api/ADGroups/Distribution/All")
	objects, err := s.DC1().Search(context.Background(), directory.SearchRequest{Filter: "(objectCategory=group)"})
	require.NoError(t, err)
	assert.Len(t, all, len(objects))
	assert.True(t, slices.IsSorted(all), "%q", all)
	assert.Equal(t, []string{"BERLIN ANNOUNCEMENTS", "LOCAL LIST", "NEWSLETTER", "SALES LIST"}, distribution)
	both := slices.Sorted(slices.Values(slices.Concat(security, distribution)))
	assert.Equal(t, all, both, "each group has one category")
	assert.Equal(t, all, names("/api/ADGroups"))
	assert.Equal(t, []string{"BERLIN ANNOUNCEMENTS"}, names("/api/ADGroups/Distribution/All?OUPath=" + url.QueryEscape(systemtest.DistributionOU))[:1])
	assert.Empty(t, names("/api/ADGroups/Security/All?OUPath="+url.QueryEscape(systemtest.DistributionOU)))
	assert.Empty(t, names("/api/ADGroups?Recursive=false&OUPath="+url.QueryEscape(systemtest.GroupsOU)))
}

// TestNamesOfGroups: a look-up by name finds neither objects that are not groups nor groups by
// their common name.
func TestNamesOfGroups(t *testing.T) {
	for _, culture := range systemtest.Cultures {
		t.Run(culture, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: culture})
			const commonName = "O'Reilly, Readers & Co"
			assert.Equal(t, "O'Reilly Readers", s.OK(systemtest.Call{Method: http.MethodGet, Path: systemtest.GroupPath(commonName, "")}, http.StatusOK)["samName"])
			for _, c := range []systemtest.Call{
				{Method: http.MethodPut, Path: systemtest.GroupPath(commonName, "/Rename/Readers")},
				{Method: http.MethodDelete, Path: systemtest.GroupPath(commonName, "/Remove")},
			} {
				a := s.Rejects(c, http.StatusNotFound, "not_found")
				assert.Contains(t, a.Envelope.Output, "O'Reilly Readers", "it says which account name to use")
				assert.Equal(t, "none", a.Envelope.Error.Outcome)
			}
			for _, name := range []string{"nobody", systemtest.SampleUser, systemtest.SampleUserDN, systemtest.SampleUserGUID, "*", "VPN*", systemtest.UsersContainer, "FS1$"} {
				a := s.Rejects(systemtest.Call{Method: http.MethodGet, Path: systemtest.GroupPath(name, "")}, http.StatusNotFound, "not_found")
				assert.Equal(t, "GroupName", a.Envelope.Error.Details[0].Field)
				assert.Equal(t, false, s.OK(systemtest.Call{Method: http.MethodGet, Path: systemtest.GroupPath(name, "/Exists")}, http.StatusOK)["exists"], name)
				s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: systemtest.GroupPath(name, "/Remove")}, http.StatusNotFound, "not_found")
			}
			for _, ou := range []string{systemtest.SecurityOU, systemtest.DistributionOU} {
				_, err := s.DC1().Add(context.Background(), "CN=Twins,"+ou, directory.Attr("objectClass", "group"),
					directory.Attr("sAMAccountName", "Twin of "+ou[3:7]), directory.Attr("groupType", "8"))
				require.NoError(t, err)
			}
			twice := s.Rejects(systemtest.Call{Method: http.MethodGet, Path: systemtest.GroupPath("Twins", "")}, http.StatusConflict, "ambiguous")
			assert.Contains(t, twice.Envelope.Output, "Twin of Secu")
			s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: systemtest.GroupPath("Twins", "/Remove")}, http.StatusNotFound, "not_found")
		})
	}
}

// TestAGroupIsRenamedCompletelyOrNotAtAll: if the second half of a rename fails, the first half is undone.
func TestAGroupIsRenamedCompletelyOrNotAtAll(t *testing.T) {
	for _, culture := range systemtest.Cultures {
		t.Run(culture, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: culture})
			const builtin = "CN=Builtin,DC=corp,DC=example" // groups there keep their common names
			require.NoError(t, s.DC1().Move(context.Background(), "CN=Project Phoenix,"+systemtest.SecurityOU, builtin))
			mark := sandboxtest.Mark{}
			_, mark = sandboxtest.Since(s.World, mark)
			a := s.Rejects(systemtest.Call{Method: http.MethodPut, Path: systemtest.GroupPath("Project Phoenix", "/Rename/Visitors")}, http.StatusUnprocessableEntity, "unprocessable")
			assert.Equal(t, "none", a.Envelope.Error.Outcome)
			assert.Equal(t, "AD:8245", a.Envelope.Error.DirectoryCode)
			writes, _ := sandboxtest.Since(s.World, mark)
			assert.Equal(t, 2, writes, "the account name was set and set back")
			assert.Equal(t, "Project Phoenix", s.Stored("CN=Project Phoenix,"+builtin, "sAMAccountName").String("sAMAccountName"))

			// Without the right to write, there is nothing to undo.
			s.DenyBelow(systemtest.SecurityOU, directory.RightWriteProperty)
			a = s.Rejects(systemtest.Call{Method: http.MethodPut, Path: systemtest.GroupPath(systemtest.SampleGroup, "/Rename/Dial%20In")}, http.StatusForbidden, "directory_denied")
			assert.Equal(t, "AD:8344", a.Envelope.Error.DirectoryCode)
		})
	}
}

func TestGroupsThatCannotBeRemoved(t *testing.T) {
	for _, culture := range systemtest.Cultures {
		t.Run(culture, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: culture})
			for _, name := range []string{"Administrators", "Domain Admins", "Domain Users", "Guests", "Cert Publishers", "DnsAdmins"} {
				a := s.Do(systemtest.Call{Method: http.MethodDelete, Path: systemtest.GroupPath(name, "/Remove")})
				if name == "DnsAdmins" { // the DNS server creates this group, not the system
					assert.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
					continue
				}
				s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: systemtest.GroupPath(name, "/Remove")}, http.StatusConflict, "protected")
			}
			a := s.Rejects(systemtest.Call{Method: http.MethodPut, Path: systemtest.GroupPath("Administrators", "/Rename/Admins")}, http.StatusConflict, "protected")
			assert.Equal(t, "GroupName", a.Envelope.Error.Details[0].Field)
			s.Put(systemtest.GroupPath("Domain Users", "/Rename/Everybody"), nil)
			require.NoError(t, s.DC1().SetProtected(context.Background(), "CN=VPN Users,"+systemtest.SecurityOU, true))
			a = s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: systemtest.GroupPath(systemtest.SampleGroup, "/Remove")}, http.StatusConflict, "protected")
			assert.Contains(t, a.Envelope.Output, "accidental deletion. Force=true lifts the protection.")
			// facts E40: protection does not block a rename
			s.Put(systemtest.GroupPath(systemtest.SampleGroup, "/Rename/Dial%20In"), nil)

			// The group is the primary group of a user.
			rid := s.Stored("CN=Sales Staff,"+systemtest.SecurityOU, "objectSid").SID.RID()
			s.Modify(systemtest.SampleUserDN, directory.OpReplace, "primaryGroupID", int(rid))
			a = s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: systemtest.GroupPath("Sales Staff", "/Remove")}, http.StatusConflict, "conflict")
			assert.Contains(t, a.Envelope.Output, "primary group of accounts. Set another one for those first: PUT /api/ADUser/{UserName}/PrimaryGroup")
		})
	}
}

// TestPrivilegedGroups: built-in groups, groups with adminCount, and groups nested in one of
// these need the scope privileged.
func TestPrivilegedGroups(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	s.Modify("CN=Remote Desktop Users,CN=Builtin,DC=corp,DC=example", directory.OpAdd, "member", "CN=Nested Level 1,"+systemtest.SecurityOU)
	for _, name := range []string{"Domain Admins", "Guests", "Domain Computers", "Server Admins", "Nested Level 1", "Nested Level 3"} {
		for _, c := range []systemtest.Call{
			{Method: http.MethodPut, Path: systemtest.GroupPath(name, "/Rename/Harmless")},
			{Method: http.MethodDelete, Path: systemtest.GroupPath(name, "/Remove")},
		} {
			c.Token = systemtest.PlainToken
			a := s.Rejects(c, http.StatusForbidden, "forbidden")
			assert.Contains(t, a.Envelope.Output, "'privileged'", name)
			assert.Equal(t, "none", a.Envelope.Error.Outcome)
		}
	}
	for _, path := range []string{systemtest.GroupPath("Domain Admins", ""), systemtest.GroupPath("Domain Admins", "/Exists"), "/api/ADGroups/All"} {
		assert.Equal(t, http.StatusOK, s.Do(systemtest.Call{Method: http.MethodGet, Path: path, Token: systemtest.PlainToken}).Status, "reading needs no privilege: %s", path)
	}
	a := s.Do(systemtest.Call{Method: http.MethodPut, Path: systemtest.GroupPath("Project Phoenix", "/Rename/Project%20Griffin"), Token: systemtest.PlainToken})
	assert.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	s.Put(systemtest.GroupPath("Nested Level 3", "/Rename/Deep"), nil)
	s.Put(systemtest.GroupPath("Domain Admins", "/Rename/Root"), nil)
}

// TestLimitsOfGroups: a token that is limited to OUs can see and change only the groups in these OUs, and a
// token that is limited to groups only those groups.
func TestLimitsOfGroups(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	inside := s.OK(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupPath("Berlin Team", "/Security"), Params: map[string]any{"OUPath": systemtest.ITOU}, Token: systemtest.LimitedToken}, http.StatusCreated)
	for _, c := range []systemtest.Call{
		{Method: http.MethodGet, Path: systemtest.GroupPath(systemtest.SampleGroup, "")},
		{Method: http.MethodPut, Path: systemtest.GroupPath(systemtest.SampleGroup, "/Rename/Dial%20In")},
		{Method: http.MethodDelete, Path: systemtest.GroupPath(systemtest.SampleGroup, "/Remove")},
	} {
		c.Token = systemtest.LimitedToken
		s.Rejects(c, http.StatusNotFound, "not_found")
	}
	exists := systemtest.Call{Method: http.MethodGet, Path: systemtest.GroupPath(systemtest.SampleGroup, "/Exists"), Token: systemtest.LimitedToken}
	assert.Equal(t, false, s.OK(exists, http.StatusOK)["exists"])
	for _, c := range []systemtest.Call{
		{Method: http.MethodPost, Path: systemtest.GroupPath("Fresh", "/Security")},
		{Method: http.MethodPost, Path: systemtest.GroupPath("Fresh", "/Distribution"), Params: map[string]any{"OUPath": systemtest.GroupsOU}},
	} {
		c.Token = systemtest.LimitedToken
		s.Rejects(c, http.StatusForbidden, "limit")
	}
	for _, path := range []string{"/api/ADGroups", "/api/ADGroups/All", "/api/ADGroups/Security/All"} {
		assert.Equal(t, []map[string]any{inside}, s.Do(systemtest.Call{Method: http.MethodGet, Path: path, Token: systemtest.LimitedToken}).Envelope.Result, path)
	}
	assert.Empty(t, s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/ADGroups/Distribution/All", Token: systemtest.LimitedToken}).Envelope.Result)
	assert.Equal(t, inside, s.OK(systemtest.Call{Method: http.MethodGet, Path: systemtest.GroupPath("Berlin Team", ""), Token: systemtest.LimitedToken}, http.StatusOK))
	s.OK(systemtest.Call{Method: http.MethodPut, Path: systemtest.GroupPath("Berlin Team", "/Rename/B"), Token: systemtest.LimitedToken}, http.StatusOK)
	s.OK(systemtest.Call{Method: http.MethodDelete, Path: systemtest.GroupPath("B", "/Remove"), Token: systemtest.LimitedToken}, http.StatusOK)
}

func TestLimitsToNamedGroups(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	do := func(method, path string, params map[string]any) systemtest.Answer {
		return s.Do(systemtest.Call{Method: method, Path: path, Params: params, Token: systemtest.DeskToken})
	}
	var names []string
	for _, record := range do(http.MethodGet, "/api/ADGroups/All", nil).Envelope.Result {
		names = append(names, record["name"].(string))
	}
	assert.Equal(t, []string{"All Staff", "Help Desk", "VPN Users"}, names, "wherever they lie")
	for _, c := range []systemtest.Call{
		{Method: http.MethodGet, Path: systemtest.GroupPath("Project Phoenix", "")},
		{Method: http.MethodPut, Path: systemtest.GroupPath("Project Phoenix", "/Rename/Team")},
		{Method: http.MethodDelete, Path: systemtest.GroupPath("Project Phoenix", "/Remove")},
	} {
		c.Token = systemtest.DeskToken
		s.Rejects(c, http.StatusNotFound, "not_found")
	}
	for _, c := range []systemtest.Call{
		{Method: http.MethodPut, Path: systemtest.GroupPath(systemtest.SampleGroup, "/Rename/Other")},
		{Method: http.MethodPost, Path: systemtest.GroupPath("Other", "/Security"), Params: map[string]any{"OUPath": systemtest.ITOU}},
		{Method: http.MethodPost, Path: systemtest.GroupPath("Team", "/Security"), Params: map[string]any{"OUPath": systemtest.GroupsOU}},
		{Method: http.MethodPost, Path: systemtest.GroupPath("Tèam", "/Security"), Params: map[string]any{"OUPath": systemtest.ITOU}},
	} {
		c.Token = systemtest.DeskToken
		s.Rejects(c, http.StatusForbidden, "limit")
	}
	assert.Equal(t, http.StatusCreated, do(http.MethodPost, systemtest.GroupPath("Team", "/Security"), map[string]any{"OUPath": systemtest.ITOU}).Status)
	assert.Equal(t, http.StatusOK, do(http.MethodPut, systemtest.GroupPath("Help Desk", "/Rename/Desk"), nil).Status, "named by its GUID")
	assert.Equal(t, http.StatusOK, do(http.MethodDelete, systemtest.GroupPath("Team", "/Remove"), nil).Status)
	assert.Equal(t, http.StatusOK, do(http.MethodGet, systemtest.GroupPath("Desk", ""), nil).Status)
}

// TestRenamingAGroupWhoseNamesDiffer: if the account name and the common name differ, a rename changes only
// the names that are not equal to the new name.
func TestRenamingAGroupWhoseNamesDiffer(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	start := s.Snapshot()
	record := s.Put(systemtest.GroupPath("O'Reilly Readers", "/Rename/O'Reilly%20Readers"), nil)
	assert.Equal(t, []any{"O'Reilly Readers", "O'Reilly Readers"}, []any{record["name"], record["samName"]})
	for _, line := range start.Compare(s.Snapshot()) {
		assert.NotContains(t, line, "sAMAccountName")
	}
	// The old common name is free again, and the group has kept its members.
	s.Rejects(systemtest.Call{Method: http.MethodGet, Path: systemtest.GroupPath("O'Reilly, Readers & Co", "")}, http.StatusNotFound, "not_found")
	assert.Len(t, members(s, "O'Reilly Readers"), 1)
}

// TestPlacesOfNewGroups: if a container cannot contain groups, the answer has the directory's message.
func TestPlacesOfNewGroups(t *testing.T) {
	for _, culture := range systemtest.Cultures {
		t.Run(culture, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: culture})
			for ou, want := range map[string]int{
				"DC=corp,DC=example": http.StatusCreated, "CN=Computers,DC=corp,DC=example": http.StatusCreated, "CN=Builtin,DC=corp,DC=example": http.StatusUnprocessableEntity,
				"CN=Deleted Objects,DC=corp,DC=example": http.StatusUnprocessableEntity, "DC=other,DC=example": http.StatusUnprocessableEntity,
			} {
				c := systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupPath("Fresh", "/Security"), Params: map[string]any{"OUPath": ou}}
				if want != http.StatusCreated {
					s.Rejects(c, want, "unprocessable")
					continue
				}
				assert.Equal(t, ou, s.OK(c, want)["ouPath"])
				s.OK(systemtest.Call{Method: http.MethodDelete, Path: systemtest.GroupPath("Fresh", "/Remove"), Params: map[string]any{"OUPath": ou}}, http.StatusOK)
			}
			s.DenyBelow(systemtest.SecurityOU, directory.RightCreateChild)
			a := s.Rejects(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupPath("Fresh", "/Security"), Params: map[string]any{"OUPath": systemtest.SecurityOU}}, http.StatusForbidden, "directory_denied")
			assert.Equal(t, "none", a.Envelope.Error.Outcome)
		})
	}
}
