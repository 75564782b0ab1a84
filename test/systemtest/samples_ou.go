package systemtest

import (
	"net/http"
)

const (
	EmptyOU     = "OU=Empty,OU=Corp,DC=corp,DC=example"
	ProtectedOU = "OU=Protected empty,OU=Corp,DC=corp,DC=example"
	CorpOU      = "OU=Corp,DC=corp,DC=example"
)

var ouSamples = map[string]Sample{
	"ou.list":      {},
	"ou.getByGuid": {Params: map[string]any{"OUGuid": "da9f7f4a-9e3a-59b7-80c1-cd0e8901a4d2"}}, // Berlin
	"ou.get":       {Params: map[string]any{"OUPath": LimitedOU}},
	"ou.exists":    {Params: map[string]any{"OUPath": LimitedOU}},
	"ou.create": {
		Params: map[string]any{"OUName": "Sample", "OUDestinationPath": EmptyOU, "OUDescription": "A sample", "IsProtected": "false"}, Status: http.StatusCreated,
		Undo: Call{Method: http.MethodDelete, Path: "/api/OU/Path/Remove", Params: map[string]any{"OUPath": "OU=Sample," + EmptyOU}},
	},
	"ou.update": {
		Params: map[string]any{"OUPath": EmptyOU, "OUDescription": "changed"},
		Undo:   Call{Method: http.MethodPut, Path: "/api/OU", Params: map[string]any{"OUPath": EmptyOU, "OUDescription": "Nothing in it"}},
	},
	"ou.move": {
		Params: map[string]any{"OUPath": ProtectedOU, "OUDestinationPath": EmptyOU},
		Undo:   Call{Method: http.MethodPut, Path: "/api/OU/Move", Params: map[string]any{"OUPath": "OU=Protected empty," + EmptyOU, "OUDestinationPath": CorpOU}},
	},
	"ou.rename": {
		Params: map[string]any{"OUPath": ProtectedOU, "OUNewName": "Renamed"},
		Undo:   Call{Method: http.MethodPut, Path: "/api/OU/Rename", Params: map[string]any{"OUPath": "OU=Renamed," + CorpOU, "OUNewName": "Protected empty"}},
	},
	"ou.delete": {
		Params: map[string]any{"OUPath": EmptyOU},
		Undo:   Call{Method: http.MethodPost, Path: "/api/OU", Params: map[string]any{"OUName": "Empty", "OUDestinationPath": CorpOU, "IsProtected": "false"}},
	},
}

var ouBefore = map[string]Call{}
