package replicas

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"adgateway/gateway/cluster"
	"adgateway/gateway/cluster/beats"
	"adgateway/gateway/cluster/replica"
	"adgateway/gateway/journal"
	"adgateway/gateway/journal/jetstream"
	"adgateway/gateway/journal/journaltest"
	"adgateway/gateway/store"
)

const (
	clusterName = "test"

	// settleDelay is short because a script's write to a file is never delayed.
	settleDelay = 2 * time.Second

	values store.Kind = "value"
	tokens store.Kind = "token" // entries that expire
)

// gatewayOptions are the options of a process that is a gateway.
type gatewayOptions struct {
	Self   journal.Process
	Names  []string          // of all gateways
	Listen string            // address of the HTTP interface
	Others map[string]string // addresses of the other gateways, by name
	Log    []string          // URLs of the nodes, for the log
	Beats  []string          // URLs of the nodes, for messages to the other gateways
	File   string            // the store
	Offset string            // file with the offset of the wall clock
	Writes string            // file that the scripts of all gateways write to
	Since  time.Time         // log time when the cluster was made
}

// gateway is the gateway in this process.
type gateway struct {
	o       gatewayOptions
	key     *store.Key
	clock   *store.Clock
	replica *replica.Replica
	locks   locks
}

// storeKey returns the key that all gateways share.
func storeKey() *store.Key {
	key, err := store.NewKey(bytes.Repeat([]byte{7}, store.KeyLength))
	if err != nil {
		panic(err) // the key has the right length
	}
	return key
}

func connect(urls []string) func(...nats.Option) (*nats.Conn, error) {
	return func(o ...nats.Option) (*nats.Conn, error) { return nats.Connect(strings.Join(urls, ","), o...) }
}

// runGateway runs a gateway until the process receives a signal to end.
func runGateway(o gatewayOptions) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	g := &gateway{o: o, key: storeKey()}
	var member atomic.Pointer[cluster.Member]
	g.clock = store.NewClock(o.Since, store.ClockSources{Wall: g.wall, Agree: func() bool {
		m := member.Load()
		return m != nil && m.Agree()
	}})
	file, aside, err := g.open()
	if err != nil || aside != "" {
		return fmt.Errorf("the store was damaged: %q: %w", aside, err)
	}
	stream, err := openStream(ctx, o.Log)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	defer stream.Close()
	peers, err := beats.New(beats.Options{
		Cluster: clusterName, Self: o.Self, Cipher: journaltest.Cipher("beats"), Connect: connect(o.Beats),
	})
	if err != nil {
		return errors.Join(err, file.Close())
	}
	defer peers.Close()
	g.locks.reset(nil)
	g.replica = replica.New(replica.Options{
		File: file, Stream: stream, Journal: stream.Options(journaltest.Cipher("key")), Clock: g.clock,
		Copy: g.copy,
		Member: cluster.Options{
			Self: o.Self, Gateways: o.Names, Reads: 1, Peers: peers, Formats: formats{},
			SettleDelay: settleDelay, Wall: g.wall,
			Note: func(message string, err error) { log.Println(message, err) },
		},
	})
	member.Store(g.replica.Member())
	server := &http.Server{Addr: o.Listen, Handler: g.handler(), ReadHeaderTimeout: time.Minute}
	serving := make(chan error, 1)
	go func() { serving <- server.ListenAndServe() }()
	g.replica.Run(ctx, attempts{g})
	err = errors.Join(server.Close(), g.replica.File().Close())
	if failed := <-serving; !errors.Is(failed, http.ErrServerClosed) {
		err = errors.Join(err, failed)
	}
	return err
}

func (g *gateway) open() (file *store.File, aside string, err error) {
	return store.Open(store.Options{Path: g.o.File, Clock: g.clock, Follows: true})
}

