package story

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// Objects of the domain EUROPE in testdata/forest.ldif. The account name lweber also exists
// in the gateway's domain.
const (
	leaOfEurope     = "CN=Lea Weber,CN=Users,DC=emea,DC=corp,DC=example"
	leaOfEuropeGUID = "03020100-0504-0706-0809-0a0b0c0d0e0f"
	leaOfEuropeSID  = "S-1-5-21-111-222-333-1101"
	erikOfEurope    = "CN=Erik Emea,CN=Users,DC=emea,DC=corp,DC=example"
	pcOfEurope      = "CN=EMEA-PC1,CN=Users,DC=emea,DC=corp,DC=example"
	globalOfEurope  = "CN=Global,CN=Users,DC=emea,DC=corp,DC=example"
	localOfEurope   = "CN=Local,CN=Users,DC=emea,DC=corp,DC=example"
)

func forest(t *testing.T, overrides ...string) *systemtest.System {
	return systemtest.New(t, sandbox.Options{Seed: 1, LDIF: []string{"testdata/forest.ldif"}}, overrides...)
}

// TestMembersOfOtherDomains: members from another domain of the forest can be added to a group by every form
// of name. The answer and the list contain their class, SID and domain. They can also be set as the complete
// list of members, and this change can be undone.
func TestMembersOfOtherDomains(t *testing.T) {
	for _, scope := range []string{"Domain_Local", "Universal"} {
		t.Run(scope, func(t *testing.T) {
			s := forest(t)
			newGroup(s, "Forest", scope)
			start := s.Snapshot()
			for _, name := range []string{
				`EUROPE\lweber`, `europe\LWEBER`, `emea.corp.example\lweber`, leaOfEurope, strings.ReplaceAll(leaOfEurope, ",", ", "),
				leaOfEuropeGUID, leaOfEuropeSID,
			} {
				made := s.Do(membersCall(http.MethodPost, "Forest", []string{name, "aschmidt"}))
				require.Equal(t, http.StatusCreated, made.Status, "%s: %s", name, made.Body)
				assert.ElementsMatch(t, []string{leaOfEurope, systemtest.SampleUserDN}, dnsOf(made, "added"), name)
				undone := s.Do(undoChange(made.Header.Get("X-Change-Id"), nil))
				require.Equal(t, http.StatusOK, undone.Status, "%s: %s", name, undone.Body)
				assert.Empty(t, start.Compare(s.Snapshot()), name)
				made = s.Do(membersCall(http.MethodPost, "Forest", []string{name}))
				require.Equal(t, http.StatusCreated, made.Status, "%s: %s", name, made.Body)
				removed := s.Do(membersCall(http.MethodDelete, "Forest", []string{name}))
				require.Equal(t, http.StatusOK, removed.Status, "%s: %s", name, removed.Body)
				assert.Equal(t, []string{leaOfEurope}, dnsOf(removed, "removed"), name)
				assert.Empty(t, start.Compare(s.Snapshot()), name)
			}

			four := []string{`EUROPE\lweber`, `EUROPE\EMEA-PC1`, globalOfEurope, "lweber"}
			made := s.Do(membersCall(http.MethodPost, "Forest", four))
			require.Equal(t, http.StatusCreated, made.Status, "%s", made.Body)
			list := map[any]map[string]any{}
			for _, record := range s.Get(membersPath("Forest")).Envelope.Result {
				list[record["distinguishedName"]] = record
			}
			require.Len(t, list, 4)
			assert.Equal(t, "emea.corp.example", list[leaOfEurope]["domain"])
			assert.Equal(t, leaOfEuropeSID, list[leaOfEurope]["sid"])
			assert.Equal(t, true, list[leaOfEurope]["enabled"])
			assert.Equal(t, false, list[leaOfEurope]["primary"])
			assert.Equal(t, "computer", list[pcOfEurope]["type"])
			assert.Equal(t, "group", list[globalOfEurope]["type"])

			wanted := membersCall(http.MethodPut, "Forest", []string{leaOfEuropeSID, `EUROPE\eemea`})
			planned, _ := dryRun(s, wanted)
			before := s.Snapshot()
			exact := s.Do(applying(wanted, planned))
			require.Equal(t, http.StatusOK, exact.Status, "%s", exact.Body)
			assert.Equal(t, []string{erikOfEurope}, dnsOf(exact, "added"))
			assert.Len(t, dnsOf(exact, "removed"), 3)
			same := s.Do(wanted)
			assert.Contains(t, same.Envelope.Output, "nothing was changed", "%s", same.Body)
			undone := s.Do(undoChange(exact.Header.Get("X-Change-Id"), nil))
			require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
			assert.Empty(t, before.Compare(s.Snapshot()))
		})
	}
}

