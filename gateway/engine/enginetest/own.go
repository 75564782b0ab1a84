package enginetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/engine/stock"
)

// OwnNATS is an external NATS server. Its users are the gateways of a cluster, and admin, which has all
// rights in the gateways' account.
type OwnNATS struct {
	URL   string
	Admin string // URL for the user admin

	cluster string
	seeds   map[string]string // seed files by gateway
	public  map[string]string // public keys by gateway
}

// Keys creates the NKeys of a cluster's gateways, before their server runs.
func Keys(t testing.TB, cluster string, gateways ...string) *OwnNATS {
	t.Helper()
	n := &OwnNATS{cluster: cluster, seeds: map[string]string{}, public: map[string]string{}}
	for _, name := range gateways {
		key, err := nkeys.CreateUser()
		require.NoError(t, err)
		seed, err := key.Seed()
		require.NoError(t, err)
		n.public[name], err = key.PublicKey()
		require.NoError(t, err)
		n.seeds[name] = filepath.Join(t.TempDir(), name+".nk")
		require.NoError(t, os.WriteFile(n.seeds[name], seed, 0o600))
	}
	return n
}

// Seed returns the path of the file with a gateway's seed.
func (n *OwnNATS) Seed(gateway string) string { return n.seeds[gateway] }

// Public returns the public key of a gateway.
func (n *OwnNATS) Public(gateway string) string { return n.public[gateway] }

// Start runs the server with an account, or [stock.OwnAccount] if account is empty. publish lists additional
// subjects to which gateways may publish. The server is stopped at the end of the test.
func (n *OwnNATS) Start(t testing.TB, account string, publish ...string) {
	t.Helper()
	if account == "" {
		var members []stock.Member
		for name, key := range n.public {
			members = append(members, stock.Member{Gateway: name, User: key})
		}
		account = stock.OwnAccount(n.cluster, members)
	}
	for _, subject := range publish {
		account = strings.ReplaceAll(account, "publish: [", "publish: [\n\""+subject+"\"")
	}
	n.start(t, `jetstream: {store_dir: "`+filepath.ToSlash(t.TempDir())+`", max_file_store: 1GB}`+"\n"+
		strings.Replace(account, "users: [", "users: [\n{user: admin, password: admin}", 1))
}

// StartPlain runs a server whose account has no JetStream and no users.
func (n *OwnNATS) StartPlain(t testing.TB) {
	t.Helper()
	n.seeds = nil
	n.start(t, "")
}

func (n *OwnNATS) start(t testing.TB, configuration string) {
	t.Helper()
	options := &server.Options{}
	require.NoError(t, options.ProcessConfigString("listen: \"127.0.0.1:-1\"\n"+configuration))
	options.NoSigs, options.NoLog = true, true
	s, err := server.NewServer(options)
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	require.True(t, s.ReadyForConnections(startLimit))
	n.URL = s.ClientURL()
	n.Admin = strings.Replace(n.URL, "nats://", "nats://admin:admin@", 1)
}
