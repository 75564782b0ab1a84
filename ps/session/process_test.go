package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"adgateway/ps"
	"adgateway/ps/session"
	"adgateway/ps/session/sessiontest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// childVariable selects the role of the test binary in a child process. "serve" runs a PowerShell of
// sessiontest. "hold" keeps a connection to the address in holdVariable open, so that the end of the process
// can be observed.
const (
	childVariable = "SESSION_TEST_CHILD"
	holdVariable  = "SESSION_TEST_HOLD"
)

func childMain() int {
	if os.Getenv(childVariable) == "hold" {
		conn, err := net.Dial("tcp", os.Getenv(holdVariable))
		if err != nil {
			return 1
		}
		_, _ = io.Copy(io.Discard, conn)
		return 0
	}
	scripts := map[string]func(*sessiontest.Call){
		// This starts a grandchild that holds every stream open.
		"Start-GatewayGrandchild": func(c *sessiontest.Call) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childVariable+"=hold")
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			if err := cmd.Start(); err != nil {
				panic(err)
			}
			c.End()
		},
		"Get-GatewayEnvironment": func(c *sessiontest.Call) {
			c.Frame("records", fmt.Sprintf(`[%q,%q,%q]`, os.Getenv("ADGATEWAY_SECRET"),
				os.Getenv("ADPS_LoadDefaultDrive"), os.Getenv("TERM")))
			c.End()
		},
		"Get-GatewayVariables": func(c *sessiontest.Call) {
			values := map[string]string{}
			for _, name := range []string{"NO_COLOR", "ADGATEWAY_SECRET", "DOTNET_TieredPGO",
				"DOTNET_EnableDiagnostics", "TMPDIR", "TEMP", "TMP"} {
				values[name] = os.Getenv(name)
			}
			text, _ := json.Marshal([]any{values})
			c.Frame("records", string(text))
			c.End()
		},
		"Set-GatewayOffice": setOffice,
		"Get-GatewayID": func(c *sessiontest.Call) {
			c.Frame("records", fmt.Sprintf(`[%q]`, c.ID))
			c.End()
		},
	}
	for name, script := range sessiontest.Faults {
		scripts[name] = script
	}
	process := &sessiontest.Process{Scripts: scripts}
	return process.Serve(context.Background(), os.Stdin, os.Stdout, os.Stderr)
}

// realProcess returns a Starter that runs the test binary as PowerShell, using the code that
// starts a real one.
func realProcess(t *testing.T) session.Starter {
	t.Helper()
	t.Setenv(childVariable, "serve")
	t.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each process takes a second to exit
	path, err := os.Executable()
	require.NoError(t, err)
	return session.Local{Path: path}
}

func TestEveryFaultOfARealProcessGivesATypedErrorAndLeavesNothing(t *testing.T) {
	starter := realProcess(t)
	for _, c := range faultCases {
		t.Run(c.name(), func(t *testing.T) {
			defer goleak.VerifyNone(t)
			c.run(t, starter)
		})
	}
}

func TestARealProcessGetsNoneOfOurSecretsAndExitsWithZero(t *testing.T) {
	t.Setenv("ADGATEWAY_SECRET", "hidden")
	s := start(t, config(realProcess(t)))
	got := records(t, s, ps.Request{Script: "Get-GatewayEnvironment"})
	assert.Contains(t, got, `["","0",`)
	require.NoError(t, s.Close(t.Context()))
}

func TestMemoryOfARealProcess(t *testing.T) {
	s := start(t, config(realProcess(t)))
	bytes, err := s.Memory()
	require.NoError(t, err)
	assert.Greater(t, bytes, int64(100<<10))
	s.Kill()
	_, err = s.Memory()
	require.ErrorIs(t, err, os.ErrProcessDone)

	s = start(t, config(&sessiontest.Process{}))
	_, err = s.Memory()
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

func TestLargeRequestsAndAnswersThroughRealPipes(t *testing.T) {
	s := start(t, config(realProcess(t)))
	big := strings.Repeat("ä", 1<<20)
	got := records(t, s, ps.Request{Script: "Get-GatewayEcho",
		Args: ps.Args{"Big": ps.Text(big), "Pw": ps.Secret(big)}})
	assert.Len(t, got, 2*len(big)+len(`[{"Big":"","Pw":""}]`))

	// The request is so large that the answer cannot be written until the request has been read.
	got = records(t, s, ps.Request{Script: "Get-GatewayMany",
		Args: ps.Args{"Batches": ps.Int(50), "Size": ps.Int(100_000)}})
	assert.Greater(t, len(got), 5_000_000)
}

func TestKillEndsChildProcesses(t *testing.T) {
	held := holdGrandchild(t)
	s := start(t, config(realProcess(t)))
	_, err := s.Run(t.Context(), ps.Request{Script: "Start-GatewayGrandchild"})
	require.NoError(t, err)
	conn := held()
	s.Kill()
	waitClosed(t, conn)
}

func TestALeftoverProcessDoesNotKeepTheSessionOpen(t *testing.T) {
	held := holdGrandchild(t)
	s := start(t, config(realProcess(t)))
	_, err := s.Run(t.Context(), ps.Request{Script: "Start-GatewayGrandchild"})
	require.NoError(t, err)
	conn := held()
	_, err = s.Run(t.Context(), ps.Request{Script: "Stop-GatewayBefore", Limit: patience})
	require.Error(t, err)
	assert.Equal(t, ps.KindDied, ps.AsError(err).Kind)
	waitClosed(t, conn)
}

// holdGrandchild accepts connections of grandchildren. The function that it returns waits for one.
func holdGrandchild(t *testing.T) func() net.Conn {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	t.Setenv(holdVariable, listener.Addr().String())
	return func() net.Conn {
		require.NoError(t, listener.(*net.TCPListener).SetDeadline(time.Now().Add(patience)))
		conn, err := listener.Accept()
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
}

// waitClosed waits until the other side closes the connection.
func waitClosed(t *testing.T, conn net.Conn) {
	t.Helper()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
	_, err := conn.Read(make([]byte, 1))
	require.Error(t, err)
	var timeout net.Error
	if errors.As(err, &timeout) {
		require.False(t, timeout.Timeout(), "the process lives on")
	}
}

func TestAnIdleProcessThatIsKilledIsNoticed(t *testing.T) {
	defer goleak.VerifyNone(t)
	starter := &recording{Starter: realProcess(t)}
	s := start(t, config(starter))
	require.NoError(t, starter.waiter.Kill())
	select {
	case <-s.Dead():
	case <-time.After(patience):
		t.Fatal("death was not noticed")
	}
	s.Kill()
}

// recording is a Starter that records the process it started.
type recording struct {
	session.Starter
	waiter interface {
		session.Waiter
		Kill() error
	}
}

func (r *recording) StartProcess(
	cmd string, args ...string,
) (session.Waiter, io.Writer, io.Reader, io.Reader, error) {
	w, in, out, errs, err := r.Starter.StartProcess(cmd, args...)
	if err == nil {
		r.waiter = w.(interface {
			session.Waiter
			Kill() error
		})
	}
	return w, in, out, errs, err
}

// records runs a request and returns its batches of records, concatenated.
func records(t *testing.T, s *session.Session, req ps.Request) string {
	t.Helper()
	var all strings.Builder
	req.Limit = patience
	req.Records = func(batch json.RawMessage) error { all.Write(batch); return nil }
	_, err := s.Run(t.Context(), req)
	require.NoError(t, err)
	return all.String()
}
