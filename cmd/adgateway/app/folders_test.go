package app

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
)

// TestServeRefusesWhatOthersMayWrite: serve refuses to start if others may write a file
// that decides what runs or who may call: the settings, or the folders of the executables.
func TestServeRefusesWhatOthersMayWrite(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("file modes are those of Unix; package host tests the access lists of Windows")
		return
	}
	folder := filepath.Join(t.TempDir(), "bin")
	require.NoError(t, os.Mkdir(folder, 0o755))
	shell := filepath.Join(folder, "pwsh")
	require.NoError(t, os.WriteFile(shell, []byte("#!/bin/sh\n"), 0o755))
	file := filepath.Join(t.TempDir(), program.FileName)
	require.NoError(t, os.WriteFile(file,
		[]byte("http:\n  listen: 127.0.0.1:0\npowershell:\n  path: "+shell+"\n"), 0o600))
	link := filepath.Join(t.TempDir(), "pwsh")
	require.NoError(t, os.Symlink(shell, link))

	refused := func() error {
		s, err := Prepare(t.Context(),
			ServerOptions{Flags: &program.Flags{File: file, Beside: true}, Stderr: discard{}})
		if err == nil {
			require.NoError(t, s.stack.Close(t.Context()))
			require.NoError(t, s.listener.Close())
		}
		return err
	}
	for _, mode := range []os.FileMode{0o666, 0o660, 0o602} {
		require.NoError(t, os.Chmod(file, mode))
		assert.ErrorContains(t, refused(), "are not trusted, because they decide what runs", mode)
		_, _, _, err := (&program.Flags{File: file}).Read()
		assert.ErrorContains(t, err, "chmod 600 "+file, "config check reports it as well")
	}
	require.NoError(t, os.Chmod(file, 0o644))
	for _, path := range []string{shell, link} {
		for mode, trusted := range map[os.FileMode]bool{0o777: false, 0o775: false, 0o755: true, 0o700: true} {
			require.NoError(t, os.Chmod(folder, mode))
			err := checkFolders(config.PowerShell{Path: path})
			if trusted {
				assert.NoError(t, err, mode)
				continue
			}
			assert.ErrorContains(t, err, "powershell.path is not trusted", mode)
			assert.ErrorContains(t, err, "chmod go-w "+folder, mode)
			assert.ErrorContains(t, refused(), "powershell.path is not trusted", mode)
		}
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
