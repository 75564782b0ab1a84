package trust

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
)

// three returns a new cluster of three hosts.
func three(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{clock: &clock{at: time.Now()}, store: &faulty{Store: store.NewMemory(nil)},
		secret: newSecret(), folder: folder(t), served: make(chan error, 100)}
	c.Register = NewRegister(newKeyed(t, c.store, c.secret), c.clock.now)
	var err error
	c.first, err = Create(t.Context(), c.Register, "corp", hosts[0], c.folder, hosts[1:]...)
	require.NoError(t, err)
	return c
}

var hosts = []Member{
	{Name: "gw1", HopAddress: "h1:7443", NodeAddress: "h1:6222", ClientAddress: "h1:4222"},
	{Name: "gw2", NodeAddress: "h2:6222"},
	{Name: "gw3", NodeAddress: "h3:6222"},
}

// TestThreeHosts: the gateways that are named when a cluster is created are on its list, and are accepted
// once they have joined.
func TestThreeHosts(t *testing.T) {
	c := three(t)
	c.serve(t)
	list := c.list(t)()
	assert.Equal(t, []string{"gw1", "gw2", "gw3"}, list.Nodes)
	assert.Equal(t, []string{"gw1"}, list.Joined())
	assert.Equal(t, []string{"h2:6222", "h3:6222"}, list.Routes("gw1"))
	assert.Equal(t, []string{"tls://h1:4222"}, list.Servers("gw2"))

	f := folder(t)
	_, err := Join(t.Context(), c.invite(t, "gw2"),
		Member{HopAddress: "h2:7443", NodeAddress: "h2:6000", ClientAddress: "h2:4222"}, f)
	require.NoError(t, err)
	_, err = Join(t.Context(), c.invite(t, "gw4"),
		Member{HopAddress: "h4:7443", NodeAddress: "h4:6222", ClientAddress: "h4:4222"}, folder(t))
	require.NoError(t, err)
	list = c.list(t)()
	assert.Equal(t, []string{"gw1", "gw2", "gw4"}, list.Joined())
	assert.Equal(t, []string{"gw1", "gw2", "gw3"}, list.Nodes, "a gateway that joins later has no node")
	assert.Equal(t, []string{"h2:6000", "h3:6222"}, list.Routes("gw1"), "it says where its node is")
	assert.Equal(t, []string{"tls://h2:4222", "tls://h1:4222"}, list.Servers("gw2"), "the own one first")
	assert.Equal(t, []string{"tls://h1:4222", "tls://h2:4222"}, list.Servers("gw4"))

	require.NoError(t, c.Remove(t.Context(), "gw3"))
	require.ErrorContains(t, c.Remove(t.Context(), "gw2"), "has 1 of its 3 nodes")
	require.NoError(t, c.Remove(t.Context(), "gw4"))
	_, err = Join(t.Context(), c.invite(t, "gw3"), Member{NodeAddress: "h5:6222", ClientAddress: "h5:4222"},
		folder(t))
	require.NoError(t, err)
	assert.Equal(t, []string{"h2:6000", "h5:6222"}, c.list(t)().Routes("gw1"),
		"another host takes the place of a lost one")
}

// TestAGatewayThatJoinsLaterIsAccepted: a gateway that joined earlier accepts a gateway that joined later,
// although its own list does not contain the new key yet.
func TestAGatewayThatJoinsLaterIsAccepted(t *testing.T) {
	c := three(t)
	c.serve(t)
	second, f := c.join(t, "gw2")
	third, _ := c.join(t, "gw3")
	old, err := LoadMembers(f.MembersFile())
	require.NoError(t, err)
	require.Equal(t, []string{"gw1", "gw2"}, old.Joined())
	stale := func() Members { return old }
	_, ofClient, ofServer := connect(t, third.Client(c.list(t), "gw2"), second.Server(stale))
	require.NoError(t, errors.Join(ofClient, ofServer))
	fourth, _ := c.join(t, "gw4")
	_, _, ofServer = connect(t, fourth.Client(c.list(t), "gw2"), second.Server(stale))
	require.ErrorContains(t, ofServer, "is not on the list")
}

func TestNewClustersThatAreRefused(t *testing.T) {
	for what, try := range map[string]struct {
		others []Member
		text   string
	}{
		"a name twice": {[]Member{{Name: "gw2"}, {Name: "gw2"}}, "gateway gw2 is named twice"},
		"its own name": {[]Member{{Name: "gw1"}}, "gateway gw1 is named twice"},
		"a wrong name": {[]Member{{Name: "GW2"}}, "not the name of a gateway"},
	} {
		r := NewRegister(newKeyed(t, newMemory(), newSecret()), time.Now)
		_, err := Create(t.Context(), r, "corp", hosts[0], folder(t), try.others...)
		require.ErrorContains(t, err, try.text, what)
		_, err = r.Members(t.Context())
		require.ErrorIs(t, err, ErrNone, what)
	}
	c := three(t)
	_, err := Create(t.Context(), c.Register, "corp", hosts[0], c.folder, hosts[1:]...)
	require.NoError(t, err, "the same again")
	_, err = Create(t.Context(), c.Register, "corp", hosts[0], c.folder, hosts[1])
	require.ErrorContains(t, err, "was begun with the gateways gw1, gw2, gw3")
}

