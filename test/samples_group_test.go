package test

import "net/http"

const (
	sampleGroup  = "VPN Users"
	helpDeskGUID = "da2584e8-e4b7-5549-a6fc-696ad78dc01f"
)

var groupSamples = map[string]sample{
	"group.list":             {params: map[string]any{"OUPath": "OU=Groups,OU=Corp,DC=corp,DC=example"}},
	"group.get":              {params: map[string]any{"GroupName": sampleGroup}},
	"group.exists":           {params: map[string]any{"GroupName": sampleGroup}},
	"group.listAll":          {},
	"group.listDistribution": {},
	"group.listSecurity":     {params: map[string]any{"OUPath": "CN=Users,DC=corp,DC=example", "Recursive": false}},
	"group.createDistribution": {
		params: map[string]any{"GroupName": "Sample List", "GroupScope": "universal", "GroupEmail": "list@corp.example"}, status: http.StatusCreated,
		undo: call{method: http.MethodDelete, path: "/api/ADGroups/Sample%20List/Remove"},
	},
	"group.createSecurity": {
		params: map[string]any{"GroupName": "Sample Group", "OUPath": limitedOU, "GroupDescription": "A sample"}, status: http.StatusCreated,
		undo: call{method: http.MethodDelete, path: "/api/ADGroups/Sample%20Group/Remove"},
	},
	"group.rename": {
		params: map[string]any{"GroupName": sampleGroup, "NewGroupName": "Dial In"},
		undo:   call{method: http.MethodPut, path: "/api/ADGroups/Dial%20In/Rename/VPN%20Users"},
	},
	"group.delete": {params: map[string]any{"GroupName": "Sample Gone"}},
}

var groupBefore = map[string]call{
	"group.delete": {method: http.MethodPost, path: "/api/ADGroups/Sample%20Gone/Security"},
}
