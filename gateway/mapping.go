package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"adgateway/gateway/auth"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// meaning is the API's code and sentence for an error of the directory or of DNS.
type meaning struct {
	code     schema.Code
	sentence string
}

// byNumber are the Win32 and DNS codes that have a meaning (facts D.2, D.3).
var byNumber = map[int]meaning{
	5:    {schema.DirectoryDenied, "The gateway's service account may not do this: access is denied."},
	8344: {schema.DirectoryDenied, "The gateway's service account has insufficient rights for this."},

	1316: {schema.Conflict, "An account of this name already exists."},
	1318: {schema.Conflict, "A group of this name already exists."},
	5010: {schema.Conflict, "The object already exists."},
	8305: {schema.Conflict, "The name is already in use in this place."},
	8647: {schema.Conflict, "The service principal name is already in use in the forest."},
	8648: {schema.Conflict, "The user principal name is already in use in the forest."},
	1374: {schema.Conflict, "The group is the account's primary group."},
	8521: {schema.Conflict, "The group is the primary group of accounts."},
	1371: {schema.Protected, "This cannot be done to a built-in account."},
	8398: {schema.Protected, "The directory does not let this object be removed."},
	8560: {schema.Protected, "Critical system objects cannot be removed."},
	8213: {schema.NotEmpty, "The object has other objects below it."},

	1325: {schema.Policy, "The password does not meet the length, complexity or history requirements of the domain."},
	86:   {schema.Policy, "The old password is not correct."},

	8329: {schema.Unprocessable, "The parent does not exist or is deleted."},
	8333: {schema.Unprocessable, "A referenced object does not exist."},
	8240: {schema.Unprocessable, "A referenced object does not exist."},
	8245: {schema.Unprocessable, "The directory is unwilling to do this."},
	8239: {schema.Unprocessable, "A value violates a constraint of the directory."},
	8247: {schema.Unprocessable, "The name violates the naming rules of the directory."},
	8212: {schema.Unprocessable, "The change violates the rules of the object's class."},
	8311: {schema.Unprocessable, "The directory does not allow this change of the attribute."},
	8316: {schema.Unprocessable, "A required attribute is missing."},
	8322: {schema.Unprocessable, "A value is not in the range that the directory accepts."},
	8345: {schema.Unprocessable, "An object of this class cannot lie there."},
	8513: {schema.Unprocessable, "The group type is invalid."},
	8516: {schema.Unprocessable, "A global group cannot have a domain local group as a member."},
	8517: {schema.Unprocessable, "A global group cannot have a universal group as a member."},
	8518: {schema.Unprocessable, "A universal group cannot have a domain local group as a member."},
	8519: {schema.Unprocessable, "A global group cannot have a member from another domain."},
	8520: {schema.Unprocessable, "A domain local group cannot have another domain's local group as a member."},
	8549: {schema.Unprocessable, "A foreign security principal cannot be a member of a universal group."},
	8235: {schema.Unprocessable, "The name belongs to another domain."},

	8206: {schema.Unavailable, "The directory is busy."},
	8208: {schema.Unavailable, "The directory has no relative identifiers left to give."},
	1355: {schema.Unavailable, "No domain controller can be reached."},
	8250: {schema.Unavailable, "The domain controller cannot be reached."},
	1722: {schema.Unavailable, "The DNS server cannot be reached."},
	1753: {schema.Unavailable, "The DNS server cannot be reached."},
	9569: {schema.Unavailable, "The DNS server is read-only."},
	9717: {schema.Unavailable, "The directory is unavailable to the DNS server."},

	9601: {schema.NotFound, "The zone was not found."},
	9701: {schema.NotFound, "The record was not found."},
	9714: {schema.NotFound, "The name was not found."},
	9609: {schema.Conflict, "The zone already exists."},
	9610: {schema.Conflict, "The zone already exists as one that the server made for itself."},
	9718: {schema.Conflict, "The zone already exists in the directory."},
	9711: {schema.Conflict, "The record already exists."},
	9708: {schema.Conflict, "The name already has a CNAME record."},
	9709: {schema.Conflict, "The name already has other records."},
	9563: {schema.Conflict, "The name lies below a delegation."},
	9603: {schema.Conflict, "This cannot be done to a zone of this type."},
	9611: {schema.Conflict, "This cannot be done to a zone of this type."},
	9621: {schema.Conflict, "The zone is paused or shut down."},
	9707: {schema.Unprocessable, "The CNAME record would lead back to itself."},
	9706: {schema.Unprocessable, "The name lies outside the zone."},
	123:  {schema.Unprocessable, "The name is not one that the DNS server accepts."},
	9560: {schema.Unprocessable, "The name holds a character that the DNS server does not accept."},
	9710: {schema.Unprocessable, "Such a record can only be at the zone's own name."},
	9651: {schema.Unprocessable, "The zone needs a data file."},
	9901: {schema.Unprocessable, "The directory partition does not exist."},
	9902: {schema.Unprocessable, "The directory partition already exists."},
	9903: {schema.Unprocessable, "The DNS server is not enlisted in the directory partition."},
	9904: {schema.Unprocessable, "The DNS server is already enlisted in the directory partition."},
	9905: {schema.Unprocessable, "The directory partition is not available."},
	9906: {schema.Unprocessable, "The directory partition is in an unexpected state."},
}

