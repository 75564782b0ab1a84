package test

import (
	"bytes"
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/ops"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/remote"
	"adgateway/ps/sandbox/remote/remotetest"
	"adgateway/ps/session"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// engineVariable makes the test binary a stand-in process.
const engineVariable = "TEST_ENGINE"

func TestMain(m *testing.M) {
	if os.Getenv(engineVariable) != "" {
		os.Exit(remotetest.Engine(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// processes start every session of a world as a process of the test binary.
type processes struct {
	server *remote.Server
	faults func() string // of the next process; nil: none
	// maxOutput of a request, in bytes; 0: the session's default
	maxOutput int64
	mark      string // value of engineVariable: these processes' and what they start
	// options changes what the system is made of; nil: nothing.
	options func(*app.Options)
}

// system is a new system on processes. overrides are settings.
func (p *processes) system(t testing.TB, overrides ...string) *system {
	t.Helper()
	world, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	p.mark = rand.Text()
	modules, culture := world.Modules()
	p.server, err = remote.NewServer(remote.Options{Modules: modules, Declared: sandbox.Declarations(), Culture: culture})
	require.NoError(t, err)
	t.Cleanup(func() { // after the sessions have been closed
		assert.Eventually(t, func() bool { return p.server.Connections() == 0 }, patience, time.Millisecond, "processes are left")
		assert.NoError(t, p.server.Close())
	})
	if p.options == nil {
		p.options = func(*app.Options) {}
	}
	sessions := session.Config{MaxOutput: p.maxOutput, Starter: &remote.Starter{Server: p.server, Env: func() []string {
		env := []string{engineVariable + "=" + p.mark, "GORACE=atexit_sleep_ms=0"}
		if p.faults != nil {
			env = append(env, remotetest.FaultVariable+"="+p.faults())
		}
		return env
	}}}
	return newSystemWith(t, world, sessions, p.options, overrides...)
}

// running are the ids of the processes that were started, by what they left
// running, too. Where the system does not tell, there are none.
func (p *processes) running() []string {
	var pids []string
	environments, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is well-formed
	for _, path := range environments {
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text, []byte(engineVariable+"="+p.mark+"\x00")) {
			pids = append(pids, filepath.Base(filepath.Dir(path)))
		}
	}
	return pids
}

// onlySessionsRun waits until no process is left but those of sessions.
func (p *processes) onlySessionsRun(t *testing.T) {
	t.Helper()
	assert.Eventually(t, func() bool { return len(p.running()) <= p.server.Connections() }, faultLimit, 10*time.Millisecond)
}

// Every good call of the contract is answered by processes as it is in this one.
func TestContractOnProcesses(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	t.Run("calls", func(t *testing.T) {
		p := &processes{}
		s := p.system(t)
		for _, op := range ops.Table() {
			t.Run(op.ID, func(t *testing.T) { s.in(t).goodCall(op) })
		}
		assert.Positive(t, p.server.Connections())
	})
	noGoroutineIsLeft(t, ignore)
}

// noGoroutineIsLeft is said of a system that has been taken down.
func noGoroutineIsLeft(t *testing.T, before goleak.Option) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	goleak.VerifyNone(t, before)
}
