package setup

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/authn"
	"adgateway/gateway/cluster/hop"
	"adgateway/gateway/cluster/relay"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config"
	"adgateway/gateway/credentials"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
	"adgateway/test/freeport"
)

const value store.Kind = "value"

var kinds = []store.Kind{value}

// options returns the options of a gateway in a separate folder.
func options(t *testing.T, listen string) Options {
	t.Helper()
	s := &config.Settings{}
	s.Store.File = filepath.Join(t.TempDir(), "state.db")
	s.Cluster.Listen, s.Engine.Listen, s.Engine.Cluster = listen, ":4222", ":6222"
	return Options{Settings: s, Kinds: kinds, restrict: func(string) error { return nil }}
}

// use writes a value to the store of a gateway that is alone.
func use(t *testing.T, o Options) {
	t.Helper()
	key, err := store.ReadKey(o.Settings.Store.KeyFile())
	require.NoError(t, err)
	file, _, err := store.Open(store.Options{Path: o.Settings.Store.File})
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	sealed, err := store.Seal(file, key)
	require.NoError(t, err)
	_, err = sealed.Apply(t.Context(), store.Change{Kind: value, Key: "a", Value: []byte("of before")})
	require.NoError(t, err)
}

// ringedStore opens the store of a gateway with a key ring.
func ringedStore(t *testing.T, o Options, w keyring.Wrapper) (*store.File, *store.Sealed) {
	t.Helper()
	file, _, err := store.Open(store.Options{Path: o.Settings.Store.File})
	require.NoError(t, err)
	ring, err := keyring.Open(t.Context(), file, w, store.Newest)
	require.NoError(t, err)
	return file, ring.Sealed()
}

var hosts = []Host{{"gw1", "127.0.0.1"}, {"gw2", "host2"}, {"gw3", "host3:16222"}}

// leader is a gateway that leads its cluster. Its log discards all batches.
type leader struct{ sequence atomic.Uint64 }

func (*leader) Leader() (name, address string, term uint64, ok bool) { return "gw1", "", 1, true }
func (*leader) Changed() <-chan struct{}                             { return nil }
func (l *leader) Append(context.Context, []byte, time.Time) (store.Point, error) {
	return store.Point{Journal: "a journal", Sequence: l.sequence.Add(1)}, nil
}

// serve runs the hop listener of a gateway until the test ends or stop is called.
func serve(t *testing.T, o Options) (stop func()) {
	t.Helper()
	folder, err := o.folder()
	require.NoError(t, err)
	id, err := folder.Identity()
	require.NoError(t, err)
	w, err := o.wrapper(folder)
	require.NoError(t, err)
	file, sealed := ringedStore(t, o, w)
	register := trust.NewRegister(sealed, file.Now)
	list := func() trust.Members {
		m, err := register.Members(context.Background())
		if err != nil {
			t.Error(err)
		}
		return m
	}
	secret, err := folder.Secret()
	require.NoError(t, err)
	listener, err := net.Listen("tcp", o.Settings.Cluster.Listen)
	require.NoError(t, err)
	leads := &leader{}
	file.Lead(leads)
	server, err := hop.NewServer(&hop.Receiver{
		Gateway: id.Gateway, Leader: leads, Next: http.NotFoundHandler(),
		Peer: func(s tls.ConnectionState) (string, bool) {
			name, err := trust.Listed(s, list())
			return name, err == nil
		},
		Beside: map[string]http.Handler{relay.Path: &relay.Handler{
			File: func() *store.File { return file }, Leader: leads, Leads: func() bool { return true },
		}},
	}, id.AllowJoins(id.Server(list)))
	require.NoError(t, err)
	admission := trust.Admission{Register: register, Secret: secret}
	admission.Admit(t.Context(), server.Server, func(string, error) {})
	ended := make(chan error, 1)
	go func() { ended <- server.ServeTLS(listener, "", "") }()
	return func() {
		require.NoError(t, server.Close())
		require.True(t, errors.Is(<-ended, http.ErrServerClosed))
		require.NoError(t, file.Close())
	}
}

