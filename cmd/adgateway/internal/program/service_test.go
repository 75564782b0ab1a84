package program

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/winsvc"
)

func TestInstallationRestrictsTheDataFolder(t *testing.T) {
	t.Setenv("ProgramData", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if os.Geteuid() == 0 && filepath.Dir(DataDir()) == "/etc" {
		t.Log("root's data folder belongs to the machine: only another folder is tested")
	} else {
		var out bytes.Buffer
		require.NoError(t, restrictData(&out, DataDir()))
		assert.Contains(t, out.String(), DataDir()+" is restricted to the service's account")
		assert.DirExists(t, DataDir())
	}

	elsewhere := t.TempDir()
	file := filepath.Join(elsewhere, "others.txt")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	before, err := os.Stat(file)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, restrictData(&out, elsewhere))
	assert.Contains(t, out.String(), "can write in "+elsewhere)
	after, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, before.Mode(), after.Mode(), "folders of others are left alone")
}

func TestCrashesAreRecorded(t *testing.T) {
	const logVariable = "ADGATEWAY_TEST_CRASH"
	if log := os.Getenv(logVariable); log != "" { // this is the child process
		require.NoError(t, RecordCrashes(log))
		done := make(chan struct{})
		go func() { defer close(done); panic("out of order") }()
		<-done
	}
	log := filepath.Join(t.TempDir(), "adgateway.log")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrashesAreRecorded$")
	child.Env = append(os.Environ(), logVariable+"="+log)
	require.Error(t, child.Run())
	text, err := os.ReadFile(filepath.Join(filepath.Dir(log), "adgateway-crash.log"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "panic: out of order")
	require.NoError(t, RecordCrashes(""))
}

// 'service install' without flags keeps the settings file of the installed service.
func TestUpgradeKeepsTheSettingsFile(t *testing.T) {
	assert.Equal(t, `D:\gw\a b.yaml`, settingsFileOf([]string{"service", "run", "--config", `D:\gw\a b.yaml`}, "default"))
	for _, arguments := range [][]string{nil, {"service", "run"}, {"service", "run", "--config"}} {
		assert.Equal(t, "default", settingsFileOf(arguments, "default"))
	}
}

func TestAServiceIsNotInstalledWithBrokenSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "adgateway.yaml")
	require.NoError(t, checkSettings(file, ""), "they may be created later")
	require.NoError(t, os.WriteFile(file, []byte("http:\n  listen: 127.0.0.1:8080\n"), 0o600))
	require.NoError(t, checkSettings(file, ""))
	require.NoError(t, os.WriteFile(file, []byte("http:\n  lisen: 127.0.0.1:8080\n"), 0o600))
	err := checkSettings(file, "")
	assert.ErrorContains(t, err, "nothing was changed")
	assert.ErrorContains(t, err, "lisen")
}

// Every user can create files in ProgramData, so state stored by another user is not read.
func TestWhatIsKeptOfAServiceIsNotReadFromOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "service.json")
	none, err := keptService(path, Files)
	require.NoError(t, err)
	assert.Nil(t, none)
	require.NoError(t, forgetService(path))
	require.NoError(t, os.WriteFile(path, []byte(`{"account":"LocalSystem"}`), 0o600))
	found, err := keptService(path, Files)
	require.NoError(t, err)
	assert.Equal(t, "LocalSystem", found.Account)
	require.NoError(t, os.Chmod(path, 0o666))
	_, err = keptService(path, Files)
	assert.ErrorContains(t, err, path)
	require.NoError(t, forgetService(path))
	assert.NoFileExists(t, path)
}

// TestWhatARemovedServiceHasLeftIsPurged: the data of a service is purged only on request, which is also
// possible after the service has been removed.
func TestWhatARemovedServiceHasLeftIsPurged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.Mkdir(dir, 0o700))
	gone := func() error { return winsvc.ErrNotInstalled }
	var out bytes.Buffer
	assert.ErrorIs(t, uninstall(&out, false, dir, gone), winsvc.ErrNotInstalled)
	require.NoError(t, uninstall(&out, false, dir, func() error { return nil }))
	assert.Contains(t, out.String(), "--purge removes them")
	assert.DirExists(t, dir)
	refused := errors.New("refused")
	assert.ErrorIs(t, uninstall(&out, true, dir, func() error { return refused }), refused)
	assert.DirExists(t, dir)
	for range 2 { // it can be repeated
		require.NoError(t, uninstall(&out, true, dir, gone))
		assert.NoDirExists(t, dir)
	}
}

// installed is an installed service.
type installed winsvc.Kept

func (i installed) Keep() (*winsvc.Kept, error) { return new(winsvc.Kept(i)), nil }

// TestOnlyAnUpgradeStartsTheServiceAgain: after a removal, the next installation does not
// start the service. The account and the start type are kept in any case.
func TestOnlyAnUpgradeStartsTheServiceAgain(t *testing.T) {
	for name, c := range map[string]struct{ ran, upgrade, kept bool }{
		"an upgrade of one that runs":    {true, true, true},
		"an upgrade of one that is off":  {false, true, false},
		"the removal of one that runs":   {true, false, false},
		"the removal of one that is off": {false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "data", "service.json")
			there := installed{CommandLine: "gw run", Account: `CORP\gw$`, Start: winsvc.Manual, Running: c.ran}
			require.NoError(t, keep(path, there, false, c.upgrade))
			kept, err := winsvc.ReadKept(path)
			require.NoError(t, err)
			there.Running = c.kept
			assert.Equal(t, winsvc.Kept(there), *kept)

			// If the installer calls again while a state is stored, that state is kept.
			there.Running = !c.kept
			require.NoError(t, keep(path, there, true, true))
			again, err := winsvc.ReadKept(path)
			require.NoError(t, err)
			assert.Equal(t, kept, again)
		})
	}
}
