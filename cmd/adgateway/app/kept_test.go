package app

import (
	"path/filepath"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
)

// TestASingleGatewayOpensAKeyRing: a gateway without a cluster opens the key ring that 'cluster alone' left
// behind, or that a 'cluster init' left when it was interrupted before the gateway had its certificate.
func TestASingleGatewayOpensAKeyRing(t *testing.T) {
	for name, at := range map[string]struct{ clusterKey, wraps bool }{
		"after alone":                            {},
		"after an init that was cut off":         {clusterKey: true, wraps: true},
		"after one that was cut off even sooner": {clusterKey: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := config.Default()
			s.Store.File = filepath.Join(dir, "state.db")
			folder := trust.Folder{Path: s.Store.ClusterFolder()}
			if at.clusterKey {
				require.NoError(t, folder.MakeSecret())
			}
			w, err := keyring.StoreKey(s.Store.KeyFile())
			if at.wraps {
				w, err = keyring.KeyFile(folder.SecretFile())
			}
			require.NoError(t, err)
			file, _, err := store.Open(store.Options{Path: s.Store.File})
			require.NoError(t, err)
			require.NoError(t, keyring.Create(t.Context(), file, w))
			ring, err := keyring.Open(t.Context(), file, w, store.Newest)
			require.NoError(t, err)
			_, err = ring.Sealed().Apply(t.Context(), store.Change{Kind: "key", Key: "k", Value: []byte("kept")})
			require.NoError(t, err)
			require.NoError(t, ring.Sealed().Close())

			of := Options{Settings: s, Log: logrus.New(), Membership: Membership{Folder: folder}}
			k, err := openKept(t.Context(), of)
			require.NoError(t, err)
			found, err := k.store.Get(t.Context(), "key", "k")
			require.NoError(t, err)
			assert.Equal(t, "kept", string(found.Value))
			for _, check := range k.checks() {
				assert.False(t, check.Degraded, check.Reason)
			}
			require.NoError(t, k.close())
		})
	}
}
