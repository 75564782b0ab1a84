package sandbox

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"adgateway/ps/sandbox/engine"

	"github.com/bhendo/go-powershell/backend"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

type running struct {
	backend.Waiter
	stdin       io.WriteCloser
	out, errOut *bufio.Reader
}

func (r *running) kill(t testing.TB) {
	t.Helper()
	require.NoError(t, r.Waiter.(interface{ Kill() error }).Kill())
}

// wait waits for the end of the process, with a time limit.
func (r *running) wait(t testing.TB) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- r.Wait() }()
	select {
	case err := <-done:
		return err
	case <-time.After(testTimeout):
		t.Fatal("the process does not end")
		return nil
	}
}

func (r *running) say(t testing.TB, line string) {
	t.Helper()
	_, err := io.WriteString(r.stdin, line+"\n")
	require.NoError(t, err)
}

func (r *running) hear(t testing.TB) string {
	t.Helper()
	line, err := r.out.ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSuffix(line, "\n")
}

func start(t testing.TB, s *Starter) *running {
	t.Helper()
	waiter, stdin, stdout, stderr, err := s.StartProcess("powershell.exe", sessionArgs...)
	require.NoError(t, err)
	return &running{Waiter: waiter, stdin: stdin.(io.WriteCloser), out: bufio.NewReader(stdout),
		errOut: bufio.NewReader(stderr)}
}

func TestLinesAreAnsweredAsTheyCome(t *testing.T) {
	p := start(t, hostStarter())
	for _, text := range []string{"one", "two", "three"} {
		p.say(t, "echo "+text)
		assert.Equal(t, text, p.hear(t))
	}
	p.say(t, "$line = [Console]::In.ReadLine(); \"got $line\"")
	p.say(t, "#data é")
	assert.Equal(t, "got #data é", p.hear(t))
	require.NoError(t, p.stdin.Close())
	require.NoError(t, p.wait(t))
	require.NoError(t, p.wait(t), "Wait may be called again")
	_, err := io.WriteString(p.stdin, "echo late\n")
	assert.Error(t, err)
}

func TestExitCodes(t *testing.T) {
	for input, code := range map[string]int{
		"":                             0,
		"\n \n":                        0,
		"'x'":                          0,
		"exit":                         0,
		"exit 7":                       7,
		"exit 3; 'never'":              3,
		"if ($true) { exit 4 }":        4,
		"function f { exit 5 }\n\nf\n": 5,
		"throw 'x'":                    1,
		"1/0":                          1,
		"1/0; 'y'":                     0,
		"if (":                         0, // an incomplete block is dropped
		"1 2":                          1,
	} {
		_, _, got := playback(t, hostStarter(), sessionArgs, input)
		assert.Equal(t, code, got, "%q", input)
	}
}

func TestKillEndsWhateverRuns(t *testing.T) {
	for name, line := range map[string]string{
		"a loop":                "'ready'; while ($true) { }",
		"a loop of output":      "'ready'; while ($true) { 'x' }",
		"a loop of errors":      "'ready'; while ($true) { 1/0 }",
		"reading":               "'ready'; [Console]::In.ReadLine()",
		"a caught endless loop": "'ready'; while ($true) { try { while ($true) { } } catch { } finally { } }",
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, hostStarter())
			p.say(t, line)
			assert.Equal(t, "ready", p.hear(t))
			p.kill(t)
			p.kill(t)
			var exit *ExitError
			require.ErrorAs(t, p.wait(t), &exit)
			assert.True(t, exit.Killed)
			p.kill(t)
		})
	}
}

func TestOutputOfAnEndedProcessCanBeRead(t *testing.T) {
	p := start(t, hostStarter())
	p.say(t, "'left behind'; [Console]::Error.WriteLine('and here'); exit 2")
	var exit *ExitError
	require.ErrorAs(t, p.wait(t), &exit)
	assert.Equal(t, ExitError{Code: 2}, *exit)
	assert.Equal(t, "exit status 2", exit.Error())
	assert.Equal(t, "left behind", p.hear(t))
	_, err := p.out.ReadByte()
	assert.ErrorIs(t, err, io.EOF)
	text, err := io.ReadAll(p.errOut)
	require.NoError(t, err)
	assert.Equal(t, "and here\n", string(text))
}

func TestAWriterWaitsForItsReader(t *testing.T) {
	p := start(t, hostStarter())
	p.say(t, "for ($i = 1; $i -le 20000; $i++) { \"line $i\" }; exit")
	for n := range 20000 {
		require.Equal(t, "line "+dec(n+1), p.hear(t))
	}
	require.NoError(t, p.wait(t))
}

func dec(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return dec(n/10) + dec(n%10)
}

func TestArguments(t *testing.T) {
	for args, ok := range map[string]bool{
		"-NoExit -Command -":                 true,
		"-nologo -NOPROFILE -command -":      true,
		"-ExecutionPolicy Bypass -Command -": true,
		"-OutputFormat Text -Command -":      true,
		"-OutputFormat XML -Command -":       false,
		"-Command":                           false,
		"-Command - more":                    false,
		"-Command 1+1":                       false,
		"-File x.ps1":                        false,
		"-EncodedCommand MQA=":               false,
		"":                                   false,
	} {
		waiter, stdin, _, _, err := hostStarter().StartProcess("powershell.exe", strings.Fields(args)...)
		assert.Equal(t, ok, err == nil, "%q: %v", args, err)
		if err == nil {
			require.NoError(t, stdin.(io.Closer).Close())
			assert.NoError(t, waiter.Wait())
		}
	}
}

func TestAStartThatCannotBePrepared(t *testing.T) {
	s := hostStarter()
	boom := errors.New("boom")
	s.setup = func(*engine.Session) error { return boom }
	_, _, _, _, err := s.StartProcess("powershell.exe", sessionArgs...)
	assert.ErrorIs(t, err, boom)
}

func TestPipe(t *testing.T) {
	p := newPipe()
	n, err := p.Read(nil)
	assert.Zero(t, n)
	assert.NoError(t, err)
	_, err = p.Write([]byte("abc"))
	require.NoError(t, err)
	p.closeWrite()
	_, err = p.Write([]byte("d"))
	assert.ErrorIs(t, err, io.ErrClosedPipe)
	all, err := io.ReadAll(p)
	require.NoError(t, err)
	assert.Equal(t, "abc", string(all))
	p.closeRead()
	_, err = p.Read(make([]byte, 1))
	assert.ErrorIs(t, err, io.ErrClosedPipe)

	full := newPipe()
	done := make(chan error, 1)
	go func() {
		_, err := full.Write(make([]byte, 3*pipeSize))
		done <- err
	}()
	_, err = io.ReadFull(full, make([]byte, 2*pipeSize))
	require.NoError(t, err)
	full.closeRead()
	select {
	case err := <-done:
		_ = err // err is nil if the pipe had room for the rest, and otherwise the write failed
	case <-time.After(testTimeout):
		t.Fatal("the writer waits for ever")
	}
}
