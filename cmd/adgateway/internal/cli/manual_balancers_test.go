package cli

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/tlscert"
	"adgateway/test/freeport"
	"adgateway/test/manual"
	"adgateway/test/systemtest"
)

var balancerBlocks = regexp.MustCompile("(?s)<!-- balancer: ([a-z]+) -->\n```[a-z]+\n(.*?)\n```\n")

// balancers maps each program for which the manual has a configuration to the file for that configuration and
// the command that starts the program.
var balancers = map[string]struct {
	file   string // %s is replaced by the configuration, FOLDER by the test's folder
	starts []string
}{
	"caddy":   {"{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n%s\n", []string{"run", "--adapter", "caddyfile", "--config"}},
	"nginx":   {"daemon off; user root; pid FOLDER/nginx.pid; error_log stderr;\nevents {}\nhttp {\naccess_log off; client_body_temp_path FOLDER/body; proxy_temp_path FOLDER/proxy; fastcgi_temp_path FOLDER/fastcgi; uwsgi_temp_path FOLDER/uwsgi; scgi_temp_path FOLDER/scgi;\n%s\n}\n", []string{"-p", "FOLDER", "-e", "stderr", "-c"}},
	"haproxy": {"%s\n", []string{"-db", "-f"}},
}

// behind are the servers behind a balancer. They answer as gateways do and record the
// requests that reached them.
type behind struct {
	servers   []*httptest.Server
	unready   [3]atomic.Bool  // refuses changes
	follows   [3]atomic.Bool  // does not lead the cluster
	checked   [3]atomic.Int32 // number of checks whether it accepts changes
	deaf      atomic.Bool     // closes connections instead of answering changes
	mu        sync.Mutex
	seen      map[string]int // number of requests by method and path
	left      chan struct{}  // receives a value when a reader of events disconnects
	goOn      chan struct{}  // releases the next event
	forwarded string
}

func newBehind(t *testing.T, pair tls.Certificate) *behind {
	b := &behind{seen: map[string]int{}, left: make(chan struct{}, 1), goOn: make(chan struct{})}
	for i := range b.unready {
		s := httptest.NewUnstartedServer(
			http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { b.answer(i, w, r) }))
		s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
		s.StartTLS()
		t.Cleanup(func() { stopServing(s) })
		b.servers = append(b.servers, s)
	}
	return b
}

// stopServing stops a server even if one of its requests does not end.
func stopServing(s *httptest.Server) {
	s.CloseClientConnections()
	s.Close()
}

func (b *behind) answer(i int, w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/readyz" {
		lane := r.URL.Query().Get("lane")
		if lane == "changes" {
			b.checked[i].Add(1)
		}
		if lane == "leader" && b.follows[i].Load() || lane != "" && b.unready[i].Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return
	}
	b.mu.Lock()
	b.seen[r.Method+" "+r.URL.Path]++
	b.forwarded = r.Header.Get("X-Forwarded-For")
	b.mu.Unlock()
	w.Header().Set("Gateway", fmt.Sprint(i))
	switch {
	case r.URL.Path == "/events":
		w.Header().Set("Content-Type", "text/event-stream")
		for next := "data: x"; ; {
			fmt.Fprintln(w, next)
			w.(http.Flusher).Flush()
			select {
			case <-b.goOn:
				next = "data: x"
			case <-time.After(100 * time.Millisecond):
				next = ": a comment"
			case <-r.Context().Done():
				b.left <- struct{}{}
				return
			}
		}
	case r.Method != http.MethodGet && b.deaf.Load():
		panic(http.ErrAbortHandler)
	case r.URL.Path == "/refused":
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		_, _ = io.Copy(io.Discard, r.Body)
	}
}

func (b *behind) count(call string) int { b.mu.Lock(); defer b.mu.Unlock(); return b.seen[call] }

// start starts a balancer with its configuration from the manual and returns a client that trusts it.
func (b *behind) start(t *testing.T, name, block, folder string, roots *x509.CertPool) (client *http.Client) {
	own := freeport.Addresses(t, 1)[0]
	text := fmt.Sprintf(balancers[name].file, block)
	for i, s := range b.servers {
		text = strings.ReplaceAll(text, fmt.Sprintf("gw%d.corp.example:8443", i+1), s.Listener.Addr().String())
	}
	_, port, _ := strings.Cut(own, ":")
	text = strings.NewReplacer("FOLDER", folder, "api.corp.example:443", "api.corp.example:"+port, "listen 443",
		"listen "+own, "bind :443", "bind "+own).Replace(text)
	text = regexp.MustCompile(`([ \t])((?:ca|api|api-with-key)\.(?:pem|key))`).ReplaceAllString(text, "${1}"+folder+"/$2")
	file := filepath.Join(folder, name+".conf")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	args := append([]string{}, balancers[name].starts...)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "FOLDER", folder)
	}
	process := exec.CommandContext(t.Context(), name, append(args, file)...)
	process.Env = append(os.Environ(), "HOME="+folder, "XDG_DATA_HOME="+folder, "XDG_CONFIG_HOME="+folder)
	process.Cancel = func() error { return process.Process.Signal(os.Interrupt) }
	process.WaitDelay = 5 * time.Second
	var log systemtest.LogBuffer
	process.Stdout, process.Stderr = &log, &log
	require.NoError(t, process.Start())
	t.Cleanup(func() {
		_ = process.Cancel()
		_ = process.Wait() // it was told to stop
		if t.Failed() {
			t.Log(text, log.String())
		}
	})
	return &http.Client{Timeout: patience, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "api.corp.example"}, DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, own)
		},
	}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// TestManualBalancers: each installed balancer behaves as the manual promises when it runs with the
