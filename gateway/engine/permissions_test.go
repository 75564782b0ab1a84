package engine_test

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/engine"
	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/engine/stock"
	"adgateway/gateway/store"
)

// trusted is a cluster of the gateways gw1 to gw3, whose hosts run nodes.
type trusted struct {
	register *trust.Register
	folders  []trust.Folder
	ids      []*trust.Identity
}

func newTrusted(t *testing.T) *trusted {
	t.Helper()
	key, err := store.NewKey(make([]byte, store.KeyLength))
	require.NoError(t, err)
	sealed, err := store.Seal(store.NewMemory(nil), key)
	require.NoError(t, err)
	c := &trusted{register: trust.NewRegister(sealed, time.Now)}
	f := trust.Folder{Path: filepath.Join(t.TempDir(), "gw1")}
	first, err := trust.Create(t.Context(), c.register, "test", trust.Member{Name: "gw1"}, f)
	require.NoError(t, err)
	c.ids, c.folders = append(c.ids, first), append(c.folders, f)
	c.join(t, "gw2")
	c.join(t, "gw3")
	return c
}

// join lets a gateway join through the first one.
func (c *trusted) join(t *testing.T, name string) {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", c.ids[0].AllowJoins(c.ids[0].Server(c.list)))
	require.NoError(t, err)
	defer listener.Close()
	i, err := c.register.Invite(t.Context(), name)
	require.NoError(t, err)
	i.Address = listener.Addr().String()
	served := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			_, err = (&trust.Admission{Register: c.register}).Serve(t.Context(), conn.(*tls.Conn))
		}
		served <- err
	}()
	f := trust.Folder{Path: filepath.Join(t.TempDir(), name)}
	id, err := trust.Join(t.Context(), i, trust.Member{}, f)
	require.NoError(t, err)
	require.NoError(t, <-served)
	c.ids, c.folders = append(c.ids, id), append(c.folders, f)
}

// list returns the list of gateways, or an empty list if the store fails.
func (c *trusted) list() trust.Members {
	m, _ := c.register.Members(context.Background())
	return m
}

// members returns the list in the form for a node.
func (c *trusted) members() (all []stock.Member) {
	for _, g := range c.list().Gateways {
		all = append(all, stock.Member{Gateway: g.Name, User: trust.DNSName("test", g.Name)})
	}
	return all
}

// node configures a node with the identity of a gateway.
func (c *trusted) node(o *engine.Options, i int) {
	o.Certificate, o.Key, o.CA = filepath.Join(c.folders[i].Path, "gateway.pem"), filepath.Join(c.folders[i].Path, "gateway.key"), filepath.Join(c.folders[i].Path, "ca.pem")
	o.TLS, o.Members = c.ids[i].Server(c.list), c.members()
}

// dial connects to nodes as a gateway does.
func dial(t *testing.T, urls string, config *tls.Config, gateway string, options ...nats.Option) (*nats.Conn, error) {
	t.Helper()
	options = append(options, nats.Secure(config), nats.CustomInboxPrefix(stock.InboxPrefix("test", gateway)), nats.MaxReconnects(0))
	connection, err := nats.Connect(urls, options...)
	if err == nil {
		t.Cleanup(connection.Close)
	}
	return connection, err
}

// makeStream creates the stream of a log, as the node itself does.
func makeStream(ctx context.Context, t *testing.T, n *engine.Node, replicas int) {
	t.Helper()
	admin, err := n.Administrator()
	require.NoError(t, err)
	defer admin.Close()
	js, err := jetstream.New(admin)
	require.NoError(t, err)
	enginetest.MakeStream(ctx, t, js, jetstream.StreamConfig{
		Name: stock.LogStream("test"), Subjects: []string{stock.LogSubject("test")},
		Replicas: replicas, DenyDelete: true, DenyPurge: true,
	})
}

