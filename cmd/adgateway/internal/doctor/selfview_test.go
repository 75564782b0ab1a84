package doctor_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/internal/doctor"
)

// serve serves views with increasing process IDs until the test ends.
func serve(t *testing.T, files doctor.SelfFiles, take func(context.Context, int) doctor.SelfView) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		taken := 0
		files.Serve(ctx, nil, func(ctx context.Context) doctor.SelfView { taken++; return take(ctx, taken) },
			func(err error) { assert.NoError(t, err) })
	}()
	t.Cleanup(func() { cancel(); <-ended })
}

func TestAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := doctor.SelfFiles{Folder: t.TempDir(), Name: "self"}
		view, err := files.Ask(t.Context())
		assert.ErrorIs(t, err, doctor.ErrNotRunning, "nobody has ever answered")
		assert.Zero(t, view)
		assert.NoFileExists(t, files.Request())

		slow := false
		serve(t, files, func(ctx context.Context, n int) doctor.SelfView {
			if slow {
				<-ctx.Done()
			}
			return doctor.SelfView{Taken: time.Now(), PID: n}
		})
		synctest.Wait()
		for n := range 3 {
			view, err = files.Ask(t.Context())
			require.NoError(t, err)
			assert.Equal(t, n+1, view.PID)
		}
		slow = true
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		view, err = files.Ask(ctx)
		assert.ErrorIs(t, err, doctor.ErrNoAnswer)
		assert.Equal(t, 3, view.PID, "the last one")
	})
}

// TestAGatewayThatHangs: a gateway that holds the lock but does not take a request is reported as hanging.
func TestAGatewayThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := doctor.SelfFiles{Folder: t.TempDir(), Name: "self"}
		lock := flock.New(filepath.Join(files.Folder, "self.lock"))
		held, err := lock.TryLock()
		require.NoError(t, err)
		require.True(t, held)
		_, err = files.Ask(t.Context())
		assert.ErrorIs(t, err, doctor.ErrNoAnswer)
		assert.NoFileExists(t, files.Request())

		start := time.Now()
		require.NoError(t, lock.Close())
		_, err = files.Ask(t.Context())
		assert.ErrorIs(t, err, doctor.ErrNotRunning)
		assert.Zero(t, time.Since(start), "that is known at once")
	})
}

func TestFilesThatCannotBeUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := doctor.SelfFiles{Folder: filepath.Join(t.TempDir(), "absent"), Name: "self"}.Ask(t.Context())
		assert.ErrorIs(t, err, doctor.ErrNotRunning)

		files := doctor.SelfFiles{Folder: t.TempDir(), Name: "self"}
		path := filepath.Join(files.Folder, "self.json")
		require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
		_, err = files.Ask(t.Context())
		require.Error(t, err)
		assert.Contains(t, err.Error(), path)
		require.NoError(t, os.Remove(path))

		require.NoError(t, os.Mkdir(files.Request(), 0o700)) // a request is removed, whatever it is
		serve(t, files, func(context.Context, int) doctor.SelfView { return doctor.SelfView{Taken: time.Now()} })
		time.Sleep(time.Minute)
		assert.NoDirExists(t, files.Request())
		_, err = files.Read()
		assert.NoError(t, err)

		refusing := doctor.SelfFiles{Folder: t.TempDir(), Name: "self",
			Restrict: func(string) error { return fs.ErrPermission }}
		ready := make(chan struct{})
		close(ready)
		failed := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go refusing.Serve(ctx, ready, func(context.Context) doctor.SelfView { return doctor.SelfView{} },
			func(err error) { failed <- err })
		assert.ErrorIs(t, <-failed, fs.ErrPermission)
		cancel()
		synctest.Wait()
		entries, err := os.ReadDir(refusing.Folder)
		require.NoError(t, err)
		require.Len(t, entries, 1, "nothing is left but the lock")
		assert.Equal(t, "self.lock", entries[0].Name())
		_, err = refusing.Read()
		assert.True(t, errors.Is(err, fs.ErrNotExist))
	})
}
