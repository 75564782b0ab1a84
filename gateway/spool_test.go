package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/ps"
)

const spoolRecords = 80 // of 32 KiB

// sessions returns a runner of lists that has so many sessions, and a channel that
// receives when a session is free again.
func sessions(many int) (*fakeRunner, chan struct{}) {
	list := pages(spoolRecords, func(int) {})
	free, ended := make(chan struct{}, many), make(chan struct{}, 100)
	run := list.run
	list.run = func(ctx context.Context, req ps.Request) (*ps.Result, error) {
		select {
		case free <- struct{}{}:
		case <-time.After(300 * time.Millisecond):
			return nil, &ps.Error{Kind: ps.KindOverloaded}
		}
		defer func() {
			<-free
			ended <- struct{}{}
		}()
		return run(ctx, req)
	}
	return list, ended
}

// slowReader asks for a list and does not read it.
func slowReader(t *testing.T, address string) net.Conn {
	t.Helper()
	connection := dial(t, address)
	require.NoError(t, connection.(*net.TCPConn).SetReadBuffer(smallBuffer))
	_, err := fmt.Fprintf(connection, "GET /api/OU/All HTTP/1.1\r\nHost: x\r\nAuth-Token: Bearer %s\r\nConnection: close\r\n\r\n", allToken)
	require.NoError(t, err)
	return connection
}

// getList returns the status of a list, and its size.
func getList(t *testing.T, address string) (status int, size int64) {
	t.Helper()
	request, err := http.NewRequest("GET", "http://"+address+"/api/OU/All", nil)
	require.NoError(t, err)
	request.Header.Set("Auth-Token", "Bearer "+allToken)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	answer, err := client.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	size, err = io.Copy(io.Discard, answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, size
}

// TestSlowReadersDoNotHoldSessions lets four clients ask for a list and not read it.
// Their sessions are free at once, lists of others go on, and what the slow clients
// read later is whole.
func TestSlowReadersDoNotHoldSessions(t *testing.T) {
	runner, ended := sessions(4)
	folder := t.TempDir()
	address := running(t, runner, func(o *Options) { o.StreamAbove, o.SpoolFolder = 256<<10, folder })
	var slow []net.Conn
	for range 4 {
		slow = append(slow, slowReader(t, address))
	}
	for range slow {
		select {
		case <-ended:
		case <-time.After(patience):
			t.Fatal("a session is held by a client that does not read")
		}
	}
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Empty(t, files, "files have no name")
	for range 3 {
		status, size := getList(t, address)
		assert.Equal(t, 200, status)
		assert.Greater(t, size, int64(spoolRecords*32<<10))
	}
	for _, connection := range slow {
		require.NoError(t, connection.SetDeadline(time.Now().Add(patience)))
		answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		var whole struct{ Result []json.RawMessage }
		require.NoError(t, json.Unmarshal(body, &whole))
		assert.Len(t, whole.Result, spoolRecords)
		assert.Equal(t, "dc1.corp.example", answer.Trailer.Get(serverHeader))
	}
}

// TestWithoutRoomASlowReaderHoldsItsSession covers a spent bound, no files at all, and
// a folder that does not exist.
func TestWithoutRoomASlowReaderHoldsItsSession(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"no files":  func(o *Options) { o.SpoolMost = -1 },
		"spent":     func(o *Options) { o.SpoolMost = 1 << 20 },
		"no folder": func(o *Options) { o.SpoolFolder = filepath.Join(t.TempDir(), "none") },
		"a file": func(o *Options) {
			o.SpoolFolder = filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(o.SpoolFolder, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runner, ended := sessions(1)
			address := running(t, runner, func(o *Options) {
				o.StreamAbove = 256 << 10
				change(o)
			})
			slow := slowReader(t, address)
			require.Eventually(t, func() bool { return runner.count() == 1 }, patience, time.Millisecond)
			status, _ := getList(t, address)
			assert.Equal(t, 503, status, "the session is held")
			read, err := io.Copy(io.Discard, slow)
			require.NoError(t, err)
			assert.Greater(t, read, int64(spoolRecords*32<<10), "the list is whole all the same")
			<-ended
			status, _ = getList(t, address)
			assert.Equal(t, 200, status)
		})
	}
}

func TestSpooledFilesAreEncryptedAndReleased(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	folder := t.TempDir()
	stale := filepath.Join(folder, strings.Replace(spoolPattern, "*", "123", 1))
	other := filepath.Join(folder, "other")
	for _, file := range []string{stale, other} {
		require.NoError(t, os.WriteFile(file, nil, 0o600))
	}
	s := newSpooler(folder, 16<<20, func(err error) { t.Error(err) })
	assert.NoFileExists(t, stale, "left by an earlier process")
	assert.FileExists(t, other)

	turn, got := make(chan struct{}), []byte{}
	stream := s.start(caller{name: "a"}, func(data []byte) error {
		<-turn
		got = append(got, data...)
		return nil
	}, func() {})
	var want []byte
	for i := range 40 {
		part := []byte(strings.Repeat(fmt.Sprintf("secret%d ", i), 8<<10))
		want = append(want, part...)
		require.NoError(t, stream.add(part))
	}
	require.NotNil(t, stream.file)
	sealed := make([]byte, stream.size)
	_, err := stream.file.ReadAt(sealed, 0)
	require.NoError(t, err)
	assert.NotContains(t, string(sealed), "secret")
	assert.Equal(t, stream.size, s.space.held)
	close(turn)
	require.NoError(t, stream.finish())
	assert.Equal(t, string(want), string(got), "everything in its order")
	assert.Zero(t, s.space.held)
	assert.Empty(t, s.space.by)

	stuck := make(chan struct{})
	given := s.start(caller{name: "b"}, func([]byte) error {
		<-stuck
		return io.ErrClosedPipe
	}, func() {})
	require.NoError(t, given.add(make([]byte, 3<<20)))
	given.stop(func() { close(stuck) })
	assert.Zero(t, s.space.held)
	assert.ErrorIs(t, given.add([]byte("more")), errStopped)

	full := s.start(caller{name: "c"}, func([]byte) error { return io.ErrClosedPipe }, func() {})
	assert.ErrorIs(t, full.add(make([]byte, 8<<20)), io.ErrClosedPipe, "whoever waits for room learns that the client has left")
	full.stop(func() {})
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, files, 1)
}
