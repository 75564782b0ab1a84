package test

import "net/http"

var computerSamples = map[string]sample{
	"computer.list":    {params: map[string]any{"OUPath": "OU=Devices,OU=Corp,DC=corp,DC=example"}},
	"computer.listAll": {},
	"computer.get":     {params: map[string]any{"ADComputerName": "FS1"}},
	"computer.exists":  {params: map[string]any{"ADComputerName": "FS1$"}},
	"computer.register": {
		params: map[string]any{"ADComputerName": "SAMPLE", "ADComputerDescription": "A sample"}, status: http.StatusCreated,
		undo: call{method: http.MethodDelete, path: "/api/Computers/SAMPLE/Remove"},
	},
	"computer.rename": {
		params: map[string]any{"ADComputerName": "WEB1", "NewADComputerName": "SAMPLE"},
		undo:   call{method: http.MethodPut, path: "/api/Computers/SAMPLE/Rename/WEB1"},
	},
	"computer.update": {
		params: map[string]any{"ADComputerName": "FS1", "ComputerDescription": "changed"},
		undo:   call{method: http.MethodPut, path: "/api/Computers/FS1/Update", params: map[string]any{"ComputerDescription": "File server"}},
	},
	"computer.delete": {
		params: map[string]any{"ADComputerName": "WEB2"},
		undo:   call{method: http.MethodPost, path: "/api/Computers/WEB2/Register"},
	},
	"computer.deleteMany": {
		params: map[string]any{"WildCard": "WEB3", "Recursive": "true"},
		undo:   call{method: http.MethodPost, path: "/api/Computers/WEB3/Register"},
	},
}

var computerBefore = map[string]call{}
