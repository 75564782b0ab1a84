package copies

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster"
	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/store"
)

func openStore(t *testing.T, path string) *store.File {
	t.Helper()
	file, aside, err := store.Open(store.Options{Path: path, Follows: true})
	require.NoError(t, err)
	require.Empty(t, aside)
	return file
}

// db returns a store that has applied as many batches as the journal has entries.
func db(t *testing.T, path string, entries int) *store.File {
	t.Helper()
	file := openStore(t, path)
	for i := range entries {
		b := store.Batch{Calls: []store.Call{{
			Revision: store.Revision(i + 1),
			Changes:  []store.Change{{Kind: "k", Key: string(rune('a' + i)), Value: bytes.Repeat([]byte("v"), 10_000)}},
		}}}
		require.NoError(t, file.ApplyBatch(t.Context(), b.Encode(), place(i+1), time.Unix(int64(i), 0)))
	}
	return file
}

func place(entry int) store.Point {
	return store.Point{Journal: "j", Sequence: uint64(entry), Hash: store.Hash{byte(entry)}}
}

func digest(t *testing.T, file *store.File) store.Hash {
	t.Helper()
	_, sum, err := file.Digest(t.Context())
	require.NoError(t, err)
	return sum
}

// anywhere accepts a file at any position.
func anywhere(context.Context, store.Point) error { return nil }

// away is a gateway whose store must be replaced.
type away struct {
	*Client
	old    *store.File
	before store.Hash
}

func newAway(t *testing.T) *away {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store")
	a := &away{old: db(t, path, 1)}
	a.before = digest(t, a.old)
	a.Client = &Client{
		Path:    path,
		Open:    func() (*store.File, error) { return openStore(t, path), nil },
		Sources: func() []Source { return nil },
	}
	t.Cleanup(func() { assert.NoError(t, a.old.Close()) })
	return a
}

// ask makes the client ask servers, one after another.
func (a *away) ask(servers ...*httptest.Server) {
	a.TLS = func(gateway string) *tls.Config {
		for _, s := range servers {
			if gateway == s.Listener.Addr().String() {
				return s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
			}
		}
		return nil
	}
	a.Sources = func() (all []Source) {
		for _, s := range servers {
			address := s.Listener.Addr().String()
			all = append(all, Source{address, address})
		}
		return all
	}
}

// copies gets a copy, and checks that it has replaced the previous store, or that the previous
// store is open and unchanged.
func (a *away) copies(t *testing.T, check func(context.Context, store.Point) error) error {
	t.Helper()
	var err error
	a.old, err = a.Copy(t.Context(), a.old, check)
	require.NotNil(t, a.old)
	if err != nil {
		require.Equal(t, a.before, digest(t, a.old))
	}
	return err
}

func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = nil
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// spoiled modifies the answers of a handler.
type spoiled struct {
	http.ResponseWriter
	written int
	spoil   func(at int, piece []byte) []byte
}

func (s *spoiled) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *spoiled) Write(p []byte) (int, error) {
	piece := s.spoil(s.written, bytes.Clone(p))
	s.written += len(p)
	if _, err := s.ResponseWriter.Write(piece); err != nil {
		return 0, err
	}
	return len(p), nil
}

// TestAnIncompleteCopyIsRefused: the previous store stays, and the next gateway is asked.
func TestAnIncompleteCopyIsRefused(t *testing.T) {
	source := db(t, filepath.Join(t.TempDir(), "store"), 9)
	defer source.Close()
	good := &Handler{File: func() *store.File { return source }}
	spoil := func(how func(at int, piece []byte) []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			good.ServeHTTP(&spoiled{ResponseWriter: w, spoil: how}, r)
		}
	}
	for name, bad := range map[string]http.HandlerFunc{
		"interrupted": spoil(func(at int, piece []byte) []byte {
			if at > 0 {
				panic(http.ErrAbortHandler)
			}
			return piece[:len(piece)/2]
		}),
		"it ends early": spoil(func(at int, piece []byte) []byte {
			if at > 0 {
				return nil
			}
			return piece
		}),
		"altered": spoil(func(at int, piece []byte) []byte {
			if at == 0 {
				piece[len(piece)/2] ^= 1
			}
			return piece
		}),
		"empty": func(w http.ResponseWriter, _ *http.Request) {
			text, err := json.Marshal(place(9))
			assert.NoError(t, err)
			w.Header().Set(pointHeader, string(text))
		},
		"no place":  func(http.ResponseWriter, *http.Request) {},
		"an error":  func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) },
		"elsewhere": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) },
	} {
		t.Run(name, func(t *testing.T) {
			a, first := newAway(t), serve(t, bad)
			a.ask(first)
			require.Error(t, a.copies(t, anywhere))
			a.ask(first, serve(t, good))
			require.NoError(t, a.copies(t, anywhere))
			assert.Equal(t, digest(t, source), digest(t, a.old))
			kept := openStore(t, a.Path+Replaced)
			assert.Equal(t, a.before, digest(t, kept), "what was replaced is beside it")
			assert.NoError(t, kept.Close())
		})
	}
}

