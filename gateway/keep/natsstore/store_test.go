package natsstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/keep"
	"adgateway/gateway/keep/keeptest"
	"adgateway/test/freeport"
)

// startNode starts an engine of one node.
func startNode(t testing.TB, folder string) *server.Server {
	t.Helper()
	return startNodeAt(t, folder, -1)
}

func startNodeAt(t testing.TB, folder string, port int) *server.Server {
	t.Helper()
	node, err := server.NewServer(&server.Options{ServerName: "n1", Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: folder, SyncAlways: true, NoSigs: true, MaxPayload: 8 << 20})
	require.NoError(t, err)
	node.Start()
	require.True(t, node.ReadyForConnections(10*time.Second))
	t.Cleanup(func() { node.Shutdown(); node.WaitForShutdown() })
	return node
}

func connectTo(urls string) func(...nats.Option) (*nats.Conn, error) {
	return func(o ...nats.Option) (*nats.Conn, error) { return nats.Connect(urls, o...) }
}

// create makes the stream of a store.
func create(t testing.TB, url, name string, replicas int) {
	t.Helper()
	conn, err := nats.Connect(url)
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	require.NoError(t, Create(ctx, js, StreamOptions{Name: name, Replicas: replicas}))
}

func TestSuite(t *testing.T) {
	node := startNode(t, t.TempDir())
	var made = map[string]bool{}
	keeptest.Run(t, keeptest.Driver{Lasts: true, Open: func(folder string, now func() time.Time) (keep.Store, error) {
		name := hashed(folder)
		if !made[name] {
			create(t, node.ClientURL(), name, 1)
			made[name] = true
		}
		return Open(t.Context(), Options{Name: name, Gateway: "gw1", Mirror: filepath.Join(folder, "mirror.db"), Connect: connectTo(node.ClientURL()), Now: now})
	}})
}

// FuzzMessage: a message is read as it was written, and no other bytes are taken for one
// that would be written otherwise.
func FuzzMessage(f *testing.F) {
	for _, m := range []message{
		{What: isValue, Token: newToken(), Left: 2, Own: 1, Expires: 5, Name: "k", Key: "a/b", Value: []byte("v")},
		{What: isEnd, Token: newToken(), Number: 7, Cut: 3, Name: "log", Value: []byte{}},
	} {
		f.Add(m.encode())
	}
	f.Add([]byte{format + 1})
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := decodeMessage(raw)
		if err != nil {
			return
		}
		assert.Equal(t, raw, m.encode())
		assert.NotContains(t, m.subject("adgw.c"), " ")
		for _, a := range m.arrivals(100) {
			assert.True(t, a.Log != "" || a.Kind != "")
		}
	})
}

func open(t testing.TB, url, name, gateway, folder string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Name: name, Gateway: gateway, Mirror: filepath.Join(folder, gateway+".db"), Connect: connectTo(url)})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

func set(key, value string, expect keep.Revision) keep.Change {
	return keep.Change{Kind: "k", Key: key, Expect: expect, Value: []byte(value)}
}

func said(text string) keep.Change { return keep.Change{Log: "log", Value: []byte(text)} }