// TestInit: a gateway that was alone becomes the first of a cluster and keeps its data. The others
// join with the printed commands, each only once. Later a gateway can leave and keeps its data.
func TestInit(t *testing.T) {
	ctx := t.Context()
	first := options(t, freeport.Addresses(t, 1)[0])
	use(t, first)
	first.Accounts = authn.File{Path: filepath.Join(t.TempDir(), "credentials.json")}
	known := &authn.Account{ID: "t1", Name: "program", Subject: "CN=program", Rights: authn.Rights{Scopes: []string{"user:read"}}}
	require.NoError(t, first.Accounts.Edit(ctx, func(d *authn.Document) error {
		d.Tokens = []*authn.Account{known}
		return nil
	}))
	made, err := Init(ctx, first, "corp", hosts)
	require.NoError(t, err)
	require.Len(t, made.Invitations, 2)
	assert.Contains(t, trust.JoinCommand(made.Invitations[0]), " --gateway gw2 --address "+made.Self.HopAddress)
	assert.True(t, strings.HasSuffix(trust.JoinCommand(made.Invitations[1]), " --host host3"))
	folder, err := first.folder()
	require.NoError(t, err)
	list, err := trust.LoadMembers(folder.MembersFile())
	require.NoError(t, err)
	assert.Equal(t, []string{"gw1", "gw2", "gw3"}, list.Nodes)
	assert.Equal(t, []string{"gw1"}, list.Joined())
	assert.Equal(t, []string{"host2:6222", "host3:16222"}, list.Routes("gw1"))
	alone, err := folder.Alone()
	require.NoError(t, err)
	require.True(t, alone, "it goes on by itself until others have joined")
	w, err := first.wrapper(folder)
	require.NoError(t, err)
	file, sealed := ringedStore(t, first, w)
	found, err := sealed.Get(ctx, value, "a")
	require.NoError(t, err)
	assert.Equal(t, "of before", string(found.Value))
	accounts, err := credentials.Read(ctx, sealed)
	require.NoError(t, err)
	assert.Equal(t, []*authn.Account{known}, accounts.Tokens)
	later := *known
	later.Scopes = []string{"user:write"}
	require.NoError(t, credentials.Edit(ctx, sealed, func(d *authn.Document) error {
		d.Tokens = []*authn.Account{&later}
		return nil
	}))
	require.NoError(t, file.Close())

	stop := serve(t, first)
	_, err = Alone(ctx, first, true)
	require.ErrorContains(t, err, "the gateway runs")
	_, err = Init(ctx, first, "corp", hosts)
	require.ErrorContains(t, err, "the gateway runs")
	second, third := options(t, freeport.Addresses(t, 1)[0]), options(t, ":7443")
	third.Settings.Engine.Cluster = ":16222"
	id, list, err := Join(ctx, second, made.Invitations[0], false)
	require.NoError(t, err)
	assert.Equal(t, "gw2", id.Gateway)
	port := strings.TrimPrefix(second.Settings.Cluster.Listen, "127.0.0.1")
	assert.Equal(t, []string{"host2" + port, "host2:6222", "host2:4222"}, addressesOf(Ports(list, "gw2")))
	_, _, err = Join(ctx, options(t, ":7443"), made.Invitations[0], false)
	var refused *trust.Refusal
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, trust.Used, refused.Reason)
	_, _, err = Join(ctx, third, made.Invitations[1], false)
	require.NoError(t, err)
	_, _, err = Join(ctx, second, made.Invitations[0], false)
	require.NoError(t, err, "it has joined")
	_, _, err = Join(ctx, second, made.Invitations[1], false)
	require.ErrorContains(t, err, "has the files of gateway gw2")
	_, err = Init(ctx, second, "lab", hosts)
	require.ErrorContains(t, err, "has joined the cluster corp")
	alone, err = hasJoined(second.Settings)
	require.NoError(t, err)
	require.True(t, alone)
	_, err = Alone(ctx, second, false)
	require.ErrorContains(t, err, "gateway gw1 of the cluster corp runs")
	_, err = Alone(ctx, second, true)
	require.ErrorContains(t, err, "has not copied the store")

	// Both gateways can run the commands that need a running cluster.
	fourth, err := Invite(ctx, second, Host{Name: "gw4", Address: "host4"})
	require.NoError(t, err)
	assert.Equal(t, "host2"+port, fourth.Address)
	fourth.Address = made.Self.HopAddress
	id, list, err = Join(ctx, options(t, ":7443"), fourth, false)
	require.NoError(t, err)
	assert.Equal(t, "gw4", id.Gateway)
	assert.Equal(t, []string{"host4:7443"}, addressesOf(Ports(list, "gw4")), "it has no node")
	_, err = Invite(ctx, first, Host{Name: "gw2"})
	require.ErrorContains(t, err, "is in the cluster corp already")
	_, _, err = Leave(ctx, first, "gw5")
	require.ErrorContains(t, err, "has no gateway gw5")
	name, list, err := Leave(ctx, first, "gw3")
	require.NoError(t, err)
	assert.Equal(t, "gw3", name)
	assert.Equal(t, []string{"gw1", "gw2", "gw4"}, list.Joined())
	_, _, err = Leave(ctx, second, "")
	require.ErrorContains(t, err, "are no majority")
	again, err := Invite(ctx, first, Host{Name: "gw3", Address: "host5"})
	require.NoError(t, err)
	_, list, err = Join(ctx, options(t, ":7443"), again, false)
	require.NoError(t, err)
	assert.Equal(t, []string{"host5:7443", "host5:6222", "host5:4222"}, addressesOf(Ports(list, "gw3")), "in the place of a lost host")
	name, list, err = Leave(ctx, second, "")
	require.NoError(t, err, "it leaves by itself")
	assert.Equal(t, "gw2", name)
	assert.Contains(t, list.Nodes, "gw2")
	_, _, err = Leave(ctx, second, "gw4")
	require.ErrorIs(t, err, store.ErrUnreachable, "it has no access any more")
	stop()
	_, err = Alone(ctx, second, false)
	require.ErrorContains(t, err, "has not copied the store")

	old, err := Alone(ctx, first, false)
	require.NoError(t, err)
	assert.DirExists(t, old)
	joined, err := hasJoined(first.Settings)
	require.NoError(t, err)
	assert.False(t, joined)
	own, err := keyring.StoreKey(first.Settings.Store.KeyFile())
	require.NoError(t, err)
	file, sealed = ringedStore(t, first, own)
	found, err = sealed.Get(ctx, value, "a")
	require.NoError(t, err)
	assert.Equal(t, "of before", string(found.Value))
	_, err = trust.NewRegister(sealed, file.Now).Members(ctx)
	require.ErrorIs(t, err, trust.ErrNone)
	at, err := file.Point()
	require.NoError(t, err)
	assert.Empty(t, at.Journal, "it does not follow the log")
	require.NoError(t, file.Close())
	accounts, _, err = first.Accounts.Read()
	require.NoError(t, err)
	assert.Equal(t, []*authn.Account{&later}, accounts.Tokens, "those of the cluster count on")
	require.NoError(t, first.Accounts.Edit(ctx, func(d *authn.Document) error {
		d.Tokens[0].Scopes = []string{"user:delete"}
		return nil
	}))
	_, err = Alone(ctx, first, false)
	require.ErrorContains(t, err, "is alone already")
	anew, err := Init(ctx, first, "corp", hosts)
	require.NoError(t, err, "it may be the first of another cluster")
	require.Len(t, anew.Invitations, 2)
}

