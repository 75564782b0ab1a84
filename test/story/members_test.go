package story

import (
	"fmt"
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

func membersPath(group string) string { return "/api/ADGroups/" + url.PathEscape(group) + "/Members" }

// membersCall returns a call about members of a group.
func membersCall(method, group string, members any) systemtest.Call {
	return systemtest.Call{Method: method, Path: membersPath(group), Params: map[string]any{"Members": members}}
}

const (
	partner   = "CN=Members Partner,OU=Corp,DC=corp,DC=example"
	everybody = "CN=S-1-5-11,CN=ForeignSecurityPrincipals,DC=corp,DC=example"
)

// dnsOf returns the distinguished names in one field of the record of a membership change.
func dnsOf(a systemtest.Answer, field string) []string {
	names := []string{}
	if len(a.Envelope.Result) == 0 {
		return names
	}
	for _, one := range a.Envelope.Result[0][field].([]any) {
		names = append(names, one.(map[string]any)["distinguishedName"].(string))
	}
	return names
}

// newGroup creates a security group in the OU for groups and returns its DN.
func newGroup(s *systemtest.System, name, scope string) string {
	s.OK(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupPath(name, "/Security"),
		Params: map[string]any{
			"GroupScope": scope, "OUPath": systemtest.SecurityOU}}, http.StatusCreated)
	return "CN=" + name + "," + systemtest.SecurityOU
}

// TestMembersOfEveryClassByEveryName: one change adds members of all classes by every form
// of name, and one undo removes them.
func TestMembersOfEveryClassByEveryName(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	group := newGroup(s, "Mixed", "Domain_Local")
	s.AddObject(partner, "contact")
	s.AddObject("CN=svc-members,CN=Managed Service Accounts,DC=corp,DC=example",
		"msDS-GroupManagedServiceAccount",
		"sAMAccountName", "svc-members$")
	start := s.Snapshot()
	lweber := s.Stored("CN=Lea Weber,OU=Sales,OU=Berlin,"+systemtest.StaffOU, "objectSid")
	fs1 := s.OK(systemtest.ReadComputer("FS1"), http.StatusOK)
	names := []string{
		systemtest.SampleUserGUID, lweber.SID.String(), `corp\FS1`, partner, "help desk", everybody, "svc-members$", "ASCHMIDT",
	}
	a := s.Do(membersCall(http.MethodPost, "Mixed", names))
	require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)
	assert.Equal(t, "7 members added to the group 'Mixed'.", a.Envelope.Output)
	types := []any{}
	for _, one := range a.Envelope.Result[0]["added"].([]any) {
		types = append(types, one.(map[string]any)["type"])
	}
	assert.ElementsMatch(t, []any{"user", "user", "computer", "contact", "group", "foreign", "serviceAccount"},
		types)
	assert.Contains(t, members(s, "Mixed"), fs1["distinguishedName"])
	assert.Len(t, members(s, "Mixed"), 7)
	assert.Equal(t, []string{"~ " + group + " member"}, start.Compare(s.Snapshot()))

	// The list shows the class, SID and domain of each member.
	for _, record := range s.Get(membersPath("Mixed")).Envelope.Result {
		isForeign, isContact := record["type"] == "foreign", record["type"] == "contact"
		assert.Equal(t, isContact, record["sid"] == nil, "%v", record)
		assert.Equal(t, isForeign, record["domain"] == nil, "%v", record)
	}
	again := s.Do(membersCall(http.MethodPost, "Mixed", strings.Join(names, ",")))
	assert.Equal(t, http.StatusOK, again.Status, "%s", again.Body)
	assert.Equal(t, "All of them are members of the group 'Mixed' already; nothing was changed.",
		again.Envelope.Output)

	undone := s.Do(undoChange(a.Header.Get("X-Change-Id"), nil))
	require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
	assert.Empty(t, start.Compare(s.Snapshot()))
}

