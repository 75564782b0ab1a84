package systemtest

import (
	"net/http"
)

const (
	SampleUser     = "aschmidt"
	SampleUserGUID = "897be383-0d4f-5fd1-b27f-461bf3bb4b03"
	SampleUserDN   = "CN=Anna Schmidt,OU=Sales,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"
	sampleUserText = "Head of Sales, Berlin" // her description
	LeftUser       = "karl.alt"              // disabled, with a password
	LockedUser     = "locked.out"
	spareUserGUID  = "ab2ab868-0adc-5480-9a2d-fceabe6b4a9d" // of never.set
)

var userSamples = map[string]Sample{
	"user.get":       {Params: map[string]any{"Username": SampleUser}},
	"user.exists":    {Params: map[string]any{"Username": SampleUser}},
	"user.lastLogon": {Params: map[string]any{"Username": SampleUser}},
	"user.list":      {Params: map[string]any{"OUPath": LimitedOU}},
	"user.listAll":   {},
	"user.create": {
		Params: map[string]any{"Username": "sample", "FirstName": "Sam", "Password": "Corr3ct-Horse"}, Status: http.StatusCreated,
		Undo: Call{Method: http.MethodDelete, Path: "/api/ADUser/sample"},
	},
	"user.update": {
		Params: map[string]any{"Username": SampleUser, "Description": "changed"},
		Undo:   Call{Method: http.MethodPut, Path: "/api/ADUser/" + SampleUser, Params: map[string]any{"Description": sampleUserText}},
	},
	"user.disable": {
		Params: map[string]any{"Username": SampleUser},
		Undo:   Call{Method: http.MethodPut, Path: "/api/ADUser/" + SampleUser + "/Enable"},
	},
	"user.enable": {
		Params: map[string]any{"Username": LeftUser},
		Undo:   Call{Method: http.MethodPut, Path: "/api/ADUser/" + LeftUser + "/Disable"},
	},
	"user.logonState":     {Params: map[string]any{"Username": LockedUser}},
	"user.passwordPolicy": {Params: map[string]any{"Username": SampleUser}},
	"user.expiry": {
		Params: map[string]any{"Username": SampleUser, "AccountExpires": "2035-06-30"},
		Undo:   Call{Method: http.MethodPut, Path: "/api/ADUser/" + SampleUser + "/Expiry", Params: map[string]any{"AccountExpires": ""}},
	},
	"user.rename": {
		Params: map[string]any{"Username": SampleUser, "NewUsername": "a.schmidt"},
		Undo:   Call{Method: http.MethodPut, Path: "/api/ADUser/a.schmidt/Rename/" + SampleUser},
	},
	"user.resetPassword": {Params: map[string]any{"Username": SampleUser, "newPassword": "Corr3ct-Horse"}},
	"user.unlock":        {Params: map[string]any{"Username": LockedUser}},
	"user.delete":        {Params: map[string]any{"Username": "sample.gone"}},
	"user.getByGuid":     {Params: map[string]any{"UserGuid": SampleUserGUID}},
	"user.updateByGuid": {
		Params: map[string]any{"UserGuid": SampleUserGUID, "Description": "changed"},
		Undo:   Call{Method: http.MethodPut, Path: "/api/ADUserGuid", Params: map[string]any{"UserGuid": SampleUserGUID, "Description": sampleUserText}},
	},
	"user.deleteByGuid": {Params: map[string]any{"UserGuid": spareUserGUID}},
}

var UserBefore = map[string]Call{
	"user.delete": {Method: http.MethodPost, Path: "/api/ADUser/sample.gone"},
}
