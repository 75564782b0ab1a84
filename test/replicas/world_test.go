package replicas

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/engine/stock"
	"adgateway/gateway/journal"
	"adgateway/gateway/journal/jetstream"
	"adgateway/gateway/store"
	"adgateway/test/failing"
	"adgateway/test/freeport"
)

const (
	// The role of a process of this program, and its options.
	roleVariable    = "REPLICAS_ROLE"
	optionsVariable = "REPLICAS_OPTIONS"

	size = 3 // number of gateways, and of nodes

	// patience is the time for which a test waits for an event that must happen. The product does not promise
	// that it happens within this time.
	patience = 3 * time.Minute
)

func TestMain(m *testing.M) {
	log.SetFlags(log.Ldate | log.Ltime | log.Lmicroseconds)
	var err error
	role := os.Getenv(roleVariable)
	if role != "" {
		go endWithTest()
	}
	switch role {
	case "":
		os.Exit(m.Run())
	case "gateway":
		var o gatewayOptions
		if err = json.Unmarshal([]byte(os.Getenv(optionsVariable)), &o); err == nil {
			err = runGateway(o)
		}
	case "node":
		var o stock.Options
		if err = json.Unmarshal([]byte(os.Getenv(optionsVariable)), &o); err == nil {
			err = runNode(o)
		}
	}
	if err != nil {
		log.Fatalln("the process ends", err)
	}
	os.Exit(0) // exits without waiting for goroutines
}

// endWithTest ends the process when the test's process has ended.
func endWithTest() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

// span is a period. Its end is zero while the period is still open.
type span struct{ from, to time.Time }

// process is a process that can fail.
type process struct {
	t       *testing.T
	name    string
	role    string
	log     *os.File
	options func(start string) any

	mu     sync.Mutex
	starts int
	cmd    *exec.Cmd // nil if the process is not running
	ended  chan struct{}
	wanted bool            // the process should be running
	frozen []span          // all times when it was frozen
	lives  map[string]span // by start name
	start  string
}

func (p *process) run() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.starts++
	p.start = fmt.Sprint(p.name, "-", p.starts)
	options, err := json.Marshal(p.options(p.start))
	require.NoError(p.t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0 halt_on_error=1", roleVariable+"="+p.role,
		optionsVariable+"="+string(options))
	cmd.Stdout, cmd.Stderr = p.log, p.log
	_, err = cmd.StdinPipe() // the pipe closes when this process ends
	require.NoError(p.t, err)
	require.NoError(p.t, cmd.Start())
	p.cmd, p.wanted, p.ended = cmd, true, make(chan struct{})
	p.lives[p.start] = span{from: time.Now()}
	start, ended := p.start, p.ended
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		defer close(ended)
		life := p.lives[start]
		life.to = time.Now()
		p.lives[start] = life
		if p.wanted {
			p.t.Errorf("%s ended by itself: %v", start, err)
		}
		p.cmd = nil
	}()
}

// end ends the process with a signal, and returns when it has ended.
func (p *process) end(with syscall.Signal) {
	p.mu.Lock()
	p.wanted = false
	cmd, ended := p.cmd, p.ended
	if cmd != nil {
		if n := len(p.frozen); n > 0 && p.frozen[n-1].to.IsZero() {
			p.wake()
		}
		assert.NoError(p.t, cmd.Process.Signal(with))
	}
	p.mu.Unlock()
	if cmd != nil {
		<-ended
	}
}

func (p *process) freeze(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return
	}
	if on {
		p.frozen = append(p.frozen, span{from: time.Now()})
		assert.NoError(p.t, failing.Freeze(p.cmd.Process.Pid, true))
		return
	}
	p.wake()
}

// wake resumes a frozen process. p.mu is held.
func (p *process) wake() {
	assert.NoError(p.t, failing.Freeze(p.cmd.Process.Pid, false))
	p.frozen[len(p.frozen)-1].to = time.Now()
}