// The meanings that types and categories map to.
var (
	denied       = byNumber[5]
	exists       = meaning{schema.Conflict, "The object already exists."}
	missing      = meaning{schema.NotFound, "The object was not found."}
	noServer     = meaning{schema.Unavailable, "No domain controller can be reached."}
	tookLong     = meaning{schema.Timeout, "The directory did not answer in time."}
	rejected     = meaning{schema.Backend, "The directory rejected the credentials of the gateway's service account."}
	unmapped     = meaning{schema.Backend, "The directory or DNS server answered with an error that the gateway does not know."}
	ourFault     = meaning{schema.Internal, "The gateway failed. The request id leads to the details in its log."}
	badReference = byNumber[8333]
	badPassword  = byNumber[1325]
	unwilling    = byNumber[8245]
)

const directoryTypes = "Microsoft.ActiveDirectory.Management."

// byID maps errors that cmdlets raise while binding their parameters.
var byID = map[string]meaning{
	"SetADGroupMember.ValidateMembersParameter": badReference,
}

// byType maps exception types that are meaningful without a number (facts D6).
var byType = map[string]meaning{
	directoryTypes + "ADIdentityNotFoundException":           missing,
	directoryTypes + "ADIdentityAlreadyExistsException":      exists,
	directoryTypes + "ADMultipleMatchingIdentitiesException": {schema.Ambiguous, "Several objects have this name."},
	directoryTypes + "ADPasswordComplexityException":         badPassword,
	directoryTypes + "ADPasswordException":                   badPassword,
	directoryTypes + "ADInvalidPasswordException":            byNumber[86],
	directoryTypes + "ADServerDownException":                 noServer,
	directoryTypes + "ADReferralException":                   byNumber[8235],
	directoryTypes + "ADInvalidOperationException":           unwilling,
	directoryTypes + "ADIllegalModifyOperationException":     byNumber[8311],
	directoryTypes + "ADFilterParsingException":              ourFault,
	"System.UnauthorizedAccessException":                     denied,
	"System.Security.Authentication.AuthenticationException": rejected,
	"System.TimeoutException":                                tookLong,
}

// byCategory is consulted last, and only for errors of the directory or of DNS.
var byCategory = map[string]meaning{
	"ObjectNotFound":      missing,
	"ResourceExists":      exists,
	"PermissionDenied":    denied,
	"ResourceUnavailable": noServer,
	"OperationTimeout":    tookLong,
}

// meaningOf maps an error by number, then id, type and category, never by message,
// which is localised (facts D3, D7). An error that is neither known nor from the
// directory is a defect of our own. The second result is the directory's code.
func meaningOf(e *ps.Error) (meaning, string) {
	number := numberOf(e)
	code := directoryCode(e, number)
	if found, known := byNumber[number]; known {
		return found, code
	}
	id, _, _ := strings.Cut(e.ID, ",")
	if found, known := byID[id]; known {
		return found, code
	}
	if found, known := byType[e.Type]; known {
		return found, code
	}
	outside := strings.HasPrefix(e.Type, directoryTypes) || e.Type == cimException || number != 0
	if found, known := byCategory[e.Category]; known && outside {
		return found, code
	}
	if outside {
		return unmapped, code
	}
	return ourFault, code
}

const cimException = "Microsoft.Management.Infrastructure.CimException"

var (
	directoryID = regexp.MustCompile(`^ActiveDirectoryServer:([0-9]+)(?:,|$)`)
	win32ID     = regexp.MustCompile(`^WIN32 ([0-9]+)(?:,|$)`)
)

// numberOf returns the Win32 or DNS code of an error; 0 if it has none. Other
// exceptions have an ErrorCode, too: a negative HRESULT.
func numberOf(e *ps.Error) int {
	candidates := []string{e.Code}
	for _, match := range [][]string{win32ID.FindStringSubmatch(e.Native), directoryID.FindStringSubmatch(e.ID), win32ID.FindStringSubmatch(e.ID)} {
		if match != nil {
			candidates = append(candidates, match[1])
		}
	}
	for _, text := range candidates {
		if number, err := strconv.ParseUint(text, 10, 16); err == nil && number != 0 {
			return int(number)
		}
	}
	return 0
}

