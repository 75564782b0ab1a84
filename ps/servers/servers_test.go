package servers_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adgateway/ps"
	"adgateway/ps/servers"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// world is a set of servers, of which some are up, and a runner that uses them.
type world struct {
	t  *testing.T
	mu sync.Mutex
	up map[string]bool // host:port, or a host for all its ports

	discovery func() (string, error)                  // the answer of Get-GatewayServer
	warnings  []ps.Warning                            // the warnings of Get-GatewayServer
	answer    func(host string, req ps.Request) error // the answer of every other script; nil means success
	ran       []string                                // script@server, in order
	dialed    int
	hang      time.Duration // how long an attempt to connect to a server that is down takes
}

func newWorld(t *testing.T, up ...string) *world {
	w := &world{t: t, up: map[string]bool{}}
	for _, host := range up {
		w.up[host] = true
	}
	w.discovery = func() (string, error) {
		return `[{"hostName":"dc1.corp.example","site":"A","writable":true},` +
			`{"hostName":"dc2.corp.example.","site":"A","writable":true},` +
			`{"hostName":"rodc.corp.example","site":"B","writable":false}]`, nil
	}
	w.answer = func(host string, _ ps.Request) error {
		if !w.isUp(host, "9389") {
			return down()
		}
		return nil
	}
	return w
}

func down() *ps.Error {
	return &ps.Error{Kind: ps.KindScript, Step: "find user", Code: "0", Outcome: ps.OutcomeNone,
		Type: "Microsoft.ActiveDirectory.Management.ADServerDownException", Message: "unable to contact the server"}
}

func (w *world) set(host string, up bool) { w.mu.Lock(); defer w.mu.Unlock(); w.up[host] = up }

// discover changes the answer of Get-GatewayServer.
func (w *world) discover(answer func() (string, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.discovery = answer
}

// warn changes the warnings of Get-GatewayServer.
func (w *world) warn(warnings ...ps.Warning) { w.mu.Lock(); defer w.mu.Unlock(); w.warnings = warnings }

func (w *world) isUp(host, port string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.up[host] || w.up[host+":"+port]
}

func (w *world) dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	require.NoError(w.t, err)
	w.mu.Lock()
	w.dialed++
	w.mu.Unlock()
	if !w.isUp(host, port) {
		select {
		case <-time.After(w.hang):
			return nil, errors.New("refused")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	here, there := net.Pipe()
	_ = there.Close()
	return here, nil
}

func (w *world) Run(_ context.Context, req ps.Request) (*ps.Result, error) {
	if req.Script == "Get-GatewayServer" {
		w.mu.Lock()
		discovery, warnings := w.discovery, w.warnings
		w.mu.Unlock()
		text, err := discovery()
		if err != nil {
			return nil, err
		}
		return &ps.Result{Warnings: warnings}, req.Records(json.RawMessage(text))
	}
	host := text(req.Args["Server"])
	if req.Lane == ps.DNS {
		host = text(req.Args["ComputerName"])
	}
	w.mu.Lock()
	w.ran = append(w.ran, req.Script+"@"+host)
	w.mu.Unlock()
	if err := w.answer(host, req); err != nil {
		return nil, err
	}
	return &ps.Result{Effect: ps.EffectNone}, nil
}

func (w *world) runs() []string { w.mu.Lock(); defer w.mu.Unlock(); return w.ran }

func text(v ps.Value) string {
	if v.Type() != "string" {
		return v.String()
	}
	var s string
	raw, _ := v.MarshalJSON()
	_ = json.Unmarshal(raw, &s)
	return s
}

func scripts(name string) (ps.Script, bool) {
	server := ps.Param{Name: "Server", Type: "string", Mandatory: true}
	all := map[string][]ps.Param{
		"Get-GatewayServer":    {{Name: "Force", Type: "bool"}},
		"Get-GatewayUser":      {{Name: "UserName", Type: "string"}, server},
		"New-GatewayUser":      {{Name: "UserName", Type: "string"}, server},
		"Get-GatewayCName":     {{Name: "ComputerName", Type: "string"}},
		"Get-GatewayLastLogon": {server, {Name: "DomainController", Type: "string[]"}, {Name: "Unreached", Type: "string[]"}},
		"Get-GatewayPlain":     nil,
	}
	params, ok := all[name]
	return ps.Script{Name: name, Params: params}, ok
}

func (w *world) open(change func(*servers.Config)) *servers.Servers {
	w.t.Helper()
	cfg := servers.Config{Runner: w, Script: scripts, Dial: w.dial}
	if change != nil {
		change(&cfg)
	}
	s, err := servers.New(cfg)
	require.NoError(w.t, err)
	return s
}

// closed closes s with a context that outlives the test's.
func closed(t *testing.T, s *servers.Servers) {
	t.Helper()
	require.NoError(t, s.Close(context.Background()))
}

const dc1, dc2 = "dc1.corp.example", "dc2.corp.example"

func user() ps.Request {
	return ps.Request{Script: "Get-GatewayUser", Lane: ps.Directory, Args: ps.Args{"UserName": ps.Text("x")}}
}

func newUser() ps.Request {
	return ps.Request{Script: "New-GatewayUser", Lane: ps.Directory, Write: true,
		Args: ps.Args{"UserName": ps.Text("x")}}
}

// request returns a request for a change or a read.
func request(write bool) ps.Request {
	if write {
		return newUser()
	}
	return user()
}

// assertAsked asserts that a request was sent to the given hosts in this order.
func assertAsked(t *testing.T, w *world, req ps.Request, hosts []string) {
	t.Helper()
	var asked []string
	for _, host := range hosts {
		asked = append(asked, req.Script+"@"+host)
	}
	assert.Equal(t, asked, w.runs())
}

func TestFirstRespondingServerIsPinned(t *testing.T) {
	cases := []struct {
		name           string
		up             []string
		settings       servers.Config
		directory, dns string
	}{
		{name: "the first discovered", up: []string{dc1, dc2}, directory: dc1, dns: dc1},
		{name: "the first that is up", up: []string{dc2, "rodc.corp.example"}, directory: dc2, dns: dc2},
		{name: "read-only ones serve DNS only", up: []string{"rodc.corp.example"}, dns: "rodc.corp.example"},
		{name: "ADWS here, DNS there", up: []string{dc1 + ":9389", dc2 + ":53", dc2 + ":135"}, directory: dc1, dns: dc2},
		{name: "DNS needs RPC too", up: []string{dc1 + ":53", dc2}, directory: dc2, dns: dc2},
		{name: "those of the settings", up: []string{"a", "b", dc1}, settings: servers.Config{Directory: []string{"z", "b"}, DNS: []string{"a"}}, directory: "b", dns: "a"},
		{name: "none", directory: "", dns: ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, c.up...)
				s := w.open(func(cfg *servers.Config) { cfg.Directory, cfg.DNS = c.settings.Directory, c.settings.DNS })
				defer closed(t, s)
				synctest.Wait()
				directory, dns := s.Status()
				assert.Equal(t, c.directory, directory.Pinned)
				assert.Equal(t, c.dns, dns.Pinned)
				result, err := s.Run(t.Context(), user())
				if c.directory == "" {
					e := ps.AsError(err)
					require.Equal(t, ps.KindUnavailable, e.Kind)
					assert.Positive(t, e.RetryAfter)
					assert.Contains(t, e.Message, "9389")
					assert.NotEmpty(t, directory.Reason)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, c.directory, result.Server)
			})
		})
	}
}

func TestServersArePassedToScriptsThatDeclareThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dc1)
		s := w.open(nil)
		defer closed(t, s)
		var got ps.Args
		w.answer = func(_ string, req ps.Request) error { got = req.Args; return nil }
		own := user()
		_, err := s.Run(t.Context(), own)
		require.NoError(t, err)
		assert.Equal(t, ps.Args{"UserName": ps.Text("x"), "Server": ps.Text(dc1)}, got)
		assert.Len(t, own.Args, 1, "the caller's arguments are not touched")

		_, err = s.Run(t.Context(), ps.Request{Script: "Get-GatewayPlain", Lane: ps.Directory})
		require.NoError(t, err)
		assert.Empty(t, got)

		result, err := s.Run(t.Context(), ps.Request{Script: "Get-GatewayCName", Lane: ps.DNS})
		require.NoError(t, err)
		assert.Equal(t, ps.Args{"ComputerName": ps.Text(dc1)}, got)
		assert.Equal(t, dc1, result.Server)

		_, err = s.Run(t.Context(), ps.Request{Script: "Get-GatewayUser", Lane: ps.Directory,
			Args: ps.Args{"Server": ps.Text("own")}})
		require.NoError(t, err)
		assert.Equal(t, ps.Args{"Server": ps.Text("own")}, got)

		_, err = s.Run(t.Context(), ps.Request{Script: "Get-GatewayLastLogon", Lane: ps.Directory})
		require.NoError(t, err)
		assert.Equal(t, ps.List([]string{dc1}), got["DomainController"])
		assert.Equal(t, ps.List([]string{dc2, "rodc.corp.example"}), got["Unreached"])
	})
}