// wasFrozen reports whether the process was frozen at any time between from and to.
func (p *process) wasFrozen(from, to time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.frozen {
		if f.from.Before(to) && (f.to.IsZero() || f.to.After(from)) {
			return true
		}
	}
	return false
}

// member is a gateway and its connections to each node.
type member struct {
	process
	address    string
	file       string
	offset     string
	log, beats []*enginetest.Wire
}

// world is a cluster.
type world struct {
	t        *testing.T
	folder   string
	writes   string
	gateways []*member
	nodes    []*process
	between  *enginetest.Wires
	conn     *nats.Conn // connection to all nodes, which remains even when other connections are cut off
	client   *http.Client
}

// newWorld starts a cluster whose log has at most logBytes bytes.
func newWorld(t *testing.T, logBytes int64) *world {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot freeze a process by a signal")
	}
	folder, err := os.MkdirTemp(os.Getenv("REPLICAS_FOLDER"), "replicas")
	require.NoError(t, err)
	w := &world{
		t: t, folder: folder, writes: filepath.Join(folder, "writes"),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}},
	}
	t.Cleanup(w.remove)
	urls := w.startNodes()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	w.conn, err = connect(urls)(nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond),
		nats.RetryOnFailedConnect(true))
	require.NoError(t, err)
	t.Cleanup(w.conn.Close)
	require.NoError(t, jetstream.Create(ctx, jetstream.Options{Cluster: clusterName, Connect: connect(urls)},
		jetstream.Settings{Replicas: size, MaxBytes: logBytes}))
	w.startGateways(urls)
	w.await("no gateway leads", func() bool { return w.leader() != nil })
	return w
}

// remove ends all processes, and removes their files unless the test failed.
func (w *world) remove() {
	for _, g := range w.gateways {
		g.kill()
		for _, wire := range append(g.log, g.beats...) {
			wire.Close()
		}
	}
	for _, n := range w.nodes {
		n.kill()
	}
	w.between.Close()
	w.client.CloseIdleConnections()
	if w.t.Failed() {
		w.t.Logf("what the processes said is in %s", w.folder)
		return
	}
	assert.NoError(w.t, os.RemoveAll(w.folder))
}

// newProcess returns a process that is not running yet.
func (w *world) newProcess(role, name string, options func(start string) any) process {
	file, err := os.Create(filepath.Join(w.folder, name+".log"))
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = file.Close() })
	return process{t: w.t, name: name, role: role, log: file, options: options, lives: map[string]span{}}
}

// startNodes starts the nodes, and returns the URLs for clients.
func (w *world) startNodes() (urls []string) {
	var err error
	w.between, err = enginetest.NewWires(size)
	require.NoError(w.t, err)
	ports := freeport.Ports(w.t, 2*size)
	for i := range size {
		client, cluster := fmt.Sprintf("127.0.0.1:%d", ports[i]), fmt.Sprintf("127.0.0.1:%d", ports[size+i])
		urls = append(urls, "nats://"+client)
		w.between.To(i, cluster)
		o := stock.Options{
			Node: enginetest.Name(i), Cluster: clusterName, Listen: client, ClusterListen: cluster,
			Peers:     w.between.Peers(i),
			Advertise: "127.0.0.1:1", // no process listens there, so the nodes have no other connection to each other
			Store:     filepath.Join(w.folder, enginetest.Name(i)), MaxStore: 1 << 30,
		}
		n := w.newProcess("node", o.Node, func(string) any { return o })
		w.nodes = append(w.nodes, &n)
		n.run()
	}
	return urls
}

