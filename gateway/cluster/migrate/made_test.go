package migrate

import (
	"archive/zip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/auth"
	"adgateway/gateway/changes"
	"adgateway/gateway/credentials"
	"adgateway/gateway/keep"
	"adgateway/gateway/keep/natsstore"
	"adgateway/gateway/keyring"
	"adgateway/ps"
)

var update = flag.Bool("update", false, "write testdata/old.zip")

// TestOldFiles takes over files that the code of the earlier version writes now. With -update
// they are those of testdata from then on, which the other tests use.
func TestOldFiles(t *testing.T) {
	made := build(t)
	if *update {
		made.pack(t)
	}
	o, err := options(made.folder)
	require.NoError(t, err)
	_, err = Run(t.Context(), o)
	require.NoError(t, err)
	made.requireMigrated(t, made.folder)
}

// pack writes testdata.
func (o *old) pack(t *testing.T) {
	t.Helper()
	text, err := json.MarshalIndent(o.facts, "", " ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(o.path(factsName), text, 0o600))
	require.NoError(t, os.MkdirAll(filepath.Dir(data), 0o755))
	file, err := os.Create(data)
	require.NoError(t, err)
	w := zip.NewWriter(file)
	require.NoError(t, w.AddFS(os.DirFS(o.folder)))
	require.NoError(t, w.Close())
	require.NoError(t, file.Close())
}

// node is a node of the engine, with the stream of a store.
func node(t *testing.T) *server.Server {
	t.Helper()
	n, err := server.NewServer(&server.Options{
		ServerName: "n1", Host: "127.0.0.1", Port: -1, NoSigs: true, MaxPayload: 8 << 20,
		JetStream: true, StoreDir: t.TempDir(),
	})
	require.NoError(t, err)
	n.Start()
	require.True(t, n.ReadyForConnections(time.Minute))
	t.Cleanup(func() { n.Shutdown(); n.WaitForShutdown() })
	endpoint := natsstore.Endpoint{Servers: []string{n.ClientURL()}}
	o := natsstore.StreamOptions{Name: "corp", Replicas: 1}
	require.NoError(t, natsstore.CreateAt(t.Context(), endpoint, o))
	return n
}

// build writes everything that gateways of the earlier version keep, with their code.
func build(t *testing.T) *old {
	t.Helper()
	ctx := t.Context()
	o := &old{folder: t.TempDir(), facts: facts{Entries: map[keep.Log][]string{}}}
	n := node(t)
	shared, err := natsstore.Open(ctx, natsstore.Options{
		Name: "corp", Gateway: "gw1", Mirror: o.path("cluster-corp-gw1.mirror"),
		Connect: natsstore.Endpoint{Servers: []string{n.ClientURL()}}.Connect,
	})
	require.NoError(t, err)
	require.NoError(t, keyring.CreateKeyFile(o.path("ring.key")))
	require.NoError(t, keyring.Create(ctx, shared, o.wrapper(t)))
	ring, err := keyring.Open(ctx, shared, o.wrapper(t), keep.Newest)
	require.NoError(t, err)
	store := ring.Sealed()
	o.fill(ctx, t, store)
	end, err := store.End(ctx, changes.Log)
	require.NoError(t, err)
	o.Creation = end.Creation
	require.NoError(t, shared.Reach(ctx))
	o.note(ctx, t, store)
	require.NoError(t, store.Close())
	o.degrade(ctx, t)

	// Of the gateway before it was of a cluster.
	alone, _, err := keep.Open(keep.Options{Path: o.path("state.db")})
	require.NoError(t, err)
	_, err = alone.Apply(ctx, keep.Change{Kind: "change", Key: "ch_alone", Value: []byte("x")})
	require.NoError(t, err)
	require.NoError(t, alone.Close())
	return o
}

// fill writes values of all kinds.
func (o *old) fill(ctx context.Context, t *testing.T, store *keep.Sealed) {
	t.Helper()
	history, err := changes.Open(ctx, store, life, 1<<30)
	require.NoError(t, err)
	save := func(running bool) *changes.Record {
		r := record(running)
		require.NoError(t, history.Save(ctx, r))
		return r
	}
	for range 5 {
		r := save(true)
		require.NoError(t, history.Complete(ctx, r, ps.OutcomeDone))
		o.Ended = append(o.Ended, r.ID)
	}
	gone := save(true)
	require.NoError(t, history.Remove(ctx, gone)) // the stream says so by a message of its own
	o.Running = save(true).ID

	require.NoError(t, credentials.Edit(ctx, store, func(d *auth.Document) error {
		rights := auth.Rights{Scopes: []string{"user:read"}}
		d.Tokens = append(d.Tokens, &auth.Account{ID: "t1", Name: "program", Subject: "CN=program", Rights: rights})
		return nil
	}))
	at, err := store.End(ctx, changes.Log)
	require.NoError(t, err)
	at.Sequence -= 2
	hook, err := json.Marshal(map[string]any{
		"v": 1, "url": "https://hook", "tries": 3,
		"turn":  map[string]string{"gateway": "gw1", "incarnation": "i"},
		"after": map[string]keep.Position{"change": at, "job": {Creation: "another", Sequence: 7}},
	})
	require.NoError(t, err)
	lasts := time.Date(2120, 1, 2, 3, 4, 5, 6, time.UTC)
	all := []keep.Change{{Kind: "webhook", Key: "hook", Value: hook}}
	for at, text := range map[place]string{
		{"key", "k1"}:      `{"v":1,"requestId":"r","owner":{"gateway":"gw1"},"settling":true}`,
		{"key", "k2"}:      `{"v":1,"status":200,"body":{"owner":"a < b"}}`,
		{"name", "n1"}:     `{"v":1,"run":"r","server":"dc1","owner":{"gateway":"gw1"}}`,
		{"due", o.Running}: `{"v":1,"gateway":"gw1"}`,
	} {
		all = append(all, keep.Change{Kind: at.Kind, Key: at.Key, Value: []byte(text), Expires: lasts})
	}
	for _, kind := range []keep.Kind{
		"plan", "budget", "job", "jobspec", "jobitem", "jobkey", "jobonce", "session", "session-owner",
		"session-step", "tries", "mirror", "head", "seals", "obj", "fence", "member", "incarnation", "pin",
		"nodecheck", "jobunit", "jobpart",
	} {
		one := keep.Change{Kind: kind, Key: "a/" + string(kind), Value: []byte("value of " + kind), Expires: lasts}
		all = append(all, one, keep.Change{Kind: kind, Key: "b", Value: []byte{0, 1, 2}})
	}
	for i, log := range []keep.Log{
		"audit.gw1", "audit.gw1", "audit.gw2", "jobs", "audit.heads", "jobnews", "keyring",
	} {
		all = append(all, keep.Change{Log: log, Value: fmt.Appendf(nil, "line %d", i), Expires: lasts})
	}
	_, err = store.Apply(ctx, all...)
	require.NoError(t, err)
	_, err = store.Apply(ctx, keep.Change{Log: "audit.gw1", Through: 1}) // which moves its beginning
	require.NoError(t, err)
}

func record(running bool) *changes.Record {
	r := &changes.Record{
		ID: changes.NewID(), RequestID: "r", Time: time.Now(), Caller: "c", Operation: "user.create",
		Running: running,
	}
	if running {
		r.Owner = &changes.Owner{Gateway: "gw1", Incarnation: "i", Until: time.Now().Add(time.Hour)}
		r.Token, r.Run = "t", "run"
	}
	return r
}

// note notes what the store has and the new one must have.
func (o *old) note(ctx context.Context, t *testing.T, store *keep.Sealed) {
	t.Helper()
	for _, kind := range []keep.Kind{
		"change", "cred", "auth", "webhook", "key", "name", "due", "plan", "budget", "job", "jobspec", "jobitem",
		"jobkey", "jobonce", "session", "session-owner", "session-step", "tries", "mirror", "head", "seals",
	} {
		found := 0
		require.NoError(t, store.Range(ctx, kind, "", func(e keep.Entry) bool {
			o.Values = append(o.Values, value{place{kind, e.Key}, e.Value, e.Expires})
			found++
			return true
		}))
		require.NotZero(t, found, kind)
	}
	for _, log := range []keep.Log{
		changes.Log, credentials.Log, "audit.gw1", "audit.gw2", "jobs", "audit.heads",
	} {
		o.Entries[log] = entries(ctx, t, store, log)
		require.NotEmpty(t, o.Entries[log], log)
	}
}

// degrade writes a journal: a change that is in the history of all already, one that is not,
// and one that was running when the gateway ended.
func (o *old) degrade(ctx context.Context, t *testing.T) {
	t.Helper()
	key, err := keep.ReadKey(o.path("state.db.key"))
	require.NoError(t, err)
	file, _, err := keep.Open(keep.Options{Path: o.path("cluster-corp-gw1.journal")})
	require.NoError(t, err)
	store, err := keep.Seal(file, key)
	require.NoError(t, err)
	journal, err := changes.Open(ctx, store, life, 1<<30)
	require.NoError(t, err)
	sent := record(true)
	sent.ID = o.Ended[0]
	ended, cut := record(true), record(true)
	ended.Degraded, cut.Degraded = true, true
	for _, r := range []*changes.Record{sent, ended, cut} {
		require.NoError(t, journal.Save(ctx, r))
	}
	for _, r := range []*changes.Record{sent, ended} {
		require.NoError(t, journal.Complete(ctx, r, ps.OutcomeDone))
	}
	o.Degraded, o.CutOff = ended.ID, cut.ID
	require.NoError(t, store.Close())
}
