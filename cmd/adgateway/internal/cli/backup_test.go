package cli

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// keeping writes the settings of a gateway that stores all its data in one folder.
func keeping(t *testing.T) (folder, config string) {
	t.Helper()
	folder = t.TempDir()
	file := filepath.Join(folder, "adgateway.yaml")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "audit.key"), []byte(strings.Repeat("k", 40)), 0o600))
	require.NoError(t, os.WriteFile(file,
		[]byte("auth:\n  store: credentials.json\naudit:\n  file: audit.jsonl\n  keyFile: audit.key\nstore:\n"+
			"  file: state.db\nlog:\n  level: error\n"), 0o600))
	return folder, "--config=" + file
}

// changed creates a group.
func changed(s *runningSandbox, name, token string) {
	s.t.Helper()
	status, body := s.ask(http.MethodPost, "/api/ADGroups/"+name+"/Security?GroupScope=Global", "Bearer "+token)
	require.Equal(s.t, http.StatusCreated, status, body)
}

// TestBackupOfAGatewayThatRuns: backups made while a gateway makes changes are complete. A backup can be
// restored into an empty folder and over existing files.
func TestBackupOfAGatewayThatRuns(t *testing.T) {
	folder, config := keeping(t)
	token := command(t, "token", "create", "portal", config, "--scope", "*")
	s := startSandbox(t, config)
	s.eventually("/readyz?lane=changes", "Bearer "+token, http.StatusOK)
	changed(s, "before", token)
	made := make(chan bool)
	go func() {
		defer close(made)
		for i := range 20 {
			changed(s, fmt.Sprintf("meanwhile%d", i), token)
		}
	}()
	backups := t.TempDir()
	zipFile, copied := filepath.Join(backups, "b.zip"), filepath.Join(backups, "b")
	assert.Contains(t, command(t, "backup", config, "--to="+zipFile), "files, ")
	command(t, "backup", config, "--to="+copied)
	<-made
	changed(s, "after", token)

	code, _, stderr := runCommand(t, "backup", config, "--to="+copied)
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, stderr, "already exists")
	code, _, stderr = runCommand(t, "restore", config, "--from="+zipFile)
	assert.EqualValues(t, codeFailed, code)
	assert.Contains(t, stderr, "stop it first")
	require.Zero(t, s.stop())
	left, err := filepath.Glob(filepath.Join(folder, "*copy-*"))
	require.NoError(t, err)
	assert.Empty(t, left)

	fresh := filepath.Join(t.TempDir(), "fresh")
	for where, from := range map[string]string{fresh: zipFile, folder: copied} {
		config := "--config=" + filepath.Join(where, "adgateway.yaml")
		assert.Contains(t, command(t, "restore", config, "--from="+from), "adgateway changes rebuild")
		code, stdout, _ := runCommand(t, "audit", "verify", config)
		if where == fresh {
			require.Zero(t, code, stdout)
		} else {
			assert.Contains(t, stdout, "anchor", "which is newer than the backup")
		}
		s := startSandbox(t, config)
		s.eventually("/readyz?lane=changes", "Bearer "+token, http.StatusOK)
		_, body := s.get("/readyz", "Bearer "+token)
		assert.Contains(t, body, "older than what it has acknowledged")
		_, body = s.get("/api/Changes", "Bearer "+token)
		assert.Contains(t, body, "CN=before,")
		assert.NotContains(t, body, "CN=after,")
		require.Zero(t, s.stop())
		command(t, "changes", "rebuild", config)
		s = startSandbox(t, config)
		s.eventually("/readyz?lane=changes", "Bearer "+token, http.StatusOK)
		_, body = s.get("/readyz", "Bearer "+token)
		assert.NotContains(t, body, "older than what it has acknowledged")
		require.Zero(t, s.stop())
	}
	replaced, err := filepath.Glob(filepath.Join(folder, "replaced-*", "*"))
	require.NoError(t, err)
	var names []string
	for _, path := range replaced {
		names = append(names, filepath.Base(path))
	}
	for _, name := range []string{"adgateway.yaml", "audit.jsonl", "audit.key", "credentials.json", "state.db",
		"state.db.key"} {
		assert.Contains(t, names, name)
	}
}

// TestDamagedBackups: a damaged backup is refused, and its restore changes nothing.
func TestDamagedBackups(t *testing.T) {
	folder, config := keeping(t)
	token := command(t, "token", "create", "portal", config, "--scope", "*")
	s := startSandbox(t, config)
	s.eventually("/readyz?lane=changes", "Bearer "+token, http.StatusOK)
	changed(s, "before", token)
	require.Zero(t, s.stop())
	good := filepath.Join(t.TempDir(), "good")
	command(t, "backup", config, "--to="+good)
	entries, err := os.ReadDir(good)
	require.NoError(t, err)
	before := everyFile(t, folder)
	for _, entry := range entries {
		for fault, damage := range map[string]func(path string, text []byte) error{
			"missing": func(path string, _ []byte) error { return os.Remove(path) },
			"cut off": func(path string, text []byte) error { return os.WriteFile(path, text[:len(text)/2], 0o600) },
			"changed": func(path string, text []byte) error {
				text[len(text)/2] ^= 0x55
				return os.WriteFile(path, text, 0o600)
			},
		} {
			if fault == "changed" && entry.Name() == "manifest.json" {
				continue // the damage may hit a name that does not matter
			}
			bad := filepath.Join(t.TempDir(), "bad")
			require.NoError(t, os.CopyFS(bad, os.DirFS(good)))
			path := filepath.Join(bad, entry.Name())
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, damage(path, text))
			code, _, stderr := runCommand(t, "restore", config, "--from="+bad)
			assert.EqualValues(t, codeFailed, code, "%s %s", entry.Name(), fault)
			assert.Contains(t, stderr, "not a complete backup", "%s %s", entry.Name(), fault)
		}
	}
	assert.Equal(t, before, everyFile(t, folder))
}

// everyFile returns the content of each file in a folder, except locks.
func everyFile(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".lock" {
			text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
			require.NoError(t, err)
			all[entry.Name()] = string(text)
		}
	}
	return all
}
