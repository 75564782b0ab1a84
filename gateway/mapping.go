package gateway

import (
	"regexp"
	"strconv"
	"strings"

	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// meaning is the API's code and sentence for an error of the directory or of DNS.
type meaning struct {
	code     schema.Code
	sentence string
}

// origin is where an error with a number must come from for the number to count:
// other exceptions have an ErrorCode, too.
type origin int

const (
	anyone    origin = iota // the directory or the DNS server
	directory               // the directory module, or ADSI
	dnsServer               // the DnsServer module
)

// row gives one kind of error its meaning. It is known by exactly one of number,
// fault, id and typ.
type row struct {
	number int    // Win32 or DNS code
	origin origin // of number
	fault  string // name of a fault of the web service that has no number (facts D14)
	id     string // error id, for errors of parameter binding
	typ    string // full name of the exception type
	meaning
	source string // where the error is known from
}

// The meanings that several rows share, and those of errors without a row.
var (
	denied       = meaning{schema.DirectoryDenied, "The gateway's service account may not do this: access is denied."}
	exists       = meaning{schema.Conflict, "The object already exists."}
	missing      = meaning{schema.NotFound, "The object was not found."}
	badReference = meaning{schema.Unprocessable, "A referenced object does not exist."}
	badPassword  = meaning{schema.Policy, "The password does not meet the length, complexity or history requirements of the domain."}
	unwilling    = meaning{schema.Unprocessable, "The directory is unwilling to do this."}
	constraint   = meaning{schema.Unprocessable, "A value violates a constraint of the directory."}
	badModify    = meaning{schema.Unprocessable, "The directory does not allow this change of the attribute."}
	elsewhere    = meaning{schema.Unprocessable, "The name belongs to another domain."}
	ambiguous    = meaning{schema.Ambiguous, "Several objects have this name."}
	shutZone     = meaning{schema.Conflict, "The zone is paused or shut down."}
	noServer     = meaning{schema.Unavailable, "No domain controller can be reached."}
	noCapacity   = meaning{schema.Unavailable, "The domain controller has no capacity for the request. Try again later."}
	tookLong     = meaning{schema.Timeout, "The directory did not answer in time."}
	rejected     = meaning{schema.Backend, "The directory rejected the credentials of the gateway's service account."}
	tooLarge     = meaning{schema.Backend, "The message is larger than the web service of the directory accepts."}
	unmapped     = meaning{schema.Backend, "The directory or DNS server answered with an error that the gateway does not know."}
	ourFault     = meaning{schema.Internal, problem.OurFault}
)

const (
	directoryTypes = "Microsoft.ActiveDirectory.Management."
	serverDownType = directoryTypes + "ADServerDownException"
	cimException   = "Microsoft.Management.Infrastructure.CimException"
)

// mapping is the table of all errors that have a meaning.
var mapping = []row{
	{number: 5, meaning: denied, source: "facts D.2"},
	{number: 8344, origin: directory, meaning: meaning{schema.DirectoryDenied, "The gateway's service account has insufficient rights for this."}, source: "facts D.2"},
	{number: 1316, origin: directory, meaning: meaning{schema.Conflict, "An account of this name already exists."}, source: "facts D.2"},
	{number: 1318, origin: directory, meaning: meaning{schema.Conflict, "A group of this name already exists."}, source: "facts D.2"},
	{number: 5010, origin: directory, meaning: exists, source: "facts D.2"},
	{number: 8305, origin: directory, meaning: meaning{schema.Conflict, "The name is already in use in this place."}, source: "facts D.2"},
	{number: 8647, origin: directory, meaning: meaning{schema.Conflict, "The service principal name is already in use in the forest."}, source: "facts D.2"},
	{number: 8648, origin: directory, meaning: meaning{schema.Conflict, "The user principal name is already in use in the forest."}, source: "facts D.2"},
	{number: 1374, origin: directory, meaning: meaning{schema.Conflict, "The group is the account's primary group."}, source: "facts D.2"},
	{number: 8521, origin: directory, meaning: meaning{schema.Conflict, "The group is the primary group of accounts."}, source: "facts D.2"},
	{number: 1371, origin: directory, meaning: meaning{schema.Protected, "This cannot be done to a built-in account."}, source: "facts D.2"},
	{number: 8398, origin: directory, meaning: meaning{schema.Protected, "The directory does not let this object be removed."}, source: "facts D.2"},
	{number: 8560, origin: directory, meaning: meaning{schema.Protected, "Critical system objects cannot be removed."}, source: "facts D.2"},
	{number: 8213, origin: directory, meaning: meaning{schema.NotEmpty, "The object has other objects below it."}, source: "facts D.2"},
	{number: 1325, origin: directory, meaning: badPassword, source: "facts D.2"},
	{number: 86, origin: directory, meaning: meaning{schema.Policy, "The old password is not correct."}, source: "facts D.2"},
	{number: 8329, origin: directory, meaning: meaning{schema.Unprocessable, "The parent does not exist or is deleted."}, source: "facts D.2"},
	{number: 8333, origin: directory, meaning: badReference, source: "facts D.2"},
	{number: 8240, origin: directory, meaning: badReference, source: "facts D.2"},
	{number: 8245, origin: directory, meaning: unwilling, source: "facts D.2"},
	{number: 8239, origin: directory, meaning: constraint, source: "facts D.2"},
	{number: 8247, origin: directory, meaning: meaning{schema.Unprocessable, "The name violates the naming rules of the directory."}, source: "facts D.2"},
	{number: 8212, origin: directory, meaning: meaning{schema.Unprocessable, "The change violates the rules of the object's class."}, source: "facts D.2"},
	{number: 8311, origin: directory, meaning: badModify, source: "facts D.2"},
	{number: 8316, origin: directory, meaning: meaning{schema.Unprocessable, "A required attribute is missing."}, source: "facts D.2"},
	{number: 8322, origin: directory, meaning: meaning{schema.Unprocessable, "A value is not in the range that the directory accepts."}, source: "facts D.2"},
	{number: 8345, origin: directory, meaning: meaning{schema.Unprocessable, "An object of this class cannot lie there."}, source: "facts D.2"},
	{number: 8513, origin: directory, meaning: meaning{schema.Unprocessable, "The group type is invalid."}, source: "facts D.2"},
	{number: 8516, origin: directory, meaning: meaning{schema.Unprocessable, "A global group cannot have a domain local group as a member."}, source: "facts D.2"},
	{number: 8517, origin: directory, meaning: meaning{schema.Unprocessable, "A global group cannot have a universal group as a member."}, source: "facts D.2"},
	{number: 8518, origin: directory, meaning: meaning{schema.Unprocessable, "A universal group cannot have a domain local group as a member."}, source: "facts D.2"},
	{number: 8519, origin: directory, meaning: meaning{schema.Unprocessable, "A global group cannot have a member from another domain."}, source: "facts D.2"},
	{number: 8520, origin: directory, meaning: meaning{schema.Unprocessable, "A domain local group cannot have another domain's local group as a member."}, source: "facts D.2"},
	{number: 8549, origin: directory, meaning: meaning{schema.Unprocessable, "A foreign security principal cannot be a member of a universal group."}, source: "facts D.2"},
	{number: 8235, origin: directory, meaning: elsewhere, source: "facts D.2"},
	{number: 8206, origin: directory, meaning: meaning{schema.Unavailable, "The directory is busy."}, source: "facts D.2"},
	{number: 8208, origin: directory, meaning: meaning{schema.Unavailable, "The directory has no relative identifiers left to give."}, source: "facts D.2"},
	{number: 1355, origin: directory, meaning: meaning{schema.Unavailable, "No domain controller can be reached."}, source: "facts D.2"},
	{number: 8250, origin: directory, meaning: meaning{schema.Unavailable, "The domain controller cannot be reached over LDAP."}, source: "facts G9"},
	{number: 1307, origin: directory, meaning: meaning{schema.Unprocessable, "The directory does not accept the owner of the object."}, source: "facts D18"},
	{number: 1315, origin: directory, meaning: meaning{schema.Unprocessable, "The account name is not properly formed."}, source: "facts D18"},
	{number: 1320, origin: directory, meaning: meaning{schema.Conflict, "The account is a member of the group already."}, source: "facts D18"},
	{number: 1321, origin: directory, meaning: meaning{schema.Conflict, "The account is not a member of the group."}, source: "facts D18"},
	{number: 1377, origin: directory, meaning: meaning{schema.Conflict, "The account is not a member of the group."}, source: "facts D18"},
	{number: 1378, origin: directory, meaning: meaning{schema.Conflict, "The account is a member of the group already."}, source: "facts D18"},
	{number: 31, origin: directory, meaning: meaning{schema.Unprocessable, "The directory is unwilling to do this; a name may be too long."}, source: "facts D18"},
	{number: 8224, origin: directory, meaning: meaning{schema.Unprocessable, "The directory could not do this."}, source: "facts D18"},
	{number: 8341, origin: directory, meaning: meaning{schema.Unprocessable, "The directory could not do this."}, source: "facts D18"},
	{number: 8557, origin: directory, meaning: meaning{schema.DirectoryDenied, "The gateway's service account may not create more computer accounts: its quota is used up."}, source: "facts D18"},

	{number: 1726, origin: dnsServer, meaning: meaning{schema.Unavailable, "The DNS server broke off the call."}, source: "facts D18"},
	{number: 1722, origin: dnsServer, meaning: meaning{schema.Unavailable, "The DNS server cannot be reached."}, source: "facts D.3"},
	{number: 1753, origin: dnsServer, meaning: meaning{schema.Unavailable, "The DNS server cannot be reached."}, source: "facts D.3"},
	{number: 9569, origin: dnsServer, meaning: meaning{schema.Unavailable, "The DNS server is read-only."}, source: "facts D.3"},
	{number: 9717, origin: dnsServer, meaning: meaning{schema.Unavailable, "The directory is unavailable to the DNS server."}, source: "facts D.3"},
	{number: 9601, origin: dnsServer, meaning: meaning{schema.NotFound, "The zone was not found."}, source: "facts D.3"},
	{number: 9701, origin: dnsServer, meaning: meaning{schema.NotFound, "The record was not found."}, source: "facts D.3"},
	{number: 9714, origin: dnsServer, meaning: meaning{schema.NotFound, "The name was not found."}, source: "facts D.3"},
	{number: 9609, origin: dnsServer, meaning: meaning{schema.Conflict, "The zone already exists."}, source: "facts D.3"},
	{number: 9552, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The DNS server does not accept an address."}, source: "facts D.3"},
	{number: 9553, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The DNS server does not accept a value."}, source: "facts D.3"},
	{number: 9566, origin: dnsServer, meaning: meaning{schema.Unprocessable, "A value is too small for the DNS server."}, source: "facts D.3"},
	{number: 9567, origin: dnsServer, meaning: meaning{schema.Unprocessable, "A value is too large for the DNS server."}, source: "facts D.3"},
	{number: 9554, origin: dnsServer, meaning: meaning{schema.Unavailable, "The DNS server is busy. Try again later."}, source: "facts D.3"},
	{number: 9568, origin: dnsServer, meaning: meaning{schema.Unavailable, "The DNS server is loading the zone. Try again later."}, source: "facts D.3"},
	{number: 9607, origin: dnsServer, meaning: meaning{schema.Unavailable, "The zone is locked, as during a transfer. Try again later."}, source: "facts D.3"},
	{number: 9602, origin: dnsServer, meaning: meaning{schema.NotFound, "The zone was not found."}, source: "facts D.3"},
	{number: 9604, origin: dnsServer, meaning: meaning{schema.Conflict, "The zone is configured in a way that does not allow this."}, source: "facts D.3"},
	{number: 9605, origin: dnsServer, meaning: meaning{schema.Protected, "A zone keeps its SOA record."}, source: "facts D.3"},
	{number: 9606, origin: dnsServer, meaning: meaning{schema.Protected, "A zone keeps a name server."}, source: "facts D.3"},
	{number: 9618, origin: dnsServer, meaning: meaning{schema.Protected, "A zone keeps its SOA record."}, source: "facts D.3"},
	{number: 9608, origin: dnsServer, meaning: meaning{schema.Backend, "The DNS server could not create the zone."}, source: "facts D.3"},
	{number: 9613, origin: dnsServer, meaning: meaning{schema.Conflict, "This cannot be done to a zone of this type."}, source: "facts D.3"},
	{number: 9619, origin: dnsServer, meaning: meaning{schema.Conflict, "A conditional forwarder of this name already exists."}, source: "facts D.3"},
	{number: 9612, origin: dnsServer, meaning: meaning{schema.Unprocessable, "Addresses of master servers are missing."}, source: "facts D.3"},
	{number: 9614, origin: dnsServer, meaning: meaning{schema.Unprocessable, "Addresses of secondary servers are missing."}, source: "facts D.3"},
	{number: 9620, origin: dnsServer, meaning: meaning{schema.Unprocessable, "Addresses of master servers are missing."}, source: "facts D.3"},
	{number: 9652, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The zone's name does not make a name of a file."}, source: "facts D.3"},
	{number: 9653, origin: dnsServer, meaning: meaning{schema.Backend, "The DNS server could not open the zone's file."}, source: "facts D.3"},
	{number: 9654, origin: dnsServer, meaning: meaning{schema.Backend, "The DNS server could not write the zone's file."}, source: "facts D.3"},
	{number: 9655, origin: dnsServer, meaning: meaning{schema.Backend, "The DNS server could not read the zone's file."}, source: "facts D.3"},
	{number: 9610, origin: dnsServer, meaning: meaning{schema.Conflict, "The zone already exists as one that the server made for itself."}, source: "facts D.3"},
	{number: 9718, origin: dnsServer, meaning: meaning{schema.Conflict, "The zone already exists in the directory."}, source: "facts D.3"},
	{number: 9711, origin: dnsServer, meaning: meaning{schema.Conflict, "The record already exists."}, source: "facts D.3"},
	{number: 9708, origin: dnsServer, meaning: meaning{schema.Conflict, "The name already has a CNAME record."}, source: "facts D.3"},
	{number: 9709, origin: dnsServer, meaning: meaning{schema.Conflict, "The name already has other records."}, source: "facts D.3"},
	{number: 9563, origin: dnsServer, meaning: meaning{schema.Conflict, "The name lies below a delegation."}, source: "facts D.3"},
	{number: 9603, origin: dnsServer, meaning: meaning{schema.Conflict, "This cannot be done to a zone of this type."}, source: "facts D.3"},
	{number: 9611, origin: dnsServer, meaning: meaning{schema.Conflict, "This cannot be done to a zone of this type."}, source: "facts D.3"},
	{number: 9621, origin: dnsServer, meaning: shutZone, source: "facts D.3"},
	{number: 9707, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The CNAME record would lead back to itself."}, source: "facts D.3"},
	{number: 9706, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The name lies outside the zone."}, source: "facts D.3"},
	{number: 123, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The name is not one that the DNS server accepts."}, source: "facts D.3"},
	{number: 9560, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The name holds a character that the DNS server does not accept."}, source: "facts D.3"},
	{number: 9551, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The DNS server does not know the type."}, source: "facts D.3"},
	{number: 9556, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The name check of the DNS server does not allow the name."}, source: "facts D.3"},
	{number: 9561, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The name check of the DNS server does not allow a name of digits only."}, source: "facts D.3"},
	{number: 9555, origin: dnsServer, meaning: meaning{schema.Conflict, "The name is not unique."}, source: "facts D.3"},
	{number: 9570, origin: dnsServer, meaning: meaning{schema.Conflict, "The name lies below a DNAME record."}, source: "facts D.3"},
	{number: 9720, origin: dnsServer, meaning: meaning{schema.Conflict, "The name has a DNAME record."}, source: "facts D.3"},
	{number: 9721, origin: dnsServer, meaning: meaning{schema.Conflict, "A DNAME record stands against this."}, source: "facts D.3"},
	{number: 9722, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The alias would lead back to itself."}, source: "facts D.3"},
	{number: 9702, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The DNS server does not accept the record's data."}, source: "facts D.3"},
	{number: 9704, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The DNS server does not know the type of the record."}, source: "facts D.3"},
	{number: 9719, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The DNS server has no boot file."}, source: "facts D.3"},
	{number: 9705, origin: dnsServer, meaning: meaning{schema.Unavailable, "The DNS server did not finish in time. Try again later."}, source: "facts D.3"},
	{number: 9703, origin: dnsServer, meaning: meaning{schema.Backend, "The DNS server could not create the name."}, source: "facts D.3"},
	{number: 9712, origin: dnsServer, meaning: meaning{schema.Backend, "The data belong to a secondary zone."}, source: "facts D.3"},
	{number: 9713, origin: dnsServer, meaning: meaning{schema.Backend, "The data belong to the cache of the DNS server."}, source: "facts D.3"},
	{number: 9710, origin: dnsServer, meaning: meaning{schema.Unprocessable, "Such a record can only be at the zone's own name."}, source: "facts D.3"},
	{number: 9651, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The zone needs a data file."}, source: "facts D.3"},
	{number: 9901, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The directory partition does not exist."}, source: "facts D.3"},
	{number: 9902, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The directory partition already exists."}, source: "facts D.3"},
	{number: 9903, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The DNS server is not enlisted in the directory partition."}, source: "facts D.3"},
	{number: 9904, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The DNS server is already enlisted in the directory partition."}, source: "facts D.3"},
	{number: 9905, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The directory partition is not available."}, source: "facts D.3"},
	{number: 9906, origin: dnsServer, meaning: meaning{schema.Unprocessable, "The directory partition is in an unexpected state."}, source: "facts D.3"},

	{fault: "AccessDenied", meaning: denied, source: "facts D14"},
	{fault: "AlreadyExists", meaning: exists, source: "facts D14"},
	{fault: "DestinationUnreachable", meaning: badReference, source: "facts D14"},
	{fault: "InvalidRepresentation", meaning: constraint, source: "facts D14"},
	{fault: "UnwillingToPerform", meaning: unwilling, source: "facts D14"},
	{fault: "EndpointUnavailable", meaning: noCapacity, source: "facts D14"},
	{fault: "EnumerationContextLimitExceeded", meaning: noCapacity, source: "facts D14"},
	{fault: "MaxEnumCtxsTotalReached", meaning: noCapacity, source: "facts D14"},
	{fault: "EOutOfMemory", meaning: noCapacity, source: "facts D14"},
	{fault: "InvalidEnumerationContext", meaning: meaning{schema.Unavailable, "The domain controller gave up the search. Try again later."}, source: "facts D14"},
	{fault: "EncodingLimit", meaning: tooLarge, source: "facts D14"},
	{fault: "OperationTimeout", meaning: tookLong, source: "facts D14"},
	{fault: "TimedOut", meaning: tookLong, source: "facts D14"},
	{fault: "MaxTimeExceedsLimit", meaning: tookLong, source: "facts D14"},
	{fault: "MaxTimeExceedsLimitDetail", meaning: tookLong, source: "facts D14"},
	{fault: "EObjectNotFound", meaning: badReference, source: "facts D14"},
	{fault: "ENoMatchingSecurityPrincipal", meaning: badReference, source: "facts D14"},
	{fault: "EMultipleMatchingSecurityPrincipals", meaning: ambiguous, source: "facts D14"},
	{fault: "EPassword", meaning: badPassword, source: "facts D14"},
	{fault: "EUnauthorizedAccess", meaning: denied, source: "facts D14"},
	{fault: "AnonymousNotAllowed", meaning: rejected, source: "facts D14"},
	{fault: "EModifyOperationUnsupported", meaning: badModify, source: "facts D14"},
	{fault: "ENotSupported", meaning: unwilling, source: "facts D14"},
	{fault: "DuplicateAttributeWithValues", meaning: constraint, source: "facts D14"},
	{fault: "CannotProcessFilter", meaning: ourFault, source: "facts D14"},
	{fault: "InvalidSearchFilterForQuery", meaning: ourFault, source: "facts D14"},
	{fault: "InvalidPropertyFault", meaning: ourFault, source: "facts D14"},
	{fault: "UnknownAttribute", meaning: ourFault, source: "facts D14"},
	{fault: "EUnknownAttribute", meaning: ourFault, source: "facts D14"},
	{fault: "UnknownAttributeType", meaning: ourFault, source: "facts D14"},
	{fault: "SchemaValidationError", meaning: ourFault, source: "facts D14"},

	{id: "SetADGroupMember.ValidateMembersParameter", meaning: badReference, source: "facts E26"},

	{typ: serverDownType, meaning: noServer, source: "facts D16"},
	{typ: directoryTypes + "ADIdentityNotFoundException", meaning: badReference, source: "facts D15"},
	{typ: directoryTypes + "ADIdentityAlreadyExistsException", meaning: exists, source: "facts D6"},
	{typ: directoryTypes + "ADMultipleMatchingIdentitiesException", meaning: ambiguous, source: "facts D15"},
	{typ: directoryTypes + "ADPasswordComplexityException", meaning: badPassword, source: "facts D6"},
	{typ: directoryTypes + "ADPasswordException", meaning: badPassword, source: "facts D6"},
	{typ: directoryTypes + "ADInvalidPasswordException", meaning: meaning{schema.Policy, "The old password is not correct."}, source: "facts D6"},
	{typ: directoryTypes + "ADReferralException", meaning: elsewhere, source: "facts D6"},
	{typ: directoryTypes + "ADInvalidOperationException", meaning: unwilling, source: "facts D6"},
	{typ: directoryTypes + "ADIllegalModifyOperationException", meaning: badModify, source: "facts D6"},
	{typ: directoryTypes + "ADFilterParsingException", meaning: ourFault, source: "facts D6"},
	{typ: "System.UnauthorizedAccessException", meaning: denied, source: "facts D6"},
	{typ: "System.Security.Authentication.AuthenticationException", meaning: rejected, source: "facts D17"},
	{typ: "System.TimeoutException", meaning: tookLong, source: "facts D6"},
}

// byNumber, byFault, byID and byType index the table.
var (
	byNumber = map[int]row{}
	byFault  = map[string]row{}
	byID     = map[string]row{}
	byType   = map[string]row{}
)

func init() {
	for _, r := range mapping {
		switch {
		case r.number != 0:
			byNumber[r.number] = r
		case r.fault != "":
			byFault[r.fault] = r
		case r.id != "":
			byID[r.id] = r
		default:
			byType[r.typ] = r
		}
	}
}

// meaningOf maps an error by number, then id, fault and type, never by message,
// which is localised (facts D3, D7). What the table does not know is never taken
// for something missing or forbidden: an error of the directory or of DNS is
// unmapped, any other one a defect of our own. The second result is the
// directory's code.
func meaningOf(e *ps.Error) (meaning, string) {
	number := numberOf(e)
	code := directoryCode(e, number)
	if e.Type == serverDownType { // whatever number the locator gave it
		return byType[serverDownType].meaning, code
	}
	if number != 0 {
		if r, known := byNumber[number]; known && r.origin.of(e) {
			return r.meaning, code
		}
		return unmapped, code
	}
	id, _, _ := strings.Cut(e.ID, ",")
	if r, known := byID[id]; known {
		return r.meaning, code
	}
	if e.Type == directoryTypes+"ADException" {
		if r, known := byFault[e.Fault]; known {
			return r.meaning, code
		}
		return unmapped, code
	}
	if r, known := byType[e.Type]; known {
		return r.meaning, code
	}
	if strings.HasPrefix(e.Type, directoryTypes) || e.Type == cimException {
		return unmapped, code
	}
	return ourFault, code
}

// of reports whether an error with a number comes from there.
func (o origin) of(e *ps.Error) bool {
	dns := e.Type == cimException || win32ID.MatchString(e.Native) || win32ID.MatchString(e.ID)
	ad := strings.HasPrefix(e.Type, directoryTypes) || directoryID.MatchString(e.ID) ||
		e.Type == "System.UnauthorizedAccessException" || e.Type == "System.Runtime.InteropServices.COMException"
	switch o {
	case directory:
		return ad && !dns
	case dnsServer:
		return dns
	default:
		return ad || dns
	}
}

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
