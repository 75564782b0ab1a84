package ops

import (
	"net/http"

	"adgateway/gateway/auth"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

const ouSubject = "OU '{OUPath}'"

var ouRows = []*Operation{
	{
		ID: "ou.list", Row: 36, Summary: "Lists all OUs.",
		Method: http.MethodGet, Path: "/api/OU/All",
		Scope: auth.OURead, Effect: Read,
		Params:  []Param{{Name: "ListContainers", Kind: schema.Bool, Default: "false", Doc: "List containers, too, hidden and system ones included."}},
		Script:  "Get-GatewayOUList",
		Lane:    ps.Directory,
		Reply:   Reply{schema.OU, List},
		Subject: "OUs",
	},
	{
		ID: "ou.get", Row: 38, Summary: "Shows an OU or container.",
		Method: http.MethodGet, Path: "/api/OU/Path/Details",
		Scope: auth.OURead, Effect: Read,
		Params:  []Param{ouPath},
		Script:  "Get-GatewayOU",
		Lane:    ps.Directory,
		Reply:   Reply{schema.OU, Single},
		Fails:   []schema.Code{schema.NotFound},
		Subject: ouSubject,
	},
	{
		ID: "ou.exists", Row: 39, Summary: "Tells whether an OU or container exists.",
		Method: http.MethodGet, Path: "/api/OU/Path/Exists",
		Scope: auth.OURead, Effect: Read,
		Params:  []Param{ouPath},
		Script:  "Test-GatewayOU",
		Lane:    ps.Directory,
		Reply:   Reply{schema.Existence, Exists},
		Subject: ouSubject,
	},
}

var ouPath = Param{Name: "OUPath", Kind: schema.DN, Required: true, Doc: "The distinguished name of the OU."}