// openStream retries until the nodes answer.
func openStream(ctx context.Context, urls []string) (*jetstream.Stream, error) {
	for {
		stream, err := jetstream.Open(ctx, jetstream.Options{Cluster: clusterName, Connect: connect(urls)})
		if err == nil || ctx.Err() != nil {
			return stream, err
		}
		log.Println("the log cannot be opened", err)
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// wall returns the time of a wall clock that the test sets.
func (g *gateway) wall() time.Time {
	now := time.Now().Round(0)
	text, err := os.ReadFile(g.o.Offset)
	if err != nil {
		return now
	}
	offset, err := time.ParseDuration(string(text))
	if err != nil {
		return now
	}
	return now.Add(offset)
}

// copied is the message that is logged after the file of another gateway has been installed.
const copied = "the file of another gateway is in use"

// copy copies the file of another gateway.
func (g *gateway) copy(
	ctx context.Context, old *store.File, check func(context.Context, store.Point) error,
) (*store.File, error) {
	var failed error
	for name, address := range g.o.Others {
		content, err := fetch(ctx, "http://"+address+"/copy")
		var whole fileCopy
		if err == nil {
			err = json.Unmarshal(content, &whole)
		}
		if err == nil {
			err = check(ctx, whole.At)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
			continue
		}
		if err = old.Close(); err != nil {
			return nil, err
		}
		if err = store.Install(g.o.File, bytes.NewReader(whole.Content), whole.At); err != nil {
			log.Fatalln("a copy cannot be installed", err)
		}
		file, _, err := g.open()
		if err != nil {
			log.Fatalln("a copy cannot be opened", err)
		}
		log.Println(copied)
		return file, nil
	}
	return nil, failed
}

// fileCopy is the copy of a file, with the position of the copy in the log.
type fileCopy struct {
	At      store.Point
	Content []byte
}

func (g *gateway) sendCopy(w http.ResponseWriter, r *http.Request) {
	var content bytes.Buffer
	at, err := g.replica.File().CopyTo(r.Context(), &content)
	if err != nil {
		http.Error(w, err.Error(), inDoubt)
		return
	}
	_ = json.NewEncoder(w).Encode(fileCopy{at, content.Bytes()})
}

func fetch(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	return content, err
}

// store returns the current store. It changes when the file is replaced.
func (g *gateway) store() *store.Sealed {
	sealed, err := store.Seal(g.replica.File(), g.key)
	if err != nil {
		panic(err) // the key has the right length
	}
	return sealed
}

// The statuses of a gateway other than 200.
const (
	notBegun = http.StatusMisdirectedRequest // nothing was done
	conflict = http.StatusConflict           // the value is a different one
	inDoubt  = http.StatusServiceUnavailable // the effect of the call is unknown
	absent   = http.StatusNotFound           // there is no value
	busy     = http.StatusLocked             // another change holds the object
	callMost = 30 * time.Second
)

func (g *gateway) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /value/{key}", g.get)
	mux.HandleFunc("PUT /value/{key}", g.put)
	mux.HandleFunc("PUT /token/{key}", g.putToken)
	mux.HandleFunc("POST /change/{object}/{id}", g.change)
	mux.HandleFunc("POST /handover", func(w http.ResponseWriter, r *http.Request) {
		if err := g.replica.Member().HandOver(r.Context()); err != nil {
			http.Error(w, err.Error(), notBegun)
		}
	})
	mux.HandleFunc("GET /copy", g.sendCopy)
	mux.HandleFunc("GET /state", g.state)
	return mux
}

// state is the state of a gateway.
type state struct {
	Leads      bool
	Status     string
	Open       int
	Reports    int
	Running    int // number of changes
	Stored     int // number of open changes in the file
	ClockUnset bool
	Point      store.Point
	Digest     store.Hash
	LogTime    time.Time
}

func (g *gateway) state(w http.ResponseWriter, r *http.Request) {
	member := g.replica.Member()
	_, leads := member.Leads()
	s := member.Status()
	at, digest, err := g.replica.File().Digest(r.Context())
	stored, unread := attempts{g}.Open(r.Context())
	if err = errors.Join(err, unread); err != nil {
		http.Error(w, err.Error(), inDoubt)
		return
	}
	_ = json.NewEncoder(w).Encode(state{
		Leads: leads, Status: fmt.Sprint(s.Role, " ", s.Term, " ", s.Leader, " ", s.Fault),
		Open: s.Open, Reports: s.Reports, Running: g.locks.count(), Stored: len(stored),
		ClockUnset: s.ClockUnset, Point: at, Digest: digest, LogTime: g.clock.Now(),
	})
}

// get returns a value, but only while this gateway is certainly the leader.
func (g *gateway) get(w http.ResponseWriter, r *http.Request) {
	if _, leads := g.replica.Member().Leads(); !leads {
		w.WriteHeader(notBegun)
		return
	}
	found, err := g.store().Get(r.Context(), values, r.PathValue("key"))
	switch {
	case errors.Is(err, store.ErrAbsent):
		w.WriteHeader(absent)
	case err != nil:
		http.Error(w, err.Error(), notBegun)
	default:
		_, _ = w.Write(found.Value)
	}
}

// put replaces a value with another.
func (g *gateway) put(w http.ResponseWriter, r *http.Request) {
	if _, leads := g.replica.Member().Leads(); !leads {
		w.WriteHeader(notBegun)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), callMost)
	defer cancel()
	db := g.store()
	expect, value, key := r.FormValue("expect"), r.FormValue("value"), r.PathValue("key")
	found, err := db.Get(ctx, values, key)
	if err != nil && !errors.Is(err, store.ErrAbsent) {
		http.Error(w, err.Error(), notBegun)
		return
	}
	if string(found.Value) != expect {
		w.WriteHeader(conflict)
		return
	}
	_, err = db.Apply(ctx, store.Change{Kind: values, Key: key, Expect: found.Revision, Value: []byte(value)})
	answer(w, err)
}

func (g *gateway) putToken(w http.ResponseWriter, r *http.Request) {
	db := g.store()
	lasts, err := strconv.Atoi(r.FormValue("seconds"))
	if err != nil || g.replica.Member().Status().ClockUnset {
		w.WriteHeader(notBegun)
		return
	}
	_, err = db.Apply(r.Context(), store.Change{
		Kind: tokens, Key: r.PathValue("key"), Value: []byte("x"),
		Expires: db.Now().Add(time.Duration(lasts) * time.Second),
	})
	answer(w, err)
}

// answer writes the status for the result of a write.
func answer(w http.ResponseWriter, err error) {
	switch {
	case err == nil:
	case errors.Is(err, store.ErrConflict):
		w.WriteHeader(conflict)
	case errors.Is(err, store.ErrNotSent):
		http.Error(w, err.Error(), notBegun)
	default:
		http.Error(w, err.Error(), inDoubt)
	}
}

// formats are the formats of a cluster whose gateways have the same version.
type formats struct{}

func (formats) Seen() map[string]cluster.Seen                   { return nil }
func (formats) See(context.Context, string, cluster.Seen) error { return nil }
