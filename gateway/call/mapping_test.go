package call

import (
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/ps/packed"
)

// ad returns an error of the directory as the prelude reports it.
func ad(typ, id, category, code string) ps.Error {
	return ps.Error{Kind: ps.KindScript, Type: "Microsoft.ActiveDirectory.Management." + typ,
		ID: id + ",Microsoft.ActiveDirectory.Management.Commands.NewADUser", Category: category, Code: code,
		Message: "Zugriff verweigert (nicht zu lesen)"}
}

// dns returns an error of the DnsServer module.
func dns(code, category string) ps.Error {
	return ps.Error{Kind: ps.KindScript, Type: cimException,
		ID: "WIN32 " + code + ",Add-DnsServerResourceRecordCName", Category: category, Native: "WIN32 " + code,
		Message: "nicht zu lesen"}
}

// fault returns an error of the directory's web service without a number.
func fault(name string) ps.Error {
	e := ad("ADException", "ActiveDirectoryServer:0", "NotSpecified", "0")
	e.Inner, e.Fault = "System.ServiceModel.FaultException", name
	return e
}

func plainError(typ, id, category string) ps.Error {
	return ps.Error{Kind: ps.KindScript, Type: typ, ID: id, Category: category, Message: "nicht zu lesen"}
}

func TestErrorsMapByNumberThenFaultThenType(t *testing.T) {
	for name, c := range map[string]struct {
		err  ps.Error
		code schema.Code
		dir  string
	}{
		// facts D.2
		"object absent":                {ad("ADIdentityNotFoundException", "ActiveDirectoryCmdlet:Microsoft.ActiveDirectory.Management.ADIdentityNotFoundException", "ObjectNotFound", ""), schema.Unprocessable, ""},
		"object absent, over ADSI":     {ps.Error{Kind: ps.KindScript, Type: "System.Runtime.InteropServices.COMException", ID: "COMException", Code: "8333"}, schema.Unprocessable, "AD:8333"},
		"parent gone":                  {ad("ADException", "ActiveDirectoryServer:8329", "NotSpecified", "8329"), schema.Unprocessable, "AD:8329"},
		"two match":                    {ad("ADMultipleMatchingIdentitiesException", "ActiveDirectoryCmdlet:x", "InvalidData", ""), schema.Ambiguous, ""},
		"SAM taken":                    {ad("ADIdentityAlreadyExistsException", "ActiveDirectoryServer:1316", "ResourceExists", "1316"), schema.Conflict, "AD:1316"},
		"group taken":                  {ad("ADException", "ActiveDirectoryServer:1318", "NotSpecified", "1318"), schema.Conflict, "AD:1318"},
		"RDN taken":                    {ad("ADException", "ActiveDirectoryServer:8305", "NotSpecified", "8305"), schema.Conflict, "AD:8305"},
		"number only in the id":        {ad("ADException", "ActiveDirectoryServer:8305", "NotSpecified", ""), schema.Conflict, "AD:8305"},
		"exists":                       {ad("ADIdentityAlreadyExistsException", "ActiveDirectoryServer:5010", "ResourceExists", "5010"), schema.Conflict, "AD:5010"},
		"UPN taken":                    {ad("ADException", "ActiveDirectoryServer:8648", "NotSpecified", "8648"), schema.Conflict, "AD:8648"},
		"password policy":              {ad("ADPasswordComplexityException", "ActiveDirectoryServer:1325", "InvalidData", "1325"), schema.Policy, "AD:1325"},
		"password policy by type":      {ad("ADPasswordException", "x", "InvalidData", ""), schema.Policy, ""},
		"access denied":                {plainError("System.UnauthorizedAccessException", "ActiveDirectoryCmdlet:System.UnauthorizedAccessException,Microsoft.ActiveDirectory.Management.Commands.RemoveADUser", "PermissionDenied"), schema.DirectoryDenied, ""},
		"insufficient rights":          {ad("ADException", "ActiveDirectoryServer:8344", "NotSpecified", "8344"), schema.DirectoryDenied, "AD:8344"},
		"non-leaf":                     {ad("ADException", "ActiveDirectoryServer:8213", "NotSpecified", "8213"), schema.NotEmpty, "AD:8213"},
		"cannot delete":                {ad("ADException", "ActiveDirectoryServer:8398", "NotSpecified", "8398"), schema.Protected, "AD:8398"},
		"critical object":              {ad("ADException", "ActiveDirectoryServer:8560", "NotSpecified", "8560"), schema.Protected, "AD:8560"},
		"unwilling":                    {ad("ADInvalidOperationException", "ActiveDirectoryServer:8245", "InvalidOperation", "8245"), schema.Unprocessable, "AD:8245"},
		"constraint":                   {ad("ADInvalidOperationException", "ActiveDirectoryServer:8239", "InvalidOperation", "8239"), schema.Unprocessable, "AD:8239"},
		"nesting":                      {ad("ADException", "ActiveDirectoryServer:8516", "NotSpecified", "8516"), schema.Unprocessable, "AD:8516"},
		"primary group":                {ad("ADException", "ActiveDirectoryServer:1374", "NotSpecified", "1374"), schema.Conflict, "AD:1374"},
		"members do not resolve":       {ad("ADIdentityNotFoundException", "SetADGroupMember.ValidateMembersParameter", "ObjectNotFound", ""), schema.Unprocessable, ""},
		"built-in":                     {ad("ADException", "ActiveDirectoryServer:1371", "NotSpecified", "1371"), schema.Protected, "AD:1371"},
		"busy":                         {ad("ADException", "ActiveDirectoryServer:8206", "NotSpecified", "8206"), schema.Unavailable, "AD:8206"},
		"no DC":                        {ad("ADServerDownException", "ActiveDirectoryServer:1355", "ResourceUnavailable", "1355"), schema.Unavailable, "AD:1355"},
		"DC down":                      {ad("ADServerDownException", "ActiveDirectoryServer:0", "ResourceUnavailable", "0"), schema.Unavailable, ""},
		"credentials rejected":         {plainError("System.Security.Authentication.AuthenticationException", "ActiveDirectoryCmdlet:System.Security.Authentication.AuthenticationException", "SecurityError"), schema.Backend, ""},
		"referral":                     {ad("ADReferralException", "ActiveDirectoryServer:8235", "ResourceUnavailable", "8235"), schema.Unprocessable, "AD:8235"},
		"timeout of the directory":     {plainError("System.TimeoutException", "ActiveDirectoryCmdlet:System.TimeoutException", "OperationTimeout"), schema.Timeout, ""},
		"unwilling, without a number":  {fault("UnwillingToPerform"), schema.Unprocessable, ""},
		"no connection left":           {fault("EndpointUnavailable"), schema.Unavailable, ""},
		"fault that nobody knows":      {fault("Brandnew"), schema.Backend, ""},
		"locator's other numbers":      {ad("ADServerDownException", "ActiveDirectoryServer:1212", "ResourceUnavailable", "1212"), schema.Unavailable, "AD:1212"},
		"unspecified":                  {ad("ADException", "ActiveDirectoryServer:0", "NotSpecified", "0"), schema.Backend, ""},
		"unknown number":               {ad("ADException", "ActiveDirectoryServer:4711", "NotSpecified", "4711"), schema.Backend, "AD:4711"},
		"unknown number, category":     {ad("ADNewException", "ActiveDirectoryServer:4711", "ResourceExists", "4711"), schema.Backend, "AD:4711"},
		"unknown property":             {plainError("System.ArgumentException", "ActiveDirectoryCmdlet:System.ArgumentException", "InvalidArgument"), schema.Internal, ""},
		"bad filter":                   {ad("ADFilterParsingException", "ActiveDirectoryCmdlet:x", "ParserError", ""), schema.Internal, ""},
		"parameter does not exist":     {plainError("System.Management.Automation.ParameterBindingException", "NamedParameterNotFound,Microsoft.ActiveDirectory.Management.Commands.GetADUser", "InvalidArgument"), schema.Internal, ""},
		"module missing":               {plainError("System.Management.Automation.CommandNotFoundException", "CommandNotFoundException", "ObjectNotFound"), schema.Internal, ""},
		"script fault":                 {plainError("System.Management.Automation.RuntimeException", "InvokeMethodOnNull", "InvalidOperation"), schema.Internal, ""},
		"HRESULT is no number":         {ps.Error{Kind: ps.KindScript, Type: "System.Runtime.InteropServices.COMException", Code: "-2147016656", Category: "NotSpecified"}, schema.Internal, ""},
		"permission of something else": {plainError("System.Security.SecurityException", "x", "PermissionDenied"), schema.Internal, ""},
		"nothing known at all":         {ps.Error{Kind: ps.KindScript}, schema.Internal, ""},

		// facts D.3
		"zone absent":        {dns("9601", "ObjectNotFound"), schema.NotFound, "WIN32 9601"},
		"name absent":        {dns("9714", "ObjectNotFound"), schema.NotFound, "WIN32 9714"},
		"record absent":      {dns("9701", "NotSpecified"), schema.NotFound, "WIN32 9701"},
		"zone exists":        {dns("9609", "ResourceExists"), schema.Conflict, "WIN32 9609"},
		"zone in directory":  {dns("9718", "NotSpecified"), schema.Conflict, "WIN32 9718"},
		"record exists":      {dns("9711", "ResourceExists"), schema.Conflict, "WIN32 9711"},
		"node is CNAME":      {dns("9708", "NotSpecified"), schema.Conflict, "WIN32 9708"},
		"CNAME collision":    {dns("9709", "NotSpecified"), schema.Conflict, "WIN32 9709"},
		"CNAME loop":         {dns("9707", "NotSpecified"), schema.Unprocessable, "WIN32 9707"},
		"under delegation":   {dns("9563", "NotSpecified"), schema.Conflict, "WIN32 9563"},
		"not in zone":        {dns("9706", "NotSpecified"), schema.Unprocessable, "WIN32 9706"},
		"bad character":      {dns("9560", "InvalidArgument"), schema.Unprocessable, "WIN32 9560"},
		"malformed name":     {dns("123", "NotSpecified"), schema.Unprocessable, "WIN32 123"},
		"wrong zone type":    {dns("9611", "NotSpecified"), schema.Conflict, "WIN32 9611"},
		"read-only DC":       {dns("9569", "NotSpecified"), schema.Unavailable, "WIN32 9569"},
		"directory away":     {dns("9717", "NotSpecified"), schema.Unavailable, "WIN32 9717"},
		"partition absent":   {dns("9901", "NotSpecified"), schema.Unprocessable, "WIN32 9901"},
		"DNS access denied":  {dns("5", "PermissionDenied"), schema.DirectoryDenied, "WIN32 5"},
		"RPC away":           {dns("1722", "NotSpecified"), schema.Unavailable, "WIN32 1722"},
		"server failure":     {dns("9002", "NotSpecified"), schema.Backend, "WIN32 9002"},
		"DNS, category only": {plainError(cimException, "x", "ResourceExists"), schema.Backend, ""},
		"DNS, nothing":       {plainError(cimException, "x", "NotSpecified"), schema.Backend, ""},
	} {
		t.Run(name, func(t *testing.T) {
			op := opstest.Find("user.create")
			bound, _ := op.Bind(ops.Given{"Username": "jdoe"})
			f := problem.Of(Failure(op, bound, &c.err))
			assert.Equal(t, c.code, f.Code)
			assert.Equal(t, c.dir, f.DirectoryCode)
			assert.NotContains(t, f.Message, "nicht zu lesen")
			assert.Equal(t, ps.OutcomeNone, f.Outcome)
		})
	}
}

