package systemtest

import (
	"net/http"
	"net/url"
)

// Containers of the built-in domain.
const (
	DevicesOU      = "OU=Devices,OU=Corp,DC=corp,DC=example"
	ServersOU      = "OU=Servers," + DevicesOU
	BranchesOU     = "OU=Branches,OU=Workstations," + DevicesOU
	RetiredOU      = "OU=Retired," + DevicesOU
	UsersContainer = "CN=Users,DC=corp,DC=example"
	GroupsOU       = "OU=Groups,OU=Corp,DC=corp,DC=example"
	SecurityOU     = "OU=Security," + GroupsOU
	DistributionOU = "OU=Distribution," + GroupsOU
	StaffOU        = "OU=Staff,OU=Corp,DC=corp,DC=example"
	ITOU           = "OU=IT,OU=Berlin," + StaffOU
	AthensOU       = "OU=Athens," + StaffOU
)

// GoodPassword satisfies the password policy of the built-in domain.
const GoodPassword = "Corr3ct-Horse"

// Cultures are the languages of messages that the simulated Windows supports.
var Cultures = []string{"en-US", "de-DE"}

// RecoveryKey holds the attributes of a BitLocker recovery key, for AddObject.
var RecoveryKey = []string{"msFVE-RecoveryGuid", "0123456789abcdef", "msFVE-RecoveryPassword",
	"111111-222222"}

// As returns the same request with another token.
func (c Call) As(token string) Call {
	c.Token = token
	return c
}

// ComputerPath returns the path of a computer.
func ComputerPath(name string) string { return "/api/Computers/" + url.PathEscape(name) }

// RegisterComputer returns a request that creates a computer. In all functions of this file, more contains
// alternating names and values of further parameters.
func RegisterComputer(name string, more ...string) Call {
	return Call{Method: http.MethodPost, Path: ComputerPath(name) + "/Register", Params: pairs(more...)}
}

// RenameComputer returns a request that renames a computer.
func RenameComputer(name, to string) Call {
	return Call{Method: http.MethodPut, Path: ComputerPath(name) + "/Rename/" + url.PathEscape(to)}
}

// RemoveComputer returns a request that removes one computer.
func RemoveComputer(name string) Call {
	return Call{Method: http.MethodDelete, Path: ComputerPath(name) + "/Remove"}
}

// RemoveComputers returns a request that removes all matching computers.
func RemoveComputers(more ...string) Call {
	return Call{Method: http.MethodDelete, Path: "/api/Computers/Remove", Params: pairs(more...)}
}

// ReadComputer returns a request that reads a computer.
func ReadComputer(name string) Call { return Call{Method: http.MethodGet, Path: ComputerPath(name)} }

// ListComputers returns a request that lists computers.
func ListComputers(more ...string) Call {
	return Call{Method: http.MethodGet, Path: "/api/Computers", Params: pairs(more...)}
}

// NamesOfComputers returns the names of the computers in an answer. The result is never nil.
func NamesOfComputers(a Answer) []string {
	names := []string{}
	for _, record := range a.Envelope.Result {
		names = append(names, record["computerName"].(string))
	}
	return names
}

// GroupPath returns the path of a group followed by rest.
func GroupPath(name, rest string) string { return "/api/ADGroups/" + url.PathEscape(name) + rest }

// UserInGroupPath returns the path of a user's membership in a group.
func UserInGroupPath(user, group string) string {
	return "/api/ADUser/" + url.PathEscape(user) + "/Group/" + url.PathEscape(group)
}

// GroupInGroupPath returns the path of a group's membership in another group.
func GroupInGroupPath(child, parent string) string {
	return "/api/ADGroup/" + url.PathEscape(parent) + "/Group/" + url.PathEscape(child)
}

// CreateOU returns a request that creates an OU.
func CreateOU(name, parent string, more ...string) Call {
	return Call{Method: http.MethodPost, Path: "/api/OU",
		Params: pairs(append(more, "OUName", name, "OUDestinationPath", parent)...)}
}

// UpdateOU returns a request that changes an OU.
func UpdateOU(dn string, more ...string) Call {
	return Call{Method: http.MethodPut, Path: "/api/OU", Params: pairs(append(more, "OUPath", dn)...)}
}

// MoveOU returns a request that moves an OU below parent.
func MoveOU(dn, parent string) Call {
	return Call{Method: http.MethodPut, Path: "/api/OU/Move",
		Params: pairs("OUPath", dn, "OUDestinationPath", parent)}
}

// RenameOU returns a request that renames an OU.
func RenameOU(dn, name string) Call {
	return Call{Method: http.MethodPut, Path: "/api/OU/Rename", Params: pairs("OUPath", dn, "OUNewName", name)}
}

// RemoveOU returns a request that removes an OU.
func RemoveOU(dn string, more ...string) Call {
	return Call{Method: http.MethodDelete, Path: "/api/OU/Path/Remove",
		Params: pairs(append(more, "OUPath", dn)...)}
}

// ReadOU returns a request that reads an OU.
func ReadOU(dn string) Call {
	return Call{Method: http.MethodGet, Path: "/api/OU/Path/Details", Params: pairs("OUPath", dn)}
}

// pairs returns alternating names and values as a map.
func pairs(texts ...string) map[string]any {
	out := map[string]any{}
	for i := 0; i+1 < len(texts); i += 2 {
		out[texts[i]] = texts[i+1]
	}
	return out
}
