package story

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// restarts runs gateways with the same domain and folder, one after another.
type restarts struct {
	t        *testing.T
	world    *sandbox.World
	settings []string
}

func newRestarts(t *testing.T, folder string) *restarts {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), systemtest.Patience)
	defer cancel()
	w, err := sandbox.NewWorld(ctx, sandbox.Options{Seed: 1})
	require.NoError(t, err)
	return &restarts{t, w, []string{"store.file=" + filepath.Join(folder, "state.db"),
		"audit.file=" + filepath.Join(folder, "audit.jsonl")}}
}

func (r *restarts) during(name string, what func(t *testing.T, s *systemtest.System)) {
	r.t.Run(name, func(t *testing.T) { what(t, systemtest.NewOn(t, r.world, r.world.Starter(), r.settings...)) })
}

// flip changes one bit in each of the first most values of a bucket.
func flip(t *testing.T, file, bucket string, most int) {
	t.Helper()
	db, err := bbolt.Open(file, 0o600, nil)
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(bucket))
		damaged := map[string][]byte{}
		c := b.Cursor()
		for key, value := c.First(); key != nil && len(damaged) < most; key, value = c.Next() {
			damaged[string(key)] = append([]byte(nil), value...)
			damaged[string(key)][len(value)-1] ^= 1
		}
		require.Len(t, damaged, most)
		for key, value := range damaged {
			if err := b.Put([]byte(key), value); err != nil {
				return err
			}
		}
		return nil
	}))
}

// TestADamagedChangeHidesNoOther: the history omits an unreadable record, and /readyz reports it.
func TestADamagedChangeHidesNoOther(t *testing.T) {
	folder := t.TempDir()
	r := newRestarts(t, folder)
	list := func(s *systemtest.System) int {
		return len(changesIn(s, s.Do(listChanges(map[string]any{"Limit": 100}))))
	}
	r.during("before", func(t *testing.T, s *systemtest.System) {
		for _, city := range []string{"Rome", "Oslo", "Bonn"} {
			require.Equal(t, http.StatusOK, s.Do(update("aschmidt", map[string]any{"City": city})).Status)
		}
		require.Equal(t, 3, list(s))
		assert.NotContains(t, string(s.Get("/readyz").Body), "cannot be read")
	})
	flip(t, filepath.Join(folder, "state.db"), "change", 1)
	r.during("afterwards", func(t *testing.T, s *systemtest.System) {
		require.Equal(t, 2, list(s))
		assert.Contains(t, string(s.Get("/readyz").Body), "left out of lists (1 of change)")
		require.Equal(t, http.StatusOK, s.Do(update("aschmidt", map[string]any{"City": "Genoa"})).Status)
		require.Equal(t, 3, list(s))
	})
}

// TestAnotherKeyOfTheStore: with a key that opens no value, reads work, but changes are refused and nothing
// is written to the store. With the correct key, everything is available again.
func TestAnotherKeyOfTheStore(t *testing.T) {
	for name, without := range map[string]int{"with the proof of the key": 0,
		"of a store from before the proof": 1} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			r := newRestarts(t, folder)
			keyFile := filepath.Join(folder, "state.db.key")
			keyed := func(s *systemtest.System) systemtest.Answer {
				call := update("aschmidt", map[string]any{"City": "Rome"})
				call.Headers = map[string]string{"Idempotency-Key": "key-of-before"}
				return s.Do(call)
			}
			var change, job string
			r.during("before", func(t *testing.T, s *systemtest.System) {
				answer := keyed(s)
				require.Equal(t, http.StatusOK, answer.Status)
				change = answer.Header.Get("X-Change-Id")
				job = submitted(s, submit(csvMedia, "UserName,City\nmwagner,Rome\n", "Operation", "user.update"))
				reached(s, job, "done")
			})
			if without > 0 {
				db, err := bbolt.Open(filepath.Join(folder, "state.db"), 0o600, nil)
				require.NoError(t, err)
				require.NoError(t, db.Update(func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("seal")) }))
				require.NoError(t, db.Close())
			}
			key, err := os.ReadFile(keyFile)
			require.NoError(t, err)
			other := append([]byte(nil), key...)
			other[0] ^= 1
			require.NoError(t, os.WriteFile(keyFile, other, 0o600))
			r.during("another key", func(t *testing.T, s *systemtest.System) {
				assert.Contains(t, string(s.Get("/readyz").Body), "the key opens nothing of what the store has")
				assert.Equal(t, http.StatusServiceUnavailable, s.Get("/readyz?lane=changes").Status)
				s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/aschmidt/Details"}, http.StatusOK)
				for _, answer := range []systemtest.Answer{keyed(s),
					s.Do(update("aschmidt", map[string]any{"City": "Oslo"}))} {
					assert.Equal(t, http.StatusServiceUnavailable, answer.Status)
					assert.NotEmpty(t, answer.Header.Get("Retry-After"))
				}
			})
			require.NoError(t, os.WriteFile(keyFile, key, 0o600))
			r.during("the right key", func(t *testing.T, s *systemtest.System) {
				assert.NotContains(t, string(s.Get("/readyz").Body), "the key opens nothing")
				answer := keyed(s)
				assert.Equal(t, http.StatusOK, answer.Status)
				assert.Equal(t, "true", answer.Header.Get("Idempotency-Replayed"))
				assert.Equal(t, change, answer.Header.Get("X-Change-Id"))
				reached(s, job, "done")
			})
		})
	}
}
