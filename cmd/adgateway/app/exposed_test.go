package app

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/config"
)

// TestFilesThatOthersMayWriteAreRefused: a gateway does not start if others may write one of its files, or a
// file that it keeps next to one of them.
func TestFilesThatOthersMayWriteAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("file modes are those of Unix; package host tests the access lists of Windows")
		return
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	require.NoError(t, os.Mkdir(at("cluster"), 0o700))
	s := config.Default()
	s.Auth.Store, s.Store.File, s.Log.File = at("credentials.json"), at("state.db"), at("gw.log")
	s.Audit.File, s.Audit.KeyFile = at("audit.jsonl"), at("audit.key")
	s.TLS.CertificateFile, s.TLS.KeyFile = at("gw.pem"), at("gw.key")
	s.TLS.ClientCAFile, s.TLS.ClientCRLFiles = at("ca.pem"), []string{at("ca.crl")}
	s.TLS.PFXFile, s.TLS.PFXPasswordFile = at("gw.pfx"), at("gw.password")
	s.Events.Webhooks = []config.Webhook{{Name: "w", SecretFile: at("hook.secret"), CAFile: at("hook.pem")}}
	all := map[string]string{ // by the setting that names it
		"adgateway.yaml": "settings", "credentials.json": "auth.store", "credentials.json.lock": "auth.store",
		"state.db": "store.file", "state.db.key": "store.file", "state.db.head": "store.file",
		"audit.jsonl": "audit.file", "audit.jsonl.head": "audit.file", "audit-2026-01-02.jsonl": "audit.file", "audit.key": "audit",
		"audit.key.anchor": "audit", "gw.pem": "tls.certificateFile", "gw.key": "tls.keyFile", "ca.pem": "tls.clientCAFile",
		"ca.crl": "tls.clientCRLFiles", "gw.pfx": "tls.pfxFile", "gw.password": "tls.pfxPasswordFile",
		"hook.secret": "events.webhooks (secretFile of w)", "hook.pem": "events.webhooks (caFile of w)",
		"cluster/cluster.key": "the folder of the cluster", "cluster/gateways.json": "the folder of the cluster",
	}
	for name := range all {
		require.NoError(t, os.WriteFile(at(name), nil, 0o600))
	}
	file := at("adgateway.yaml")
	warned, refused := exposed(s, file)
	require.NoError(t, refused)
	assert.Empty(t, warned)
	for name, use := range all {
		for _, mode := range []os.FileMode{0o666, 0o660, 0o602} {
			require.NoError(t, os.Chmod(at(name), mode))
			_, refused = exposed(s, file)
			require.ErrorContains(t, refused, at(name)+" is not trusted", "%s %o", name, mode)
			assert.ErrorContains(t, refused, use, name)
			assert.ErrorContains(t, refused, "chmod 600 "+at(name))
		}
		require.NoError(t, os.Chmod(at(name), 0o600))
	}
	secret := []string{
		"state.db.key", "audit.key", "gw.key", "gw.pfx", "hook.secret", "cluster/cluster.key", "adgateway.yaml",
	}
	for _, name := range secret {
		require.NoError(t, os.Chmod(at(name), 0o644))
		warned, refused = exposed(s, file)
		require.NoError(t, refused)
		require.Len(t, warned, 1, name)
		assert.Contains(t, warned[0], at(name)+" can be read by everybody, and it is secret")
		require.NoError(t, os.Chmod(at(name), 0o600))
	}
	require.NoError(t, os.WriteFile(at("gw.log"), nil, 0o600))
	require.NoError(t, os.Chmod(at("gw.log"), 0o666))
	warned, refused = exposed(s, file)
	require.NoError(t, refused, "nothing is decided by the log")
	require.Len(t, warned, 1)
	assert.Contains(t, warned[0], "log.file: "+at("gw.log"))
	require.NoError(t, os.Chmod(at("gw.log"), 0o600))

	require.NoError(t, os.Chmod(dir, 0o777))
	warned, refused = exposed(s, file)
	require.NoError(t, refused)
	require.Len(t, warned, 1, "the folder once")
	assert.Contains(t, warned[0], "others than its owner may replace what is in "+dir)

	require.NoError(t, os.Chmod(dir, 0o755))
	link := filepath.Join(t.TempDir(), "gw.key")
	require.NoError(t, os.Symlink(at("gw.key"), link))
	require.NoError(t, os.Chmod(at("gw.key"), 0o666))
	s.TLS.KeyFile = link
	_, refused = exposed(s, file)
	require.ErrorContains(t, refused, at("gw.key"), "where the link leads")
}