func TestFailover(t *testing.T) {
	at := func(step, code string, steps int, outcome ps.Outcome) *ps.Error {
		e := down()
		e.Step, e.Code, e.Outcome = step, code, outcome
		for range steps {
			e.Steps = append(e.Steps, ps.Step{Label: "create user"})
		}
		return e
	}
	cases := []struct {
		name    string
		write   bool
		err     *ps.Error
		again   bool
		moved   bool
		kind    ps.Kind
		outcome ps.Outcome
	}{
		{name: "a read", err: at("find user", "0", 0, ps.OutcomeNone), again: true, moved: true},
		{name: "a write that looks", write: true, err: at("check names", "0", 0, ps.OutcomeNone), again: true, moved: true},
		{name: "a write without any server", write: true, err: at("create user", "1355", 0, ps.OutcomeNone), again: true, moved: true},
		{name: "a write that writes", write: true, err: at("create user", "0", 0, ps.OutcomeNone), moved: true, kind: ps.KindScript, outcome: ps.OutcomeUnknown},
		{name: "a write before its first step", write: true, err: at("run", "0", 0, ps.OutcomeNone), moved: true, kind: ps.KindScript, outcome: ps.OutcomeUnknown},
		{name: "a write after a step", write: true, err: at("find manager", "0", 1, ps.OutcomePartial), moved: true, kind: ps.KindScript, outcome: ps.OutcomePartial},
		{name: "a write that was done", write: true, err: at("report", "0", 1, ps.OutcomeDone), moved: true, kind: ps.KindScript, outcome: ps.OutcomeDone},
		{name: "RPC of DNS", err: &ps.Error{Kind: ps.KindScript, Step: "find zone", Native: "WIN32 1722", Outcome: ps.OutcomeNone}, again: true, moved: true},
		{name: "no endpoint", err: &ps.Error{Kind: ps.KindScript, Step: "find zone", Native: "WIN32 1753", Outcome: ps.OutcomeNone}, again: true, moved: true},
		{name: "not found", err: &ps.Error{Kind: ps.KindScript, Code: "8333", Outcome: ps.OutcomeNone}, kind: ps.KindScript, outcome: ps.OutcomeNone},
		{name: "an error of our own with such a code", err: &ps.Error{Kind: ps.KindScript, Gateway: "conflict", Code: "1722", Outcome: ps.OutcomeNone}, kind: ps.KindScript, outcome: ps.OutcomeNone},
		{name: "a session that died", err: &ps.Error{Kind: ps.KindDied, Outcome: ps.OutcomeNone}, kind: ps.KindDied, outcome: ps.OutcomeNone},
		{name: "a time-out inside a write", write: true, err: &ps.Error{Kind: ps.KindScript, Step: "set password", Type: "System.TimeoutException", Outcome: ps.OutcomeNone}, kind: ps.KindScript, outcome: ps.OutcomeUnknown},
		{name: "a time-out inside a read", err: &ps.Error{Kind: ps.KindScript, Step: "find user", Type: "System.TimeoutException", Outcome: ps.OutcomeNone}, kind: ps.KindScript, outcome: ps.OutcomeNone},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, dc1, dc2)
				s := w.open(nil)
				defer closed(t, s)
				synctest.Wait()
				w.answer = func(host string, _ ps.Request) error {
					if host == dc1 {
						return c.err
					}
					return nil
				}
				req := request(c.write)
				result, err := s.Run(t.Context(), req)
				if c.again {
					require.NoError(t, err)
					assert.Equal(t, dc2, result.Server)
				} else {
					e := ps.AsError(err)
					assert.Equal(t, c.kind, e.Kind)
					assert.Equal(t, c.outcome, e.Outcome)
					assert.Equal(t, dc1, e.Server)
					assert.Len(t, w.runs(), 1)
				}
				directory, _ := s.Status()
				if c.moved {
					assert.Equal(t, dc2, directory.Pinned)
					assert.Equal(t, 1, directory.Failovers)
				} else {
					assert.Equal(t, dc1, directory.Pinned)
				}
			})
		})
	}
}

func TestReadIsNotRepeatedAfterItHasAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dc1, dc2)
		s := w.open(nil)
		defer closed(t, s)
		synctest.Wait()
		w.answer = func(_ string, req ps.Request) error {
			if err := req.Records(json.RawMessage(`[{}]`)); err != nil {
				return err
			}
			return down()
		}
		req := user()
		batches := 0
		req.Records = func(json.RawMessage) error { batches++; return nil }
		_, err := s.Run(t.Context(), req)
		assert.Equal(t, ps.KindUnavailable, ps.AsError(err).Kind)
		assert.Equal(t, 1, batches)
	})
}

func TestLossOfTheLastServerAndRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dc1)
		s := w.open(nil)
		defer closed(t, s)
		synctest.Wait()
		w.set(dc1, false)
		_, err := s.Run(t.Context(), user())
		e := ps.AsError(err)
		assert.Equal(t, ps.KindUnavailable, e.Kind)
		assert.Equal(t, dc1, e.Server)
		assert.Positive(t, e.RetryAfter)
		ran := len(w.runs())
		_, err = s.Run(t.Context(), user())
		assert.Equal(t, ps.KindUnavailable, ps.AsError(err).Kind)
		assert.Len(t, w.runs(), ran, "no session is used while no server answers")

		w.set(dc2, true)
		time.Sleep(time.Minute)
		synctest.Wait()
		result, err := s.Run(t.Context(), user())
		require.NoError(t, err)
		assert.Equal(t, dc2, result.Server)
	})
}

func TestReturnToThePreferredServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dc1, dc2)
		s := w.open(func(c *servers.Config) { c.Return = 5 * time.Minute })
		defer closed(t, s)
		synctest.Wait()
		w.set(dc1, false)
		result, err := s.Run(t.Context(), user())
		require.NoError(t, err)
		assert.Equal(t, dc2, result.Server)
		w.set(dc1, true)
		time.Sleep(time.Minute)
		result, err = s.Run(t.Context(), user())
		require.NoError(t, err)
		assert.Equal(t, dc2, result.Server, "not at once")
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		result, err = s.Run(t.Context(), user())
		require.NoError(t, err)
		assert.Equal(t, dc1, result.Server)
		directory, _ := s.Status()
		assert.Contains(t, directory.Reason, "preferred")
	})
}

func TestWriteOnAnIdleServerIsPrecededByAProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dc1, dc2)
		s := w.open(func(c *servers.Config) { c.Verify = 30 * time.Second })
		defer closed(t, s)
		synctest.Wait()
		w.set(dc1, false)
		time.Sleep(time.Minute)
		result, err := s.Run(t.Context(), newUser())
		require.NoError(t, err)
		assert.Equal(t, dc2, result.Server)
		assert.Equal(t, []string{"New-GatewayUser@" + dc2}, w.runs())
	})
}

func TestServerIsProbedAfterATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dc1, dc2)
		s := w.open(nil)
		defer closed(t, s)
		synctest.Wait()
		w.answer = func(string, ps.Request) error { return &ps.Error{Kind: ps.KindTimeout} }
		_, err := s.Run(t.Context(), user())
		assert.Equal(t, ps.KindTimeout, ps.AsError(err).Kind)
		synctest.Wait()
		directory, _ := s.Status()
		assert.Equal(t, dc1, directory.Pinned, "its port answers")

		w.set(dc1, false)
		_, err = s.Run(t.Context(), user())
		assert.Equal(t, ps.KindTimeout, ps.AsError(err).Kind)
		synctest.Wait()
		directory, _ = s.Status()
		assert.Equal(t, dc2, directory.Pinned)
	})
}

func TestConcurrentRequestsFailOverOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dc1, dc2)
		s := w.open(nil)
		defer closed(t, s)
		synctest.Wait()
		w.set(dc1, false)
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() {
				result, err := s.Run(t.Context(), user())
				if assert.NoError(t, err) {
					assert.Equal(t, dc2, result.Server)
				}
			})
		}
		calls.Wait()
		directory, _ := s.Status()
		assert.Equal(t, 1, directory.Failovers)
	})
}

func TestRefreshUnpinsAServerThatIsNoLongerDiscovered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dc1, dc2)
		s := w.open(func(c *servers.Config) { c.Refresh = time.Minute; c.Return = time.Hour })
		defer closed(t, s)
		synctest.Wait()
		w.discover(func() (string, error) { return `[{"hostName":"` + dc2 + `","writable":true}]`, nil })
		time.Sleep(61 * time.Second)
		synctest.Wait()
		directory, _ := s.Status()
		assert.Equal(t, dc2, directory.Pinned)
		assert.Contains(t, directory.Reason, "not among the discovered")

		w.discover(func() (string, error) { return "", errors.New("away") })
		time.Sleep(time.Minute)
		synctest.Wait()
		directory, _ = s.Status()
		assert.Equal(t, dc2, directory.Pinned, "a failed refresh changes nothing")
	})
}

func TestSlowProbeTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dc2)
		w.hang = time.Hour
		start := time.Now()
		s := w.open(nil)
		defer closed(t, s)
		result, err := s.Run(t.Context(), user())
		require.NoError(t, err)
		assert.Equal(t, dc2, result.Server)
		assert.LessOrEqual(t, time.Since(start), 2*time.Second)
	})
}

func TestNewNeedsRunnerAndScript(t *testing.T) {
	_, err := servers.New(servers.Config{})
	require.Error(t, err)
}
