package clients

import (
	_ "embed" // about.txt
	"fmt"
	"strings"
)

//go:embed about.txt
var aboutText string

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