// What one gateway has written another one finds, and of rivals one wins.
func TestSeveralGateways(t *testing.T) {
	node, folder := startNode(t, t.TempDir()), t.TempDir()
	create(t, node.ClientURL(), "c", 1)
	var stores []*Store
	for i := range 3 {
		stores = append(stores, open(t, node.ClientURL(), "c", fmt.Sprintf("gw%d", i), folder))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for round := range 20 {
		_, err := stores[round%3].Apply(ctx, set(fmt.Sprint("x", round), "1", keep.Absent))
		require.NoError(t, err)
		_, err = stores[(round+1)%3].Get(ctx, "k", fmt.Sprint("x", round))
		require.NoError(t, err, "what is there is found at once")
	}
	// A counter and a log that all of them use.
	const each = 30
	var group sync.WaitGroup
	for i, s := range stores {
		for worker := range 2 {
			group.Go(func() {
				for n := 0; n < each; {
					e, err := s.Get(ctx, "k", "counter")
					if err != nil && !errors.Is(err, keep.ErrAbsent) {
						assert.NoError(t, err)
						return
					}
					was, _ := strconv.Atoi(string(e.Value))
					_, err = s.Apply(ctx, set("counter", strconv.Itoa(was+1), e.Revision), said(fmt.Sprint(was+1)), set(fmt.Sprint(i, worker, n), "", keep.Absent))
					if err == nil {
						n++
					} else if !errors.Is(err, keep.ErrConflict) {
						assert.NoError(t, err)
						return
					}
				}
			})
		}
	}
	group.Wait()
	for _, s := range stores {
		require.NoError(t, s.catchUp(ctx))
		e, err := s.Get(ctx, "k", "counter")
		require.NoError(t, err)
		assert.Equal(t, strconv.Itoa(6*each), string(e.Value))
		next := 1
		require.NoError(t, s.Log(ctx, "log", keep.Position{}, func(a keep.Appended) bool {
			assert.Equal(t, strconv.Itoa(next), string(a.Value))
			assert.EqualValues(t, next, a.Position.Sequence)
			next++
			return true
		}))
		assert.Equal(t, 6*each+1, next)
	}
}

// A gateway whose mirror was lost, or is of yesterday, reads everything anew.
func TestMirrorIsMadeAnew(t *testing.T) {
	node, folder := startNode(t, t.TempDir()), t.TempDir()
	create(t, node.ClientURL(), "c", 1)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	s := open(t, node.ClientURL(), "c", "gw1", folder)
	revision, err := s.Apply(ctx, set("a", "1", keep.Absent), said("one"))
	require.NoError(t, err)
	_, err = s.Apply(ctx, set("a", "2", revision), set("b", "1", keep.Absent), said("two"), keep.Change{Log: "log", Through: 1})
	require.NoError(t, err)
	want, err := s.Get(ctx, "k", "a")
	require.NoError(t, err)
	end, err := s.End(ctx, "log")
	require.NoError(t, err)
	require.NoError(t, s.Close())
	for _, damage := range []func(path string) error{
		os.Remove,
		func(path string) error { return os.WriteFile(path, []byte("no database"), 0o600) },
		func(path string) error { return nil },
	} {
		require.NoError(t, damage(filepath.Join(folder, "gw1.db")))
		s := open(t, node.ClientURL(), "c", "gw1", folder)
		got, err := s.Get(ctx, "k", "a")
		require.NoError(t, err)
		assert.Equal(t, want, got)
		last, err := s.End(ctx, "log")
		require.NoError(t, err)
		assert.Equal(t, end, last)
		require.ErrorIs(t, s.Log(ctx, "log", keep.Position{Creation: end.Creation}, func(keep.Appended) bool { return true }), keep.ErrPosition)
		require.NoError(t, s.Close())
	}
}

// While the engine is away reads go on, and changes fail without having been made; then
// they go on, too.
func TestEngineAway(t *testing.T) {
	t.Parallel() // it waits most of the time
	nodeFolder, folder, port := t.TempDir(), t.TempDir(), freeport.Ports(t, 1)[0]
	node := startNodeAt(t, nodeFolder, port)
	url := node.ClientURL()
	create(t, url, "c", 1)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	_, err := Open(ctx, Options{Name: "c", Gateway: "gw9", Mirror: filepath.Join(folder, "gw9.db"), Connect: connectTo("nats://127.0.0.1:1"), Patience: time.Second})
	require.ErrorIs(t, err, keep.ErrUnreachable, "there is no mirror to go on with")

	options := Options{Name: "c", Gateway: "gw1", Mirror: filepath.Join(folder, "gw1.db"), Connect: connectTo(url), Patience: time.Second}
	s, err := Open(ctx, options)
	require.NoError(t, err)
	revision, err := s.Apply(ctx, set("a", "1", keep.Absent))
	require.NoError(t, err)
	node.Shutdown()
	node.WaitForShutdown()
	_, err = s.Apply(ctx, set("a", "2", revision))
	require.ErrorIs(t, err, keep.ErrUnreachable)
	e, err := s.Get(ctx, "k", "a")
	require.NoError(t, err)
	assert.Equal(t, "1", string(e.Value))
	_, err = s.Get(ctx, "k", "b")
	require.ErrorIs(t, err, keep.ErrAbsent)
	assert.Error(t, s.State().Failed)
	require.NoError(t, s.Close())
	s, err = Open(ctx, options)
	require.NoError(t, err, "the mirror is there")
	e, err = s.Get(ctx, "k", "a")
	require.NoError(t, err)
	assert.Equal(t, "1", string(e.Value))
	_, err = s.Apply(ctx, set("b", "2", keep.Absent))
	require.ErrorIs(t, err, keep.ErrUnreachable)
	require.ErrorIs(t, err, keep.ErrNotSent)
	startNodeAt(t, nodeFolder, port)
	require.Eventually(t, func() bool {
		_, err = s.Apply(ctx, set("a", "3", revision))
		return err == nil
	}, 3*time.Minute, 50*time.Millisecond)
	assert.NoError(t, s.State().Failed)
	require.NoError(t, s.Close())
}

// A stream that lost what it acknowledged, or that another one has replaced, is noticed,
// and nothing is changed.
func TestRewind(t *testing.T) {
	for name, rewind := range map[string]func(t *testing.T, before, now string){
		"taken back to a backup": func(t *testing.T, before, now string) {
			require.NoError(t, os.RemoveAll(now))
			require.NoError(t, os.CopyFS(now, os.DirFS(before)))
		},
		"made anew": func(t *testing.T, _, now string) { require.NoError(t, os.RemoveAll(now)) },
	} {
		t.Run(name, func(t *testing.T) {
			nodeFolder, backup, folder, port := t.TempDir(), filepath.Join(t.TempDir(), "backup"), t.TempDir(), freeport.Ports(t, 1)[0]
			stop := func(node *server.Server) { node.Shutdown(); node.WaitForShutdown() }
			node := startNodeAt(t, nodeFolder, port)
			create(t, node.ClientURL(), "c", 1)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			s := open(t, node.ClientURL(), "c", "gw1", folder)
			_, err := s.Apply(ctx, set("a", "1", keep.Absent))
			require.NoError(t, err)
			require.NoError(t, s.Close())
			stop(node)
			require.NoError(t, os.CopyFS(backup, os.DirFS(nodeFolder)))

			node = startNodeAt(t, nodeFolder, port)
			s = open(t, node.ClientURL(), "c", "gw1", folder)
			for i := range 10 {
				changes := []keep.Change{set(fmt.Sprint("b", i), "1", keep.Absent)}
				if i%2 == 0 {
					changes = append(changes, said(fmt.Sprint(i/2+1)))
				}
				_, err = s.Apply(ctx, changes...)
				require.NoError(t, err)
			}
			require.NoError(t, s.Close())
			stop(node)
			rewind(t, backup, nodeFolder)
			node = startNodeAt(t, nodeFolder, port)
			if name == "made anew" {
				create(t, node.ClientURL(), "c", 1)
			}
			s = open(t, node.ClientURL(), "c", "gw1", folder)
			require.ErrorIs(t, s.State().Rewound, keep.ErrRewound)
			_, err = s.Apply(ctx, set("c", "1", keep.Absent))
			require.ErrorIs(t, err, keep.ErrRewound)
			e, err := s.Get(ctx, "k", "b9")
			require.NoError(t, err, "the mirror has what the stream lost")
			assert.Equal(t, "1", string(e.Value))
			testRecovery(t, ctx, s, node.ClientURL(), folder)
		})
	}
}

// replaceStream lets an empty stream take the place of that of the store c, as a new one or
// as the same one, which was taken back.
func replaceStream(t *testing.T, js jetstream.JetStream, anew bool) {
	t.Helper()
	stream, err := js.Stream(t.Context(), StreamName("c"))
	require.NoError(t, err)
	config := stream.CachedInfo().Config
	if anew {
		config = StreamOptions{Name: "c", Replicas: 1}.config("another")
	}
	require.NoError(t, js.DeleteStream(t.Context(), config.Name))
	require.Eventually(t, func() bool { // once its folder is gone
		_, err := js.CreateStream(t.Context(), config)
		return err == nil
	}, 3*time.Minute, 10*time.Millisecond)
}

// TestRewindThatWasWrittenOver: that acknowledged data was lost is noticed, too, when others
// have written so much since that the sequence says nothing.
func TestRewindThatWasWrittenOver(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for name, over := range map[string]struct {
		anew bool // not a stream that was taken back
		key  func(i int) string
	}{
		"taken back": {false, func(i int) string { return fmt.Sprint("c", i) }},
		"made anew":  {true, func(int) string { return "c" }}, // no message has the sequence
	} {
		t.Run(name, func(t *testing.T) {
			node, folder := startNode(t, t.TempDir()), t.TempDir()
			create(t, node.ClientURL(), "c", 1)
			s := open(t, node.ClientURL(), "c", "gw1", folder)
			_, err := s.Apply(ctx, set("a", "1", keep.Absent))
			require.NoError(t, err)
			require.NoError(t, s.Close())
			conn, err := nats.Connect(node.ClientURL())
			require.NoError(t, err)
			defer conn.Close()
			js, err := jetstream.New(conn)
			require.NoError(t, err)
			replaceStream(t, js, over.anew)
			other := open(t, node.ClientURL(), "c", "gw2", t.TempDir())
			last := map[string]keep.Revision{}
			for i := range 20 {
				key := over.key(i)
				last[key], err = other.Apply(ctx, set(key, "1", last[key]))
				require.NoError(t, err)
			}
			s = open(t, node.ClientURL(), "c", "gw1", folder)
			require.ErrorIs(t, s.State().Rewound, keep.ErrRewound)
			_, err = s.Apply(ctx, set("d", "1", keep.Absent))
			require.ErrorIs(t, err, keep.ErrRewound)
		})
	}
}

// TestWhatExpiresLeavesTheEngine: each value that has an end, and each that says that one was
// removed, has a time in the engine, too, also after it was written again (facts J13).
func TestWhatExpiresLeavesTheEngine(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	node := startNode(t, t.TempDir())
	create(t, node.ClientURL(), "c", 1)
	s := open(t, node.ClientURL(), "c", "gw1", t.TempDir())
	end := time.Now().Add(time.Hour)
	lasts := func(c keep.Change, want time.Duration) keep.Revision {
		t.Helper()
		revision, err := s.Apply(ctx, c)
		require.NoError(t, err)
		found, err := s.followed().GetMsg(ctx, uint64(revision))
		require.NoError(t, err)
		ttl, _ := time.ParseDuration(cmp.Or(found.Header.Get(jetstream.MsgTTLHeader), "0s"))
		assert.InDelta(t, want.Seconds(), ttl.Seconds(), 60)
		return revision
	}
	first := set("a", "1", keep.Absent)
	first.Expires = end
	again := set("a", "2", lasts(first, time.Hour+slack))
	again.Expires = end.Add(time.Hour)
	lasts(keep.Change{Kind: "k", Key: "a", Expect: lasts(again, 2*time.Hour+slack)}, removalsKept+slack)
	lasts(set("b", "1", keep.Absent), 0)
}

// streamsOf returns a connection of its own to the streams of a node.
func streamsOf(t *testing.T, url string) jetstream.JetStream {
	conn, err := nats.Connect(url)
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	return js
}

// TestStreamThatIsFull: what does not fit is refused, and nothing that was acknowledged is
// forgotten for it (facts J23). It goes on when there is room.
func TestStreamThatIsFull(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	node := startNode(t, t.TempDir())
	js := streamsOf(t, node.ClientURL())
	o := StreamOptions{Name: "c", Replicas: 1, MaxBytes: 64 << 10}
	require.NoError(t, Create(ctx, js, o))
	s, err := Open(ctx, Options{Name: "c", Gateway: "gw1", Mirror: filepath.Join(t.TempDir(), "gw1.db"), Connect: connectTo(node.ClientURL()), Patience: time.Second})
	require.NoError(t, err)
	defer func() { assert.NoError(t, s.Close()) }()
	value := strings.Repeat("x", 8<<10)
	var kept []keep.Revision
	var full keep.Change
	for {
		full = set(fmt.Sprint("a", len(kept)), value, keep.Absent)
		revision, err := s.Apply(ctx, full)
		if err != nil {
			assert.ErrorContains(t, err, "maximum bytes")
			break
		}
		require.Less(t, len(kept), 8, "there is room for less")
		kept = append(kept, revision)
	}
	require.Greater(t, len(kept), 3)
	assert.NoError(t, s.State().Rewound)
	for _, s := range []*Store{s, open(t, node.ClientURL(), "c", "gw2", t.TempDir())} {
		for i, revision := range kept {
			e, err := s.Get(ctx, "k", fmt.Sprint("a", i))
			require.NoError(t, err)
			assert.Equal(t, revision, e.Revision)
		}
	}
	stream, err := js.Stream(ctx, StreamName("c"))
	require.NoError(t, err)
	larger := stream.CachedInfo().Config
	larger.MaxBytes *= 2
	_, err = js.UpdateStream(ctx, larger)
	require.NoError(t, err)
	_, err = s.Apply(ctx, full)
	assert.NoError(t, err)
}

// TestStreamOfOtherSettings: a store does not use a stream with which what is acknowledged
// can be lost, forgotten, or read as it was.
func TestStreamOfOtherSettings(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	node := startNode(t, t.TempDir())
	js := streamsOf(t, node.ClientURL())
	for wanted, change := range map[string]func(*jetstream.StreamConfig){
		"storage":              func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage },
		"retention":            func(c *jetstream.StreamConfig) { c.Retention = jetstream.InterestPolicy },
		"discard":              func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld },
		"max_msgs_per_subject": func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 2 },
		"max_age":              func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour },
		"max_msgs":             func(c *jetstream.StreamConfig) { c.MaxMsgs = 1000 },
		"allow_msg_ttl":        func(c *jetstream.StreamConfig) { c.AllowMsgTTL = false },
		"allow_atomic":         func(c *jetstream.StreamConfig) { c.AllowAtomicPublish = false },
		"allow_direct":         func(c *jetstream.StreamConfig) { c.AllowDirect = true },
		"deny_delete":          func(c *jetstream.StreamConfig) { c.DenyDelete = false },
		"deny_purge":           func(c *jetstream.StreamConfig) { c.DenyPurge = false },
	} {
		o := StreamOptions{Name: strings.ReplaceAll(wanted, "_", "-"), Replicas: 1}
		config := o.config("x")
		change(&config)
		_, err := js.CreateStream(ctx, config)
		require.NoError(t, err, wanted)
		s, err := Open(ctx, Options{Name: o.Name, Gateway: "gw1", Mirror: filepath.Join(t.TempDir(), "gw1.db"), Connect: connectTo(node.ClientURL())})
		if err == nil {
			assert.NoError(t, s.Close())
		}
		assert.ErrorContains(t, err, "other settings than a store needs: "+wanted)
	}
}

