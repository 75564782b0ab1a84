package systemtest

import (
	"net/http"
)

var computerSamples = map[string]Sample{
	"computer.list":    {Params: map[string]any{"OUPath": "OU=Devices,OU=Corp,DC=corp,DC=example"}},
	"computer.listAll": {},
	"computer.get":     {Params: map[string]any{"ADComputerName": "FS1"}},
	"computer.exists":  {Params: map[string]any{"ADComputerName": "FS1$"}},
	"computer.register": {
		Params: map[string]any{"ADComputerName": "SAMPLE", "ADComputerDescription": "A sample"}, Status: http.StatusCreated,
		Undo: Call{Method: http.MethodDelete, Path: "/api/Computers/SAMPLE/Remove"},
	},
	"computer.rename": {
		Params: map[string]any{"ADComputerName": "WEB1", "NewADComputerName": "SAMPLE"},
		Undo:   Call{Method: http.MethodPut, Path: "/api/Computers/SAMPLE/Rename/WEB1"},
	},
	"computer.update": {
		Params: map[string]any{"ADComputerName": "FS1", "ComputerDescription": "changed"},
		Undo:   Call{Method: http.MethodPut, Path: "/api/Computers/FS1/Update", Params: map[string]any{"ComputerDescription": "File server"}},
	},
	"computer.enable": {
		Params: map[string]any{"ADComputerName": "OLD-PC1"},
		Undo:   Call{Method: http.MethodPut, Path: "/api/Computers/OLD-PC1/Disable"},
	},
	"computer.disable": {
		Params: map[string]any{"ADComputerName": "WEB1"},
		Undo:   Call{Method: http.MethodPut, Path: "/api/Computers/WEB1/Enable"},
	},
	"computer.move": {
		Params: map[string]any{"ADComputerName": "WEB1", "OUPath": "OU=Retired,OU=Devices,OU=Corp,DC=corp,DC=example"},
		Undo:   Call{Method: http.MethodPut, Path: "/api/Computers/WEB1/Move", Params: map[string]any{"OUPath": "OU=Servers,OU=Devices,OU=Corp,DC=corp,DC=example"}},
	},
	"computer.delete": {
		Params: map[string]any{"ADComputerName": "WEB2"},
		Undo:   Call{Method: http.MethodPost, Path: "/api/Computers/WEB2/Register"},
	},
	"computer.deleteMany": {
		Params: map[string]any{"WildCard": "WEB3", "Recursive": "true"},
		Undo:   Call{Method: http.MethodPost, Path: "/api/Computers/WEB3/Register"},
	},
}

var computerBefore = map[string]Call{}