// TestWhatAGatewayMayDo: with three nodes, a gateway can write and read its own subjects, and the
// node denies every other request of the gateway.
func TestWhatAGatewayMayDo(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	c := newTrusted(t)
	at := map[string]int{"n1": 0, "n2": 1, "n3": 2}
	nodes := enginetest.StartWith(t, 3, func(o *engine.Options) { c.node(o, at[o.Node]) })
	makeStream(ctx, t, nodes.Node(0), 3)
	url := nodes.Node(0).URL()
	denied := make(chan error, 10)
	gateway, err := dial(t, url, c.ids[0].Client(c.list, ""), "gw1",
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err }))
	require.NoError(t, err)
	other, err := dial(t, nodes.Node(1).URL(), c.ids[1].Client(c.list, "gw2"), "gw2")
	require.NoError(t, err)
	log := stock.LogStream("test")

	js, err := jetstream.New(gateway)
	require.NoError(t, err)
	beats, err := other.SubscribeSync(stock.BeatSubject("test", "*"))
	require.NoError(t, err)
	require.NoError(t, other.Flush())
	require.Eventually(t, func() bool { // until the other node knows the interest
		require.NoError(t, gateway.Publish(stock.BeatSubject("test", "gw1"), []byte("alive")))
		_, err := beats.NextMsg(100 * time.Millisecond)
		return err == nil
	}, time.Minute, time.Millisecond)
	writesAndReads(ctx, t, js)
	require.Empty(t, denied)

	// The connection continues after a denial, so each denial is awaited individually.
	denies := func(what string) {
		t.Helper()
		require.NoError(t, gateway.Flush(), what)
		select {
		case err := <-denied:
			require.ErrorIs(t, err, nats.ErrPermissionViolation, what)
		case <-ctx.Done():
			t.Fatalf("%s is not denied", what)
		}
	}
	for _, subject := range []string{
		"$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.LIST", "$JS.API.STREAM.CREATE.another",
		"$JS.API.STREAM.INFO.another", "$JS.API.CONSUMER.CREATE.another.x", "$JS.API.META.LEADER.STEPDOWN", "$JS.API.ACCOUNT.PURGE.ADGW", "$SYS.REQ.SERVER.PING",
		"adgw.test.beat.gw2", "adgw.test.audit.gw2", "adgw.test.inbox.gw2.x", "adgw.test.log.x", "adgw.lab.log", "anything",
	} {
		require.NoError(t, gateway.Publish(subject, []byte("{}")))
		denies(subject)
	}
	for _, request := range []string{
		"STREAM.CREATE.", "STREAM.UPDATE.", "STREAM.DELETE.", "STREAM.PURGE.", "STREAM.MSG.DELETE.",
		"STREAM.SNAPSHOT.", "STREAM.RESTORE.", "STREAM.LEADER.STEPDOWN.", "STREAM.PEER.REMOVE.",
		"CONSUMER.NAMES.", "CONSUMER.LIST.", "DIRECT.GET.",
	} {
		require.NoError(t, gateway.Publish("$JS.API."+request+log, []byte(`{"seq":1}`)))
		denies(request)
	}
	for _, subject := range []string{"adgw.test.inbox.gw2.>", "adgw.test.inbox.>", "_INBOX.>", stock.LogSubject("test"), "$JS.EVENT.>", ">"} {
		_, err := gateway.SubscribeSync(subject)
		require.NoError(t, err)
		denies(subject)
	}
	state := enginetest.Stream(ctx, t, js, log).CachedInfo().State
	assert.EqualValues(t, 1, state.Msgs, "nothing was removed, nothing came in")
}

// writesAndReads writes to the log and reads it, in each way that a gateway does.
func writesAndReads(ctx context.Context, t *testing.T, js jetstream.JetStream) {
	t.Helper()
	heard := func(ask func(context.Context) error) {
		t.Helper()
		enginetest.Ask(ctx, t, ask)
	}
	heard(func(once context.Context) error {
		ack, err := js.Publish(once, stock.LogSubject("test"), []byte("batch"),
			jetstream.WithMsgID("first"), jetstream.WithRetryAttempts(0))
		if err == nil {
			assert.EqualValues(t, 1, ack.Sequence)
		}
		return err
	})
	stream := enginetest.Stream(ctx, t, js, stock.LogStream("test"))
	var found *jetstream.RawStreamMsg
	heard(func(once context.Context) (err error) { found, err = stream.GetMsg(once, 1); return err })
	assert.NotEmpty(t, found.Data)
	ordered, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	require.NoError(t, err)
	heard(func(context.Context) error {
		got, err := ordered.Next()
		if err == nil {
			assert.Equal(t, found.Data, got.Data())
		}
		return err
	})
	var plain jetstream.Consumer
	heard(func(once context.Context) (err error) {
		plain, err = stream.CreateConsumer(once, jetstream.ConsumerConfig{
			AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1})
		return err
	})
	heard(func(once context.Context) error { _, err := plain.Info(once); return err })
	heard(func(once context.Context) error {
		err := stream.DeleteConsumer(once, plain.CachedInfo().Name)
		if errors.Is(err, jetstream.ErrConsumerNotFound) { // deleted by a request whose answer was lost
			return nil
		}
		return err
	})
}

