package gateway_test

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
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/ps"
	"adgateway/test/harness"
)

const spoolRecords = 80 // of 32 KiB

// sessions returns a runner of lists with a number of sessions, and a channel that receives a value
// whenever a session becomes free again.
func sessions(many int) (*harness.Runner, chan struct{}) {
	list := pages(spoolRecords, func(int) {})
	free, ended := make(chan struct{}, many), make(chan struct{}, 100)
	run := list.Do
	list.Do = func(ctx context.Context, req ps.Request) (*ps.Result, error) {
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

// slowReader requests a list and does not read the answer.
func slowReader(t *testing.T, address string) net.Conn {
	t.Helper()
	connection := dial(t, address)
	require.NoError(t, connection.(*net.TCPConn).SetReadBuffer(smallBuffer))
	_, err := fmt.Fprintf(connection,
		"GET /api/OU/All HTTP/1.1\r\nHost: x\r\nAuth-Token: Bearer %s\r\nConnection: close\r\n\r\n",
		harness.AllToken)
	require.NoError(t, err)
	return connection
}

// getList returns the status and the size of a list.
func getList(t *testing.T, address string) (status int, size int64) {
	t.Helper()
	request, err := http.NewRequest("GET", "http://"+address+"/api/OU/All", nil)
	require.NoError(t, err)
	request.Header.Set("Auth-Token", "Bearer "+harness.AllToken)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	answer, err := client.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	size, err = io.Copy(io.Discard, answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, size
}

// TestSlowReadersDoNotHoldSessions: four clients request a list and do not read it. Their sessions
// become free at once, other callers get their lists, and the slow clients later read complete
// lists.
func TestSlowReadersDoNotHoldSessions(t *testing.T) {
	runner, ended := sessions(4)
	folder := t.TempDir()
	address := running(t, runner, func(o *gateway.Options) { o.StreamAbove, o.Spool.Folder = 256<<10, folder })
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
		assert.Equal(t, "dc1.corp.example", answer.Trailer.Get("X-Directory-Server"))
	}
}

// TestWithoutRoomASlowReaderHoldsItsSession: a slow reader keeps its session if the limit is used
// up, if there are no files at all, or if the folder does not exist.
func TestWithoutRoomASlowReaderHoldsItsSession(t *testing.T) {
	for name, change := range map[string]func(*gateway.Options){
		"no files":  func(o *gateway.Options) { o.Spool.Most = 0 },
		"spent":     func(o *gateway.Options) { o.Spool.Most = 1 << 20 },
		"no folder": func(o *gateway.Options) { o.Spool.Folder = filepath.Join(t.TempDir(), "none") },
		"a file": func(o *gateway.Options) {
			o.Spool.Folder = filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(o.Spool.Folder, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runner, ended := sessions(1)
			address := running(t, runner, func(o *gateway.Options) {
				o.StreamAbove = 256 << 10
				change(o)
			})
			slow := slowReader(t, address)
			require.Eventually(t, func() bool { return runner.Count() == 1 }, patience, time.Millisecond)
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
