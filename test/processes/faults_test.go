package processes

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/test/remotetest"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// faultStatus contains the statuses of a read, a write and a list during a fault. Other faults end the
// process or break the protocol. Their status is 502, or 504 for a write.
var faultStatus = map[string][3]int{
	// The requests are for missing objects, and get the same answers as without the fault.
	"late": {404, 404, 404}, "noise": {404, 404, 404}, "drip": {404, 404, 404}, "stderr-flood": {404, 404, 404}, "echo": {404, 404, 404},
	"die-at-intent": {404, 404, 404}, "die-at-step": {404, 404, 404}, "hang-at-step": {404, 404, 404},
	// The answer is a well-formed error.
	"Get-GatewayMissing": {404, 404, 404}, "New-GatewayHalf": {422, 422, 422},
	// The answer is well-formed but does not fit the operation. It reports a change, so a write
	// counts as a success that was not read back.
	"Get-GatewayDrip": {500, 200, 500}, "Get-GatewayEcho": {500, 200, 500}, "Get-GatewayNoise": {500, 200, 500},
	"New-GatewayThing": {500, 200, 500}, "Send-GatewayFlood": {500, 200, 500},
	// The answer has no record, which is valid only for a list.
	"Get-GatewayMany": {500, 500, 200}, "Get-GatewayNothing": {500, 500, 200}, "Get-GatewayStderrFlood": {500, 500, 200},
	"Send-GatewayTwice": {500, 500, 200}, "Stop-GatewayAfterEnd": {500, 500, 200},
	// There is no answer.
	afterStep: hangs, "Wait-GatewayForever": hangs, "Wait-GatewayInsideFrame": hangs,
}

// hangs contains the statuses if no answer comes within the time limit of the request.
var hangs = [3]int{504, 504, 504}

// hangLimit is the time limit of these requests. The point at which a write is cut off matters only for the
// fault afterStep. Its step must have been announced, which may take long on a busy machine.
const (
	hangLimit = 2 * time.Second
	stepLimit = 20 * time.Second
	afterStep = "Wait-GatewayAfterStep"
)

// unchanged contains the faults that do not change the answer.
var unchanged = []string{"late", "noise", "drip", "stderr-flood", "echo", "die-at-intent", "die-at-step",
	"hang-at-step"}

// unannounced contains the faults that end or silence a process before it announces a change, so that nothing
// is changed. After the other faults the outcome is unknown.
var unannounced = []string{
	"Send-GatewayNoiseFlood", "Stop-GatewayBefore", "Stop-GatewayBeforeLineFeed", "Stop-GatewayInsideFrame", "Stop-GatewayInsideHeader",
	"Wait-GatewayForever", "Wait-GatewayInsideFrame", "die-after", "grandchild",
}

// TestEveryFaultOfAProcess: when a process fails in any way while it serves a read, a write or a list, the
// request gets its documented status in time, no answer reaches another request, the next request is served,
// and no process, goroutine or memory is leaked. Each fault affects one kind of request, or all kinds in a
// thorough run.
func TestEveryFaultOfAProcess(t *testing.T) {
	before, memory := goleak.IgnoreCurrent(), systemtest.HeapBytes()
	names := remotetest.RequestFaults()
	n := &systemtest.Nonces{}
	var systems sync.WaitGroup
	for kind, k := range faultKinds {
		for _, hanging := range []bool{false, true} {
			name, limit := k.name, time.Duration(0)
			if hanging {
				name, limit = k.name+" that hangs", hangLimit
			}
			systems.Go(func() {
				var switches []string
				for i, fault := range names {
					switches = append(switches, fault+"@"+faultMarker(i))
				}
				p := &systemtest.Processes{Faults: func() string { return strings.Join(switches, ",") },
					MaxOutput: 8 << 20}
				t.Run(name, func(t *testing.T) {
					s := p.NewSystem(t, settling...)
					require.Equal(t, http.StatusOK, s.Get("/api/ADUser/mmueller/Details").Status, "a session is idle")
					over := overshoot{limit: limit}
					for i, fault := range names {
						tried := thorough.All() || i%len(faultKinds) == kind && thorough.OneOf(2, fault)
						if tried && hanging == (faultStatus[fault] == hangs) {
							t.Run(fault, func(t *testing.T) { hit(p, s.In(t), kind, fault, faultMarker(i), n, &over) })
						}
					}
					if hanging {
						t.Logf("longest over the deadline: %s (%s)", over.longest.Round(time.Millisecond), over.of)
					}
					p.OnlySessionsLeft(t)
				})
				assert.Eventually(t, func() bool { return len(p.Running()) == 0 }, systemtest.Patience,
					10*time.Millisecond, "processes are left: %v", p.Running())
			})
		}
	}
	systems.Wait()
	systemtest.NoGoroutinesLeft(t, before)
	systemtest.NoMemoryLeft(t, memory)
}

