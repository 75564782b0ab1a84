package transport

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/gateway/identity"
	"adgateway/gateway/spool"
)

func TestSpooledFilesAreEncryptedAndReleased(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	folder := t.TempDir()
	stale := filepath.Join(folder, strings.Replace(spool.Pattern, "*", "123", 1))
	other := filepath.Join(folder, "other")
	for _, file := range []string{stale, other} {
		require.NoError(t, os.WriteFile(file, nil, 0o600))
	}
	s := &Spooler{spool.New(spool.Options{Folder: folder, Most: 16 << 20}, func(err error) { t.Error(err) })}
	assert.NoFileExists(t, stale, "left by an earlier process")
	assert.FileExists(t, other)

	turn, got := make(chan struct{}), []byte{}
	stream := s.Start(identity.ID{ID: "a"}, func(data []byte) error {
		<-turn
		got = append(got, data...)
		return nil
	}, func() {})
	var want []byte
	for i := range 40 {
		part := []byte(strings.Repeat(fmt.Sprintf("secret%d ", i), 8<<10))
		want = append(want, part...)
		require.NoError(t, stream.Add(part))
	}
	require.Positive(t, s.Held())
	close(turn)
	require.NoError(t, stream.Finish())
	assert.Equal(t, string(want), string(got), "everything in its order")
	assert.Zero(t, s.Held())

	stuck := make(chan struct{})
	given := s.Start(identity.ID{ID: "b"}, func([]byte) error {
		<-stuck
		return io.ErrClosedPipe
	}, func() {})
	require.NoError(t, given.Add(make([]byte, 3<<20)))
	given.Stop(func() { close(stuck) })
	assert.Zero(t, s.Held())
	assert.ErrorIs(t, given.Add([]byte("more")), errStopped)

	full := s.Start(identity.ID{ID: "c"}, func([]byte) error { return io.ErrClosedPipe }, func() {})
	assert.ErrorIs(t, full.Add(make([]byte, 8<<20)), io.ErrClosedPipe,
		"whoever waits for room learns that the client has left")
	full.Stop(func() {})
	nothing := func() int64 { return 0 }
	none := &Spooler{spool.New(spool.Options{Folder: folder, Most: 16 << 20, Share: nothing}, nil)}
	waits := none.Start(identity.ID{ID: "d"}, func([]byte) error { return io.ErrClosedPipe }, func() {})
	assert.ErrorIs(t, waits.Add(make([]byte, 8<<20)), io.ErrClosedPipe)
	assert.Zero(t, none.Held(), "little is left on the disk")
	waits.Stop(func() {})
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, files, 1)
}
