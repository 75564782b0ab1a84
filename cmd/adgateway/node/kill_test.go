package node_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/freeport"
)

// process is a node in a process of its own.
type process struct {
	command *exec.Cmd
	ready   chan struct{} // closed when the log says so
	ended   chan struct{} // closed when the process has
}

func launch(ctx context.Context, t *testing.T, file string) *process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	p := &process{command: exec.CommandContext(ctx, self, "run", "--config", file), ready: make(chan struct{}), ended: make(chan struct{})}
	p.command.Env = append(os.Environ(), asNode+"=1")
	reader, writer := io.Pipe()
	p.command.Stdout, p.command.Stderr = writer, writer
	require.NoError(t, p.command.Start())
	go func() {
		defer close(p.ended)
		_ = p.command.Wait() // it was killed
		_ = writer.Close()
	}()
	go func() {
		for lines := bufio.NewScanner(reader); lines.Scan(); {
			if strings.Contains(lines.Text(), "the node is ready") {
				close(p.ready)
				_, _ = io.Copy(io.Discard, reader)
			}
		}
	}()
	return p
}

func (p *process) await(ctx context.Context, t *testing.T) {
	t.Helper()
	select {
	case <-p.ready:
	case <-p.ended:
		t.Fatal("a node has ended by itself")
	case <-ctx.Done():
		t.Fatal("a node is not ready in time")
	}
}

func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.ended
}

// grants counts what became of attempts to create subjects, each by several writers.
type grants struct {
	mu      sync.Mutex
	granted map[string][]string // subject -> the tokens that were acknowledged
	refused int
	unknown int
	last    uint64 // sequence that was acknowledged
}

// write tries to be the first on subjects that others try as well, until ctx ends.
func (g *grants) write(ctx context.Context, js jetstream.JetStream, next *atomic.Int64, writer int) {
	for ctx.Err() == nil {
		subject := fmt.Sprintf("k.%d", next.Add(1)/2) // two tries for each
		token := fmt.Sprintf("%s by %d %d", subject, writer, rand.Uint64())
		try, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		ack, err := js.Publish(try, subject, []byte(token), jetstream.WithExpectLastSequencePerSubject(0), jetstream.WithRetryAttempts(0))
		cancel()
		var refusal *jetstream.APIError
		g.mu.Lock()
		switch {
		case err == nil:
			g.granted[subject] = append(g.granted[subject], token)
			g.last = max(g.last, ack.Sequence)
		case errors.As(err, &refusal):
			g.refused++
		default:
			g.unknown++
		}
		g.mu.Unlock()
	}
}

func (g *grants) acknowledged() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.granted)
}

// TestKilledNodesLoseNothing kills one of three nodes at a time while writers compete
// for subjects: nothing that was acknowledged is lost, and nothing is granted to two
// (facts J5). ENGINE_KILL=60s makes it longer.
func TestKilledNodesLoseNothing(t *testing.T) {
	duration := 3 * time.Second
	if text := os.Getenv("ENGINE_KILL"); text != "" {
		var err error
		duration, err = time.ParseDuration(text)
		require.NoError(t, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), duration+3*limit)
	defer cancel()
	clients, routes, dir := freeport.Addresses(t, 3), freeport.Addresses(t, 3), t.TempDir()
	var files []string
	nodes := make([]*process, 3)
	for i := range nodes {
		file := filepath.Join(dir, fmt.Sprintf("n%d.yaml", i+1))
		peers := append(append([]string{}, routes[:i]...), routes[i+1:]...)
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "cluster:\n  name: corp\nengine:\n  node: n%d\n  listen: %s\n  cluster: %s\n  peers: [%s]\n  store: d%d\n",
			i+1, clients[i], routes[i], strings.Join(peers, ", "), i+1), 0o600))
		files = append(files, file)
		nodes[i] = launch(ctx, t, file)
		defer func() { nodes[i].kill() }()
	}
	for _, n := range nodes {
		n.await(ctx, t)
	}
	connection, err := nats.Connect(strings.Join(clients, ","), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	require.NoError(t, err)
	defer connection.Close()
	js, err := jetstream.New(connection)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		try, stop := context.WithTimeout(ctx, 3*time.Second)
		defer stop()
		_, err := js.CreateStream(try, jetstream.StreamConfig{Name: "ADGW_K", Subjects: []string{"k.>"}, Replicas: 3, MaxMsgsPerSubject: 1, DenyDelete: true, DenyPurge: true})
		return err == nil
	}, limit, 100*time.Millisecond)

	g := &grants{granted: map[string][]string{}}
	var next atomic.Int64
	writing, stop := context.WithCancel(ctx)
	defer stop()
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() { g.write(writing, js, &next, i) })
	}
	kills := 0
	for begun := time.Now(); time.Since(begun) < duration || kills < 2; {
		before := g.acknowledged()
		require.Eventually(t, func() bool { return g.acknowledged() >= before+20 }, limit, 5*time.Millisecond, "nothing is written with two of three nodes")
		i := kills % 3
		nodes[i].kill()
		kills++
		nodes[i] = launch(ctx, t, files[i])
		nodes[i].await(ctx, t)
	}
	stop()
	writers.Wait()
	stored := everything(ctx, t, js, g.last)
	for subject, tokens := range g.granted {
		assert.Len(t, tokens, 1, "%s was granted twice", subject)
		assert.Equal(t, tokens[0], stored[subject], "what was acknowledged is lost")
	}
	assert.NotEmpty(t, g.granted)
	t.Logf("%d kills; %d acknowledged, %d refused, %d unknown; %d stored", kills, len(g.granted), g.refused, g.unknown, len(stored))
}

// everything reads the stream from its beginning to its end, which is not before a sequence: a
// node that has just been started again sends what it has (facts J8).
func everything(ctx context.Context, t *testing.T, js jetstream.JetStream, last uint64) map[string]string {
	t.Helper()
	require.Eventually(t, func() bool {
		try, stop := context.WithTimeout(ctx, 3*time.Second)
		defer stop()
		_, err := js.Stream(try, "ADGW_K")
		return err == nil
	}, limit, 100*time.Millisecond)
	consumer, err := js.OrderedConsumer(ctx, "ADGW_K", jetstream.OrderedConsumerConfig{})
	require.NoError(t, err)
	messages, err := consumer.Messages()
	require.NoError(t, err)
	defer messages.Stop()
	stored := map[string]string{}
	for {
		m, err := messages.Next(jetstream.NextContext(ctx))
		require.NoError(t, err)
		stored[m.Subject()] = string(m.Data())
		about, err := m.Metadata()
		require.NoError(t, err)
		if about.NumPending == 0 && about.Sequence.Stream >= last {
			return stored
		}
	}
}