// faultKinds are the kinds of requests that faults hit.
var faultKinds = [3]struct{ name, limit, method, path string }{
	{"read", "http.readTimeout", http.MethodGet, "/api/ADUser/%s/Details"},
	{"write", "http.writeTimeout", http.MethodDelete, "/api/ADUser/%s"},
	{"list", "http.listTimeout", http.MethodGet, "/api/ADUser/ListUsers?OUPath=OU=%s,DC=corp,DC=example"},
}

// settling makes the gateway determine the outcome of a cut-off change soon.
var settling = []string{"http.settlePause=100ms"}

// limited sets the time limit for requests of one kind, and resets the limits for the other kinds. If limit
// is 0, it resets all of them.
func limited(s *systemtest.System, kind int, limit time.Duration) {
	s.T.Helper()
	overrides := slices.Clone(settling)
	if limit > 0 {
		overrides = append(overrides, faultKinds[kind].limit+"="+limit.String())
	}
	require.NoError(s.T, s.Stack.Apply(systemtest.Settings(s.T, overrides...)))
}

// faultMarker returns the text in a request that triggers the i-th fault.
func faultMarker(i int) string { return fmt.Sprintf("fault%02dx", i) }

// hit sends a request that triggers a fault, and another request at the same time.
func hit(p *systemtest.Processes, s *systemtest.System, kind int, fault, marker string, n *systemtest.Nonces,
	over *overshoot) {
	t := s.T.(*testing.T)
	want, ok := faultStatus[fault]
	if !ok {
		want = [3]int{502, 504, 502}
	}
	limit := over.limit
	if fault == afterStep && faultKinds[kind].name == "write" {
		limit = stepLimit
	}
	limited(s, kind, limit)
	parallel, value := make(chan systemtest.Answer, 1), n.Next()
	beside := faultKinds[(kind+2)%3] // a request of another kind, which has enough time
	if beside.name == "write" {
		beside = faultKinds[0]
	}
	go func() { parallel <- s.Get(fmt.Sprintf(beside.path, value)) }()
	nonce := n.Next()
	start := time.Now()
	a := s.Do(systemtest.Call{Method: faultKinds[kind].method,
		Path: fmt.Sprintf(faultKinds[kind].path, marker+nonce)})
	took := time.Since(start)
	if a.Status == http.StatusGatewayTimeout {
		over.note(t.Name(), took-limit)
	}
	assert.Equal(t, want[kind], a.Status, "%.300s", a.Body)
	if a.Status == http.StatusOK && faultKinds[kind].name == "write" {
		assert.Contains(t, string(a.Body), `"not_read_back"`)
	}
	if faultKinds[kind].name == "write" && a.Status == http.StatusGatewayTimeout {
		assert.Equal(t, slices.Contains(unannounced, fault), a.Envelope.Error.Outcome == "none", "%s", a.Body)
	}
	n.Only(t, nonce, a.Body)
	if slices.Contains(unchanged, fault) {
		assert.Contains(t, string(a.Body), nonce, "the answer is not that of the request")
	}
	other := <-parallel
	assert.Equal(t, http.StatusNotFound, other.Status, "%s", other.Body)
	assert.Contains(t, string(other.Body), value)
	n.Only(t, value, other.Body)
	limited(s, kind, 0)
	require.Equal(t, http.StatusOK, s.Get("/api/ADUser/mmueller/Details").Status, "the next request")
	describe(s, "aschmidt", n.Next())
	if fault == "grandchild" {
		p.OnlySessionsLeft(t)
	}
}

