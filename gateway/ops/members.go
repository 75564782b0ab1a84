package ops

import (
	"net/http"
	"strings"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

const membersName = "Members"

// membersRows change several members of a group at once: all of what a call asks for, or nothing.
var membersRows = []*Operation{
	{
		ID: "membership.addMembers", Summary: "Adds members of any class to a group.",
		Method: http.MethodPost, Path: "/api/ADGroups/{GroupName}/Members",
		Scope: identity.MemberWrite, Effect: Create,
		Params:    []Param{existingGroup, namedMembers(schema.MemberList, "The members to add.")},
		Script:    "Set-GatewayMembers",
		Fixed:     ps.Args{"Mode": ps.Text("Add")},
		Lane:      ps.Directory,
		Reply:     Reply{schema.MemberChange, Single},
		Settle:    settleMembers,
		Fails:     membersFail,
		Subject:   groupSubject,
		Success:   "{count:members} added to the {subject}.",
		Unchanged: "All of them are members of the {subject} already; nothing was changed.",
		Sample:    Given{"GroupName": "Help Desk", membersName: "aschmidt,FS1$"},
	},
	{
		ID: "membership.removeMembers", Summary: "Removes members of any class from a group.",
		Method: http.MethodDelete, Path: "/api/ADGroups/{GroupName}/Members",
		Scope: identity.MemberWrite, Effect: Delete, Disrupts: true,
		Params:    []Param{existingGroup, namedMembers(schema.MemberList, "The members to remove.")},
		Script:    "Set-GatewayMembers",
		Fixed:     ps.Args{"Mode": ps.Text("Remove")},
		Lane:      ps.Directory,
		Reply:     Reply{schema.MemberChange, Single},
		Settle:    settleMembers,
		Fails:     membersFail,
		Subject:   groupSubject,
		Success:   "{count:members} removed from the {subject}.",
		Unchanged: "None of them is a direct member of the {subject}; nothing was changed.",
		Sample:    Given{"GroupName": "VPN Users", membersName: "aschmidt"},
	},
	{
		ID: "membership.setMembers", Summary: "Makes a group have exactly these members.",
		Method: http.MethodPut, Path: "/api/ADGroups/{GroupName}/Members",
		Scope: identity.MemberWrite, Effect: Update, Disrupts: true,
		Params: []Param{existingGroup, namedMembers(schema.WholeMemberList,
			"All members that the group will have; others are removed, except those outside the limits of the credential.")},
		Script:    "Set-GatewayMembers",
		Fixed:     ps.Args{"Mode": ps.Text("Set")},
		Lane:      ps.Directory,
		Reply:     Reply{schema.MemberChange, Single},
		Settle:    settleMembers,
		Fails:     membersFail,
		Subject:   groupSubject,
		Success:   "The {subject} has these members now: {counts}.",
		Unchanged: "The {subject} has exactly these members already; nothing was changed.",
		Sample:    Given{"GroupName": "Help Desk", membersName: "aschmidt"},
	},
}

var (
	settleMembers = Settle{Script: "Confirm-GatewayMembers"}
	membersFail   = []schema.Code{schema.NotFound, schema.Conflict, schema.TooMany, schema.Unprocessable}
)

// namedMembers is the parameter that lists members.
func namedMembers(kind schema.Kind, about string) Param {
	return Param{Name: membersName, Kind: kind, Required: true, Group: true, Doc: about}
}

// MemberChange begins the names of announced changes of a group that is announced with several
// members, before the GUID of the member.
const MemberChange = "member:"

// undoMembers takes back a change of several members: what was added is removed, and the other
// way round.
func undoMembers(d Done) []Undoing {
	var calls []Undoing
	for _, one := range []struct{ row, after string }{
		{"membership.removeMembers", "True"}, {"membership.addMembers", "False"},
	} {
		group, guids := *d.object(), []string{}
		group.Changes = nil
		undone := []ps.Intended{}
		for _, c := range d.object().Changes {
			guid, is := strings.CutPrefix(c.Name, MemberChange)
			if !is || c.After != one.after {
				continue
			}
			group.Changes = append(group.Changes, c)
			guids = append(guids, guid)
			for _, member := range d.Intent.Objects[1:] {
				if strings.EqualFold(member.GUID, guid) {
					undone = append(undone, member)
				}
			}
		}
		if len(guids) == 0 {
			continue
		}
		calls = append(calls, Undoing{
			Row:    one.row,
			Given:  Given{existingGroup.Name: group.GUID, membersName: string(schema.TextsOf(guids))},
			Undone: append([]ps.Intended{group}, undone...),
		})
	}
	return calls
}