// TestEveryCodeOfTheDNSServerIsMapped: each code in the facts' table is answered with the status
// that the table gives.
func TestEveryCodeOfTheDNSServerIsMapped(t *testing.T) {
	facts, err := os.ReadFile("../../scripts/FACTS.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(facts), "### D.3 DnsServer")
	table, _, _ = strings.Cut(table, "\n---")
	code, status := regexp.MustCompile(`\b[0-9]{4}\b(?:-[0-9]{4})?`), regexp.MustCompile(`\b[45][0-9]{2}\b`)
	codes := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 8 {
			continue
		}
		groups, statuses := strings.Split(cells[2], ";"), status.FindAllString(cells[6], -1)
		for i, group := range groups {
			if len(statuses) == 0 {
				break
			}
			for _, found := range code.FindAllString(group, -1) {
				first, last, isRange := strings.Cut(found, "-")
				if !isRange {
					last = first
				}
				for number := atoi(t, first); number <= atoi(t, last); number++ {
					e := dns(strconv.Itoa(number), "NotSpecified")
					meaning, _ := meaningOf(&e)
					want := statuses[min(i, len(statuses)-1)]
					assert.Equal(t, want, strconv.Itoa(meaning.code.Status()), "%d: %s", number, line)
					codes++
				}
			}
		}
	}
	assert.Greater(t, codes, 60)
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	number, err := strconv.Atoi(text)
	require.NoError(t, err)
	return number
}

