package realengine

import (
	"encoding/json"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/proxies"
	"adgateway/ps/sandbox/remote"
	"adgateway/ps/session"
	"adgateway/scripts"
	"adgateway/test/proxytest"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// changeIDs matches the ids of changes. Like request ids, they are unique to a gateway.
var changeIDs = regexp.MustCompile(changes.Pattern)

// stillClock makes timestamps equal in two worlds.
func stillClock() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// stillWorld returns the built-in domain with stillClock.
func stillWorld(t testing.TB) *sandbox.World {
	t.Helper()
	world, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1, Clock: stillClock})
	require.NoError(t, err)
	return world
}

// serverOf makes a world accessible to processes.
func serverOf(t testing.TB, world *sandbox.World) *remote.Server {
	t.Helper()
	server, err := remote.NewServer(world)
	require.NoError(t, err)
	t.Cleanup(func() { // runs after the sessions have been closed
		assert.Eventually(t, func() bool { return server.Connections() == 0 }, systemtest.Patience,
			time.Millisecond, "connections are left")
		assert.NoError(t, server.Close())
	})
	return server
}

// described returns the description of all scripts.
func described(t testing.TB) []ps.Script {
	t.Helper()
	return scripts.Describe()
}

// TestContractThroughProxies: every sample, and one request for a missing object, gets the same answer and
// has the same effect with the functions for a real PowerShell as with the cmdlets. A plain run tries one
// operation in four.
func TestContractThroughProxies(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	t.Run("calls", func(t *testing.T) {
		modules, err := proxies.Modules(described(t))
		require.NoError(t, err)
		every := 4
		if thorough.All() {
			every = 1
		}
		sameAnswers(t, every, func(t testing.TB, world *sandbox.World) session.Starter {
			return &proxytest.Starter{Server: serverOf(t, world), Modules: modules}
		})
	})
	http.DefaultClient.CloseIdleConnections()
	goleak.VerifyNone(t, ignore)
}

// sameAnswers compares the answers of a system that uses the given starter with the sandbox's answers, for
// one operation in every.
func sameAnswers(t *testing.T, every int, start func(testing.TB, *sandbox.World) session.Starter) {
	world := stillWorld(t)
	theirs := systemtest.NewOn(t, world, start(t, world), "pool.directorySessions=1", "pool.dnsSessions=1")
	world = stillWorld(t)
	ours := systemtest.NewOn(t, world, world.Starter(), "pool.directorySessions=1", "pool.dnsSessions=1")
	for i, op := range opstest.Own() {
		if i%every != 0 {
			continue
		}
		t.Run(op.ID, func(t *testing.T) {
			a, b := theirs.In(t), ours.In(t)
			calls := []systemtest.Call{systemtest.Sample(op)}
			if first, needed := systemtest.Needed(op); needed {
				calls = append([]systemtest.Call{first}, calls...)
			} else {
				missing := op.Sample
				calls = append(calls, systemtest.CallFor(op, absent(op, missing)))
			}
			theirChange, ourChange := "", ""
			same := func(c systemtest.Call, theirs, ours systemtest.Answer) {
				assert.Equal(t, ours.Status, theirs.Status, "%s %s: %s", c.Method, c.Path, theirs.Body)
				assert.Equal(t, comparable(t, ours), comparable(t, theirs), "%s %s", c.Method, c.Path)
				if id := ours.Header.Get(ops.ChangeHeader); id != "" {
					theirChange, ourChange = theirs.Header.Get(ops.ChangeHeader), id
				}
			}
			for _, c := range calls {
				same(c, a.Do(c), b.Do(c))
			}
			if op.Effect.Writes() && op.Undo.Never == "" { // times and request ids differ in the records
				theirs, ours := a.Do(systemtest.UndoOf(theirChange)), b.Do(systemtest.UndoOf(ourChange))
				assert.Equal(t, ours.Status, theirs.Status, "%s", theirs.Body)
				assert.Equal(t, ours.Envelope.Output, theirs.Envelope.Output)
				assert.Equal(t, ours.Envelope.Warnings, theirs.Envelope.Warnings)
			}
			assert.Empty(t, b.Snapshot().Compare(a.Snapshot()), "what is left differs")
		})
	}
}

// absent returns the parameters of a sample with names that do not exist.
func absent(op *ops.Operation, good map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range good {
		out[name] = value
	}
	for _, p := range op.Params {
		if _, given := out[p.Name]; given && p.Path != "" {
			out[p.Name] = "no-such-thing"
		}
	}
	return out
}

// comparable returns an answer without its unique values.
func comparable(t *testing.T, a systemtest.Answer) any {
	t.Helper()
	var body map[string]any
	text := changeIDs.ReplaceAllString(string(a.Body), "ch_")
	require.NoError(t, json.Unmarshal([]byte(text), &body), "%s", a.Body)
	if failure, ok := body["error"].(map[string]any); ok {
		delete(failure, "requestId")
	}
	if a.Status >= http.StatusInternalServerError {
		t.Errorf("%s", a.Body)
	}
	return body
}
