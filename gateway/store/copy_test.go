package store_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
)

// install copies a file.
func install(t *testing.T, f *store.File, path string) {
	t.Helper()
	var text bytes.Buffer
	at, err := f.CopyTo(t.Context(), &text)
	require.NoError(t, err)
	require.NoError(t, store.Install(path, &text, at))
}

// names returns the names in a folder.
func names(t *testing.T, folder string) (all []string) {
	t.Helper()
	found, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, entry := range found {
		all = append(all, entry.Name())
	}
	return all
}

func TestACopyIsConsistentWhileTheFileIsWritten(t *testing.T) {
	folder, j := t.TempDir(), &journal{}
	a := follower(t, filepath.Join(folder, "a.db"), nil)
	a.Lead(j)
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	written := make(chan struct{}, 1)
	group.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			left, right := fmt.Sprintf("%d-left", i), fmt.Sprintf("%d-right", i)
			_, err := a.Apply(t.Context(), set(left, store.Absent), set(right, store.Absent))
			assert.NoError(t, err)
			select {
			case written <- struct{}{}:
			default:
			}
		}
	})
	var copies []*store.File
	for i := range 4 {
		<-written
		copies = append(copies, copied(t, a, filepath.Join(folder, fmt.Sprint(i, ".db")), nil))
	}
	stop()
	group.Wait()
	last := store.Point{}
	for _, b := range copies {
		at, err := b.Point()
		require.NoError(t, err)
		require.GreaterOrEqual(t, at.Sequence, last.Sequence, "none is of an earlier moment")
		last = at
		found := 0
		require.NoError(t, b.Range(t.Context(), "k", "", func(store.Entry) bool { found++; return true }))
		assert.Zero(t, found%2, "no call is there in part")
		j.bring(t, b)
		requireEqual(t, a, b)
	}
}

// growing is a writer that makes the store's file grow on every write.
type growing struct {
	t *testing.T
	f *store.File
	n int
}

func (g *growing) Write(p []byte) (int, error) {
	if g.n++; g.n <= 4 {
		large := store.Change{Kind: "k", Key: fmt.Sprint("large", g.n), Value: make([]byte, 8<<20)}
		_, err := g.f.Apply(g.t.Context(), large)
		require.NoError(g.t, err)
	}
	return len(p), nil
}

func TestASlowCopyHoldsUpNobody(t *testing.T) {
	f := follower(t, filepath.Join(t.TempDir(), "a.db"), nil)
	f.Lead(&journal{})
	_, err := f.Apply(t.Context(), store.Change{Kind: "k", Key: "a", Value: make([]byte, 1<<20)})
	require.NoError(t, err)
	_, err = f.CopyTo(t.Context(), &growing{t: t, f: f})
	require.NoError(t, err)
}

func TestAnIncompleteCopyIsRefused(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a.db")
	source, err := file.Open(t.TempDir(), nil)
	require.NoError(t, err)
	defer source.Close()
	value := []byte(strings.Repeat("new", 100))
	_, err = source.Apply(t.Context(), store.Change{Kind: "k", Key: "a", Value: value})
	require.NoError(t, err)
	var buffer bytes.Buffer
	at, err := source.(*store.File).CopyTo(t.Context(), &buffer)
	require.NoError(t, err)
	whole := buffer.Bytes()

	f := follower(t, path, nil)
	f.Lead(&journal{})
	_, err = f.Apply(t.Context(), set("a", store.Absent))
	require.NoError(t, err)
	require.ErrorIs(t, store.Install(path, bytes.NewReader(whole), at), store.ErrInUse)
	before, digest, err := f.Digest(t.Context())
	require.NoError(t, err)
	require.NoError(t, f.Close())

	altered := bytes.Clone(whole)
	altered[bytes.Index(altered, []byte("newnew"))] ^= 1
	for name, c := range map[string]struct {
		text []byte
		want store.Point
	}{
		"nothing":            {nil, at},
		"cut":                {whole[:len(whole)-1], at},
		"cut at a page":      {whole[:len(whole)/2/8192*8192], at},
		"longer":             {append(bytes.Clone(whole), 0), at},
		"altered":            {altered, at},
		"of another place":   {whole, store.Point{Sequence: at.Sequence + 1, Hash: at.Hash}},
		"of another history": {whole, store.Point{Sequence: at.Sequence}},
	} {
		require.ErrorIs(t, store.Install(path, bytes.NewReader(c.text), c.want), store.ErrCopy, name)
		f = follower(t, path, nil)
		found, same, err := f.Digest(t.Context())
		require.NoError(t, err)
		assert.Equal(t, before, found, name)
		assert.Equal(t, digest, same, name)
		require.NoError(t, f.Close())
		assert.Equal(t, []string{"a.db"}, names(t, folder), name)
	}

	for name, damage := range map[string]func(){
		"over another file":   func() {},
		"over a damaged one":  func() { require.NoError(t, os.WriteFile(path, []byte("x"), 0o600)) },
		"where there is none": func() { require.NoError(t, os.Remove(path)) },
	} {
		damage()
		require.NoError(t, store.Install(path, bytes.NewReader(whole), store.Point{}), name)
		f = follower(t, path, nil)
		requireEqual(t, source.(*store.File), f)
		require.NoError(t, f.Close())
	}
}