// directoryCode formats the number for the answer: "AD:8305", "WIN32 9711".
func directoryCode(e *ps.Error, number int) string {
	switch {
	case number == 0:
		return ""
	case e.Native != "" || e.Type == cimException || win32ID.MatchString(e.ID):
		return "WIN32 " + strconv.Itoa(number)
	default:
		return "AD:" + strconv.Itoa(number)
	}
}

// scriptCodes are the codes that scripts may raise themselves.
var scriptCodes = map[string]bool{
	string(schema.InvalidRequest): true, string(schema.Forbidden): true, string(schema.Limit): true, string(schema.DirectoryDenied): true,
	string(schema.NotFound): true, string(schema.Conflict): true, string(schema.Protected): true, string(schema.NotEmpty): true,
	string(schema.Ambiguous): true, string(schema.TooMany): true, string(schema.Policy): true, string(schema.Unprocessable): true,
}

// askWhy completes a sentence that refers to /readyz.
const askWhy = "with the scope " + string(auth.OpsRead) + " also why."

// failureOf returns the answer to a failed run.
func failureOf(op *ops.Operation, b *ops.Bound, err error) *failure {
	e := ps.AsError(err)
	f := &failure{outcome: e.Outcome, server: e.Server, retryAfter: e.RetryAfter, cause: err}
	switch e.Kind {
	case ps.KindScript:
		f.scriptError(op, b, e)
	case ps.KindTimeout:
		f.code, f.message = schema.Timeout, "The work was not finished in time."
	case ps.KindOverloaded:
		f.code, f.message = schema.Overloaded, "The gateway is busy. Try again later."
	case ps.KindUnavailable:
		f.code, f.message = schema.Unavailable, "No PowerShell session can be started, or no server that could answer be reached. Try again later. GET /readyz tells which; "+askWhy
		if errors.Is(e, ps.ErrClosing) {
			f.message = "The gateway is shutting down. Try again later."
		}
	case ps.KindDied:
		f.code, f.message = schema.Backend, "The PowerShell session ended before it answered."
		if op.Effect.Writes() {
			f.code = schema.Timeout // a died write is reported like a timed-out one
		}
	case ps.KindCancelled:
		f.code, f.message = schema.Timeout, "The request was given up before it was answered."
	default:
		f.code, f.message = ourFault.code, ourFault.sentence
	}
	if (e.Kind == ps.KindTimeout || e.Kind == ps.KindDied) && f.outcome == "" {
		f.outcome = ps.OutcomeUnknown
	}
	if f.retryAfter <= 0 && f.code.Status() == 503 {
		f.retryAfter = 5 * time.Second
	}
	for _, left := range e.Remains {
		f.details = append(f.details, detail{"", "This remains: " + cmp.Or(left.DN, left.GUID)})
	}
	if f.outcome == ps.OutcomeUnknown {
		for _, step := range e.Steps {
			f.details = append(f.details, detail{"", fmt.Sprintf("This was done before: %s '%s'", step.Label, cmp.Or(step.DN, step.GUID))})
		}
	}
	for _, note := range e.Notes {
		f.details = append(f.details, detail{"", note})
	}
	f.forOperation(op)
	if f.code == schema.Timeout {
		f.message += leftBehind[f.outcome]
	}
	if f.outcome == ps.OutcomeDone && f.code.Status() < 500 {
		f.code = schema.Backend
		f.message = "The change was made, but could not be read back: " + f.message
	}
	return f
}

// leftBehind completes the sentence about a write that was cut off.
var leftBehind = map[ps.Outcome]string{
	ps.OutcomeNone:    " Nothing was changed.",
	ps.OutcomePartial: " Part of it was done; see details.",
	ps.OutcomeUnknown: " Whether it was done could not be found out.",
}

func (f *failure) scriptError(op *ops.Operation, b *ops.Bound, e *ps.Error) {
	field := op.FieldOf(e.Arg)
	if e.Gateway != "" {
		f.code, f.message = schema.Code(e.Gateway), e.Message
		if !scriptCodes[e.Gateway] || e.Message == "" {
			f.code, f.message = ourFault.code, ourFault.sentence
		}
	} else {
		var found meaning
		found, f.directoryCode = meaningOf(e)
		// The numbers do not say which object is missing: it is the target, unless the
		// failed step was about an object that a parameter refers to (facts D9).
		if p := op.Param(field); found == badReference && p != nil && op.IsAbout(p) {
			found = missing
		}
		f.code, f.message = found.code, found.sentence
		if found == missing && op.Reply.Mark != ops.List {
			f.message = "The " + op.SubjectOf(b) + " was not found."
		}
	}
	if status := f.code.Status(); field != "" && status >= 400 && status < 500 {
		f.details = append(f.details, detail{field, f.message})
	}
}
