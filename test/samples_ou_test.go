package test

import "net/http"

const (
	emptyOU     = "OU=Empty,OU=Corp,DC=corp,DC=example"
	protectedOU = "OU=Protected empty,OU=Corp,DC=corp,DC=example"
	corpOU      = "OU=Corp,DC=corp,DC=example"
)

var ouSamples = map[string]sample{
	"ou.list":      {},
	"ou.getByGuid": {params: map[string]any{"OUGuid": "da9f7f4a-9e3a-59b7-80c1-cd0e8901a4d2"}}, // Berlin
	"ou.get":       {params: map[string]any{"OUPath": limitedOU}},
	"ou.exists":    {params: map[string]any{"OUPath": limitedOU}},
	"ou.create": {
		params: map[string]any{"OUName": "Sample", "OUDestinationPath": emptyOU, "OUDescription": "A sample", "IsProtected": "false"}, status: http.StatusCreated,
		undo: call{method: http.MethodDelete, path: "/api/OU/Path/Remove", params: map[string]any{"OUPath": "OU=Sample," + emptyOU}},
	},
	"ou.update": {
		params: map[string]any{"OUPath": emptyOU, "OUDescription": "changed"},
		undo:   call{method: http.MethodPut, path: "/api/OU", params: map[string]any{"OUPath": emptyOU, "OUDescription": "Nothing in it"}},
	},
	"ou.move": {
		params: map[string]any{"OUPath": protectedOU, "OUDestinationPath": emptyOU},
		undo:   call{method: http.MethodPut, path: "/api/OU/Move", params: map[string]any{"OUPath": "OU=Protected empty," + emptyOU, "OUDestinationPath": corpOU}},
	},
	"ou.rename": {
		params: map[string]any{"OUPath": protectedOU, "OUNewName": "Renamed"},
		undo:   call{method: http.MethodPut, path: "/api/OU/Rename", params: map[string]any{"OUPath": "OU=Renamed," + corpOU, "OUNewName": "Protected empty"}},
	},
	"ou.delete": {
		params: map[string]any{"OUPath": emptyOU},
		undo:   call{method: http.MethodPost, path: "/api/OU", params: map[string]any{"OUName": "Empty", "OUDestinationPath": corpOU, "IsProtected": "false"}},
	},
}

var ouBefore = map[string]call{}
