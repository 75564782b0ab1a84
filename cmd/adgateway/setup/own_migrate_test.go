package setup

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/engine/stock"
)

// formerOptions returns the options of a gateway in a cluster of an earlier version. Its new log will be on
// external NATS servers.
func formerOptions(t *testing.T, n *enginetest.OwnNATS) Options {
	t.Helper()
	zipped, err := zip.OpenReader(filepath.FromSlash("../../../gateway/cluster/migrate/testdata/old.zip"))
	require.NoError(t, err)
	o := ownOptions(t, n, "gw1")
	require.NoError(t, os.CopyFS(filepath.Dir(o.Settings.Store.File), zipped))
	require.NoError(t, zipped.Close())
	o.Settings.Former.Name, o.Settings.Former.Gateway, o.Settings.Former.Shared = ownCluster, "gw1", true
	o.Settings.Former.KeyFile = filepath.Join(filepath.Dir(o.Settings.Store.File), "ring.key")
	o.Settings.Changes.Keep, o.Settings.Changes.MaxSize = 20000*time.Hour, 1<<10
	return o
}

// TestAMigrationMakesTheLog: a migration creates the log in the user's own NATS, or prints how somebody
// else can. The first gateway does not continue alone. Repeating the migration changes nothing.
func TestAMigrationMakesTheLog(t *testing.T) {
	for name, may := range map[string]bool{"the gateway may": true, "somebody else does": false} {
		t.Run(name, func(t *testing.T) {
			n := enginetest.Keys(t, ownCluster, "gw1", "gw2")
			var permissions []string
			if may {
				permissions = append(permissions, stock.CreateSubject(ownCluster))
			}
			n.Start(t, "", permissions...)
			o, m := formerOptions(t, n), Migration{Hosts: hosts[:2]}
			done, err := Migrate(t.Context(), o, m)
			require.NoError(t, err)
			require.NotNil(t, done.Made)
			require.NotNil(t, done.Log)
			assert.NotZero(t, done.Values)
			assert.Equal(t, may, done.Log.Command == "", done.Log.Command)
			assert.Contains(t, done.Log.Account, "nkey: PUBLIC-NKEY-OF-GW2")
			require.Len(t, done.Made.Invitations, 1)
			folder, err := o.folder()
			require.NoError(t, err)
			alone, err := folder.Alone()
			require.NoError(t, err)
			assert.False(t, alone)
			list, err := trust.LoadMembers(folder.MembersFile())
			require.NoError(t, err)
			assert.Empty(t, list.Nodes, "no host has a node")
			origin, begun, err := folder.Origin()
			require.NoError(t, err)
			require.True(t, begun)
			before, err := os.ReadFile(o.Settings.Store.File)
			require.NoError(t, err)

			again, err := Migrate(t.Context(), o, m)
			require.NoError(t, err)
			assert.Nil(t, again.Made)
			if may {
				assert.Nil(t, again.Log, "it is there")
				assert.Equal(t, origin.String(), streamOf(t, n).Metadata["adgateway.origin"])
			} else {
				assert.Equal(t, done.Log.Command, again.Log.Command)
				assert.True(t, strings.HasPrefix(again.Log.Command, "nats stream add ADGW_corp_log"), again.Log.Command)
				assert.Nil(t, streamOf(t, n))
			}
			after, err := os.ReadFile(o.Settings.Store.File)
			require.NoError(t, err)
			assert.Equal(t, before, after)
		})
	}
}

// TestAMigrationDoesNotTakeAnotherLog: a migration refuses to use a different log of the same name on the
// NATS servers.
func TestAMigrationDoesNotTakeAnotherLog(t *testing.T) {
	n := enginetest.Keys(t, ownCluster, "gw1", "gw2")
	n.Start(t, "")
	_, js := admin(t, n)
	enginetest.MakeStream(t.Context(), t, js, jetstream.StreamConfig{Name: stock.LogStream(ownCluster)})
	o := formerOptions(t, n)
	_, err := Migrate(t.Context(), o, Migration{Hosts: hosts[:2]})
	require.ErrorContains(t, err, "nats stream rm ADGW_corp_log")
	joined, err := hasJoined(o.Settings)
	require.NoError(t, err)
	assert.False(t, joined)
}
