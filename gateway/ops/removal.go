package ops

import (
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

// What the rows have in common that remove objects of the directory, and protect them from that.

// forced is the parameter of a removal that lifts protections.
var forced = Param{
	Name: "Force", Kind: schema.Bool, Default: "false", Audited: true,
	Doc: "Lift protection from accidental deletion first.",
}

// wholeTree is the parameter of a removal that takes along what lies below the object.
func wholeTree(scope identity.Scope) Param {
	return Param{
		Name: "Recursive", Kind: schema.Bool, Default: "false", Audited: true, Scope: scope,
		Doc: "Remove all that is below it, too.",
	}
}

// protectionName is the parameter that sets and lifts a protection.
const protectionName = "IsProtected"

const (
	protectionScript = "Set-GatewayAccountProtection"
	protectionSet    = "The protection of the {subject} from accidental deletion was changed."
	protectionSame   = "The protection of the {subject} is as wanted already; nothing was changed."
)

var protection = Param{
	Name: protectionName, Kind: schema.Bool, Required: true, Audited: true, Example: "true",
	Doc: "Whether it is protected from accidental deletion.",
}

// primaryGroup is the group that an account gets as its primary one.
var primaryGroup = Param{
	Name: "GroupName", Kind: schema.Identity, Required: true, Group: true, Example: "VPN Users",
	Doc: "The group: a global or universal security group that it is a direct member of.",
}

// protectedTarget is the target of another row as the script takes it that protects.
func protectedTarget(p Param) Param {
	p.Arg = "Identity"
	return p
}