// TestANodeAnswersAnywhere: a message on a gateway's subject may be the answer to a question from
// another gateway, which is why gateways only trust sealed messages.
func TestANodeAnswersAnywhere(t *testing.T) {
	c := newTrusted(t)
	o := alone(t)
	o.Cluster = "test"
	c.node(&o, 0)
	n, err := start(t, o)
	require.NoError(t, err)
	ready(t, n)
	makeStream(t.Context(), t, n, 1)
	second, err := dial(t, n.URL(), c.ids[1].Client(c.list, ""), "gw2")
	require.NoError(t, err)
	third, err := dial(t, n.URL(), c.ids[2].Client(c.list, ""), "gw3")
	require.NoError(t, err)
	beats, err := third.SubscribeSync(stock.BeatSubject("test", "gw1"))
	require.NoError(t, err)
	require.NoError(t, third.Flush())
	enginetest.Ask(t.Context(), t, func(once context.Context) error {
		request, subject := "$JS.API.STREAM.INFO."+stock.LogStream("test"), stock.BeatSubject("test", "gw1")
		if err := second.PublishRequest(request, subject, nil); err != nil {
			return err
		}
		got, err := beats.NextMsgWithContext(once)
		if err == nil {
			assert.Contains(t, string(got.Data), "stream_info_response")
		}
		return err
	})
}

// TestWhoMayConnectToANode: a certificate from another authority cannot connect. Neither can one whose name
// is not on the list, from the moment of its removal.
func TestWhoMayConnectToANode(t *testing.T) {
	c, twin := newTrusted(t), newTrusted(t)
	o := alone(t)
	o.Cluster = "test"
	c.node(&o, 0)
	n, err := start(t, o)
	require.NoError(t, err)
	ready(t, n)
	makeStream(t.Context(), t, n, 1)
	_, err = dial(t, n.URL(), twin.ids[1].Client(twin.list, ""), "gw2")
	require.ErrorContains(t, err, "another cluster that is named test, too", "the node shows another authority")
	shown := *twin.ids[1]
	blind := shown.Client(twin.list, "")
	blind.VerifyConnection = nil
	_, err = dial(t, n.URL(), blind, "gw2")
	require.Error(t, err, "and refuses another one, if that is not looked at")
	_, err = dial(t, n.URL(), &tls.Config{InsecureSkipVerify: true}, "gw2")
	require.Error(t, err)

	gone := make(chan error, 1)
	second, err := dial(t, n.URL(), c.ids[1].Client(c.list, "gw1"), "gw2", nats.ClosedHandler(func(n *nats.Conn) { gone <- n.LastError() }))
	require.NoError(t, err)
	third, err := dial(t, n.URL(), c.ids[2].Client(c.list, "gw1"), "gw3")
	require.NoError(t, err)
	require.NoError(t, c.register.Remove(t.Context(), "gw2"))
	require.NoError(t, n.SetMembers(c.members(), nil))
	<-gone
	assert.True(t, second.IsClosed())
	require.NoError(t, third.Flush(), "the others stay")
	_, err = dial(t, n.URL(), c.ids[1].Client(c.list, "gw1"), "gw2")
	require.Error(t, err)

	c.join(t, "gw4")
	fourth := c.ids[3]
	_, err = dial(t, n.URL(), fourth.Client(c.list, "gw1"), "gw4")
	require.ErrorIs(t, err, nats.ErrAuthorization, "the node has not heard of it")
	require.NoError(t, n.SetMembers(c.members(), nil))
	_, err = dial(t, n.URL(), fourth.Client(c.list, "gw1"), "gw4")
	require.NoError(t, err)
	c.join(t, "gw2")
	require.NoError(t, n.SetMembers(c.members(), nil))
	_, err = dial(t, n.URL(), c.ids[4].Client(c.list, "gw1"), "gw2")
	require.NoError(t, err)
	_, err = dial(t, n.URL(), c.ids[1].Client(c.list, "gw1"), "gw2")
	require.Error(t, err, "who had the name before")
	require.Error(t, n.SetMembers([]stock.Member{{Gateway: "GW 1"}}, nil))
	require.NoError(t, third.Flush())
}

// TestNobodyElseIsTheAdministrator: the administrator's key is only accepted within the process,
// and nobody becomes the administrator by omitting a certificate.
func TestNobodyElseIsTheAdministrator(t *testing.T) {
	n, err := start(t, alone(t))
	require.NoError(t, err)
	ready(t, n)
	admin, err := n.Administrator()
	require.NoError(t, err)
	defer admin.Close()
	js, err := jetstream.New(admin)
	require.NoError(t, err)
	enginetest.Ask(t.Context(), t, func(once context.Context) error {
		_, err := js.AccountInfo(once)
		return err
	})
	enginetest.Ask(t.Context(), t, func(once context.Context) error {
		_, err := js.Stream(once, "none")
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil
		}
		return cmp.Or(err, errors.New("there is a stream"))
	})
}
