package servers

import (
	"strings"

	"adgateway/ps"
)

const (
	directoryTypes     = "Microsoft.ActiveDirectory.Management."
	serverDownType     = directoryTypes + "ADServerDownException"
	authenticationType = "System.Security.Authentication.AuthenticationException"
	timeoutType        = "System.TimeoutException"
	comType            = "System.Runtime.InteropServices.COMException" // of ADSI
	noEndpointType     = "System.ServiceModel.EndpointNotFoundException"
)

// cause says what a script's error means for the server.
type cause int

const (
	none     cause = iota // the server has responded
	gone                  // the server cannot be contacted; the only reason to fail over immediately (facts G9)
	broken                // a connection broke, which the request itself may have caused (facts D16)
	rejected              // the server rejected the gateway's account (facts D17)
	slow                  // the server did not respond in time
	busy                  // the server had no capacity, or gave up a search (facts D14)
	noLDAP                // the server has responded, but its LDAP service has not responded to ADSI
)

// faults contains the faults of the web service that concern the server itself.
var faults = map[string]cause{
	"EndpointUnavailable": busy, "EnumerationContextLimitExceeded": busy, "MaxEnumCtxsTotalReached": busy,
	"EOutOfMemory": busy, "InvalidEnumerationContext": busy,
	"OperationTimeout": slow, "TimedOut": slow, "MaxTimeExceedsLimit": slow, "MaxTimeExceedsLimitDetail": slow,
	"AnonymousNotAllowed": rejected,
}

// causeOf decides by type, number and fault, never by message. If LDAP does not respond to ADSI (8250), the
// gateway does not leave the controller, because its web service responds and the LDAP port is probably
// closed on another controller as well.
func causeOf(e *ps.Error) cause {
	number := strings.TrimPrefix(e.Native, "WIN32 ")
	if number == "" {
		number = e.Code
	}
	switch {
	case e.Gateway != "":
		return none
	case e.Type == serverDownType && strings.HasPrefix(e.Inner, "System.ServiceModel.") &&
		e.Inner != noEndpointType:
		return broken
	case number == "8250" && e.Type == comType:
		return noLDAP
	case e.Type == serverDownType, number == "1355", number == "8250", number == "1722", number == "1753":
		return gone
	case number == "1726":
		return broken
	case e.Type == authenticationType:
		return rejected
	case e.Type == timeoutType:
		return slow
	case e.Type == directoryTypes+"ADException" && (number == "" || number == "0"):
		return faults[e.Fault]
	}
	return none
}

// ofDirectory reports whether an error concerns the domain controller, for a script that
// also uses a DNS server.
func ofDirectory(e *ps.Error) bool {
	return strings.HasPrefix(e.Type, directoryTypes) || e.Type == authenticationType || e.Code == "1355" ||
		e.Code == "8250"
}

// readVerbs are the first words in the labels of steps that only read, because they resolve or guard objects.
// A script that fails in such a step has not requested a change yet.
var readVerbs = map[string]bool{"find": true, "check": true, "read": true, "list": true, "count": true,
	"discover": true}

// beforeChange reports whether a failed write certainly changed nothing. That is the case if it reported no
// step, and failed in a step that only reads or because no server was found at all (1355).
func beforeChange(e *ps.Error) bool {
	if len(e.Steps) > 0 || (e.Outcome != ps.OutcomeNone && e.Outcome != "") {
		return false
	}
	verb, _, _ := strings.Cut(e.Step, " ")
	return e.Code == "1355" || readVerbs[verb]
}

// doubt sets the outcome of a write to unknown if its server was lost during a change. The script has then
// not seen a success, but the server may have made the change.
func doubt(req ps.Request, e *ps.Error) {
	if req.Write && !beforeChange(e) && (e.Outcome == ps.OutcomeNone || e.Outcome == "") {
		e.Outcome = ps.OutcomeUnknown
	}
}
