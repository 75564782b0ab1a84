package replica

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster/copies"
	"adgateway/gateway/store"
)

// TestAFileThatCannotFollowIsReplaced: a file that cannot follow the log is replaced by another
// gateway's file, which then follows. The old file is kept next to it.
func TestAFileThatCannotFollowIsReplaced(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(t *testing.T, path string, early []byte){
		"it was away for too long": func(*testing.T, string, []byte) {},
		"it was taken back": func(t *testing.T, path string, early []byte) {
			require.NoError(t, os.WriteFile(path, early, 0o600))
		},
		"it is damaged": func(t *testing.T, path string, _ []byte) {
			require.NoError(t, os.WriteFile(path, make([]byte, 1<<16), 0o600))
		}, // by then, an empty store has replaced it
		"it is gone": func(t *testing.T, path string, _ []byte) { require.NoError(t, os.Remove(path)) },
		"it has an entry that the log has not": func(t *testing.T, path string, _ []byte) {
			file, _, err := store.Open(store.Options{Path: path, Follows: true})
			require.NoError(t, err)
			at, err := file.Point()
			require.NoError(t, err)
			at.Hash[0]++
			at.Sequence++
			require.NoError(t, file.ApplyBatch(t.Context(), nil, at, time.Now()))
			require.NoError(t, file.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := newHosts(t, names...)
			nodes := inMemory(all)
			for _, h := range all {
				h.start()
			}
			put(t, all, "first", "1")
			equal(t, all)
			behind := all[2]
			behind.kill()
			early, err := os.ReadFile(behind.path)
			require.NoError(t, err)
			behind.start()
			put(t, all, "second", "1")
			equal(t, all)
			behind.kill()
			for i := range 5 {
				put(t, all[:2], fmt.Sprint("away", i), "1")
			}
			happens(t, behind.path, early)
			equal(t, all[:2])
			at, err := all[0].now().File().Point()
			require.NoError(t, err)
			nodes.Forget(at.Sequence)
			behind.start()
			equal(t, all)
			put(t, all, "last", "1")
			equal(t, all)
			_, err = behind.now().File().Get(t.Context(), "k", "away4")
			require.NoError(t, err)
			kept, aside, err := store.Open(store.Options{Path: behind.path + copies.Replaced, Follows: true})
			require.NoError(t, err)
			assert.Empty(t, aside)
			assert.NoError(t, kept.Close())
		})
	}
}
