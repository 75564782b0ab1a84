package store

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAPatientCallSharesABatch: a patient call is written with the next call, or alone if none comes.
func TestAPatientCallSharesABatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	const patience = 10 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		f, _, err := Open(Options{Path: path})
		require.NoError(t, err)
		put := func(ctx context.Context, key string) <-chan error {
			ended := make(chan error, 1)
			go func() {
				ended <- f.Update(ctx, func(tx *Tx) error { tx.Put("k", key, []byte("v"), time.Time{}); return nil })
			}()
			synctest.Wait()
			return ended
		}
		began := time.Now()
		first := put(Patient(t.Context(), patience), "a")
		assert.Zero(t, sequence(t, f))
		second := put(t.Context(), "b")
		require.NoError(t, <-first)
		require.NoError(t, <-second)
		assert.EqualValues(t, 1, sequence(t, f))
		assert.Zero(t, time.Since(began))

		require.NoError(t, <-put(Patient(t.Context(), patience), "c"))
		assert.EqualValues(t, 2, sequence(t, f))
		assert.Equal(t, patience, time.Since(began))

		ctx, leave := context.WithCancel(Patient(t.Context(), patience))
		left := put(ctx, "d")
		leave()
		require.ErrorIs(t, <-left, ErrNotSent)
		refused := put(Patient(t.Context(), patience), "e")
		require.NoError(t, f.Close())
		require.ErrorIs(t, <-refused, ErrClosed)
	})
}

// TestAPatientCallWaitsBehindABatch: the writer does not write a batch of patient calls only.
func TestAPatientCallWaitsBehindABatch(t *testing.T) {
	f := openFile(t, Options{})
	update := func(tx *Tx) error { tx.Put("k", "n", []byte("v"), time.Time{}); return nil }
	patient := updates(update)
	patient.patient, patient.ended = true, make(chan struct{})
	f.mu.Lock()
	f.writer, f.waiting = make(chan struct{}), []*write{patient}
	f.mu.Unlock()
	f.writeAll()
	assert.Zero(t, sequence(t, f))
	require.NoError(t, f.Update(t.Context(), update))
	<-patient.ended
	require.NoError(t, patient.err)
	assert.EqualValues(t, 1, sequence(t, f))
}
