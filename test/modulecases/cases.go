// Package modulecases contains test cases for the PowerShell module AdGateway, which are scripts with their
// expected output. They run unchanged on the engine of the sandbox and on a real PowerShell.
package modulecases

import (
	_ "embed" // cases.txt
	"fmt"
	"strings"
)

//go:embed cases.txt
var text string

// Case is a script and its expected output. All cases run in order, in one session that is
// connected to a gateway with a new sandbox.
type Case struct {
	Name   string
	Script string
	Want   string // lines of output
	Real   string // reason why only a real PowerShell can run the case; empty if every engine can
}

// All returns the cases of cases.txt in their order.
func All() ([]Case, error) {
	var all []Case
	for part := range strings.SplitSeq(text, "\n=== ") {
		head, rest, _ := strings.Cut(part, "\n")
		if strings.HasPrefix(head, "#") {
			continue
		}
		name, real, _ := strings.Cut(head, " | real: ")
		script, want, ok := strings.Cut(rest, "\n---\n")
		if !ok {
			return nil, fmt.Errorf("the case %q has no line ---", name)
		}
		one := Case{Name: name, Script: strings.TrimSpace(script) + "\n", Want: strings.TrimSpace(want), Real: real}
		all = append(all, one)
	}
	return all, nil
}
