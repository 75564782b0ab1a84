package servers

import (
	"regexp"
	"strings"
	"testing"

	"adgateway/ps"
	"adgateway/scripts"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	stepLine  = regexp.MustCompile(`Set-GatewayStep -Label '([^']+)'`)
	writeCall = regexp.MustCompile(`\b(Add|Clear|Disable|Enable|Move|New|Register|Remove|Rename|Reset|Restore|Set|Unlock)-(AD|DnsServer)[A-Za-z]+`)
)

// No script requests a change in a step whose label starts with one of readVerbs, or before its first step.
// The function beforeChange relies on that.
func TestScriptsChangeNothingInReadingSteps(t *testing.T) {
	writers := 0
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		for _, source := range scripts.Sources(lane) {
			verb := "nothing yet"
			for n, line := range strings.Split(source.Text, "\n") {
				if strings.HasPrefix(strings.TrimSpace(line), "#") {
					continue
				}
				if label := stepLine.FindStringSubmatch(line); label != nil {
					verb, _, _ = strings.Cut(label[1], " ")
				}
				if call := writeCall.FindString(line); call != "" {
					writers++
					assert.False(t, readVerbs[verb] || verb == "nothing yet", "%s:%d calls %s under %q", source.Name, n+1,
						call, verb)
				}
			}
		}
	}
	require.Positive(t, writers)
}

func TestCauses(t *testing.T) {
	down := func(code, inner string) ps.Error { return ps.Error{Type: serverDownType, Code: code, Inner: inner} }
	fault := func(name string) ps.Error {
		return ps.Error{Type: directoryTypes + "ADException", Code: "0",
			Inner: "System.ServiceModel.FaultException", Fault: name}
	}
	cases := []struct {
		name string
		err  ps.Error
		want cause
	}{
		{"nothing listens", down("0", noEndpointType), gone},
		{"the exception alone", down("0", ""), gone},
		{"no server found", down("1355", directoryTypes+"ADException"), gone},
		{"no server found, by its number", ps.Error{Code: "1355"}, gone},
		{"a broken connection", down("0", "System.ServiceModel.CommunicationException"), broken},
		{"a broken channel", down("0", "System.ServiceModel.CommunicationObjectFaultedException"), broken},
		{"RPC by its id", ps.Error{Native: "WIN32 1722"}, gone},
		{"RPC by its number", ps.Error{Code: "1753"}, gone},
		{"RPC broken off", ps.Error{Native: "WIN32 1726"}, broken},
		{"LDAP of the directory", ps.Error{Type: directoryTypes + "ADException", Code: "8250"}, gone},
		{"LDAP of ADSI", ps.Error{Type: comType, Code: "8250"}, noLDAP},
		{"credentials", ps.Error{Type: authenticationType}, rejected},
		{"a timeout", ps.Error{Type: timeoutType}, slow},
		{"a timeout inside the service", fault("OperationTimeout"), slow},
		{"no connection left", fault("EndpointUnavailable"), busy},
		{"a search that was given up", fault("InvalidEnumerationContext"), busy},
		{"unwilling", fault("UnwillingToPerform"), none},
		{"a fault that nobody knows", fault("Brandnew"), none},
		{"a fault of another exception", ps.Error{Type: "System.Exception", Fault: "EndpointUnavailable"}, none},
		{"no object", ps.Error{Type: directoryTypes + "ADIdentityNotFoundException"}, none},
		{"no zone", ps.Error{Native: "WIN32 9601"}, none},
		{"only the category", ps.Error{Category: "ResourceUnavailable"}, none},
		{"only the words", ps.Error{Message: "Unable to contact the server."}, none},
		{"a script's own error", ps.Error{Gateway: "conflict", Type: serverDownType}, none},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, causeOf(&c.err)) })
	}
}