// TestGroupsOfOtherDomainsAreFollowed: a recursive list contains the members of universal
// groups, and reports that those of other groups are missing.
func TestGroupsOfOtherDomainsAreFollowed(t *testing.T) {
	s := forest(t)
	newGroup(s, "Forest", "Universal")
	both := []string{globalOfEurope, `EUROPE\Universal`}
	s.OK(membersCall(http.MethodPost, "Forest", both), http.StatusCreated)
	list := s.Get(membersPath("Forest") + "?Recursive=true")
	require.Equal(t, http.StatusOK, list.Status, "%s", list.Body)
	via := map[any]any{}
	for _, record := range list.Envelope.Result {
		via[record["distinguishedName"]] = record["via"]
	}
	assert.Len(t, via, 3, "%s", list.Body)
	assert.Equal(t, "Universal", via[erikOfEurope])
	assert.Contains(t, string(list.Body), "The members of '"+globalOfEurope+"' are not known here")
}

// TestScopesKeepMembersOfOtherDomainsOut: if the scope of a group does not permit a member
// of another domain, the refusal explains the rule, and nothing is changed.
func TestScopesKeepMembersOfOtherDomainsOut(t *testing.T) {
	s := forest(t)
	newGroup(s, "G", "Global")
	newGroup(s, "U", "Universal")
	newGroup(s, "L", "Domain_Local")
	start := s.Snapshot()
	for _, c := range []struct{ group, members, says string }{
		{"G", `EUROPE\lweber`, "A global group cannot have a member of another domain."},
		{"G", globalOfEurope, "A global group cannot have a member of another domain."},
		{"U", localOfEurope, "A universal group cannot have a domain local group as a member."},
		{"L", localOfEurope, "A domain local group is a member in its own domain only."},
		{"L", `EUROPE\nobody`, `The member 'EUROPE\nobody' was not found.`},
		{"L", `ASIA\lweber`, `The member 'ASIA\lweber' was not found.`},
		{"L", "eemea", "The member 'eemea' was not found."},
		{"L", "CN=Nobody,CN=Users,DC=emea,DC=corp,DC=example", "was not found."},
	} {
		for _, dry := range []bool{true, false} {
			call := membersCall(http.MethodPost, c.group, []string{c.members})
			call.Params["DryRun"] = dry
			a := s.Rejects(call, http.StatusUnprocessableEntity, "unprocessable")
			assert.Contains(t, a.Envelope.Error.Message, c.says, c.members)
		}
	}
	single := systemtest.Call{Method: http.MethodPost, Path: systemtest.UserInGroupPath(`EUROPE\lweber`, "G")}
	s.Rejects(single, http.StatusUnprocessableEntity, "unprocessable")

	// Guards and limits apply to members of other domains.
	as := func(token string, c systemtest.Call) systemtest.Call { c.Token = token; return c }
	admins := membersCall(http.MethodPost, "L", []string{`EUROPE\Domain Admins`})
	s.Rejects(as(systemtest.PlainToken, admins), http.StatusForbidden, "forbidden")
	s.Rejects(as(systemtest.DeskToken, membersCall(http.MethodPost, "Help Desk", []string{leaOfEuropeSID})),
		http.StatusUnprocessableEntity, "unprocessable")
	assert.Empty(t, start.Compare(s.Snapshot()))
	lea := membersCall(http.MethodPost, "L", []string{leaOfEuropeSID})
	s.OK(as(systemtest.PlainToken, lea), http.StatusCreated)
}

// TestOneMembershipOfAnotherDomain: the operations for one user and one group also accept
// members of another domain.
func TestOneMembershipOfAnotherDomain(t *testing.T) {
	s := forest(t)
	newGroup(s, "Forest", "Universal")
	start := s.Snapshot()
	for _, c := range []struct{ path, dn string }{
		{systemtest.UserInGroupPath(`EUROPE\lweber`, "Forest"), leaOfEurope},
		{systemtest.UserInGroupPath(leaOfEuropeSID, "Forest"), leaOfEurope},
		{systemtest.GroupInGroupPath(globalOfEurope, "Forest"), globalOfEurope},
	} {
		made := s.Do(systemtest.Call{Method: http.MethodPost, Path: c.path})
		require.Equal(t, http.StatusCreated, made.Status, "%s: %s", c.path, made.Body)
		assert.Equal(t, c.dn, s.Record(made)["memberDistinguishedName"])
		s.OK(systemtest.Call{Method: http.MethodPost, Path: c.path}, http.StatusOK)
		exists := s.Do(systemtest.Call{Method: http.MethodGet, Path: c.path + "/Exists"})
		assert.Equal(t, true, s.Record(exists)["exists"], "%s", exists.Body)
		undone := s.Do(undoChange(made.Header.Get("X-Change-Id"), nil))
		require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
		assert.Empty(t, start.Compare(s.Snapshot()))
		s.OK(systemtest.Call{Method: http.MethodPost, Path: c.path}, http.StatusCreated)
		s.OK(systemtest.Call{Method: http.MethodDelete, Path: c.path}, http.StatusOK)
		assert.Empty(t, start.Compare(s.Snapshot()))
	}
	joins := systemtest.Call{Method: http.MethodPost, Path: systemtest.UserInGroupPath(leaOfEuropeSID, "Forest")}
	s.OK(joins, http.StatusCreated)
	groups := s.Get("/api/ADUser/" + url.PathEscape(leaOfEuropeSID) + "/Group/All")
	require.Len(t, groups.Envelope.Result, 1, "%s", groups.Body)
	assert.Equal(t, "Forest", groups.Envelope.Result[0]["samName"])
}

