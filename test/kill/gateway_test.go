// Package kill kills gateways while they run jobs. Each gateway is a separate process. The simulated domain
// runs in the test's process, so it survives the gateways.
package kill

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn"
	"adgateway/gateway/config/configtest"
	"adgateway/gateway/identity"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/remote"
	"adgateway/ps/session"
	"adgateway/test/systemtest"
)

// gatewayVariable is the environment variable with the plan of the gateway that the test binary runs as.
const gatewayVariable = "TEST_GATEWAY"

// token is a credential with every scope on all gateways.
const token = "kill-token"

// plan configures the gateway in a process. It is passed in the environment.
type plan struct {
	Settings []string
	Keys     [][]string // the environment variables of its sessions, one set each
	Hosts    []string   // servers that respond
}

func TestMain(m *testing.M) {
	if text := os.Getenv(gatewayVariable); text != "" {
		_ = os.Unsetenv(gatewayVariable) // its sessions are not gateways
		if err := serve(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	systemtest.Main(m)
}

// serve prints the URL of a gateway, and runs it until a signal stops it.
func serve(text string) error {
	var p plan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	settings, err := configtest.Load("", nil, p.Settings)
	if err != nil {
		return err
	}
	log := logrus.New()
	log.SetOutput(os.Stderr)
	log.SetLevel(logrus.ErrorLevel)
	static := authn.NewStatic(authn.Header{})
	if err := static.AddToken(token,
		&identity.Principal{Name: "kill", Scopes: []identity.Scope{identity.All}}); err != nil {
		return err
	}
	var next atomic.Int32
	starter := &remote.Starter{Env: func() []string {
		i := int(next.Add(1)) - 1
		if i >= len(p.Keys) {
			return nil
		}
		return append(p.Keys[i], systemtest.EngineVariable+"=kill")
	}}
	return systemtest.Serve(ctx, app.Options{
		Settings: settings, Auth: static, Log: log, Engine: "sandbox", Dial: p.dial,
		Session: func(ps.Lane) session.Config { return session.Config{Starter: starter} },
	}, "127.0.0.1:0", func(address net.Addr) { fmt.Printf("http://%s\n", address) })
}

func (p *plan) dial(_ context.Context, network, address string) (net.Conn, error) {
	for _, host := range p.Hosts {
		if strings.HasPrefix(strings.ToLower(address), strings.ToLower(host)) {
			client, server := net.Pipe()
			return client, server.Close()
		}
	}
	return nil, &net.OpError{Op: "dial", Net: network, Err: os.ErrNotExist}
}

// fleet starts gateways one after another, with the same world and store.
type fleet struct {
	t      *testing.T
	world  *sandbox.World
	server *remote.Server
	plan   plan

	process *exec.Cmd
	url     string
	kills   int
}

func newFleet(t *testing.T, settings ...string) *fleet {
	world, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	server, err := remote.NewServer(world)
	require.NoError(t, err)
	f := &fleet{t: t, world: world, server: server, plan: plan{Settings: settings}}
	for _, dc := range world.Directory.DCs() {
		f.plan.Hosts = append(f.plan.Hosts, dc.HostName())
	}
	t.Cleanup(func() {
		f.end(syscall.SIGKILL)
		require.NoError(t, server.Close())
	})
	return f
}

// sessions is the number of sessions that a gateway may start, several times the size of its pool.
const sessions = 40

// start starts a gateway and waits until it accepts requests.
func (f *fleet) start() {
	f.t.Helper()
	f.plan.Keys = nil
	for range sessions {
		f.plan.Keys = append(f.plan.Keys, f.server.Issue())
	}
	text, err := json.Marshal(f.plan)
	require.NoError(f.t, err)
	self, err := os.Executable()
	require.NoError(f.t, err)
	f.process = exec.Command(self)
	f.process.Env = append(os.Environ(), gatewayVariable+"="+string(text))
	f.process.Stderr = os.Stderr
	out, err := f.process.StdoutPipe()
	require.NoError(f.t, err)
	require.NoError(f.t, f.process.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(f.t, err, "the gateway did not start")
	f.url = strings.TrimSpace(line)
}

// end ends the gateway with a signal, and waits until its process has exited.
func (f *fleet) end(signal os.Signal) {
	if f.process == nil {
		return
	}
	_ = f.process.Process.Signal(signal)
	_ = f.process.Wait() // killed processes have an error
	f.process = nil
}

// kill kills the gateway without warning, and starts another.
func (f *fleet) kill() {
	f.end(syscall.SIGKILL)
	f.kills++
	f.start()
}

// call sends a request and decodes the records of the answer.
func (f *fleet) call(method, path string, body string, media string) (int, []map[string]any) {
	f.t.Helper()
	var e struct{ Result []map[string]any }
	status := f.send(method, path, body, media, &e)
	return status, e.Result
}

// send sends a request and decodes the answer.
func (f *fleet) send(method, path, body, media string, answer any) (status int) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), systemtest.Patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, f.url+path, strings.NewReader(body))
	require.NoError(f.t, err)
	request.Header.Set("Auth-Token", "Bearer "+token)
	if media != "" {
		request.Header.Set("Content-Type", media)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(f.t, err)
	defer response.Body.Close()
	require.NoError(f.t, json.NewDecoder(response.Body).Decode(answer))
	return response.StatusCode
}

// progress is the number of items that a gateway finishes before it is killed. It is greater than the number
// of items that are called again because their results were not yet written.
const progress = 60

// job waits until a job has ended. At intervals of every it kills the gateway, at most kills times.
func (f *fleet) job(id string, kills int, every time.Duration, patience time.Duration) map[string]any {
	f.t.Helper()
	deadline := time.Now().Add(patience)
	next, since := time.Now().Add(every), -1.0
	for {
		status, records := f.call(http.MethodGet, "/api/Jobs/"+id, "", "")
		require.Equal(f.t, http.StatusOK, status)
		job := records[0]
		if job["ended"] != nil {
			return job
		}
		require.True(f.t, time.Now().Before(deadline), "the job does not end: %v", job)
		made := job["done"].(float64)
		if since < 0 {
			since = made
		}
		if kills > 0 && time.Now().After(next) && made >= since+progress {
			f.kill()
			kills--
			next, since = time.Now().Add(every), -1
		}
		<-time.After(20 * time.Millisecond)
	}
}