func (w *world) startGateways(urls []string) {
	first := filepath.Join(w.folder, "first")
	file, _, err := store.Open(store.Options{Path: first})
	require.NoError(w.t, err)
	require.NoError(w.t, file.Close())
	content, err := os.ReadFile(first)
	require.NoError(w.t, err)
	addresses, names, since := map[string]string{}, []string(nil), time.Now()
	for i, port := range freeport.Ports(w.t, size) {
		names = append(names, fmt.Sprint("gw", i+1))
		addresses[names[i]] = fmt.Sprintf("127.0.0.1:%d", port)
	}
	for _, name := range names {
		g := &member{
			address: addresses[name], file: filepath.Join(w.folder, name+".store"),
			offset: filepath.Join(w.folder, name+".offset"), log: w.wires(urls), beats: w.wires(urls),
		}
		require.NoError(w.t, os.WriteFile(g.file, content, 0o600))
		others := map[string]string{}
		for other, address := range addresses {
			if other != name {
				others[other] = address
			}
		}
		g.process = w.newProcess("gateway", name, func(start string) any {
			return gatewayOptions{
				Self: journal.Process{Gateway: name, Start: start}, Names: names, Listen: g.address, Others: others,
				Log: enter(g.log), Beats: enter(g.beats), File: g.file, Offset: g.offset, Writes: w.writes, Since: since,
			}
		})
		w.gateways = append(w.gateways, g)
		g.run()
	}
}

func (w *world) wires(urls []string) (all []*enginetest.Wire) {
	for _, url := range urls {
		wire, err := enginetest.NewWire(url[len("nats://"):])
		require.NoError(w.t, err)
		all = append(all, wire)
	}
	return all
}

func enter(wires []*enginetest.Wire) (urls []string) {
	for _, wire := range wires {
		urls = append(urls, "nats://"+wire.Address())
	}
	return urls
}

// call calls a gateway, and returns the status, or 0 if no answer came.
func (w *world) call(g *member, method, path string, limit time.Duration) (status int, body string) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, "http://"+g.address+path, nil)
	require.NoError(w.t, err)
	response, err := w.client.Do(request)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = response.Body.Close() }()
	var content bytes.Buffer
	if _, err = content.ReadFrom(response.Body); err != nil {
		return 0, ""
	}
	return response.StatusCode, content.String()
}

// state returns the state of a gateway. ok is false if the gateway does not answer.
func (w *world) state(g *member) (s state, ok bool) {
	status, body := w.call(g, http.MethodGet, "/state", 2*time.Second)
	return s, status == http.StatusOK && json.Unmarshal([]byte(body), &s) == nil
}

// leader returns the gateway that leads, or nil if none does.
func (w *world) leader() *member {
	for _, g := range w.gateways {
		if s, ok := w.state(g); ok && s.Leads {
			return g
		}
	}
	return nil
}

// stream returns the state of the stream, or nil if no node answers.
func (w *world) stream() *js.StreamInfo {
	client, err := js.New(w.conn, js.WithDefaultTimeout(time.Second))
	require.NoError(w.t, err)
	stream, err := client.Stream(w.t.Context(), jetstream.StreamName(clusterName))
	if err != nil {
		return nil
	}
	return stream.CachedInfo()
}

// streamLeader returns the node that leads the stream, or nil if none does.
func (w *world) streamLeader() *process {
	info := w.stream()
	if info == nil || info.Cluster == nil {
		return nil
	}
	for _, n := range w.nodes {
		if n.name == info.Cluster.Leader {
			return n
		}
	}
	return nil
}

func (w *world) await(message string, done func() bool) {
	w.t.Helper()
	require.Eventually(w.t, done, patience, 50*time.Millisecond, message)
}

// whole waits until everything works: all gateways have applied the same entries, and all
// nodes have the whole log.
func (w *world) whole() {
	w.t.Helper()
	w.await("the nodes do not have the same", func() bool {
		info := w.stream()
		if info == nil || info.Cluster == nil || len(info.Cluster.Replicas) != size-1 {
			return false
		}
		for _, r := range info.Cluster.Replicas {
			if !r.Current || r.Offline {
				return false
			}
		}
		return true
	})
	w.await("no gateway leads", func() bool { return w.leader() != nil })
	w.await("the gateways do not have the same", func() bool {
		digests := map[store.Hash]bool{}
		for _, g := range w.gateways {
			s, ok := w.state(g)
			if !ok {
				return false
			}
			digests[s.Digest] = true
		}
		return len(digests) == 1
	})
}