// TestEachRowAndItsNeighbors: errors that differ from a row in one respect do not get its meaning,
// and an unknown error never counts as missing or forbidden.
func TestEachRowAndItsNeighbors(t *testing.T) {
	keys := map[string]bool{}
	for _, r := range mapping {
		key := rowKey(r)
		t.Run(key, func(t *testing.T) {
			assert.False(t, keys[key], "the key has a row already")
			keys[key] = true
			assert.NotZero(t, r.code.Status())
			assert.Regexp(t, `^[A-Z].*\.$`, r.sentence)
			assert.Regexp(t, `^facts [A-Z]\.?[0-9]+$`, r.source)
			for _, e := range errorsOf(r) {
				found, _ := meaningOf(&e)
				assert.Equal(t, r.meaning, found, "%+v", e)
			}
			for _, e := range neighborsOf(r) {
				for _, category := range []string{"ObjectNotFound", "PermissionDenied", "ResourceExists",
					"NotSpecified"} {
					e.Category = category
					found, code := meaningOf(&e)
					number := numberOf(&e)
					if number == 0 && !strings.HasPrefix(e.Type, directoryTypes) {
						assert.Equal(t, ourFault, found, "%+v", e)
						continue
					}
					assert.Equal(t, unmapped, found, "%+v", e)
					if number != 0 {
						assert.Contains(t, code, strconv.Itoa(number), "%+v", e)
					}
				}
			}
		})
	}
	assert.Equal(t, len(mapping), len(byNumber)+len(byFault)+len(byID)+len(byType))
}

