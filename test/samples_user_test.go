package test

import "net/http"

const (
	sampleUser     = "aschmidt"
	sampleUserGUID = "897be383-0d4f-5fd1-b27f-461bf3bb4b03"
	sampleUserDN   = "CN=Anna Schmidt,OU=Sales,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"
	sampleUserText = "Head of Sales, Berlin" // her description
	leftUser       = "karl.alt"              // disabled, with a password
	lockedUser     = "locked.out"
	spareUserGUID  = "ab2ab868-0adc-5480-9a2d-fceabe6b4a9d" // of never.set
)

var userSamples = map[string]sample{
	"user.get":       {params: map[string]any{"Username": sampleUser}},
	"user.exists":    {params: map[string]any{"Username": sampleUser}},
	"user.lastLogon": {params: map[string]any{"Username": sampleUser}},
	"user.list":      {params: map[string]any{"OUPath": limitedOU}},
	"user.listAll":   {},
	"user.create": {
		params: map[string]any{"Username": "sample", "FirstName": "Sam", "Password": "Corr3ct-Horse"}, status: http.StatusCreated,
		undo: call{method: http.MethodDelete, path: "/api/ADUser/sample"},
	},
	"user.update": {
		params: map[string]any{"Username": sampleUser, "Description": "changed"},
		undo:   call{method: http.MethodPut, path: "/api/ADUser/" + sampleUser, params: map[string]any{"Description": sampleUserText}},
	},
	"user.disable": {
		params: map[string]any{"Username": sampleUser},
		undo:   call{method: http.MethodPut, path: "/api/ADUser/" + sampleUser + "/Enable"},
	},
	"user.enable": {
		params: map[string]any{"Username": leftUser},
		undo:   call{method: http.MethodPut, path: "/api/ADUser/" + leftUser + "/Disable"},
	},
	"user.rename": {
		params: map[string]any{"Username": sampleUser, "NewUsername": "a.schmidt"},
		undo:   call{method: http.MethodPut, path: "/api/ADUser/a.schmidt/Rename/" + sampleUser},
	},
	"user.resetPassword": {params: map[string]any{"Username": sampleUser, "newPassword": "Corr3ct-Horse"}},
	"user.unlock":        {params: map[string]any{"Username": lockedUser}},
	"user.delete":        {params: map[string]any{"Username": "sample.gone"}},
	"user.getByGuid":     {params: map[string]any{"UserGuid": sampleUserGUID}},
	"user.updateByGuid": {
		params: map[string]any{"UserGuid": sampleUserGUID, "Description": "changed"},
		undo:   call{method: http.MethodPut, path: "/api/ADUserGuid", params: map[string]any{"UserGuid": sampleUserGUID, "Description": sampleUserText}},
	},
	"user.deleteByGuid": {params: map[string]any{"UserGuid": spareUserGUID}},
}

var userBefore = map[string]call{
	"user.delete": {method: http.MethodPost, path: "/api/ADUser/sample.gone"},
}
