package replicas

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/engine/enginetest"
	"adgateway/test/failing"
)

func fromEnvironment(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, name)
	return n
}

// few is the number of faults if FAULTS is not set. longestOfFew is the maximum duration of such a fault, and
// of the pause between two faults.
const (
	few          = 3
	longestOfFew = 3 * time.Second
)

// logBytes is so small that a gateway that was disconnected for some time needs the file of another gateway.
const logBytes = 128 << 10

// TestNothingIsLostWhateverFails injects FAULTS random faults of gateways and nodes with the seed SEED, or a
// few short faults if FAULTS is not set. It does not change the clocks of nodes, because the NATS server
// offers no way to do that.
func TestNothingIsLostWhateverFails(t *testing.T) {
	t.Parallel()
	seed := uint64(fromEnvironment(t, "SEED", rand.IntN(1_000_000)))
	faults, longest := fromEnvironment(t, "FAULTS", few), time.Minute
	if os.Getenv("FAULTS") == "" {
		longest = longestOfFew
	}
	label := fmt.Sprintf("SEED=%d FAULTS=%d", seed, faults)
	t.Log(label)
	w := newWorld(t, logBytes)
	w.putTokens()
	asked := newAsked(w)
	asking, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { asked.run(asking, seed) })
	kinds := failing.Series{Seed: seed, Faults: faults, Longest: longest, Log: t.Logf}.Happen(t.Context(),
		func(rnd *rand.Rand) []failing.Fault { return w.gatewayFaults(w.aGateway(rnd), rnd) },
		func(rnd *rand.Rand) []failing.Fault { return w.nodeFaults(w.aNode(rnd)) })
	w.setClock(nil, 0)
	w.whole()
	stop()
	all.Wait()
	asked.stopped = time.Now()
	w.check(asked, label)
	t.Logf("faults:%s", kinds)
	t.Logf("asked for:%s", asked.count)
	t.Logf("the longest time in which nothing was acknowledged: %s", asked.darkest(time.Time{}))
}

// TestTheScriptsOfALeaderThatIsCutOff: the next leader does not change objects to which the old leader's
// scripts may still write. It settles the changes of these scripts after they have ended.
func TestTheScriptsOfALeaderThatIsCutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, logBytes)
	w.putTokens()
	asked, former := newAsked(w), w.leader()
	require.NotNil(t, former)
	var all sync.WaitGroup
	for _, path := range []string{"/change/x/1?before=5s", "/change/y/1?while=5s"} {
		all.Go(func() { w.call(former, http.MethodPost, path, patience) })
	}
	w.await("the changes are not stored everywhere", func() bool {
		for _, g := range w.gateways {
			if s, ok := w.state(g); !ok || s.Stored != 2 {
				return false
			}
		}
		return true
	})
	wires := append(append([]*enginetest.Wire{}, former.log...), former.beats...)
	each(wires, (*enginetest.Wire).Hold, true)()
	var next *member
	w.await("no other gateway leads", func() bool {
		next = w.leader()
		return next != nil && next != former
	})
	for _, object := range []string{"x", "y"} {
		all.Go(func() {
			assert.Eventually(t, func() bool {
				status, outcome := w.call(next, http.MethodPost, "/change/"+object+"/2", patience)
				return status == http.StatusOK && outcome == written
			}, patience, 10*time.Millisecond, object)
		})
	}
	w.await("the scripts do not end", func() bool {
		s, ok := w.state(former)
		return ok && s.Running == 0
	})
	each(wires, (*enginetest.Wire).Hold, false)()
	all.Wait()
	asked.stopped = time.Now()
	w.check(asked, "cut off")
}

// putTokens stores entries that expire.
func (w *world) putTokens() {
	w.t.Helper()
	w.putToken("hour", 3600)
	w.putToken("second", 1)
}

func (w *world) putToken(key string, seconds int) {
	w.t.Helper()
	w.await("a token cannot be stored", func() bool {
		path := fmt.Sprintf("/token/%s?seconds=%d", key, seconds)
		for _, g := range w.gateways {
			if status, _ := w.call(g, http.MethodPut, path, callFor); status == http.StatusOK {
				return true
			}
		}
		return false
	})
}