func TestRowsOfTheTableAreComplete(t *testing.T) {
	row := regexp.MustCompile(`^(any|AD|DNS) [0-9]+$|^(fault|id|type|meaning) \S+$`)
	for cells := range packed.Rows(meaningText) {
		assert.Regexp(t, row, cells[0])
		if len(cells) == 3 && !strings.HasPrefix(cells[0], "meaning ") {
			assert.Contains(t, named, cells[2], cells[0])
			continue
		}
		assert.NotZero(t, schema.Code(cells[len(cells)-2]).Status(), cells[0])
		assert.LessOrEqual(t, len(cells), 4, cells[0])
	}
}

func rowKey(r row) string {
	key, set := "", 0
	for _, k := range []string{strconv.Itoa(r.number), r.fault, r.id, r.typ} {
		if k != "" && k != "0" {
			key, set = k, set+1
		}
	}
	if set != 1 {
		return "not one key"
	}
	return key
}

// errorsOf returns errors that a row matches.
func errorsOf(r row) []ps.Error {
	number := strconv.Itoa(r.number)
	switch {
	case r.fault != "":
		return []ps.Error{fault(r.fault)}
	case r.id != "":
		return []ps.Error{plainError(directoryTypes+"ADIdentityNotFoundException", r.id+",x", "ObjectNotFound")}
	case r.typ != "":
		return []ps.Error{plainError(r.typ, "ActiveDirectoryCmdlet:"+r.typ+",x", "NotSpecified")}
	}
	fromDirectory := ad("ADException", "ActiveDirectoryServer:"+number, "NotSpecified", number)
	switch r.origin {
	case directory:
		return []ps.Error{fromDirectory,
			{Kind: ps.KindScript, Type: "System.Runtime.InteropServices.COMException", Code: number}}
	case dnsServer:
		return []ps.Error{dns(number, "NotSpecified")}
	default:
		return []ps.Error{fromDirectory, dns(number, "NotSpecified")}
	}
}

// neighborsOf returns errors that only resemble the errors of a row.
func neighborsOf(r row) []ps.Error {
	const strange = "4711"
	number := strconv.Itoa(r.number)
	switch {
	case r.fault != "":
		foreign := fault(r.fault)
		foreign.Type = "System.InvalidOperationException"
		foreign.ID, foreign.Code = "InvalidOperationException", ""
		return []ps.Error{fault(r.fault + "s"), fault(""), foreign}
	case r.id != "":
		return []ps.Error{plainError("System.InvalidOperationException", r.id+"s,x", "")}
	case r.typ == serverDownType:
		return []ps.Error{plainError(r.typ+"s", "x", "")}
	case r.typ != "":
		numbered := ad("ADException", "ActiveDirectoryServer:"+strange, "", strange)
		numbered.Type = r.typ
		return []ps.Error{plainError(r.typ+"s", "x", ""), numbered}
	}
	foreign := plainError("System.ComponentModel.Win32Exception", "Win32Exception", "")
	foreign.Code = number
	next := r.number + 1
	for _, known := byNumber[next]; known; _, known = byNumber[next] {
		next++
	}
	unknown := strconv.Itoa(next)
	neighbors := []ps.Error{foreign, ad("ADException", "ActiveDirectoryServer:"+unknown, "", unknown),
		dns(unknown, "")}
	switch r.origin {
	case directory:
		neighbors = append(neighbors, dns(number, ""))
	case dnsServer:
		neighbors = append(neighbors, ad("ADException", "ActiveDirectoryServer:"+number, "", number))
	}
	return neighbors
}

