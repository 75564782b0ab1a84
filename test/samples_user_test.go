package test

import "net/http"

const sampleUser = "aschmidt"

var userSamples = map[string]sample{
	"user.get":     {params: map[string]any{"Username": sampleUser}},
	"user.exists":  {params: map[string]any{"Username": sampleUser}},
	"user.list":    {params: map[string]any{"OUPath": limitedOU}},
	"user.listAll": {},
	"user.create": {
		params: map[string]any{"Username": "sample", "FirstName": "Sam", "Password": "Corr3ct-Horse"}, status: http.StatusCreated,
		undo: call{method: http.MethodDelete, path: "/api/ADUser/sample"},
	},
	"user.delete": {params: map[string]any{"Username": "sample.gone"}},
}

var userBefore = map[string]call{
	"user.delete": {method: http.MethodPost, path: "/api/ADUser/sample.gone"},
}
