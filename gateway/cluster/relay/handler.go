package relay

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/store"
)

// Path is the path at which a gateway accepts requests from other gateways for its store.
const Path = "/cluster/store"

// MostBytes is the maximum size of a request.
const MostBytes = 8 << 20

const (
	bodyFor = 30 * time.Second // time limit for a request to arrive
	sendFor = 30 * time.Second // time limit for the other end to receive a piece of an answer
)

// Handler makes changes and reads for other gateways while this gateway leads. Otherwise it answers
// that nothing was begun, and names the leader. It does not authenticate callers. It is meant for
// [hop.Receiver.Beside], and serves every caller with the cluster's key.
type Handler struct {
	File   func() *store.File // the current store
	Leader hop.Leader

	// Leads reports whether this gateway is certain to lead, so that its file is the newest. It also returns
	// true if the log has not begun and this gateway works alone. Only reads depend on it, because changes fail
	// anyway if they cannot be stored.
	Leads func() bool
}

// ServeHTTP answers a request for the store.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "the store is asked with POST", http.StatusMethodNotAllowed)
		return
	}
	file := h.File()
	if !file.Leads() && !h.Leads() {
		hop.RefuseFollower(w, h.Leader)
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyFor)) // writers in tests have no deadlines
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MostBytes))
	_ = control.SetReadDeadline(time.Time{})
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, "the request is too large", http.StatusRequestEntityTooLarge)
		return
	case err != nil || len(body) == 0:
		http.Error(w, "the request is not whole", http.StatusBadRequest)
		return
	}
	if request(body[0]) == applies {
		h.apply(w, r, file, body[1:])
		return
	}
	if !h.Leads() {
		hop.RefuseFollower(w, h.Leader)
		return
	}
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }() // the next answer sets its own
	out := &answer{to: bufio.NewWriter(timely{w, control})}
	o, err := out.read(r.Context(), file, request(body[0]), body[1:])
	switch {
	case errors.Is(err, errMessage):
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	case out.broken != nil:
		panic(http.ErrAbortHandler)
	}
	o.now, o.err = file.Now(), err
	if out.write(o.encode()); out.broken != nil || out.to.Flush() != nil {
		panic(http.ErrAbortHandler)
	}
}

// apply makes changes. If this gateway does not lead, it changes nothing.
func (h *Handler) apply(w http.ResponseWriter, r *http.Request, file *store.File, body []byte) {
	changes, err := decodeChanges(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	o := outcome{}
	o.revision, o.err = file.Apply(r.Context(), changes...)
	if errors.Is(o.err, store.ErrNotSent) {
		hop.RefuseFollower(w, h.Leader)
		return
	}
	if errors.Is(o.err, store.ErrConflict) {
		o.revision, _ = file.Revision() // with 0 the caller has nothing to wait for
	}
	o.now = file.Now()
	if writeRecord(w, o.encode()) != nil {
		panic(http.ErrAbortHandler)
	}
}

// answer is the answer to a reading request.
type answer struct {
	to     *bufio.Writer
	broken error // reason why the answer could not be sent
}

func (a *answer) write(record []byte) bool {
	if a.broken == nil {
		a.broken = writeRecord(a.to, record)
	}
	return a.broken == nil
}

// read writes the answer to a request, and returns the record that ends it. If the request cannot be parsed,
// read writes nothing and fails with errMessage.
func (a *answer) read(
	ctx context.Context, file *store.File, what request, body []byte,
) (o outcome, err error) {
	r := reader{left: body}
	entry := func(e store.Entry) bool { return a.write(encodeEntry(e)) }
	switch what {
	case gets:
		kind, key := store.Kind(r.text()), r.text()
		if err = r.end(); err != nil {
			return o, err
		}
		found, err := file.Get(ctx, kind, key)
		if err == nil {
			entry(found)
		}
		return o, err
	case ranges, rangesBack:
		kind, text := store.Kind(r.text()), r.text()
		if err = r.end(); err != nil {
			return o, err
		}
		if what == ranges {
			return o, file.Range(ctx, kind, text, entry)
		}
		return o, file.RangeBack(ctx, kind, text, entry)
	case reads:
		log, after := store.Log(r.text()), r.position()
		if err = r.end(); err != nil {
			return o, err
		}
		line := func(found store.Appended) bool { return a.write(encodeAppended(found)) }
		return o, file.Log(ctx, log, after, line)
	case ends:
		log := store.Log(r.text())
		if err = r.end(); err != nil {
			return o, err
		}
		o.position, err = file.End(ctx, log)
		return o, err
	case tells:
		if err = r.end(); err != nil {
			return o, err
		}
		o.revision, err = file.Revision()
		return o, err
	}
	return o, errMessage
}

// timely is a writer that gives up on a gateway that has stopped reading.
type timely struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (t timely) Write(p []byte) (int, error) {
	_ = t.control.SetWriteDeadline(time.Now().Add(sendFor)) // writers in tests have no deadlines
	return t.ResponseWriter.Write(p)
}
