package clients

import (
	"fmt"
	"strings"
)

// about returns the page about_AdGateway: the common behaviour of the functions, the language of
// filters, and the replacements for former names.
func about(renamed []*Function) string {
	var b strings.Builder
	b.WriteString(aboutText)
	for _, f := range renamed {
		fmt.Fprintf(&b, "    %-38s %s\n", f.Name(), f.Instead)
	}
	b.WriteString("\n    Parameters have lost the underscores of the API, whose names stay as aliases:\n")
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
    Connect-AdGateway chooses the gateway for this session. Start-Job and ForEach-Object -Parallel
    begin sessions of their own: connect in each.

DRY RUNS
    -WhatIf, and $WhatIfPreference of the script, ask the gateway what would change. The plan that
    comes back shows object, field, from and to; its planId is for -PlanId.

CHANGES
    What a change returns has changeId, requestId and, with -WithETag, etag:

        Set-AdgUser -Username 'anna' -JobTitle 'Lead' | Undo-AdgChange

    Remove-, Disable-, Enable- and Unlock- return the object only with -PassThru.

PIPELINES
    Columns of Import-Csv fill the parameters of their names or aliases. An empty cell is nothing;
    '' as an argument clears. What no parameter takes is named in a warning. Of a record of the
    gateway only its name and its entity tag are taken.

FILTERS
    department eq "Sales" and (city sw "Ber" or enabled eq false)

    Operators: eq ne sw co ew gt ge lt le pr, and or not. A filter in the style of the ActiveDirectory
    module is translated: "Department -eq 'Sales' -and Surname -like 'Sch*'". -Filter * is all.

LISTS
    A list is read in pages of 1000 records, -PageSize of them at once. -Limit reads only so many.

ERRORS
    FullyQualifiedErrorId begins with the code of the API, and TargetObject is its error: code,
    message, details, outcome, requestId.

NAMES OF THE VERSION BEFORE
    They work in this version, and say once in a session what replaces them:

`
