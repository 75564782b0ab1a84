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

// EngineVariable makes the test binary a stand-in process.
const EngineVariable = "TEST_ENGINE"

func TestMain(m *testing.M) {
	if os.Getenv(EngineVariable) != "" {
		os.Exit(remotetest.Engine(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// Processes start every session of a world as a process of the test binary.
type Processes struct {
	Server *remote.Server
	Faults func() string // of the next process; nil: none
	// maxOutput of a request, in bytes; 0: the session's default
	MaxOutput int64
	mark      string // value of engineVariable: these processes' and what they start
	// options changes what the system is made of; nil: nothing.
	Options func(*app.Options)
}

// system is a new system on processes. overrides are settings.
func (p *Processes) NewSystem(t testing.TB, overrides ...string) *System {
	t.Helper()
	world, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	p.mark = rand.Text()
	modules, culture := world.Modules()
	p.Server, err = remote.NewServer(remote.Options{Modules: modules, Declared: sandbox.Declarations(), Culture: culture})
	require.NoError(t, err)
	t.Cleanup(func() { // after the sessions have been closed
		assert.Eventually(t, func() bool { return p.Server.Connections() == 0 }, Patience, time.Millisecond, "processes are left")
		assert.NoError(t, p.Server.Close())
	})
	if p.Options == nil {
		p.Options = func(*app.Options) {}
	}
	sessions := session.Config{MaxOutput: p.MaxOutput, Starter: &remote.Starter{Server: p.Server, Env: func() []string {
		env := []string{EngineVariable + "=" + p.mark, "GORACE=atexit_sleep_ms=0"}
		if p.Faults != nil {
			env = append(env, remotetest.FaultVariable+"="+p.Faults())
		}
		return env
	}}}
	return newSystemWith(t, world, sessions, p.Options, overrides...)
}

// Running are the ids of the processes that were started, by what they left
// running, too. Where the system does not tell, there are none.
func (p *Processes) Running() []string {
	var pids []string
	environments, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is well-formed
	for _, path := range environments {
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text, []byte(EngineVariable+"="+p.mark+"\x00")) {
			pids = append(pids, filepath.Base(filepath.Dir(path)))
		}
	}
	return pids
}

// onlySessionsRun waits until no process is left but those of sessions.
func (p *Processes) OnlySessionsLeft(t *testing.T) {
	t.Helper()
	assert.Eventually(t, func() bool { return len(p.Running()) <= p.Server.Connections() }, FaultLimit, 10*time.Millisecond)
}

// Every good call of the contract is answered by processes as it is in this one.
func TestContractOnProcesses(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	t.Run("calls", func(t *testing.T) {
		p := &Processes{}
		s := p.NewSystem(t)
		for _, op := range ops.Table() {
			t.Run(op.ID, func(t *testing.T) { s.In(t).GoodCall(op) })
		}
		assert.Positive(t, p.Server.Connections())
	})
	NoGoroutinesLeft(t, ignore)
}

// noGoroutineIsLeft is said of a system that has been taken down.
func NoGoroutinesLeft(t *testing.T, before goleak.Option) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	goleak.VerifyNone(t, before)
}