// configuration in the manual.
func TestManualBalancers(t *testing.T) {
	blocks := balancerBlocks.FindAllStringSubmatch(manual.Text(t, "load-balancer"), -1)
	require.Len(t, blocks, len(balancers))
	require.Equal(t, len(blocks), strings.Count(manual.All(t), "\n<!-- balancer: "))
	folder := t.TempDir()
	certificate, key, err := tlscert.SelfSigned([]string{"api.corp.example"}, 2, time.Now())
	require.NoError(t, err)
	for name, text := range map[string][]byte{"api.pem": certificate, "ca.pem": certificate, "api.key": key,
		"api-with-key.pem": append(certificate[:len(certificate):len(certificate)], key...)} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), text, 0o600))
	}
	pair, err := tls.X509KeyPair(certificate, key)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(certificate))
	for _, block := range blocks {
		t.Run(block[1], func(t *testing.T) {
			needs(t, block[1])
			b := newBehind(t, pair)
			b.check(t, block[1], b.start(t, block[1], block[2], folder, roots))
		})
	}
}

// check checks the manual's statements about every balancer.
func (b *behind) check(t *testing.T, name string, client *http.Client) {
	ask := func(method, path string, body int) (status int, gateway string) {
		request, err := http.NewRequestWithContext(t.Context(), method, "https://api.corp.example"+path,
			strings.NewReader(strings.Repeat("x", body)))
		require.NoError(t, err)
		response, err := client.Do(request)
		if err != nil {
			return 0, ""
		}
		defer response.Body.Close()
		return response.StatusCode, response.Header.Get("Gateway")
	}
	works := func(method string) func() bool {
		return func() bool { status, _ := ask(method, "/warm", 0); return status == http.StatusOK }
	}
	require.Eventually(t, works(http.MethodGet), patience, 20*time.Millisecond)
	require.Eventually(t, works(http.MethodPut), patience, 20*time.Millisecond)
	b.mu.Lock()
	assert.Equal(t, "127.0.0.1", b.forwarded)
	b.mu.Unlock()

	require.Eventually(t, func() bool {
		used := map[string]bool{}
		for range 30 {
			_, gateway := ask(http.MethodGet, "/read", 0)
			used[gateway] = true
		}
		return len(used) == 3
	}, patience, 20*time.Millisecond, "no stickiness")
	status, _ := ask(http.MethodPost, "/list", 30<<20)
	assert.Equal(t, http.StatusOK, status, "the list of a job is let through")
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		status, _ := ask(method, "/refused", 0)
		assert.Equal(t, http.StatusServiceUnavailable, status)
		assert.Equal(t, 1, b.count(method+" /refused"), "a refusal is not repeated elsewhere")
	}
	b.deaf.Store(true)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		status, _ := ask(method, "/unanswered", 1)
		assert.Equal(t, http.StatusBadGateway, status)
		assert.Equal(t, 1, b.count(method+" /unanswered"), "%s: what was not answered is not repeated elsewhere",
			method)
	}
	b.deaf.Store(false)
	require.Eventually(t, works(http.MethodGet), patience, 20*time.Millisecond, "nginx has passed over them")
	b.passesEvents(t, client)

	stopServing(b.servers[0])
	require.Eventually(t, works(http.MethodGet), patience, 20*time.Millisecond)
	require.Eventually(t, works(http.MethodPut), patience, 20*time.Millisecond)
	if name == "nginx" {
		return // it cannot check servers
	}
	allChangesAt := func(want string) func() bool {
		return func() bool {
			for range 10 {
				if _, gateway := ask(http.MethodPut, "/change", 0); gateway != want {
					return false
				}
			}
			return true
		}
	}
	b.unready[1].Store(true)
	require.Eventually(t, allChangesAt("2"), patience, 20*time.Millisecond, "changes go where they can be made")
	require.Eventually(t, func() bool { _, gateway := ask(http.MethodGet, "/read", 0); return gateway == "1" },
		patience, 20*time.Millisecond, "reads go on")
	b.follows[1].Store(true)
	b.unready[1].Store(false)
	before := b.checked[1].Load()
	require.Eventually(t, func() bool { return b.checked[1].Load() > before+1 }, patience, 20*time.Millisecond)
	if name == "haproxy" {
		assert.True(t, allChangesAt("2")(), "changes go to the leader, although another gateway takes them")
	}
	b.follows[2].Store(true)
	changed := func() bool { _, gateway := ask(http.MethodPut, "/change", 0); return gateway == "1" }
	require.Eventually(t, changed, patience, 20*time.Millisecond, "while none leads, all gateways take changes")
}

// passesEvents checks that the balancer passes on each event immediately, and that a gateway
// notices when the client disconnects.
func (b *behind) passesEvents(t *testing.T, client *http.Client) {
	ctx, leave := context.WithTimeout(t.Context(), patience)
	defer leave()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://api.corp.example/events", nil)
	require.NoError(t, err)
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	events := bufio.NewReader(response.Body)
	for i := range 3 {
		for line := ""; line != "data: x\n"; {
			line, err = events.ReadString('\n')
			require.NoError(t, err)
			require.Contains(t, []string{"data: x\n", ": a comment\n"}, line)
		}
		if i < 2 {
			b.goOn <- struct{}{}
		}
	}
	leave()
	select {
	case <-b.left:
	case <-time.After(patience):
		assert.Fail(t, "the gateway does not notice that a reader of events has left")
	}
}
