package sandbox

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adgateway/ps/sandbox/engine"
	"adgateway/test/conformance"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A transcript is the input of one process and the output of a real engine for it (recorded
// on PowerShell 7.6.5).
type transcript struct {
	Name           string
	Args           []string
	Stdin          string
	Stdout, Stderr string
	Exit           int
}

func transcripts(t testing.TB) []transcript {
	var file struct{ Cases []transcript }
	require.NoError(t, conformance.Read("session", &file))
	require.NotEmpty(t, file.Cases)
	return file.Cases
}

// outsideTranscripts reads the list of transcripts with known differences: name, tab, reason.
func outsideTranscripts(t testing.TB) map[string]string {
	f, err := os.Open(filepath.Join("testdata", "session_outside.txt"))
	require.NoError(t, err)
	defer f.Close()
	list := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, reason, ok := strings.Cut(lines.Text(), "\t"); ok {
			list[name] = reason
		}
	}
	return list
}

// testTimeout limits every wait of the tests.
const testTimeout = 3 * time.Minute

func hostStarter() *Starter {
	return NewStarter(engine.NewEngine(engine.Options{
		Modules: []*engine.Module{HostModule()}, AutoLoad: true, Aliases: Aliases,
	}), nil)
}

// playback feeds a process and collects its output.
func playback(t testing.TB, s *Starter, args []string, input string) (stdout, stderr string, code int) {
	t.Helper()
	waiter, stdin, out, errs, err := s.StartProcess("powershell.exe", args...)
	require.NoError(t, err)
	type text struct {
		data []byte
		err  error
	}
	read := func(r io.Reader) chan text {
		c := make(chan text, 1)
		go func() {
			data, err := io.ReadAll(r)
			c <- text{data, err}
		}()
		return c
	}
	outText, errText := read(out), read(errs)
	go func() {
		_, _ = io.WriteString(stdin, input) // a process that exits early does not read all of it
		_ = stdin.(io.Closer).Close()
	}()
	done := make(chan error, 1)
	go func() { done <- waiter.Wait() }()
	select {
	case err := <-done:
		var exit *ExitError
		if errors.As(err, &exit) {
			code = exit.Code
		} else {
			require.NoError(t, err)
		}
	case <-time.After(testTimeout):
		t.Fatal("the process does not end")
	}
	a, b := <-outText, <-errText
	require.NoError(t, a.err)
	require.NoError(t, b.err)
	return string(a.data), string(b.data), code
}

func TestTranscripts(t *testing.T) {
	outside := outsideTranscripts(t)
	matched, total := 0, 0
	for _, c := range transcripts(t) {
		total++
		t.Run(c.Name, func(t *testing.T) {
			stdout, stderr, code := playback(t, hostStarter(), c.Args, c.Stdin)
			same := c.Stdout == stdout && c.Stderr == stderr && c.Exit == code
			if reason, ok := outside[c.Name]; ok {
				assert.False(t, same, "it matches: take it off the list (%s)", reason)
				return
			}
			assert.Equal(t, c.Stdout, stdout)
			assert.Equal(t, c.Stderr, stderr)
			assert.Equal(t, c.Exit, code)
			if same {
				matched++
			}
		})
	}
	t.Logf("%d of %d transcripts match, %d are outside", matched, total, len(outside))
	assert.GreaterOrEqual(t, matched, 24)
}
