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

// beforeChange relies on this: no script asks for a change in a step whose label
// begins with one of readVerbs, or before its first step.
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
					assert.False(t, readVerbs[verb] || verb == "nothing yet", "%s:%d calls %s under %q", source.Name, n+1, call, verb)
				}
			}
		}
	}
	require.Positive(t, writers)
}

func TestUnreachable(t *testing.T) {
	cases := []struct {
		name string
		err  ps.Error
		want bool
	}{
		{"the exception", ps.Error{Type: serverDownType, Code: "0"}, true},
		{"no server found", ps.Error{Code: "1355"}, true},
		{"RPC by its id", ps.Error{Native: "WIN32 1722"}, true},
		{"RPC by its number", ps.Error{Code: "1753"}, true},
		{"no object", ps.Error{Code: "8333"}, false},
		{"no zone", ps.Error{Native: "WIN32 9601"}, false},
		{"credentials", ps.Error{Type: "System.Security.Authentication.AuthenticationException"}, false},
		{"only the category", ps.Error{Category: "ResourceUnavailable"}, false},
		{"only the words", ps.Error{Message: "Unable to contact the server."}, false},
		{"a script's own error", ps.Error{Gateway: "conflict", Type: serverDownType}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, unreachable(&c.err)) })
	}
}