// TestRewindUnderAnOpenStore: a store whose stream was replaced while it is open notices it
// with the next write, whatever that writes, and leaves its mirror as it is.
func TestRewindUnderAnOpenStore(t *testing.T) {
	for name, change := range map[string]keep.Change{
		"a new value":         set("c", "1", keep.Absent),
		"a value from before": set("b0", "2", 1),
	} {
		t.Run(name, func(t *testing.T) {
			node := startNode(t, t.TempDir())
			create(t, node.ClientURL(), "c", 1)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			s := open(t, node.ClientURL(), "c", "gw1", t.TempDir())
			for i := range 10 {
				revision, err := s.Apply(ctx, set(fmt.Sprint("b", i), "1", keep.Absent))
				require.NoError(t, err)
				if i == 0 && change.Expect != keep.Absent {
					change.Expect = revision
				}
			}
			conn, err := nats.Connect(node.ClientURL())
			require.NoError(t, err)
			defer conn.Close()
			js, err := jetstream.New(conn)
			require.NoError(t, err)
			replaceStream(t, js, true)

			_, err = s.Apply(ctx, change)
			require.ErrorIs(t, err, keep.ErrRewound)
			require.ErrorIs(t, s.State().Rewound, keep.ErrRewound)
			_, err = s.Apply(ctx, set("d", "1", keep.Absent))
			require.ErrorIs(t, err, keep.ErrRewound)
			e, err := s.Get(ctx, "k", "b9")
			require.NoError(t, err)
			assert.Equal(t, "1", string(e.Value))
		})
	}
}

