package servers

import (
	"strings"

	"adgateway/ps"
)

const (
	serverDownType = "Microsoft.ActiveDirectory.Management.ADServerDownException"
	timeoutType    = "System.TimeoutException"
)

// unreachable reports whether an error means that the server could not be
// contacted: no domain controller, or none of that name (1355, and the type of
// the exception; 8250 over LDAP), or no RPC server (1722, 1753). Only these are
// a reason to fail over (facts G9).
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

// readVerbs are the first words of the labels of steps that only read: those that
// resolve and guard. A script that fails in one has not asked for a change yet.
var readVerbs = map[string]bool{"find": true, "check": true, "read": true, "list": true, "count": true, "discover": true}

// beforeChange reports whether a failed write certainly changed nothing: no step
// was reported, and it failed in a step that only reads, or because no server was
// found at all (1355).
func beforeChange(e *ps.Error) bool {
	if len(e.Steps) > 0 || (e.Outcome != ps.OutcomeNone && e.Outcome != "") {
		return false
	}
	verb, _, _ := strings.Cut(e.Step, " ")
	return e.Code == "1355" || readVerbs[verb]
}

// doubt sets the outcome of a write to unknown when its server was lost during a
// change: the script saw no success, but the server may have made the change.
func doubt(req ps.Request, e *ps.Error) {
	if req.Write && !beforeChange(e) && (e.Outcome == ps.OutcomeNone || e.Outcome == "") {
		e.Outcome = ps.OutcomeUnknown
	}
}
