package systemtest

import (
	"net/http"
)

// copyTo and copyLike are users without groups besides the primary one.
const (
	copyTo   = "tom.gone"
	copyLike = "mary.left"
)

var membershipSamples = map[string]Sample{
	"membership.get":    {Params: map[string]any{"Username": SampleUser, "GroupName": SampleGroup}},
	"membership.exists": {Params: map[string]any{"Username": SampleUser, "GroupName": SampleGroup}},
	"membership.list":   {Params: map[string]any{"Username": SampleUser}},
	"membership.add": {
		Params: map[string]any{"Username": SampleUser, "GroupName": "Help Desk"}, Status: http.StatusCreated,
		Undo: Call{Method: http.MethodDelete, Path: "/api/ADUser/aschmidt/Group/Help%20Desk"},
	},
	"membership.remove": {
		Params: map[string]any{"Username": SampleUser, "GroupName": SampleGroup},
		Undo:   Call{Method: http.MethodPost, Path: "/api/ADUser/aschmidt/Group/VPN%20Users"},
	},
	"membership.copy": {
		Params: map[string]any{"Username": copyTo, "From": SampleUser},
		Undo:   Call{Method: http.MethodPost, Path: "/api/ADUser/" + copyTo + "/CopyGroups", Params: map[string]any{"From": copyLike, "Remove": true}},
	},
	"membership.addGroup": {
		Params: map[string]any{"ParentGroupName": "Project Phoenix", "ChildGroupName": "Help Desk"}, Status: http.StatusCreated,
		Undo: Call{Method: http.MethodDelete, Path: "/api/ADGroup/Project%20Phoenix/Group/Help%20Desk"},
	},
	"membership.removeGroup": {
		Params: map[string]any{"ParentGroupName": "All Staff", "ChildGroupName": "Sales Staff"},
		Undo:   Call{Method: http.MethodPost, Path: "/api/ADGroup/All%20Staff/Group/Sales%20Staff"},
	},
	"membership.groupExists": {Params: map[string]any{"ParentGroupName": "All Staff", "ChildGroupName": "Sales Staff"}},
}

var membershipBefore = map[string]Call{}
