package systemtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/cmd/adgateway/app"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/remote"
	"adgateway/ps/session"
	"adgateway/test/remotetest"
)

// maxHeapGrowth is the number of bytes that a test with many requests may leave on the heap in caches.
const maxHeapGrowth = 24 << 20

// HeapBytes returns the number of bytes on the heap after a garbage collection.
func HeapBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// NoMemoryLeft waits until the heap is not much larger than before, a result of [HeapBytes], and returns its
// size. Timers of the last requests keep a system for some seconds.
func NoMemoryLeft(t *testing.T, before uint64) (after uint64) {
	t.Helper()
	assert.Eventually(t, func() bool {
		after = HeapBytes()
		return after < before+maxHeapGrowth
	}, Patience, time.Second/4, "bytes of memory are left")
	return after
}

// Nonces generates a unique value for each request. It is safe for concurrent use.
type Nonces struct{ last atomic.Int64 }

// NoncePattern matches the values of Nonces.
var NoncePattern = regexp.MustCompile(`nonce[0-9]{6}`)

// Next returns a value that was not returned before.
func (n *Nonces) Next() string { return fmt.Sprintf("nonce%06d", n.last.Add(1)) }

// Only checks that body contains no nonce other than the given one.
func (*Nonces) Only(t *testing.T, nonce string, body []byte) {
	t.Helper()
	for _, found := range NoncePattern.FindAllString(string(body), -1) {
		assert.Equal(t, nonce, found, "an answer to another request: %.300s", body)
	}
}

// EngineVariable is the environment variable that turns a test binary into a
// stand-in for a PowerShell process.
const EngineVariable = "TEST_ENGINE"

// Main runs the tests of a package that runs its sessions in processes of its own test binary. If
// EngineVariable is in the environment, the binary runs as such a process instead. Every package that uses
// Processes must call Main in its TestMain.
func Main(m *testing.M) {
	if os.Getenv(EngineVariable) != "" {
		os.Exit(remotetest.Engine(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	code := m.Run()
	if standIn.folder != "" {
		_ = os.RemoveAll(standIn.folder) // if this fails, the folder stays in the temporary folder
	}
	os.Exit(code)
}

// standIn holds the path of the executable that the processes run.
var standIn struct {
	once         sync.Once
	folder, path string
}

// standInPath returns the executable of the processes, or "" for the test binary. With the race detector a
// process takes five times as long to start, and the tests start hundreds of processes, so the executable is
// built without the race detector. The processes share no memory with the gateway, and the packages of the
// engine have their own race tests.
func standInPath() string {
	standIn.once.Do(func() {
		info, ok := debug.ReadBuildInfo()
		if !ok || !slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
			return
		}
		folder, err := os.MkdirTemp("", "adgateway-standin-")
		if err != nil {
			return
		}
		standIn.folder = folder
		path := filepath.Join(folder, "standin.exe")
		if exec.Command("go", "build", "-race=false", "-o", path,
			"adgateway/test/systemtest/standin").Run() == nil {
			standIn.path = path
		}
	})
	return standIn.path
}

// Processes runs every session of a world in its own process, started from the test binary.
// All fields except Server are optional and set by the test.
type Processes struct {
	Server    *remote.Server     // set by NewSystem
	Faults    func() string      // value of remotetest.FaultVariable for the next process
	MaxOutput int64              // limit for a request, in bytes; 0 means the default of sessions
	Options   func(*app.Options) // adjusts the options of the system
	World     sandbox.Options    // options of the world; the seed is always 1
	mark      string             // value of EngineVariable, unique to these processes and their children
}

// NewSystem starts a system with processes and stops it at the end of the test. overrides
// are settings in the form "key=value".
func (p *Processes) NewSystem(t testing.TB, overrides ...string) *System {
	t.Helper()
	p.World.Seed = 1
	world, err := sandbox.NewWorld(t.Context(), p.World)
	require.NoError(t, err)
	p.mark = rand.Text()
	p.Server, err = remote.NewServer(world)
	require.NoError(t, err)
	t.Cleanup(func() { // runs after the sessions have been closed
		assert.Eventually(t, func() bool { return p.Server.Connections() == 0 }, Patience, time.Millisecond,
			"processes are left")
		assert.NoError(t, p.Server.Close())
	})
	if p.Options == nil {
		p.Options = func(*app.Options) {}
	}
	sessions := session.Config{MaxOutput: p.MaxOutput,
		Starter: &remote.Starter{Server: p.Server, Path: standInPath(), Env: func() []string {
			env := []string{EngineVariable + "=" + p.mark, "GORACE=atexit_sleep_ms=0"}
			if p.Faults != nil {
				env = append(env, remotetest.FaultVariable+"="+p.Faults())
			}
			return env
		}}}
	return NewWith(t, world, sessions, p.Options, overrides...)
}

// Running returns the IDs of the started processes and their children that are still
// running. Without /proc it returns none.
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

// OnlySessionsLeft waits until only the processes of open sessions are left.
func (p *Processes) OnlySessionsLeft(t *testing.T) {
	t.Helper()
	assert.Eventually(t, func() bool { return len(p.Running()) <= p.Server.Connections() }, Patience,
		10*time.Millisecond)
}

// NoGoroutinesLeft waits, after a system has been stopped, until no goroutine is left except those recorded
// in before. Some wait until a process has ended.
func NoGoroutinesLeft(t *testing.T, before goleak.Option) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	left := goleak.Find(before) // gives up after half a second
	for end := time.Now().Add(Patience); left != nil && time.Now().Before(end); {
		left = goleak.Find(before)
	}
	assert.NoError(t, left)
}
