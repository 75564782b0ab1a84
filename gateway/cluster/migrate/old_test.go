package migrate

import (
	"archive/zip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/changes"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// life is how long the changes are kept.
const life = 100 * 365 * 24 * time.Hour

// now returns the time a minute after the data in testdata was written, so that values that are kept for a
// day still exist.
func now() time.Time { return time.Date(2026, 11, 27, 18, 15, 30, 0, time.UTC) }

// old is a folder with the data of a gateway in a cluster of the earlier version.
type old struct {
	folder string
	facts
}

// facts describe the data.
type facts struct {
	Creation string // id of the store
	Values   []value
	Entries  map[store.Log][]string
	Ended    []string // ids of the changes that have ended, in that order
	Running  string
	Degraded string // made without the store, and never sent to it
	CutOff   string // the same, but running when the gateway ended
}

type place struct {
	Kind store.Kind
	Key  string
}

// value is a value that the new store must contain.
type value struct {
	place
	Text    []byte
	Expires time.Time
}

func (o *old) path(name string) string { return filepath.Join(o.folder, name) }

// options returns the options for migrating the data in a folder.
func options(folder string) (Options, error) {
	in := func(name string) string { return filepath.Join(folder, name) }
	w, err := keyring.KeyFile(in("ring.key"))
	return Options{
		Cluster: "corp", Gateway: "gw1",
		Create: func(ctx context.Context, db *store.Sealed, folder trust.Folder) error {
			self := trust.Member{Name: "gw1", Hosts: []string{"h1"}, HopAddress: "h1:7443"}
			_, err := trust.Create(ctx, trust.NewRegister(db, db.Now), "corp", self, folder)
			return err
		},
		Mirror: in("cluster-corp-gw1.mirror"), Store: in("state.db"), Folder: trust.Folder{Path: in("cluster")},
		Wrapper: w, KeyFile: in("ring.key"), Life: life, Most: 1 << 30, Now: now,
		Journals: []Journal{
			{in("cluster-corp-gw1.journal"), in("state.db.key")}, {in("none.journal"), in("none.key")},
		},
	}, err
}

// data is an archive of files written by the code of the earlier version.
const data = "testdata/old.zip"

// unpack unpacks the archive in testdata.
func unpack(t *testing.T) *old {
	t.Helper()
	zipped, err := zip.OpenReader(data)
	require.NoError(t, err)
	o := &old{folder: t.TempDir()}
	require.NoError(t, os.CopyFS(o.folder, zipped))
	require.NoError(t, zipped.Close())
	text, err := os.ReadFile(o.path(factsName))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &o.facts))
	return o
}

const factsName = "facts.json"

// entries returns the entries of a log with their sequences, and the end of the log.
func entries(ctx context.Context, t *testing.T, db *store.Sealed, log store.Log) (all []string) {
	t.Helper()
	require.NoError(t, db.Log(ctx, log, store.Position{}, func(a store.Appended) bool {
		all = append(all, fmt.Sprintf("%d %s", a.Position.Sequence, a.Value))
		return true
	}))
	end, err := db.End(ctx, log)
	require.NoError(t, err)
	return append(all, fmt.Sprintf("end %d", end.Sequence))
}

// copied copies the files of an old gateway into another folder.
func (o *old) copied(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, os.DirFS(o.folder)))
	return folder
}

// requireMigrated compares the store in a folder with the old store.
func (o *old) requireMigrated(t *testing.T, folder string) {
	t.Helper()
	ctx := t.Context()
	opened, err := options(folder)
	require.NoError(t, err)
	w, err := keyring.KeyFile(opened.Folder.SecretFile())
	require.NoError(t, err)
	file, aside, err := store.Open(store.Options{Path: opened.Store, Now: now})
	require.NoError(t, err)
	require.Empty(t, aside)
	require.NoError(t, file.State().Rewound)
	ring, err := keyring.Open(ctx, file, w, store.Newest)
	require.NoError(t, err)
	db := ring.Sealed()
	defer func() { require.NoError(t, db.Close()) }()

	o.requireValues(ctx, t, db)
	o.requireChanges(ctx, t, db)
	for log, want := range o.Entries {
		if log == changes.Log {
			n := len(want)
			want = append(want[:n-1:n-1], fmt.Sprintf("%d %s", n, o.Degraded), fmt.Sprintf("end %d", n))
		}
		assert.Equal(t, want, entries(ctx, t, db, log), log)
	}
	for _, log := range []store.Log{"jobnews", "keyring"} {
		end, err := db.End(ctx, log)
		require.NoError(t, err)
		assert.Zero(t, end.Sequence, log)
	}
	at, err := file.Point()
	require.NoError(t, err)
	assert.Empty(t, at.Journal, "the log has not begun")
	id, err := opened.Folder.Identity()
	require.NoError(t, err)
	assert.Equal(t, []string{"corp", "gw1"}, []string{id.Cluster, id.Gateway})
	list, err := trust.NewRegister(db, db.Now).Members(ctx)
	require.NoError(t, err)
	saved, err := trust.LoadMembers(opened.Folder.MembersFile())
	require.NoError(t, err)
	assert.Equal(t, list.Gateways, saved.Gateways)
	found, err := store.Holds(opened.Store+asideMark, "change", "ch_alone")
	require.NoError(t, err)
	assert.True(t, found, "the store of the gateway before is still there")
}

