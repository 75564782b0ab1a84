package sandbox

import (
	"context"
	"strings"
	"testing"

	"adgateway/ps/sandbox/engine"
	"adgateway/test/conformance"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A memberCase is a command line and the output that a real engine wrote to stdout for it.
type memberCase struct {
	Group, Name, Line, Stdout string
}

func (c memberCase) key() string { return c.Group + "/" + c.Name }

type verdict string

const (
	same      verdict = "same"
	refused   verdict = "refused"
	different verdict = "different"
)

// endOfAnswer marks the end of the case's output if the process is still running.
const endOfAnswer = "--end-of-answer--"

// verdict runs the line in a new process. The line counts as refused if there is an error on
// stderr and stdout contains only the first lines of the real answer.
func (c memberCase) verdict(eng *engine.Engine) (v verdict, stdout, stderr string) {
	var out, errs strings.Builder
	input := c.Line + "\n'" + endOfAnswer + "'\n"
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	newHost(eng.NewSession(engine.Console{Stdin: strings.NewReader(input), Stdout: &out, Stderr: &errs})).run(
		ctx)
	stdout, ended := strings.CutSuffix(out.String(), endOfAnswer+"\n")
	stderr = errs.String()
	switch {
	case stdout == c.Stdout && ended:
		return same, stdout, stderr
	case stderr != "" && strings.HasPrefix(c.Stdout, stdout) &&
		(stdout == "" || strings.HasSuffix(stdout, "\n")):
		return refused, stdout, stderr
	default:
		return different, stdout, stderr
	}
}

// TestMembers: every recorded line either gives the real answer or is refused.
func TestMembers(t *testing.T) {
	var file struct{ Cases []memberCase }
	require.NoError(t, conformance.Read("members", &file))
	eng := engine.NewEngine(engine.Options{Modules: []*engine.Module{HostModule()}, AutoLoad: true,
		Aliases: Aliases})
	count := map[verdict]int{}
	for _, c := range file.Cases {
		v, stdout, stderr := c.verdict(eng)
		count[v]++
		if v == refused && testing.Verbose() {
			t.Logf("refused %s: %s\n%s", c.key(), c.Line, stderr)
		}
		assert.NotEqual(t, different, v, "%s\n%s\nreal:\n%s\nhere:\n%s\n%s", c.key(), c.Line, c.Stdout, stdout,
			stderr)
	}
	t.Logf("%d lines: %d same, %d refused, %d different", len(file.Cases), count[same], count[refused],
		count[different])
}