func addressesOf(ports [][2]string) (all []string) {
	for _, p := range ports {
		all = append(all, p[0])
	}
	return all
}

// TestAnInitThatIsInterrupted: an Init that is interrupted before it writes any of its files
// completes when it is repeated, and the gateway's data stays readable.
func TestAnInitThatIsInterrupted(t *testing.T) {
	o := options(t, freeport.Addresses(t, 1)[0])
	use(t, o)
	killed := errors.New("killed")
	runs := 0
	for step := 0; ; step++ {
		left := step
		o.restrict = func(string) error {
			if left--; left < 0 {
				return killed
			}
			return nil
		}
		made, err := Init(t.Context(), o, "corp", hosts)
		if err == nil {
			require.Len(t, made.Invitations, 2)
			break
		}
		require.ErrorIs(t, err, killed)
		runs++
	}
	assert.GreaterOrEqual(t, runs, 3)
	folder, err := o.folder()
	require.NoError(t, err)
	w, err := o.wrapper(folder)
	require.NoError(t, err)
	file, sealed := ringedStore(t, o, w)
	defer func() { require.NoError(t, file.Close()) }()
	found, err := sealed.Get(t.Context(), value, "a")
	require.NoError(t, err)
	assert.Equal(t, "of before", string(found.Value))
	alone, err := folder.Alone()
	require.NoError(t, err)
	assert.True(t, alone)
}

