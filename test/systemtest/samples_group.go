package systemtest

import (
	"net/http"
)

const (
	SampleGroup  = "VPN Users"
	helpDeskGUID = "da2584e8-e4b7-5549-a6fc-696ad78dc01f"
)

var groupSamples = map[string]Sample{
	"group.list":             {Params: map[string]any{"OUPath": "OU=Groups,OU=Corp,DC=corp,DC=example"}},
	"group.get":              {Params: map[string]any{"GroupName": SampleGroup}},
	"group.exists":           {Params: map[string]any{"GroupName": SampleGroup}},
	"group.listAll":          {},
	"group.listDistribution": {},
	"group.listSecurity":     {Params: map[string]any{"OUPath": "CN=Users,DC=corp,DC=example", "Recursive": false}},
	"group.createDistribution": {
		Params: map[string]any{"GroupName": "Sample List", "GroupScope": "universal", "GroupEmail": "list@corp.example"}, Status: http.StatusCreated,
		Undo: Call{Method: http.MethodDelete, Path: "/api/ADGroups/Sample%20List/Remove"},
	},
	"group.createSecurity": {
		Params: map[string]any{"GroupName": "Sample Group", "OUPath": LimitedOU, "GroupDescription": "A sample"}, Status: http.StatusCreated,
		Undo: Call{Method: http.MethodDelete, Path: "/api/ADGroups/Sample%20Group/Remove"},
	},
	"search.find":   {Params: map[string]any{"Text": "anna"}},
	"group.members": {Params: map[string]any{"GroupName": SampleGroup, "Recursive": true}},
	"group.update": {
		Params: map[string]any{"GroupName": SampleGroup, "GroupDescription": "changed"},
		Undo:   Call{Method: http.MethodPut, Path: "/api/ADGroups/VPN%20Users", Params: map[string]any{"GroupDescription": "May dial in"}},
	},
	"group.rename": {
		Params: map[string]any{"GroupName": SampleGroup, "NewGroupName": "Dial In"},
		Undo:   Call{Method: http.MethodPut, Path: "/api/ADGroups/Dial%20In/Rename/VPN%20Users"},
	},
	"group.delete": {Params: map[string]any{"GroupName": "Sample Gone"}},
}

var groupBefore = map[string]Call{
	"group.delete": {Method: http.MethodPost, Path: "/api/ADGroups/Sample%20Gone/Security"},
}