// TestExactlyTheseMembers: one change adds the missing members and removes the others.
func TestExactlyTheseMembers(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	newGroup(s, "Exact", "Global")
	first := s.Do(membersCall(http.MethodPut, "Exact", []string{"aschmidt", "lweber"}))
	require.Equal(t, http.StatusOK, first.Status, "%s", first.Body)
	assert.Equal(t, "The group 'Exact' has these members now: 2 added members, 0 removed members.",
		first.Envelope.Output)
	before := s.Snapshot()

	// The dry run lists the members that would be added and removed.
	wanted := membersCall(http.MethodPut, "Exact", []string{"FS1$", "lweber"})
	planned, _ := dryRun(s, wanted)
	require.Len(t, planned.Objects, 1)
	var changes []string
	for _, c := range planned.Objects[0].Changes {
		changes = append(changes, c.Field+" "+c.Kind+" "+fmt.Sprint(c.Before, " ", c.After))
	}
	fs1 := s.OK(systemtest.ReadComputer("FS1"), http.StatusOK)["distinguishedName"].(string)
	assert.Equal(t, []string{"member member <nil> " + fs1,
		"member member " + systemtest.SampleUserDN + " <nil>"}, changes)
	assert.Empty(t, before.Compare(s.Snapshot()))

	made := s.Do(applying(wanted, planned))
	require.Equal(t, http.StatusOK, made.Status, "%s", made.Body)
	assert.Equal(t, []string{fs1}, dnsOf(made, "added"))
	assert.Equal(t, []string{systemtest.SampleUserDN}, dnsOf(made, "removed"))
	assert.NotContains(t, members(s, "Exact"), systemtest.SampleUserDN)
	same := s.Do(membersCall(http.MethodPut, "Exact", []string{"lweber", "fs1"}))
	assert.Equal(t, "The group 'Exact' has exactly these members already; nothing was changed.",
		same.Envelope.Output, "%s", same.Body)

	// One undo reverts both.
	undone := s.Do(undoChange(made.Header.Get("X-Change-Id"), nil))
	require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
	assert.Empty(t, before.Compare(s.Snapshot()))

	// An undo refuses if the members have changed since.
	made = s.Do(membersCall(http.MethodPost, "Exact", "FS1$"))
	s.OK(membersCall(http.MethodDelete, "Exact", "FS1"), http.StatusOK)
	s.Rejects(undoChange(made.Header.Get("X-Change-Id"), nil), http.StatusPreconditionFailed, "drifted")

	s.Rejects(membersCall(http.MethodPut, "Exact", ""), http.StatusBadRequest, "invalid_request")
	s.Rejects(membersCall(http.MethodDelete, "Exact", []string{}), http.StatusBadRequest, "invalid_request")
	none := s.Do(membersCall(http.MethodPut, "Exact", []string{}))
	require.Equal(t, http.StatusOK, none.Status, "%s", none.Body)
	assert.Empty(t, members(s, "Exact"))
}

// TestAPlanOfMembersHoldsWhenTheyAreMoved: a plan of memberships names the members by identity. It
// holds after a member was moved, but not for a new object that has taken a member's name.
func TestAPlanOfMembersHoldsWhenTheyAreMoved(t *testing.T) {
	for name, change := range map[string]systemtest.Call{
		"added":   membersCall(http.MethodPost, "Planned", []string{"aschmidt", "FS1$"}),
		"exactly": membersCall(http.MethodPut, "Planned", []string{"aschmidt"}),
		"removed": membersCall(http.MethodDelete, "Planned", []string{"lweber"}),
	} {
		t.Run(name, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1})
			newGroup(s, "Planned", "Global")
			s.OK(membersCall(http.MethodPut, "Planned", []string{"lweber"}), http.StatusOK)
			p, _ := dryRun(s, change)
			for _, user := range []string{"aschmidt", "lweber"} {
				s.OK(update(user, map[string]any{"OUPath": systemtest.StaffOU}), http.StatusOK)
			}
			made := s.Do(applying(change, p))
			require.Less(t, made.Status, 300, "%s", made.Body)
			assert.Equal(t, "used", planned(s, p.ID).State)
		})
	}
	t.Run("another of the name", func(t *testing.T) {
		s := systemtest.New(t, sandbox.Options{Seed: 1})
		newGroup(s, "Planned", "Global")
		group := newGroup(s, "Inner", "Global")
		change := membersCall(http.MethodPost, "Planned", group)
		p, _ := dryRun(s, change)
		remove := systemtest.Call{Method: http.MethodDelete, Path: systemtest.GroupPath("Inner", "/Remove")}
		s.OK(remove, http.StatusOK)
		newGroup(s, "Inner", "Global")
		refused := s.Rejects(applying(change, p), http.StatusPreconditionFailed, "drifted")
		assert.Equal(t, "member", systemtest.FirstField(refused))
		assert.Empty(t, members(s, "Planned"))
	})
}