// TestWithoutAGlobalCatalog: the answer reports which facts about other domains the server cannot know.
func TestWithoutAGlobalCatalog(t *testing.T) {
	s := forest(t)
	newGroup(s, "Forest", "Universal")
	s.OK(membersCall(http.MethodPost, "Forest", []string{leaOfEuropeSID, "aschmidt"}), http.StatusCreated)
	for _, dc := range s.World.Directory.DCs() {
		dc.NoCatalog.Store(true)
	}
	list := s.Get(membersPath("Forest"))
	require.Equal(t, http.StatusOK, list.Status, "%s", list.Body)
	assert.Len(t, list.Envelope.Result, 1)
	assert.Contains(t, string(list.Body), "no_catalog")
	unknown := membersCall(http.MethodPost, "Forest", []string{`EUROPE\eemea`})
	a := s.Rejects(unknown, http.StatusUnprocessableEntity, "unprocessable")
	assert.Contains(t, a.Envelope.Error.Message, "has no global catalog")
	only := membersCall(http.MethodPut, "Forest", []string{"lweber"})
	exact := s.Rejects(only, http.StatusConflict, "conflict")
	assert.Contains(t, exact.Envelope.Error.Message, "global catalog")
	s.OK(membersCall(http.MethodPost, "Forest", []string{"lweber"}), http.StatusCreated)
}

// TestNamesOfOtherDomainsAreTaken: a UPN and an SPN are unique in the forest, and an account name is unique
// in its domain.
func TestNamesOfOtherDomainsAreTaken(t *testing.T) {
	s := forest(t)
	start := s.Snapshot()
	user := "/api/ADUser/aschmidt"
	for _, dry := range []bool{true, false} {
		for _, c := range []struct{ field, value string }{
			{"UserPrincipalName", "LEA@emea.corp.example"}, {"ServicePrincipalNames", "http/EMEA"},
		} {
			change := systemtest.Call{Method: http.MethodPut, Path: user}
			change.Params = map[string]any{c.field: c.value, "DryRun": dry}
			a := s.Rejects(change, http.StatusConflict, "conflict")
			taken := "is taken by '" + leaOfEurope + "', in another domain of the forest"
			assert.Contains(t, a.Envelope.Error.Message, taken, c.field)
		}
		create := systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/new.lea"}
		create.Params = map[string]any{"UserPrincipalName": "lea@emea.corp.example", "DryRun": dry}
		a := s.Rejects(create, http.StatusConflict, "conflict")
		assert.Contains(t, a.Envelope.Error.Message, leaOfEurope)
	}
	assert.Empty(t, start.Compare(s.Snapshot()))
	free := systemtest.Call{Method: http.MethodPut, Path: user}
	free.Params = map[string]any{"UserPrincipalName": "anna@emea.corp.example"}
	for _, catalog := range []bool{true, false} {
		s.DC1().NoCatalog.Store(!catalog)
		planned, _ := dryRun(s, free)
		state, _ := planned.check(t, "forest_uniqueness")
		assert.Equal(t, map[bool]string{true: "passed", false: "not_checked"}[catalog], state)
	}
	s.DC1().NoCatalog.Store(false)
	s.OK(free, http.StatusOK)
	s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/eemea"}, http.StatusCreated)
}

// TestJobsNameMembersOfOtherDomains: the items of a job can name members of another domain.
func TestJobsNameMembersOfOtherDomains(t *testing.T) {
	s := forest(t, fast)
	newGroup(s, "Forest", "Universal")
	list := "Operation,GroupName,Members\nmembership.setMembers,Forest,\"EUROPE\\lweber,aschmidt\"\n"
	id := submitted(s, submit(csvMedia, list))
	done := func() bool { return jobOf(s, id)["state"] == "done" }
	require.Eventually(t, done, systemtest.Patience, time.Millisecond, "%v", jobOf(s, id))
	assert.ElementsMatch(t, []string{leaOfEurope, systemtest.SampleUserDN}, members(s, "Forest"))
}
