package program

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/config"
)

// Relative paths do not depend on the working directory, because a service does not run in
// the folder of its settings.
func TestPathsInTheSettingsFileAreRelativeToItsFolder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(t.TempDir())
	file := filepath.Join(dir, FileName)
	elsewhere := filepath.Join(t.TempDir(), "store.json")
	require.NoError(t, os.WriteFile(file,
		[]byte("tls:\n  certificateFile: gw.pem\n  keyFile: keys/gw.key\n  clientCAFile: ca.pem\n"+
			"  clientCRLFiles: [a.crl]\nsignIn:\n  mode: kerberos\n  keytab: gw.keytab\n"+
			"  roles: [{group: G, scopes: [user:read]}]\n"+
			"events:\n  webhooks: [{name: chat, url: 'https://a/', secretFile: hook.secret}]\n"+
			"auth:\n  store: "+elsewhere+"\naudit:\n  file: off\n"+
			"cluster:\n  keyFile: ring.key\nengine:\n  store: node\n"), 0o600))
	f := Flags{File: file, Set: []string{"tls.clientCAFile=other.pem"}, Beside: true, LogBeside: true}
	_, s, _, err := f.Read()
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "gw.pem"), s.TLS.CertificateFile)
	assert.Equal(t, filepath.Join(dir, "keys", "gw.key"), s.TLS.KeyFile)
	assert.Equal(t, "other.pem", s.TLS.ClientCAFile, "a flag is relative to the working directory")
	assert.Equal(t, filepath.Join(dir, "ring.key"), s.Former.KeyFile)
	assert.Equal(t, filepath.Join(dir, "node"), s.Engine.Store)
	assert.Equal(t, elsewhere, s.Auth.Store)
	assert.Equal(t, []string{filepath.Join(dir, "a.crl")}, s.TLS.ClientCRLFiles)
	assert.Equal(t, filepath.Join(dir, "gw.keytab"), s.SignIn.Keytab)
	assert.Equal(t, filepath.Join(dir, "hook.secret"), s.Events.Webhooks[0].SecretFile)
	assert.Empty(t, s.Events.Webhooks[0].CAFile)
	assert.Equal(t, config.AuditOff, s.Audit.File)
	assert.Equal(t, filepath.Join(dir, "logs", "adgateway.log"), s.Log.File)
}

// failingRotation is a log file that cannot be rotated.
type failingRotation struct{ io.Writer }

func (failingRotation) Write([]byte) (int, error) { return 0, errors.New("can't rename log file") }

func TestALogThatCannotBeRotatedIsAppendedTo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "adgateway.log")
	log := NewLog(config.Log{Level: "info", Format: "text"}, appending{failingRotation{}, file})
	log.Info("one")
	log.Info("two")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, 2, bytes.Count(text, []byte("\n")))
	_, err = appending{failingRotation{}, filepath.Join(file, "below")}.Write([]byte("x"))
	assert.ErrorContains(t, err, "can't rename log file")
}

func TestCreateFolder(t *testing.T) {
	if os.Geteuid() == 0 && filepath.Dir(DataDir()) == "/etc" {
		t.Log("root's data folder belongs to the machine: only another folder is tested")
	} else {
		t.Setenv("ProgramData", t.TempDir())
		t.Setenv("XDG_CONFIG_HOME", t.TempDir())
		require.NoError(t, CreateFolder(DataDir()))
		assert.DirExists(t, DataDir())
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	require.NoError(t, CreateFolder(dir))
	require.NoError(t, CreateFolder(dir), "it may exist")
	assert.DirExists(t, dir)
}