// TestNoMemberIsChangedWhenOneCannotBe: if one member cannot be changed, none is, and the
// answer names all wrong members.
func TestNoMemberIsChangedWhenOneCannotBe(t *testing.T) {
	for _, culture := range systemtest.Cultures {
		t.Run(culture, func(t *testing.T) {
			s := systemtest.New(t, sandbox.Options{Seed: 1, Culture: culture})
			newGroup(s, "G", "Global")
			newGroup(s, "U", "Universal")
			newGroup(s, "L", "Domain_Local")
			s.OK(membersCall(http.MethodPost, "G", "help desk"), http.StatusCreated)
			start := s.Snapshot()
			for _, c := range []struct {
				group, members string
				says           []string
			}{
				{"G", `aschmidt,nobody,OTHER\x,` + systemtest.LimitedOU, []string{"'nobody' was not found", `'OTHER\x' was not found`, "of the class organizationalUnit"}},
				{"G", "aschmidt,L,U,G," + everybody, []string{"domain local group", "universal group", "member of itself", "another domain"}},
				{"U", "L," + everybody, []string{"domain local group", "foreign security principal"}},
				{"L", "Guests", []string{"A built-in group cannot be a member"}},
				{"Help Desk", "aschmidt,G", []string{"would form a ring"}},
			} {
				for _, dry := range []bool{true, false} {
					call := membersCall(http.MethodPost, c.group, c.members)
					call.Params["DryRun"] = dry
					a := s.Rejects(call, http.StatusUnprocessableEntity, "unprocessable")
					var all []string
					for _, detail := range a.Envelope.Error.Details {
						all = append(all, detail.Message)
					}
					for _, text := range c.says {
						assert.Contains(t, strings.Join(all, "\n"), text)
					}
					assert.Equal(t, "Members", a.Envelope.Error.Details[0].Field)
					assert.Equal(t, "none", a.Envelope.Error.Outcome)
				}
			}
			s.Rejects(membersCall(http.MethodDelete, "Domain Users", "aschmidt"), http.StatusConflict, "conflict")
			s.Rejects(membersCall(http.MethodPost, "Nothing", "aschmidt"), http.StatusNotFound, "not_found")
			assert.Empty(t, start.Compare(s.Snapshot()))
		})
	}
}

// TestLimitsAndGuardsOfMembers: limits and guards apply to each member.
func TestLimitsAndGuardsOfMembers(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "limits.bulkDelete=2")
	nikos := "CN=Nikos Ioannidis,OU=Finance,OU=Athens," + systemtest.StaffOU
	as := func(token string, c systemtest.Call) systemtest.Call { c.Token = token; return c }

	// The guards of the group and of the member apply.
	s.Rejects(as(systemtest.PlainToken, membersCall(http.MethodPost, "Server Admins", "aschmidt")),
		http.StatusForbidden, "forbidden")
	a := s.Rejects(as(systemtest.PlainToken,
		membersCall(http.MethodPost, "Project Phoenix", "aschmidt,adm.beate,DC1$")), http.StatusForbidden,
		"forbidden")
	assert.Contains(t, string(a.Body), "CN=Beate Betrieb")
	assert.Contains(t, string(a.Body), "CN=DC1,OU=Domain Controllers")
	s.OK(membersCall(http.MethodPost, "Project Phoenix", "adm.beate"), http.StatusCreated)
	s.Rejects(as(systemtest.PlainToken, membersCall(http.MethodDelete, "Project Phoenix", "adm.beate")),
		http.StatusForbidden, "forbidden")

	// Limits apply to the named member, to the group, and to the existing members of the group.
	s.Rejects(as(systemtest.DeskToken, membersCall(http.MethodPost, "Project Phoenix", "aschmidt")),
		http.StatusNotFound, "not_found")
	a = s.Rejects(as(systemtest.DeskToken,
		membersCall(http.MethodPost, "Help Desk", "aschmidt,nioannidis,Project Phoenix,nobody")),
		http.StatusUnprocessableEntity, "unprocessable")
	assert.Equal(t, 3, strings.Count(string(a.Body), "was not found within the limits of this credential"), "%s",
		a.Body)
	corp := as(systemtest.CorpToken,
		membersCall(http.MethodPost, "VPN Users", "CN=Administrator,CN=Users,DC=corp,DC=example"))
	s.Rejects(corp, http.StatusForbidden, "limit")
	s.OK(membersCall(http.MethodPut, "Help Desk", "aschmidt,"+nikos), http.StatusOK)
	s.OK(as(systemtest.DeskToken, membersCall(http.MethodPut, "Help Desk", []string{})), http.StatusOK)
	assert.Equal(t, []string{nikos}, members(s, "Help Desk"), "what lies outside is not touched")

	// One request removes a limited number of members, but an undo may remove more.
	added := s.Do(membersCall(http.MethodPut, "Help Desk", "aschmidt,lweber,FS1$"))
	require.Equal(t, http.StatusOK, added.Status, "%s", added.Body)
	a = s.Rejects(membersCall(http.MethodPut, "Help Desk", []string{}), http.StatusConflict, "too_many")
	assert.Contains(t, a.Envelope.Output, "3 members would be removed; one request removes at most 2.")
	undone := s.Do(undoChange(added.Header.Get("X-Change-Id"), nil))
	assert.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
}

// TestJobsNameSeveralMembers: one cell of a list can name several members.
func TestJobsNameSeveralMembers(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, fast)
	list := "Operation,GroupName,Members\nmembership.addMembers,Help Desk,\"aschmidt,FS1$\"\n" +
		"membership.setMembers,Project Phoenix,lweber\n"
	id := submitted(s, submit(csvMedia, list))
	require.Eventually(t, func() bool { return jobOf(s, id)["state"] == "done" }, systemtest.Patience,
		time.Millisecond, "%v", jobOf(s, id))
	assert.Len(t, members(s, "Project Phoenix"), 1)
	assert.Contains(t, members(s, "Help Desk"), systemtest.SampleUserDN)
}
