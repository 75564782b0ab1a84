package clients

import (
	"fmt"
	"strings"
)

// about returns the page about_AdGateway: the common behavior of the functions, the language of
// filters, and the replacements for former names.
func about(renamed []*Function) string {
	var b strings.Builder
	b.WriteString(aboutText)
	for _, f := range renamed {
		fmt.Fprintf(&b, "    %-38s %s\n", f.Name(), f.Instead)
	}
	b.WriteString("\n    Parameter names have no underscores. The API's names with underscores remain as " +
		"aliases:\n")
	for _, name := range []string{
		"DNS_HostName", "DNS_HostName_Alias", "DNS_TargetName", "IP_Address", "IPv6_Address",
		"NewIP_Address", "NewIPv6_Address", "NewDNS_TargetName", "NewDNS_HostName_Alias",
	} {
		fmt.Fprintf(&b, "    %-38s %s\n", name, parameterName(name))
	}
	return b.String()
}

const aboutText = `TOPIC
    about_AdGateway

SHORT DESCRIPTION
    Active Directory and Windows DNS through an adgateway server.

CONNECTION
    Connect-AdGateway sets the gateway for this session. Start-Job and ForEach-Object -Parallel
    use separate sessions, so connect in each of them.

DRY RUNS
    With -WhatIf, or if $WhatIfPreference is set, the gateway only plans the change. The returned
    plan shows object, field, from, and to. To apply the plan, pass its planId to -PlanId.

CHANGES
    The object that a change returns contains changeId, requestId, and, with -WithETag, etag:

        Set-AdgUser -Username 'anna' -JobTitle 'Lead' | Undo-AdgChange

    Remove-, Disable-, Enable-, and Unlock- return the object only with -PassThru.

PIPELINES
    Columns of Import-Csv are bound to the parameters with the same name or alias. An empty cell
    counts as absent; to clear a value, pass '' as an argument. A warning names the columns that
    match no parameter. From a record of the gateway, only its name and its entity tag are used.

FILTERS
    department eq "Sales" and (city sw "Ber" or enabled eq false)

    Operators: eq ne sw co ew gt ge lt le pr, and or not. Filters in the style of the ActiveDirectory
    module are translated, such as "Department -eq 'Sales' -and Surname -like 'Sch*'". -Filter *
    matches all objects.

LISTS
    Lists are read in pages of 1000 records; -PageSize sets a different size. -Limit sets the
    maximum number of records.

ERRORS
    FullyQualifiedErrorId begins with the error code of the API. TargetObject is the error in the
    answer, with code, message, details, outcome, and requestId.

DEPRECATED NAMES
    These names work in this version. Once in a session, a warning shows the replacement:

`
