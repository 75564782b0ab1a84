package servers

import (
	"strings"

	"adgateway/ps"
)

const (
	serverDownType = "Microsoft.ActiveDirectory.Management.ADServerDownException"
	timeoutType    = "System.TimeoutException"
)

// unreachable tells whether an error says that the server could not be
// contacted: no domain controller, or none behind that name (1355, and the
// exception's type; 8250 over LDAP), or no RPC server (1722, 1753). Nothing else is a reason
// to go to another server (facts G9).
func unreachable(e *ps.Error) bool {
	return directoryDown(e) || rpcDown(e)
}

func directoryDown(e *ps.Error) bool {
	return e.Gateway == "" && (e.Type == serverDownType || e.Code == "1355" || e.Code == "8250")
}

func rpcDown(e *ps.Error) bool {
	if e.Gateway != "" {
		return false
	}
	switch strings.TrimPrefix(e.Native, "WIN32 ") {
	case "1722", "1753":
		return true
	}
	return e.Code == "1722" || e.Code == "1753"
}

// looking are the first words of step labels under which scripts only read: the
// parts that resolve and guard. A script that fails there has not yet asked a
// server to change anything, whatever the server has seen of it.
var looking = map[string]bool{"find": true, "check": true, "read": true, "list": true, "count": true, "discover": true}

// beforeChange tells whether a failed write provably had not begun: no step was
// reported, and it failed where it only looked, or because no server was found
// at all (1355).
func beforeChange(e *ps.Error) bool {
	if len(e.Steps) > 0 || (e.Outcome != ps.OutcomeNone && e.Outcome != "") {
		return false
	}
	verb, _, _ := strings.Cut(e.Step, " ")
	return e.Code == "1355" || looking[verb]
}

// doubt makes the outcome of a write unknown when its server went away under a
// change: the script has seen no success, but the server may have done it.
func doubt(req ps.Request, e *ps.Error) {
	if req.Write && !beforeChange(e) && (e.Outcome == ps.OutcomeNone || e.Outcome == "") {
		e.Outcome = ps.OutcomeUnknown
	}
}
