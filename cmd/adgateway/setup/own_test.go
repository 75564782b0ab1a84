package setup

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/engine/stock"
	"adgateway/test/freeport"
)

const ownCluster = "corp"

// ownOptions returns the options of a gateway whose log is on external NATS servers.
func ownOptions(t *testing.T, n *enginetest.OwnNATS, gateway string) Options {
	t.Helper()
	o := options(t, freeport.Addresses(t, 1)[0])
	o.Settings.Cluster.Servers, o.Settings.Cluster.NKeyFile = []string{n.URL}, n.Seed(gateway)
	o.Settings.Engine.MaxStore = 128 << 20
	return o
}

// streamOf returns the configuration of the log, or nil if the log does not exist.
func streamOf(t *testing.T, n *enginetest.OwnNATS) *jetstream.StreamConfig {
	t.Helper()
	_, js := admin(t, n)
	var config *jetstream.StreamConfig
	enginetest.Ask(t.Context(), t, func(once context.Context) error {
		found, err := js.Stream(once, stock.LogStream(ownCluster))
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil
		}
		if err == nil {
			config = &found.CachedInfo().Config
		}
		return err
	})
	return config
}

func admin(t *testing.T, n *enginetest.OwnNATS) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	conn, err := nats.Connect(n.Admin)
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	return conn, js
}

// TestInitMakesTheLog: if the NATS user may create the log, Init creates it there, the first gateway does not
// continue alone, and another gateway joins. A gateway whose settings contradict the cluster cannot join.
func TestInitMakesTheLog(t *testing.T) {
	n := enginetest.Keys(t, ownCluster, "gw1", "gw2", "gw3")
	n.Start(t, "", stock.CreateSubject(ownCluster))
	o := ownOptions(t, n, "gw1")
	use(t, o)
	made, err := Init(t.Context(), o, ownCluster, hosts[:2])
	require.NoError(t, err)
	assert.Empty(t, made.Log.Command)
	assert.Contains(t, made.Log.Warning, "1 replicas", "it is one server")
	assert.Contains(t, made.Log.Account, "nkey: PUBLIC-NKEY-OF-GW2")
	require.Len(t, made.Invitations, 1)
	folder, err := o.folder()
	require.NoError(t, err)
	alone, err := folder.Alone()
	require.NoError(t, err)
	assert.False(t, alone)
	list, err := trust.LoadMembers(folder.MembersFile())
	require.NoError(t, err)
	assert.Empty(t, list.Nodes)
	origin, begun, err := folder.Origin()
	require.NoError(t, err)
	require.True(t, begun)
	c := streamOf(t, n)
	require.NotNil(t, c)
	assert.Equal(t, origin.String(), c.Metadata["adgateway.origin"])
	assert.EqualValues(t, 64<<20, c.MaxBytes)

	_, err = Init(t.Context(), o, ownCluster, hosts[:2])
	require.ErrorContains(t, err, "'adgateway cluster invite'", "nothing is left to do")
	_, err = Init(t.Context(), ownOptions(t, n, "gw1"), ownCluster, hosts[:2])
	require.ErrorContains(t, err, "nats stream rm ADGW_corp_log", "of another store")

	stop := serve(t, o)
	defer stop()
	second := ownOptions(t, n, "gw2")
	without := second
	settings := *second.Settings
	settings.Cluster.Servers = nil
	without.Settings = &settings
	_, _, err = Join(t.Context(), without, made.Invitations[0], false)
	require.ErrorContains(t, err, "gw2 has joined the cluster corp: no host of the cluster has a node")
	_, list, err = Join(t.Context(), second, made.Invitations[0], false)
	require.NoError(t, err)
	assert.Len(t, Ports(list, "gw2"), 1, "it has no node")
}

// TestSomebodyElseMakesTheLog: if the gateway may not create the log, somebody else creates
// it with the printed command. Until then Init can be repeated.
func TestSomebodyElseMakesTheLog(t *testing.T) {
	n := enginetest.Keys(t, ownCluster, "gw1", "gw2")
	n.Start(t, "")
	o := ownOptions(t, n, "gw1")
	made, err := Init(t.Context(), o, ownCluster, hosts[:2])
	require.NoError(t, err)
	require.Nil(t, streamOf(t, n))
	again, err := Init(t.Context(), o, ownCluster, hosts[:2])
	require.NoError(t, err)
	assert.Equal(t, made.Log.Command, again.Log.Command)
	file, found := strings.CutPrefix(made.Log.Command, "nats stream add ADGW_corp_log --config ")
	require.True(t, found, made.Log.Command)
	text, err := os.ReadFile(strings.Trim(file, "'"))
	require.NoError(t, err)
	var c jetstream.StreamConfig
	require.NoError(t, json.Unmarshal(text, &c))
	assert.Equal(t, 3, c.Replicas)
	c.Replicas = 1 // there is only one server
	_, js := admin(t, n)
	enginetest.MakeStream(t.Context(), t, js, c)
	examined, err := o.own(ownCluster, "gw1", "gw1").examine(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, examined.Identity.Journal)
	_, err = Init(t.Context(), o, ownCluster, hosts[:2])
	require.ErrorContains(t, err, "'adgateway cluster invite'")

	// After the loss of the log, recover creates a new one.
	_, _, err = Recover(t.Context(), o, true)
	require.ErrorContains(t, err, "nats stream rm ADGW_corp_log")
	enginetest.DeleteStream(t.Context(), t, js, c.Name)
	_, log, err := Recover(t.Context(), o, true)
	require.NoError(t, err)
	assert.NotEmpty(t, log.Command)
}

