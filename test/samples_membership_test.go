package test

import "net/http"

var membershipSamples = map[string]sample{
	"membership.get":    {params: map[string]any{"Username": sampleUser, "GroupName": sampleGroup}},
	"membership.exists": {params: map[string]any{"Username": sampleUser, "GroupName": sampleGroup}},
	"membership.list":   {params: map[string]any{"Username": sampleUser}},
	"membership.add": {
		params: map[string]any{"Username": sampleUser, "GroupName": "Help Desk"}, status: http.StatusCreated,
		undo: call{method: http.MethodDelete, path: "/api/ADUser/aschmidt/Group/Help%20Desk"},
	},
	"membership.remove": {
		params: map[string]any{"Username": sampleUser, "GroupName": sampleGroup},
		undo:   call{method: http.MethodPost, path: "/api/ADUser/aschmidt/Group/VPN%20Users"},
	},
	"membership.addGroup": {
		params: map[string]any{"ParentGroupName": "Project Phoenix", "ChildGroupName": "Help Desk"}, status: http.StatusCreated,
		undo: call{method: http.MethodDelete, path: "/api/ADGroup/Project%20Phoenix/Group/Help%20Desk"},
	},
	"membership.removeGroup": {
		params: map[string]any{"ParentGroupName": "All Staff", "ChildGroupName": "Sales Staff"},
		undo:   call{method: http.MethodPost, path: "/api/ADGroup/All%20Staff/Group/Sales%20Staff"},
	},
	"membership.groupExists": {params: map[string]any{"ParentGroupName": "All Staff", "ChildGroupName": "Sales Staff"}},
}

var membershipBefore = map[string]call{}