// testRecovery recovers a store by the mirror of gw1, which was open, and by that of gw2.
func testRecovery(t *testing.T, ctx context.Context, s *Store, url, folder string) {
	before, err := s.End(ctx, "log")
	require.NoError(t, err)
	require.NoError(t, s.Close())
	options := func(gateway string) Options {
		return Options{Name: "c", Gateway: gateway, Mirror: filepath.Join(folder, gateway+".db"), Connect: connectTo(url)}
	}
	require.NoError(t, os.CopyFS(folder+"2", os.DirFS(folder)))
	require.NoError(t, os.Rename(folder+"2/gw1.db", folder+"/gw2.db"))
	require.NoError(t, os.Rename(folder+"2/gw1.db.head", folder+"/gw2.db.head"))
	done, err := Recover(ctx, options("gw1"))
	require.NoError(t, err)
	assert.GreaterOrEqual(t, done.Values, 10)
	assert.Equal(t, 5, done.Entries)
	assert.Zero(t, done.Superseded)

	s = open(t, url, "c", "gw1", folder)
	assert.NoError(t, s.State().Rewound)
	for i := range 10 {
		_, err := s.Apply(ctx, set(fmt.Sprint("b", i), "2", keep.Absent))
		require.ErrorIs(t, err, keep.ErrConflict, "what was acknowledged is known")
	}
	_, err = s.Apply(ctx, set("after", "1", keep.Absent), said("6"))
	require.NoError(t, err)

	other := open(t, url, "c", "gw2", folder)
	require.ErrorIs(t, other.State().Rewound, keep.ErrRewound)
	require.NoError(t, other.Close())
	done, err = Recover(ctx, options("gw2"))
	require.NoError(t, err)
	assert.Equal(t, Recovered{}, done, "all of it is there")
	for _, s := range []*Store{s, open(t, url, "c", "gw2", folder)} {
		require.NoError(t, s.State().Rewound)
		var all []string
		require.NoError(t, s.Log(ctx, "log", keep.Position{}, func(a keep.Appended) bool { all = append(all, string(a.Value)); return true }))
		assert.Equal(t, []string{"1", "2", "3", "4", "5", "6"}, all[len(all)-6:])
		require.ErrorIs(t, s.Log(ctx, "log", before, func(keep.Appended) bool { return true }), keep.ErrPosition)
	}
}