// TestANATSThatCannotHaveTheLog: NATS servers that cannot store the log are refused with the reason and a
// remedy, and nothing is changed.
func TestANATSThatCannotHaveTheLog(t *testing.T) {
	for what, try := range map[string]struct {
		start func(t *testing.T, n *enginetest.OwnNATS)
		texts []string
	}{
		"no JetStream": {
			func(t *testing.T, n *enginetest.OwnNATS) { n.StartPlain(t) },
			[]string{"no JetStream", "'jetstream: enabled'"},
		},
		"a user that it does not know": {
			func(t *testing.T, n *enginetest.OwnNATS) {
				n.Start(t, stock.OwnAccount(ownCluster, []stock.Member{{Gateway: "gw2", User: n.Public("gw2")}}))
			},
			[]string{"cluster.nkeyFile or cluster.credsFile"},
		},
		"permissions of another cluster": {
			func(t *testing.T, n *enginetest.OwnNATS) {
				account := stock.OwnAccount("lab", []stock.Member{{Gateway: "gw1", User: n.Public("gw1")}})
				n.Start(t, account)
			},
			[]string{"these permissions", `"adgw.corp.log"`, "nkey: PUBLIC-NKEY-OF-GW2"},
		},
		"no permission to say that it lives": {
			func(t *testing.T, n *enginetest.OwnNATS) {
				account := stock.OwnAccount(ownCluster, []stock.Member{{Gateway: "gw1", User: n.Public("gw1")}})
				n.Start(t, strings.ReplaceAll(account, `"adgw.corp.beat.gw1"`, ""))
			},
			[]string{"adgw.corp.beat.gw1", "these permissions"},
		},
		"another stream of this name": {
			func(t *testing.T, n *enginetest.OwnNATS) {
				n.Start(t, "")
				_, js := admin(t, n)
				enginetest.MakeStream(t.Context(), t, js, jetstream.StreamConfig{Name: stock.LogStream(ownCluster)})
			},
			[]string{"deny_purge is not set and must be true", "nats stream rm ADGW_corp_log"},
		},
		"an old server": {
			func(t *testing.T, n *enginetest.OwnNATS) {
				n.StartPlain(t)
				n.URL = oldServer(t)
			},
			[]string{"older than 2.12", "it is 2.11.9: update all its servers"},
		},
		"nobody": {
			func(t *testing.T, n *enginetest.OwnNATS) { n.URL = "nats://" + freeport.Addresses(t, 1)[0] },
			[]string{"check that it runs"},
		},
	} {
		t.Run(what, func(t *testing.T) {
			n := enginetest.Keys(t, ownCluster, "gw1", "gw2")
			try.start(t, n)
			o := ownOptions(t, n, "gw1")
			_, err := Init(t.Context(), o, ownCluster, hosts[:2])
			require.Error(t, err)
			for _, text := range try.texts {
				require.ErrorContains(t, err, text)
			}
			joined, err := hasJoined(o.Settings)
			require.NoError(t, err)
			assert.False(t, joined)
			invitation := trust.Invitation{Cluster: ownCluster, Gateway: "gw1"}
			_, _, err = Join(t.Context(), o, invitation, false)
			require.ErrorContains(t, err, "cannot store the log", "nor does it join")
		})
	}
}

// oldServer returns the URL of a server that announces an old version and answers nothing else.
func oldServer(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				const info = `{"server_id":"x","version":"2.11.9","proto":1,"max_payload":1048576}`
				_, _ = fmt.Fprintf(conn, "INFO %s\r\n", info)
				for lines := bufio.NewScanner(conn); lines.Scan(); {
					if lines.Text() == "PING" {
						_, _ = fmt.Fprint(conn, "PONG\r\n")
					}
				}
			}()
		}
	}()
	return "nats://" + listener.Addr().String()
}

// TestANATSWithoutTheLog: NATS servers without the cluster's log are refused.
func TestANATSWithoutTheLog(t *testing.T) {
	n := enginetest.Keys(t, ownCluster, "gw2")
	n.Start(t, "")
	invitation := trust.Invitation{Cluster: ownCluster, Gateway: "gw2"}
	_, _, err := Join(t.Context(), ownOptions(t, n, "gw2"), invitation, false)
	require.ErrorContains(t, err, "has no log of the cluster corp")
}

// TestAnInitThatIsKilledBeforeTheLog: an Init that was killed before it created the log can
// be repeated and completes.
func TestAnInitThatIsKilledBeforeTheLog(t *testing.T) {
	n := enginetest.Keys(t, ownCluster, "gw1", "gw2")
	n.Start(t, "", stock.CreateSubject(ownCluster))
	o := ownOptions(t, n, "gw1")
	_, err := Init(t.Context(), o, ownCluster, hosts[:2])
	require.NoError(t, err)
	_, js := admin(t, n)
	enginetest.DeleteStream(t.Context(), t, js, stock.LogStream(ownCluster))
	made, err := Init(t.Context(), o, ownCluster, hosts[:2])
	require.NoError(t, err)
	assert.Empty(t, made.Log.Command)
	file, done, err := open(o.Settings.Store.File)
	require.NoError(t, err)
	defer done(&err)
	at, err := file.Point()
	require.NoError(t, err)
	assert.Equal(t, at.Hash.String(), streamOf(t, n).Metadata["adgateway.origin"])
}