// TestAFileThatDoesNotHelpIsNotTaken: the position of a file is checked before the file is sent.
func TestAFileThatDoesNotHelpIsNotTaken(t *testing.T) {
	source := db(t, filepath.Join(t.TempDir(), "store"), 9)
	defer source.Close()
	a := newAway(t)
	a.ask(serve(t, &Handler{File: func() *store.File { return source }}))
	behind := errors.New("behind")
	require.ErrorIs(t, a.copies(t, func(_ context.Context, at store.Point) error {
		assert.Equal(t, place(9), at)
		return behind
	}), behind)
	assert.NoFileExists(t, a.Path+Replaced)
	// The source makes one copy at a time, and may not have noticed yet that nobody wants the first
	// copy.
	require.Eventually(t, func() bool { return a.copies(t, anywhere) == nil }, time.Minute, 10*time.Millisecond)
	assert.Equal(t, digest(t, source), digest(t, a.old))
}

// TestWithoutOthersThereIsNoCopy: there is no copy if no gateway was heard, a gateway does not answer, or its
// store is closed.
func TestWithoutOthersThereIsNoCopy(t *testing.T) {
	a := newAway(t)
	require.Error(t, a.copies(t, anywhere))
	source := db(t, filepath.Join(t.TempDir(), "store"), 9)
	require.NoError(t, source.Close())
	closed, ended := serve(t, &Handler{File: func() *store.File { return source }}), serve(t,
		http.NotFoundHandler())
	a.ask(closed, ended)
	ended.Close()
	require.Error(t, a.copies(t, anywhere))
}

// TestOneCopyAtATime: a second copy is refused until the first one has ended for any reason.
func TestOneCopyAtATime(t *testing.T) {
	source := db(t, filepath.Join(t.TempDir(), "store"), 9)
	defer source.Close()
	began, goOn := make(chan struct{}, 2), make(chan struct{})
	h := &Handler{File: func() *store.File {
		began <- struct{}{}
		<-goOn
		return source
	}}
	s, a := serve(t, h), newAway(t)
	a.ask(s)
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		in, err := get(ctx, s.Client(), s.Listener.Addr().String())
		if err == nil {
			in.close()
		}
		left <- err
	}()
	<-began
	require.Error(t, a.copies(t, anywhere))
	leave()
	require.ErrorIs(t, <-left, context.Canceled)
	close(goOn)
	require.Eventually(t, func() bool { return a.copies(t, anywhere) == nil }, 3*time.Minute, time.Millisecond)
	assert.Equal(t, digest(t, source), digest(t, a.old))
}

// TestSources: the leader comes first, and gateways that were not heard are omitted.
func TestSources(t *testing.T) {
	gateway := func(name, hop string, alive bool) cluster.Gateway {
		return cluster.Gateway{Name: name, Alive: alive, Beat: cluster.Beat{Hop: hop}}
	}
	assert.Equal(t, []Source{{"gw4", "d:1"}, {"gw1", "a:1"}},
		Sources(cluster.Status{Leader: "gw4", Gateways: []cluster.Gateway{
			gateway("gw1", "a:1", true), gateway("gw2", "b:1", false), gateway("gw3", "", true), gateway("gw4", "d:1", true),
		}}))
}

// fixed is a [hop.Leader] that never changes.
type fixed string

func (f fixed) Leader() (name, address string, term uint64, ok bool) {
	return string(f), "", 1, f != ""
}
func (f fixed) Changed() <-chan struct{} { return nil }

// TestCopiesTravelOnTheHop: a copy can come from a gateway that does not lead. It is only sent between
// gateways on the list, and only the gateway that was asked may answer.
func TestCopiesTravelOnTheHop(t *testing.T) {
	key, err := store.NewKey(make([]byte, store.KeyLength))
	require.NoError(t, err)
	sealed, err := store.Seal(store.NewMemory(nil), key)
	require.NoError(t, err)
	register := trust.NewRegister(sealed, time.Now)
	id, err := trust.Create(t.Context(), register, "corp", trust.Member{Name: "gw1"},
		trust.Folder{Path: filepath.Join(t.TempDir(), "gw1")})
	require.NoError(t, err)
	members, err := register.Members(t.Context())
	require.NoError(t, err)
	list := func() trust.Members { return members }
	listed := list
	source := db(t, filepath.Join(t.TempDir(), "store"), 9)
	defer source.Close()
	server, err := hop.NewServer(&hop.Receiver{
		Gateway: "gw1", Leader: fixed("gw2"),
		Peer: func(s tls.ConnectionState) (string, bool) {
			name, err := trust.Listed(s, listed())
			return name, err == nil
		},
		Beside: map[string]http.Handler{Path: &Handler{File: func() *store.File { return source }}},
	}, id.Server(list))
	require.NoError(t, err)
	s := httptest.NewUnstartedServer(nil)
	s.Config, s.TLS = server.Server, server.TLSConfig
	s.StartTLS()
	defer s.Close()

	a := newAway(t)
	a.ask(s)
	a.TLS = func(string) *tls.Config { return id.Client(list, "gw2") }
	require.Error(t, a.copies(t, anywhere), "it is not the gateway that was asked")
	a.TLS = func(string) *tls.Config { return id.Client(list, "gw1") }
	listed = func() trust.Members { return trust.Members{Cluster: "corp"} }
	require.Error(t, a.copies(t, anywhere), "it was removed")
	listed = list
	require.NoError(t, a.copies(t, anywhere))
	assert.Equal(t, digest(t, source), digest(t, a.old))
}
