// Package copies gives a copy of another gateway's store to a gateway whose own store cannot follow the
// cluster's log. A copy is sent over the hop listener, whose clients have proved that they are gateways of
// the cluster. The minimum position of the copy is sent first, so that a file that would not help is not
// transferred. An incomplete or modified copy is refused, and the previous file stays.
package copies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"adgateway/gateway/store"
)

// Path is the path at which a gateway serves its copy.
const Path = "/cluster/copy"

// pointHeader holds the minimum position of a copy.
const pointHeader = "X-Adgateway-Point"

const (
	// stalled is how long a source may send nothing. It is long because the source first writes the copy to its
	// own disk.
	stalled = 2 * time.Minute

	// sendFor is the time limit for sending a piece.
	sendFor = 30 * time.Second
)

// Handler serves copies of this gateway's store, one at a time. It does not authenticate callers.
// It is meant for hop.Receiver.Beside.
type Handler struct {
	File func() *store.File // the current store

	busy sync.Mutex
}

// ServeHTTP answers with a copy, as written by [store.File.CopyTo]. The answer breaks off if CopyTo fails.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		http.Error(w, "a copy is read with GET", http.StatusMethodNotAllowed)
		return
	}
	if !h.busy.TryLock() {
		http.Error(w, "another gateway is getting a copy", http.StatusServiceUnavailable)
		return
	}
	defer h.busy.Unlock()
	file := h.File()
	at, err := file.Point()
	var text []byte
	if err == nil {
		text, err = json.Marshal(at)
	}
	if err != nil {
		http.Error(w, "the store cannot be read", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set(pointHeader, string(text))
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Connection", "close") // the connection has a deadline, so it cannot be reused
	control := http.NewResponseController(w)
	if err = control.Flush(); err == nil {
		_, err = file.CopyTo(r.Context(), timely{w, control})
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// timely gives up on a client that has stopped reading.
type timely struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (t timely) Write(p []byte) (int, error) {
	if err := t.control.SetWriteDeadline(time.Now().Add(sendFor)); err != nil {
		return 0, err
	}
	return t.ResponseWriter.Write(p)
}

// incoming is a copy that is being received.
type incoming struct {
	at    store.Point // position that the copy has at least reached
	body  io.ReadCloser
	alive *time.Timer
	end   context.CancelCauseFunc
}

var errStalled = errors.New("nothing has come for too long")

// get requests a copy. The caller must call close, unless get fails.
func get(ctx context.Context, client *http.Client, address string) (*incoming, error) {
	ctx, end := context.WithCancelCause(ctx)
	in := &incoming{end: end, alive: time.AfterFunc(stalled, func() { end(errStalled) })}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+Path, nil)
	if err != nil {
		in.close()
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		in.close()
		return nil, err
	}
	in.body = response.Body
	if response.StatusCode != http.StatusOK {
		err = fmt.Errorf("it answers %s", response.Status)
	} else if err = json.Unmarshal([]byte(response.Header.Get(pointHeader)), &in.at); err != nil {
		err = fmt.Errorf("it does not say which place its copy has reached: %w", err)
	}
	if err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

func (in *incoming) Read(p []byte) (int, error) {
	n, err := in.body.Read(p)
	in.alive.Reset(stalled)
	return n, err
}

func (in *incoming) close() {
	in.alive.Stop()
	in.end(nil)
	if in.body != nil {
		_ = in.body.Close() // it was only read
	}
}
