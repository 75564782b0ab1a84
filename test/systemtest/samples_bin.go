package systemtest

import "net/http"

// The groups that the samples of the Recycle Bin are about.
const (
	announcementsGUID = "f328877c-96b8-5fbf-8d14-1449a6756256"
	printersGUID      = "e01076ad-3b79-506a-af5d-96b72c99f124"
)

var binSamples = map[string]Sample{
	"bin.status":  {},
	"bin.list":    {},
	"bin.get":     {Params: map[string]any{"Guid": announcementsGUID}},
	"bin.restore": {Params: map[string]any{"Guid": printersGUID}},
}

var binBefore = map[string]Call{
	"bin.list":    {Method: http.MethodDelete, Path: "/api/ADGroups/Local%20List/Remove"},
	"bin.get":     {Method: http.MethodDelete, Path: "/api/ADGroups/Berlin%20Announcements/Remove"},
	"bin.restore": {Method: http.MethodDelete, Path: "/api/ADGroups/Printer%20Operators%20Berlin/Remove"},
}