func TestInitsThatAreRefused(t *testing.T) {
	for what, try := range map[string]struct {
		change func(t *testing.T, o *Options, all *[]Host)
		text   string
	}{
		"two hosts":       {func(_ *testing.T, _ *Options, all *[]Host) { *all = (*all)[:2] }, "name three or five"},
		"a name twice":    {func(_ *testing.T, _ *Options, all *[]Host) { (*all)[1].Name = "gw1" }, "is named twice"},
		"a wrong name":    {func(_ *testing.T, _ *Options, all *[]Host) { (*all)[2].Name = "GW3" }, "not the name of a gateway"},
		"no store":        {func(_ *testing.T, o *Options, _ *[]Host) { o.Settings.Store.File = config.AuditOff }, "set store.file"},
		"no group":        {func(_ *testing.T, o *Options, _ *[]Host) { o.Settings.Cluster.KeyGroup = `CORP\g` }, "cluster.keyGroup"},
		"another key":     {func(t *testing.T, o *Options, _ *[]Host) { use(t, *o); remove(t, o.Settings.Store.KeyFile()) }, "restore the file from a backup"},
		"a gateway there": {func(t *testing.T, o *Options, _ *[]Host) { occupy(t, o.Settings.Store.File) }, "the gateway runs"},
	} {
		t.Run(what, func(t *testing.T) {
			o, all := options(t, freeport.Addresses(t, 1)[0]), slices.Clone(hosts)
			try.change(t, &o, &all)
			_, err := Init(t.Context(), o, "corp", all)
			require.ErrorContains(t, err, try.text)
			joined, err := hasJoined(o.Settings)
			require.NoError(t, err)
			assert.False(t, joined)
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.Remove(path))
}

// occupy opens a store in the same way as a running gateway.
func occupy(t *testing.T, path string) {
	t.Helper()
	file, _, err := store.Open(store.Options{Path: path})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
}

// TestJoinsThatAreRefused: these joins are refused locally, before the cluster is contacted.
func TestJoinsThatAreRefused(t *testing.T) {
	nobody := trust.Invitation{Cluster: "corp", Gateway: "gw2", Address: "127.0.0.1:0", Authority: strings.Repeat("0", 64)}
	o := options(t, ":7443")
	use(t, o)
	_, _, err := Join(t.Context(), o, nobody, false)
	require.ErrorContains(t, err, "--replace")
	_, _, err = Join(t.Context(), o, nobody, true)
	require.ErrorContains(t, err, "check --address")
	occupy(t, o.Settings.Store.File)
	_, _, err = Join(t.Context(), o, nobody, true)
	require.ErrorContains(t, err, "the gateway runs")
}

// TestNobodyAnswers: commands that change a cluster fail if no gateway of it is running.
func TestNobodyAnswers(t *testing.T) {
	o := options(t, freeport.Addresses(t, 1)[0])
	_, err := Invite(t.Context(), o, Host{Name: "gw4"})
	require.ErrorContains(t, err, "'adgateway cluster join'")
	_, err = Init(t.Context(), o, "corp", hosts)
	require.NoError(t, err)
	_, _, err = Leave(t.Context(), o, "gw3")
	require.ErrorIs(t, err, store.ErrUnreachable)
	require.ErrorContains(t, err, "start the gateways")
}

// TestAnInitThatIsRepeated: until the log has begun, a repeated Init invites the gateways
// that have not joined.
func TestAnInitThatIsRepeated(t *testing.T) {
	o := options(t, freeport.Addresses(t, 1)[0])
	made, err := Init(t.Context(), o, "corp", hosts)
	require.NoError(t, err)
	stop := serve(t, o)
	_, _, err = Join(t.Context(), options(t, ":7443"), made.Invitations[0], false)
	require.NoError(t, err)
	stop()
	made, err = Init(t.Context(), o, "corp", hosts)
	require.NoError(t, err)
	require.Len(t, made.Invitations, 1)
	assert.Equal(t, "gw3", made.Invitations[0].Gateway)
	folder, err := o.folder()
	require.NoError(t, err)
	require.NoError(t, folder.SetOrigin(store.Hash{1}))
	_, err = Init(t.Context(), o, "corp", hosts)
	require.ErrorContains(t, err, "'adgateway cluster invite'")
}

func hasJoined(s *config.Settings) (bool, error) {
	_, id, err := program.Joined(s)
	return id != nil, err
}
