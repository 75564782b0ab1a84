package cli

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/canary"
)

// A port in use does not hide mistakes in the settings. Every file that they name is checked
// before the gateway listens, and all mistakes are reported.
func TestFilesAreCheckedBeforeListening(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, taken.Close()) })
	address := taken.Addr().String()

	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, text []byte) { require.NoError(t, os.WriteFile(path(name), text, 0o600)) }
	write("adgateway.yaml", nil)
	write("audit.key", []byte(strings.Repeat("k", 40)))
	write("file", nil)
	pfx, err := canary.PFX("password")
	require.NoError(t, err)
	write("good.pfx", pfx)
	write("pfx.password", []byte("password"))
	self, err := os.Executable()
	require.NoError(t, err)

	for name, args := range map[string][]string{
		"serve":   {"serve", "--config", path("adgateway.yaml"), "--set", "powershell.path=" + self},
		"sandbox": {"sandbox"},
	} {
		t.Run(name, func(t *testing.T) {
			args = append(args, "--listen", address)
			code, _, stderr := runCommand(t, append(args,
				"--set", "tls.certificateFile="+path("no.pem"), "--set", "tls.keyFile="+path("no.key"), "--set",
				"tls.clientCAFile="+path("no.ca"),
				"--set", "audit.file="+path("file")+"/audit.jsonl", "--set", "audit.keyFile="+path("no-audit.key"),
				"--set", "auth.store="+path("file")+"/credentials.json", "--set", "log.file="+path("file")+"/a.log")...)
			assert.Equal(t, 1, code)
			for _, text := range []string{
				"tls.certificateFile: " + path("no.pem") + " ", "tls.keyFile: " + path("no.key") + " ", "tls.clientCAFile: " + path("no.ca") + " ",
				"audit.file: " + path("file") + " ", "audit.keyFile: " + path("no-audit.key") + " ", "log.file: " + path("file") + " ",
				"auth.store (--store): " + path("file") + " ",
			} {
				assert.Contains(t, stderr, text)
			}
			assert.NotContains(t, stderr, address)

			code, _, stderr = runCommand(t, append(args,
				"--set", "tls.pfxFile="+path("good.pfx"), "--set", "tls.pfxPasswordFile="+path("pfx.password"),
				"--set", "audit.file="+path(name+".jsonl"), "--set", "audit.keyFile="+path("audit.key"))...)
			assert.Equal(t, 1, code)
			assert.Contains(t, stderr, address+" is in use by process ")
			assert.Regexp(t, `, such as 127\.0\.0\.1:\d+`, stderr, "a free one")
			assert.Equal(t, 1, strings.Count(stderr, "adgateway: "), stderr)
		})
	}
}