// TestFollowingTheList: the gateway copies each list from the store to the file, and the node reads
// the file.
func TestFollowingTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := three(t)
		gateway, err := c.folder.List()
		require.NoError(t, err)
		node, err := c.folder.List()
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		lists, copies, problems := make(chan Members, 9), make(chan Members, 9), make(chan error, 9)
		none := func(err error) { t.Error(err) }
		go gateway.FollowStore(ctx, c.Register, func(m Members) { lists <- m }, none)
		go node.FollowFile(ctx, func(m Members) { copies <- m }, func(err error) { problems <- err })
		time.Sleep(10 * followEvery)
		assert.Empty(t, lists, "nothing has changed")

		require.NoError(t, c.Remove(ctx, "gw3"))
		want := c.list(t)()
		assert.Equal(t, want, <-lists)
		assert.Equal(t, want, <-copies)
		assert.Equal(t, want, gateway.Members())
		assert.Equal(t, want, node.Members())

		text, err := os.ReadFile(c.folder.MembersFile())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(c.folder.MembersFile(), []byte("{"), 0o600))
		require.ErrorContains(t, <-problems, "copy the file from another gateway")
		time.Sleep(10 * followEvery)
		assert.Empty(t, problems, "it is said once")
		assert.Equal(t, want, node.Members())
		require.NoError(t, os.WriteFile(c.folder.MembersFile(), text, 0o600))
		time.Sleep(2 * followEvery)
		assert.Empty(t, copies)
		require.NoError(t, os.WriteFile(c.folder.MembersFile(), []byte("{"), 0o600))
		require.Error(t, <-problems, "anew")
	})
}

// TestAStoreWithoutAList: the store of a gateway that has just joined has no list yet, which
// changes nothing.
func TestAStoreWithoutAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := three(t)
		l, err := c.folder.List()
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		empty := NewRegister(newKeyed(t, newMemory(), newSecret()), time.Now)
		go l.FollowStore(ctx, empty, func(Members) { t.Error("a list from nowhere") },
			func(err error) { t.Error(err) })
		time.Sleep(10 * followEvery)
		assert.Equal(t, c.list(t)().Gateways, l.Members().Gateways)
	})
}

// TestAdmissionBesideCalls: a single listener accepts calls between gateways and requests to join.
func TestAdmissionBesideCalls(t *testing.T) {
	c := three(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c.addr = listener.Addr().String()
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter,
			r *http.Request) {
			_, _ = io.WriteString(w, "a call")
		}),
		TLSConfig: c.first.AllowJoins(c.first.Server(c.list(t))),
	}
	joined := make(chan string, 9)
	(&Admission{Register: c.Register, Secret: c.secret}).Admit(t.Context(), server,
		func(gateway string, err error) {
			if err != nil {
				gateway = string(reasonOf(err))
			}
			joined <- gateway
		})
	ended := make(chan error, 1)
	go func() { ended <- server.ServeTLS(listener, "", "") }()
	defer func() {
		require.NoError(t, server.Close())
		require.True(t, errors.Is(<-ended, http.ErrServerClosed))
	}()

	i := c.invite(t, "gw2")
	f := folder(t)
	id, err := Join(t.Context(), i, Member{}, f)
	require.NoError(t, err)
	assert.Equal(t, "gw2", <-joined)
	secret, err := f.Secret()
	require.NoError(t, err)
	assert.Equal(t, c.secret, secret)
	_, err = Join(t.Context(), i, Member{}, folder(t))
	require.Equal(t, Used, reasonOf(err), "the secret of an invitation works once: %v", err)
	assert.Equal(t, string(Used), <-joined)

	transport := &http.Transport{TLSClientConfig: id.Client(c.list(t), "gw1")}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Get("https://" + c.addr)
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, errors.Join(err, response.Body.Close()))
	assert.Equal(t, "a call", string(text))
}

// TestTheSecretOfAFolder: the secret is nil if the gateways open the store in some other way.
func TestTheSecretOfAFolder(t *testing.T) {
	f := folder(t)
	secret, err := f.Secret()
	require.NoError(t, err)
	assert.Nil(t, secret)
	require.NoError(t, os.MkdirAll(f.Path, 0o700))
	require.NoError(t, os.WriteFile(f.SecretFile(), []byte("?"), 0o600))
	_, err = f.Secret()
	require.ErrorContains(t, err, "is not a key file")
}

func TestOrigin(t *testing.T) {
	f := folder(t)
	_, made, err := f.Origin()
	require.NoError(t, err)
	assert.False(t, made)
	require.NoError(t, os.MkdirAll(f.Path, 0o700))
	require.NoError(t, f.SetOrigin(store.Hash{1}))
	hash, made, err := f.Origin()
	require.NoError(t, err)
	assert.True(t, made)
	assert.Equal(t, store.Hash{1}, hash)
	for _, text := range []string{"", `{"hash":"AQ=="}`} {
		require.NoError(t, f.write(originFile, []byte(text)))
		_, _, err = f.Origin()
		require.ErrorContains(t, err, "restore it from a backup", text)
	}
}
