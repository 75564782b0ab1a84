package commands

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adgateway/gateway/config"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A service does not run where its settings are.
func TestFilesOfTheSettingsFileAreSeenFromItsFolder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(t.TempDir())
	file := filepath.Join(dir, settingsName)
	elsewhere := filepath.Join(t.TempDir(), "store.json")
	require.NoError(t, os.WriteFile(file, []byte("tls:\n  certificateFile: gw.pem\n  keyFile: keys/gw.key\n  clientCAFile: ca.pem\n"+
		"auth:\n  store: "+elsewhere+"\naudit:\n  file: off\n"), 0o600))
	f := settingFlags{file: file, set: []string{"tls.clientCAFile=other.pem"}, logs: true}
	f.amend = f.places
	_, s, _, err := f.read()
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "gw.pem"), s.TLS.CertificateFile)
	assert.Equal(t, filepath.Join(dir, "keys", "gw.key"), s.TLS.KeyFile)
	assert.Equal(t, "other.pem", s.TLS.ClientCAFile, "a flag is seen from where the command runs")
	assert.Equal(t, elsewhere, s.Auth.Store)
	assert.Equal(t, config.AuditOff, s.Audit.File)
	assert.Equal(t, filepath.Join(dir, "logs", "adgateway.log"), s.Log.File)
}

// A password comes through whatever a shell begins its pipes with.
func TestPasswordsOfAPipe(t *testing.T) {
	for piped, want := range map[string]string{
		"s3cret\n":                          "s3cret",
		"\ufeffgrüße\r\n":                   "grüße",
		"\xff\xfes\x00\xfc\x00\r\x00\n\x00": "sü",
		"no end":                            "no end",
	} {
		c := &cobra.Command{}
		c.SetIn(strings.NewReader(piped))
		password, err := readPassword(c, "anna", true)
		require.NoError(t, err, "%q", piped)
		assert.Equal(t, want, password)
	}
}

type refusing struct{ io.Writer }

func (refusing) Write([]byte) (int, error) { return 0, errors.New("can't rename log file") }

func TestALogGrowsOnWhileItCannotBePutAside(t *testing.T) {
	file := filepath.Join(t.TempDir(), "adgateway.log")
	log := newLog(config.Log{Level: "info", Format: "text"}, growing{refusing{}, file})
	log.Info("one")
	log.Info("two")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, 2, bytes.Count(text, []byte("\n")))
	_, err = growing{refusing{}, filepath.Join(file, "below")}.Write([]byte("x"))
	assert.ErrorContains(t, err, "can't rename log file")
}

func TestConfigInitMakesTheGatewaysFolderItsOwn(t *testing.T) {
	if os.Geteuid() == 0 && filepath.Dir(dataDir()) == "/etc" {
		t.Log("the data of this account is the machine's own: only a folder elsewhere is tried")
	} else {
		t.Setenv("ProgramData", t.TempDir())
		t.Setenv("XDG_CONFIG_HOME", t.TempDir())
		require.NoError(t, makeSettingsFolder(dataDir()))
		assert.DirExists(t, dataDir())
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	require.NoError(t, makeSettingsFolder(dir))
	require.NoError(t, makeSettingsFolder(dir), "it may be there")
	assert.DirExists(t, dir)
}
