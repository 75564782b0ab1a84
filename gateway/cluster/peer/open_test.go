package peer

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
	"adgateway/test/freeport"
)

// first returns the first gateway of a cluster whose log has not begun. others are on the list of the
// cluster.
func first(t *testing.T, others ...trust.Member) (g *Gateway, o Options) {
	t.Helper()
	dir := t.TempDir()
	folder := trust.Folder{Path: filepath.Join(dir, "cluster")}
	require.NoError(t, folder.MakeSecret())
	w, err := keyring.KeyFile(folder.SecretFile())
	require.NoError(t, err)
	o = Options{
		Folder: folder, File: filepath.Join(dir, "state.db"), Listen: "127.0.0.1:0", Wrapper: w,
		Format: store.Newest,
		Note:   func(message string, err error) { t.Log(message, err) },
	}
	file, _, err := store.Open(store.Options{Path: o.File})
	require.NoError(t, err)
	require.NoError(t, keyring.Create(t.Context(), file, w))
	ring, err := keyring.Open(t.Context(), file, w, store.Newest)
	require.NoError(t, err)
	require.NoError(t, folder.MarkFirst())
	address := freeport.Addresses(t, 1)[0]
	o.Listen = address
	o.Identity, err = trust.Create(t.Context(), trust.NewRegister(ring.Sealed(), time.Now), "corp",
		trust.Member{Name: "gw1", HopAddress: address}, folder, others...)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	g, err = Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, g.Close()) })
	return g, o
}

// TestTheFirstGatewayGoesOnAlone: the first gateway makes changes, and others can join and copy its
// store, but their calls do not run on it.
func TestTheFirstGatewayGoesOnAlone(t *testing.T) {
	g, _ := first(t, trust.Member{Name: "gw2"})
	assert.Nil(t, g.Member())
	assert.Nil(t, g.Hop())
	_, err := g.Store().Apply(t.Context(), store.Change{Kind: "k", Key: "a", Value: []byte("1")})
	require.NoError(t, err)
	require.NoError(t, g.Serve(http.NotFoundHandler(), http.NotFoundHandler()))
	i, err := trust.NewRegister(g.Store(), time.Now).Invite(t.Context(), "gw2")
	require.NoError(t, err)
	i.Address = g.o.Listen
	second := trust.Folder{Path: filepath.Join(t.TempDir(), "cluster")}
	id, err := trust.Join(t.Context(), i, trust.Member{HopAddress: "127.0.0.1:1"}, second)
	require.NoError(t, err)
	assert.Equal(t, "gw2", id.Gateway)

	list, err := second.List()
	require.NoError(t, err)
	w, err := keyring.KeyFile(second.SecretFile())
	require.NoError(t, err)
	joining := &Gateway{
		o: Options{
			Folder: second, Identity: id, File: filepath.Join(t.TempDir(), "state.db"), Wrapper: w,
			Format: store.Newest,
			Note:   func(message string, err error) { t.Log(message, err) },
		},
		list: list, clock: store.NewClock(time.Time{}, store.ClockSources{}),
	}
	empty, err := joining.open() // as if it had been killed before it had a copy
	require.NoError(t, err)
	require.NoError(t, empty.Close())
	require.NoError(t, joining.openFile(t.Context()))
	found, err := joining.Store().Get(t.Context(), "k", "a")
	require.NoError(t, err)
	assert.Equal(t, "1", string(found.Value))
	require.NoError(t, joining.first.Close())
}

// TestNobodyCallsTheFirstGateway: while the first gateway is alone, it does not lead, so no call is
// forwarded to it.
func TestNobodyCallsTheFirstGateway(t *testing.T) {
	g, _ := first(t)
	require.NoError(t, g.Serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a call ran")
	}), http.NotFoundHandler()))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: g.client("gw1"), DisableKeepAlives: true}}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+g.o.Listen+"/api/Changes",
		nil)
	request.RequestURI = ""
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, http.StatusMisdirectedRequest, response.StatusCode)
}

// TestAnOriginEndsTheTimeAlone: once the origin of the log is recorded, the gateway waits for the
// log.
func TestAnOriginEndsTheTimeAlone(t *testing.T) {
	g, o := first(t)
	require.NoError(t, o.Folder.SetOrigin(store.Hash{7}))
	alone, err := o.Folder.Alone()
	require.NoError(t, err)
	assert.False(t, alone)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	assert.False(t, g.Grow(ended))
}

// TestABackupOfAGatewayThatRuns: a running gateway makes the copy that a backup requests.
func TestABackupOfAGatewayThatRuns(t *testing.T) {
	g, o := first(t)
	ctx, cancel := context.WithCancel(t.Context())
	answering := make(chan struct{})
	go func() {
		defer close(answering)
		g.AnswerCopies(ctx, func(err error) { t.Error(err) })
	}()
	name, err := store.AskForCopy(t.Context(), o.File, time.Minute)
	require.NoError(t, err)
	assert.FileExists(t, name)
	cancel()
	<-answering
}
