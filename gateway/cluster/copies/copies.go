// Package copies gives a gateway whose file cannot follow the log of the cluster the file of
// another one. A copy travels on the listener for hops, whose other end has proved that it is a
// gateway of the cluster. The copy's minimum position comes first, so that a file that does not
// help is not sent. An incomplete or altered copy is refused, and the previous file stays.
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

// Path is where a gateway serves its copy.
const Path = "/cluster/copy"

// pointHeader has the minimum position of a copy.
const pointHeader = "X-Adgateway-Point"

const (
	// stalled is how long a source may send nothing: it writes the copy to its disk first.
	stalled = 2 * time.Minute

	// sendFor is how long a piece may take that is sent.
	sendFor = 30 * time.Second
)

// Handler serves copies of the store of this gateway, one at a time. It does not authenticate: it
// is for the Beside of a hop.Receiver.
type Handler struct {
	File func() *store.File // the store as it is now

	busy sync.Mutex
}

// ServeHTTP answers with a copy, as [store.File.CopyTo] writes it. The answer breaks off if that
// fails.
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
	w.Header().Set("Connection", "close") // with a deadline on the connection, it cannot be reused
	control := http.NewResponseController(w)
	if err = control.Flush(); err == nil {
		_, err = file.CopyTo(r.Context(), timely{w, control})
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// timely gives up a client that has stopped reading.
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
	at    store.Point // that it has at least reached
	body  io.ReadCloser
	alive *time.Timer
	end   context.CancelCauseFunc
}

var errStalled = errors.New("nothing has come for too long")

// get asks for a copy. close must follow unless it fails.
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