// gone returns the error of a step about a missing object.
func gone(arg string) error {
	return &ps.Error{Kind: ps.KindScript, Type: directoryTypes + "ADIdentityNotFoundException",
		ID: "ActiveDirectoryCmdlet:x", Arg: arg}
}

func TestFailuresOfRuns(t *testing.T) {
	done, partial := ps.OutcomeDone, ps.OutcomePartial
	for name, c := range map[string]struct {
		op      string
		err     error
		code    schema.Code
		message string
		outcome ps.Outcome
		details []problem.Detail
		retry   time.Duration
	}{
		"said by the script":         {"user.get", &ps.Error{Kind: ps.KindScript, Gateway: "not_found", Arg: "UserName", Message: "The user 'jdoe' was not found."}, schema.NotFound, "The user 'jdoe' was not found.", "", []problem.Detail{{Field: "Username", Message: "The user 'jdoe' was not found."}}, 0},
		"said, of another parameter": {"user.create", &ps.Error{Kind: ps.KindScript, Gateway: "unprocessable", Arg: "Manager", Message: "No."}, schema.Unprocessable, "No.", "none", []problem.Detail{{Field: "Manager", Message: "No."}}, 0},
		"said, of no parameter":      {"user.create", &ps.Error{Kind: ps.KindScript, Gateway: "conflict", Arg: "Nothing", Message: "No."}, schema.Conflict, "No.", "none", nil, 0},
		"said with an odd code":      {"user.get", &ps.Error{Kind: ps.KindScript, Gateway: "teapot", Message: "No."}, schema.Internal, ourFault.sentence, "", nil, 0},
		"said with a code of ours":   {"user.get", &ps.Error{Kind: ps.KindScript, Gateway: "unauthenticated", Message: "No."}, schema.Internal, ourFault.sentence, "", nil, 0},
		"missing object asked for":   {"user.get", gone("UserName"), schema.NotFound, "The user 'jdoe' was not found.", "", []problem.Detail{{Field: "Username", Message: "The user 'jdoe' was not found."}}, 0},
		"OU gone meanwhile":          {"ou.delete", gone("OUPath"), schema.NotFound, "The OU 'OU=a,DC=b' was not found.", "none", []problem.Detail{{Field: "OUPath", Message: "The OU 'OU=a,DC=b' was not found."}}, 0},
		"OU gone at a flag":          {"ou.delete", gone("Force"), schema.NotFound, "The OU 'OU=a,DC=b' was not found.", "none", []problem.Detail{{Field: "Force", Message: "The OU 'OU=a,DC=b' was not found."}}, 0},
		"destination gone":           {"ou.move", gone("OUDestinationPath"), schema.Unprocessable, badReference.sentence, "none", []problem.Detail{{Field: "OUDestinationPath", Message: badReference.sentence}}, 0},
		"parent of a new OU gone":    {"ou.create", gone("OUName"), schema.Unprocessable, badReference.sentence, "none", []problem.Detail{{Field: "OUName", Message: badReference.sentence}}, 0},
		"place of a new user gone":   {"user.create", gone("UserName"), schema.Unprocessable, badReference.sentence, "none", []problem.Detail{{Field: "Username", Message: badReference.sentence}}, 0},
		"base of a list gone":        {"group.list", gone("OUPath"), schema.NotFound, "The object was not found.", "", []problem.Detail{{Field: "OUPath", Message: "The object was not found."}}, 0},
		"missing reference":          {"user.create", gone("Manager"), schema.Unprocessable, badReference.sentence, "none", []problem.Detail{{Field: "Manager", Message: badReference.sentence}}, 0},
		"timeout of a read":          {"user.get", &ps.Error{Kind: ps.KindTimeout}, schema.Timeout, "The call did not finish in time.", "", nil, 0},
		"timeout of a write":         {"user.create", &ps.Error{Kind: ps.KindTimeout}, schema.Timeout, "The call did not finish in time. Whether it was done could not be found out.", "unknown", nil, 0},
		"settled: not done":          {"user.create", &ps.Error{Kind: ps.KindTimeout, Outcome: ps.OutcomeNone}, schema.Timeout, "The call did not finish in time. Nothing was changed.", "none", nil, 0},
		"settled: half done":         {"user.create", &ps.Error{Kind: ps.KindTimeout, Outcome: ps.OutcomePartial, Notes: []string{"so"}}, schema.Timeout, "The call did not finish in time. Part of it was done; see details.", "partial", []problem.Detail{{Field: "", Message: "so"}}, 0},
		"session died in a read":     {"user.get", &ps.Error{Kind: ps.KindDied}, schema.Backend, "The PowerShell session ended before it answered.", "", nil, 0},
		"session died in a write":    {"user.create", &ps.Error{Kind: ps.KindDied}, schema.Timeout, "The PowerShell session ended before it answered. Whether it was done could not be found out.", "unknown", nil, 0},
		"overloaded":                 {"user.create", &ps.Error{Kind: ps.KindOverloaded, RetryAfter: 2 * time.Second}, schema.Overloaded, "The gateway is busy. Try again later.", "none", nil, 2 * time.Second},
		"unavailable":                {"user.get", &ps.Error{Kind: ps.KindUnavailable}, schema.Unavailable, "No PowerShell session can be started, or no server can be reached. Try again later. GET /readyz shows which; with the scope ops:read also why.", "", nil, 5 * time.Second},
		"stopping":                   {"user.create", &ps.Error{Kind: ps.KindUnavailable, Outcome: ps.OutcomeNone, Cause: ps.ErrClosing}, schema.Unavailable, "The gateway is shutting down. Try again later.", "none", nil, 5 * time.Second},
		"starting":                   {"user.create", &ps.Error{Kind: ps.KindUnavailable, Outcome: ps.OutcomeNone, RetryAfter: 10 * time.Second, Cause: ps.ErrStarting}, schema.Unavailable, "The first PowerShell session is starting. Try again later. GET /readyz shows when it is ready.", "none", nil, 10 * time.Second},
		"our own defect":             {"user.get", &ps.Error{Kind: ps.KindInternal, Message: "secret path"}, schema.Internal, ourFault.sentence, "", nil, 0},
		"no ps.Error at all":         {"user.get", errors.New("secret path"), schema.Internal, ourFault.sentence, "", nil, 0},
		"no kind":                    {"user.get", &ps.Error{Gateway: "not_found", Message: "x"}, schema.Internal, ourFault.sentence, "", nil, 0},
		"partial": {"user.create", &ps.Error{Kind: ps.KindScript, ID: "ActiveDirectoryServer:1325,x", Code: "1325", Arg: "Password", Outcome: partial, Remains: []ps.Object{{DN: "CN=jdoe,DC=x"}, {GUID: "g"}}},
			schema.Policy, named["badPassword"].sentence, partial, []problem.Detail{{Field: "Password", Message: named["badPassword"].sentence}, {Field: "", Message: "This remains: CN=jdoe,DC=x"}, {Field: "", Message: "This remains: g"}}, 0},
		"done, not read back": {"user.create", &ps.Error{Kind: ps.KindScript, Gateway: "not_found", Arg: "UserName", Message: "Gone.", Outcome: done}, schema.Backend, "The change was made, but could not be read back: Gone.", done, []problem.Detail{{Field: "Username", Message: "Gone."}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			op := opstest.Find(c.op)
			given := ops.Given{"Username": "jdoe", "OUPath": "OU=a,DC=b", "OUDestinationPath": "OU=c,DC=b",
				"OUName": "a", "City": "a"}
			bound, problems := op.Bind(given)
			require.Empty(t, problems)
			f := problem.Of(Failure(op, bound, c.err))
			assert.Equal(t, c.code, f.Code)
			assert.Equal(t, c.message, f.Message)
			assert.Equal(t, c.outcome, f.Outcome)
			assert.ElementsMatch(t, c.details, f.Details)
			assert.Equal(t, c.retry, f.RetryAfter)
			assert.ErrorIs(t, f.Cause, c.err)
		})
	}
}
