package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

// erased waits until the free pages of a file are overwritten.
func erased(t *testing.T, f *File) {
	t.Helper()
	f.eraser.mu.Lock()
	running := f.eraser.running
	f.eraser.mu.Unlock()
	waitFor(running)
	require.NoError(t, f.State().Unerased)
}

// holds reports whether a store's file contains a text anywhere, including free pages and the
// commit log.
func holds(t *testing.T, f *File, text string) bool {
	t.Helper()
	content, err := os.ReadFile(f.path)
	require.NoError(t, err)
	log, err := os.ReadFile(commitsOf(f.path))
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	return bytes.Contains(content, []byte(text)) || bytes.Contains(log, []byte(text))
}

func opened(t *testing.T, path string, erase ...Kind) *File {
	t.Helper()
	f, aside, err := Open(Options{Path: path, Erase: erase})
	require.NoError(t, err)
	require.Empty(t, aside)
	t.Cleanup(func() { assert.NoError(t, f.Close()) })
	return f
}

// replaceValue sets a value, or removes it if value is empty.
func replaceValue(t *testing.T, f *File, kind Kind, key, value string) {
	t.Helper()
	known, err := f.Get(t.Context(), kind, key)
	if err != nil {
		require.ErrorIs(t, err, ErrAbsent)
	}
	change := Change{Kind: kind, Key: key, Expect: known.Revision}
	if value != "" {
		change.Value = []byte(value)
	}
	_, err = f.Apply(context.WithoutCancel(t.Context()), change)
	assert.NoError(t, err)
}

// TestRemovedSecretsAreErased: a removed secret is nowhere in the file, no matter how many pages
// had it.
func TestRemovedSecretsAreErased(t *testing.T) {
	const secret = "CANARY-of-a-job"
	for name, value := range map[string]string{
		"small": secret, "larger than a page": strings.Repeat(secret+" ", 2000),
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			f := opened(t, filepath.Join(t.TempDir(), "state.db"), "secret")
			set := func(kind Kind, key, value string) { t.Helper(); replaceValue(t, f, kind, key, value) }
			set("secret", "one", value)
			for i := range 50 { // the page of the secret is rewritten many times
				set("secret", fmt.Sprint("other", i), strings.Repeat("x", 100))
				set("plain", fmt.Sprint(i), strings.Repeat("y", 300))
			}
			require.True(t, holds(t, f, secret))
			set("secret", "one", "")
			erased(t, f)
			assert.False(t, holds(t, f, secret))
			set("secret", "two", value)
			set("secret", "two", "replaced")
			erased(t, f)
			assert.False(t, holds(t, f, secret))

			var all []string
			require.NoError(t, f.Range(ctx, "plain", "",
				func(e Entry) bool { all = append(all, string(e.Value)); return true }))
			assert.Len(t, all, 50, "the rest is there")
		})
	}
}

// TestFreePagesAreErasedAtOpening: free pages that an earlier process left are erased when the file
// is opened.
func TestFreePagesAreErasedAtOpening(t *testing.T) {
	const secret = "CANARY-of-before"
	path := filepath.Join(t.TempDir(), "state.db")
	before, _, err := Open(Options{Path: path})
	require.NoError(t, err)
	replaceValue(t, before, "secret", "one", secret)
	require.NoError(t, before.allPut())
	replaceValue(t, before, "secret", "one", "")
	require.True(t, holds(t, before, secret))
	require.NoError(t, before.Close())
	f := opened(t, path, "secret")
	erased(t, f)
	assert.False(t, holds(t, f, secret))
	replaceValue(t, f, "plain", "k", "v")
}

// TestReadersKeepTheirPages: a reader sees the values from when it began, even if they are erased
// meanwhile.
func TestReadersKeepTheirPages(t *testing.T) {
	f := opened(t, filepath.Join(t.TempDir(), "state.db"), "secret")
	value := []byte(strings.Repeat("secret ", 3000))
	replaceValue(t, f, "secret", "one", string(value))
	erased(t, f)
	begun, removed := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		assert.NoError(t, f.viewAll(func(tx *bbolt.Tx) error {
			close(begun)
			<-removed
			assert.Equal(t, value, tx.Bucket([]byte("secret")).Get([]byte("one"))[headerLength:])
			return nil
		}))
	})
	<-begun
	replaceValue(t, f, "secret", "one", "")
	done, _, err := func() (bool, bool, error) {
		file, err := os.OpenFile(f.path, os.O_RDWR, 0)
		require.NoError(t, err)
		defer file.Close()
		return f.eraseSome(file, 0)
	}()
	require.NoError(t, err)
	assert.False(t, done, "somebody reads")
	close(removed)
	group.Wait()
	erased(t, f)
	assert.False(t, holds(t, f, "secret secret"))
}

// TestErasingWhileTheFileIsUsed: concurrent changes, reads and erasing lose nothing.
func TestErasingWhileTheFileIsUsed(t *testing.T) {
	f := opened(t, filepath.Join(t.TempDir(), "state.db"), "secret")
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 60 {
				key := fmt.Sprint(worker, "-", i%7)
				value := strings.Repeat(key, 10+i*20)
				replaceValue(t, f, "secret", key, value)
				found, err := f.Get(t.Context(), "secret", key)
				assert.NoError(t, err)
				assert.Equal(t, value, string(found.Value))
			}
		})
	}
	group.Wait()
	erased(t, f)
	require.NoError(t, f.viewAll(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			assert.NoError(t, err)
		}
		return nil
	}))
}