// TestACopyInTheWayOfAnotherStoreIsNoRewind: a store that is deliberately replaced with a copy of
// another one does not count as rewound.
func TestACopyInTheWayOfAnotherStoreIsNoRewind(t *testing.T) {
	folder := t.TempDir()
	open := func(name string) *store.File {
		f, _, err := store.Open(store.Options{Path: filepath.Join(folder, name)})
		require.NoError(t, err)
		return f
	}
	a, b := open("a.db"), open("b.db")
	_, err := b.Apply(t.Context(), set("b", store.Absent))
	require.NoError(t, err)
	require.NoError(t, b.Close())
	install(t, a, filepath.Join(folder, "b.db"))
	b = open("b.db")
	assert.NoError(t, b.State().Rewound)
	requireEqual(t, a, b)
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
}

func TestWhatACopyLeavesIsRemoved(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a.db")
	require.NoError(t, os.WriteFile(path+".copy-123", []byte("x"), 0o600))
	f := follower(t, path, nil)
	ended, end := context.WithCancel(t.Context())
	end()
	_, err := f.CopyTo(ended, &bytes.Buffer{})
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = f.Digest(ended)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, []string{"a.db"}, names(t, folder))
	require.NoError(t, f.Close())
	_, err = f.CopyTo(t.Context(), &bytes.Buffer{})
	require.ErrorIs(t, err, store.ErrClosed)
	_, err = f.Point()
	require.ErrorIs(t, err, store.ErrClosed)
}

// TestAStoreAloneChainsItsBatches: two copies of a store are at the same point as long as they
// apply the same batches, and never again once their batches differ.
func TestAStoreAloneChainsItsBatches(t *testing.T) {
	folder, now := t.TempDir(), func() time.Time { return begin }
	open := func(name string) *store.File {
		f, _, err := store.Open(store.Options{Path: filepath.Join(folder, name), Now: now})
		require.NoError(t, err)
		return f
	}
	a := open("a.db")
	install(t, a, filepath.Join(folder, "b.db"))
	b := open("b.db")
	at, err := a.Point()
	require.NoError(t, err)
	assert.Zero(t, at)
	apply := func(f *store.File, key, value string) store.Point {
		_, err := f.Apply(t.Context(), store.Change{Kind: "k", Key: key, Value: []byte(value)})
		require.NoError(t, err)
		at, err := f.Point()
		require.NoError(t, err)
		return at
	}
	for i := range 3 {
		at := apply(a, fmt.Sprint(i), "v")
		assert.EqualValues(t, i+1, at.Sequence)
		assert.Equal(t, at, apply(b, fmt.Sprint(i), "v"))
	}
	requireEqual(t, a, b)
	require.NoError(t, b.Close())
	b = open("b.db")
	requireEqual(t, a, b)
	assert.NotEqual(t, apply(a, "x", "1"), apply(b, "x", "2"))
	assert.NotEqual(t, apply(a, "y", "v"), apply(b, "y", "v"))
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
}

// TestADigestCoversPositions: the sequences of removed log entries count in the digest.
func TestADigestCoversPositions(t *testing.T) {
	folder := t.TempDir()
	a := follower(t, filepath.Join(folder, "a.db"), nil)
	b := copied(t, a, filepath.Join(folder, "b.db"), nil)
	cut := store.Change{Log: "l", Through: 1}
	for f, changes := range map[*store.File][]store.Change{a: {appended("l"), cut}, b: {cut}} {
		batch := batchOf(store.Call{Revision: 1, Changes: changes})
		require.NoError(t, f.ApplyBatch(t.Context(), batch, store.Point{Sequence: 1}, begin))
	}
	_, one, err := a.Digest(t.Context())
	require.NoError(t, err)
	_, other, err := b.Digest(t.Context())
	require.NoError(t, err)
	assert.NotEqual(t, one, other)
}