// requireValues compares the values that were copied unchanged.
func (o *old) requireValues(ctx context.Context, t *testing.T, db *store.Sealed) {
	t.Helper()
	changed := map[place]bool{
		{"webhook", "hook"}: true, {"key", "k1"}: true, {"name", "n1"}: true, {"change", o.Running}: true,
	}
	for _, want := range o.Values {
		e, err := db.Get(ctx, want.Kind, want.Key)
		require.NoError(t, err, want.place)
		assert.True(t, want.Expires.Equal(e.Expires), want.place)
		if !changed[want.place] {
			assert.Equal(t, string(want.Text), string(e.Value), want.place)
		}
	}
	for _, kind := range []store.Kind{
		"obj", "fence", "member", "incarnation", "pin", "nodecheck", "jobunit", "jobpart",
	} {
		require.NoError(t, db.Store.Range(ctx, kind, "", func(e store.Entry) bool {
			assert.Fail(t, "a value is left", "%s %s", kind, e.Key)
			return true
		}))
	}
	text := func(kind store.Kind, key string) string {
		e, err := db.Get(ctx, kind, key)
		require.NoError(t, err)
		return string(e.Value)
	}
	assert.JSONEq(t, `{"v":1,"requestId":"r"}`, text("key", "k1"))
	assert.JSONEq(t, `{"v":1,"run":"r","server":"dc1"}`, text("name", "n1"))
	end, err := db.End(ctx, changes.Log)
	require.NoError(t, err)
	assert.NotEqual(t, o.Creation, end.Creation)
	const hook = `{"v":1,"url":"https://hook","tries":3,"after":{"change":"%s.3","job":"another.7"}}`
	assert.JSONEq(t, fmt.Sprintf(hook, end.Creation), text("webhook", "hook"))
}

// requireChanges checks the history.
func (o *old) requireChanges(ctx context.Context, t *testing.T, db *store.Sealed) {
	t.Helper()
	history := changes.New(db, life, 1<<30)
	var all, open []string
	require.NoError(t, history.Newest(ctx, time.Time{}, "", nil, func(r *changes.Record) bool {
		all = append(all, r.ID)
		return true
	}))
	assert.ElementsMatch(t, append(append([]string{}, o.Ended...), o.Running, o.Degraded, o.CutOff), all)
	running, err := history.Running(ctx)
	require.NoError(t, err)
	for _, r := range running {
		assert.Equal(t, r.ID == o.CutOff, r.Degraded)
		open = append(open, r.ID)
	}
	assert.ElementsMatch(t, []string{o.Running, o.CutOff}, open)
	sent, err := history.Get(ctx, o.Degraded)
	require.NoError(t, err)
	assert.True(t, sent.Degraded)
	assert.False(t, sent.Sent.IsZero())
	assert.Equal(t, ps.OutcomeDone, sent.Outcome)

	// A cursor of the old store is not accepted for the new one.
	end, err := history.End(ctx)
	require.NoError(t, err)
	_, err = history.Position(ctx, history.Cursor(store.Position{Creation: o.Creation, Sequence: 2}))
	require.ErrorIs(t, err, store.ErrPosition)
	ended, _, err := history.After(ctx, store.Position{Creation: end.Creation, Sequence: 3}, 100)
	require.NoError(t, err)
	var after []string
	for _, e := range ended {
		after = append(after, e.ID)
	}
	left := append(o.Ended[3:len(o.Ended):len(o.Ended)], o.Degraded)
	assert.Equal(t, left, after, "what the webhook has not sent yet")
}