// describe sets the description of a user. The answer must contain it.
func describe(s *systemtest.System, user, text string) {
	s.T.Helper()
	a := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/" + user,
		Params: map[string]any{"Description": text}})
	require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
	require.Len(s.T, a.Envelope.Result, 1)
	assert.Equal(s.T, text, a.Envelope.Result[0]["description"])
}

// overshoot records the longest time by which an answer has missed its deadline.
type overshoot struct {
	limit   time.Duration
	longest time.Duration
	of      string
}

func (o *overshoot) note(name string, over time.Duration) {
	if o.of == "" || over > o.longest {
		o.longest, o.of = over, name
	}
}

// TestEveryFaultOfAStartOverHTTP: while no session starts, requests fail at once, and /readyz gives the
// reason to callers with the scope for it. As soon as a session starts, requests and /readyz succeed again.
// The test does not check this for faults that need a short time limit, because even a good session may
// exceed it.
func TestEveryFaultOfAStartOverHTTP(t *testing.T) {
	before := goleak.IgnoreCurrent()
	var faults sync.WaitGroup // most of them wait
	for fault, c := range map[string]struct {
		reason  string
		timeout []string
	}{
		"no-module":     {"ActiveDirectory", nil},
		"language-mode": {"ConstrainedLanguage", nil},
		// detected by this limit only
		"swallow-line": {"the first data line did not arrive", []string{"pool.startTimeout=10s"}},
	} {
		faults.Go(func() {
			t.Run(fault, func(t *testing.T) {
				var broken atomic.Bool
				broken.Store(true)
				p := &systemtest.Processes{Faults: func() string {
					if broken.Load() {
						return fault
					}
					return ""
				}}
				s := p.NewSystem(t, c.timeout...)
				a := s.Get("/api/ADUser/aschmidt/Details")
				require.Equal(t, http.StatusServiceUnavailable, a.Status, "%s", a.Body)
				assert.Equal(t, "unavailable", a.Envelope.Error.Code)
				assert.NotEmpty(t, a.Header.Get("Retry-After"))
				require.Eventually(t, func() bool { // a busy machine may reach the limit earlier
					return strings.Contains(string(s.Get("/readyz").Body), c.reason)
				}, systemtest.Patience, 50*time.Millisecond)
				notReady(s)
				if c.timeout != nil {
					return
				}

				broken.Store(false)
				assert.Eventually(t, func() bool { return s.Get("/api/ADUser/aschmidt/Details").Status == http.StatusOK },
					systemtest.Patience, 50*time.Millisecond)
				assert.Eventually(t, func() bool { return s.Get("/readyz").Status == http.StatusOK }, systemtest.Patience,
					50*time.Millisecond)
			})
		})
	}
	faults.Wait()
	systemtest.NoGoroutinesLeft(t, before)
}

// notReady checks that /readyz gives the reason why no directory session starts only to callers with the
// scope ops:read.
func notReady(s *systemtest.System) {
	s.T.Helper()
	for token, tells := range map[string]bool{systemtest.AllToken: true, systemtest.ReadToken: false,
		"none": false} {
		a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/readyz", Token: token})
		assert.Equal(s.T, http.StatusServiceUnavailable, a.Status)
		for _, check := range a.Envelope.Result {
			if check["name"] != "directorySessions" {
				continue
			}
			assert.Equal(s.T, false, check["ok"])
			if tells {
				assert.NotEmpty(s.T, check["reason"])
			} else {
				assert.NotContains(s.T, check, "reason")
			}
		}
	}
}
