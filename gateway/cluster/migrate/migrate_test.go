package migrate

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"go.uber.org/goleak"

	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
)

// If these are set, the test binary is the process that is killed.
const (
	folderVariable = "MIGRATE_TEST_FOLDER"
	stepVariable   = "MIGRATE_TEST_STEP"
)

const killed = 9

func TestMain(m *testing.M) {
	if folder := os.Getenv(folderVariable); folder != "" {
		os.Exit(dying(folder, os.Getenv(stepVariable)))
	}
	goleak.VerifyTestMain(m)
}

// dying migrates the data in a folder, and ends before a step like a killed process.
func dying(folder, step string) int {
	last, err := strconv.Atoi(step)
	o, wrong := options(folder)
	if err != nil || wrong != nil {
		return 1
	}
	o.step = func(string) {
		if last--; last < 0 {
			os.Exit(killed)
		}
	}
	if _, err = Run(context.Background(), o); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// TestMigration: data written by the code of the earlier version is migrated.
func TestMigration(t *testing.T) {
	old := unpack(t)
	o, err := options(old.folder)
	require.NoError(t, err)
	before := digests(t, old.folder, "cluster-corp-")
	found, err := Run(t.Context(), o)
	require.NoError(t, err)
	assert.Equal(t, 2, found.Open)
	assert.Equal(t, 2, found.Added)
	assert.Equal(t, o.Store+asideMark, found.Aside)
	assert.NotZero(t, found.Sequence)
	assert.False(t, found.At.IsZero())
	old.requireMigrated(t, old.folder)
	assert.Equal(t, before, digests(t, old.folder, "cluster-corp-"), "the old files are as they were")
	left, err := filepath.Glob(old.path("*" + beside + "*"))
	require.NoError(t, err)
	assert.Empty(t, left)

	again, err := Run(t.Context(), o)
	require.NoError(t, err)
	assert.Equal(t, Result{Mirror: o.Mirror, Sequence: found.Sequence, At: again.At, Done: true}, again)
	assert.True(t, found.At.Equal(again.At))
	old.requireMigrated(t, old.folder)
}

// TestAMigrationIsKilled: a migration is killed before each of its writes. The remains do not count as a
// cluster, and the migration completes when it is run again.
func TestAMigrationIsKilled(t *testing.T) {
	old := unpack(t)
	var steps []string
	o, err := options(old.copied(t))
	require.NoError(t, err)
	o.step = func(what string) { steps = append(steps, what) }
	_, err = Run(t.Context(), o)
	require.NoError(t, err)
	for i, step := range steps {
		if i > 0 && step == "put" && steps[i-1] == "put" {
			continue // nothing was written in between
		}
		t.Run(fmt.Sprint(i, " ", step), func(t *testing.T) {
			folder := old.copied(t)
			c := exec.CommandContext(t.Context(), os.Args[0])
			c.Env = append(os.Environ(), folderVariable+"="+folder, stepVariable+"="+strconv.Itoa(i))
			said, err := c.CombinedOutput()
			var ended *exec.ExitError
			require.ErrorAs(t, err, &ended)
			require.Equal(t, killed, ended.ExitCode(), string(said))
			o, err := options(folder)
			require.NoError(t, err)
			_, err = o.Folder.Identity()
			require.ErrorIs(t, err, os.ErrNotExist)
			found, err := Run(t.Context(), o)
			require.NoError(t, err)
			assert.Equal(t, o.Store+asideMark, found.Aside)
			old.requireMigrated(t, folder)
		})
	}
}

// TestRefusals: a refusal states the reason and the remedy, and changes nothing.
func TestRefusals(t *testing.T) {
	old := unpack(t)
	for name, c := range map[string]struct {
		arrange func(t *testing.T, folder string, o *Options)
		says    []string
	}{
		"no mirror": {func(t *testing.T, folder string, o *Options) {
			require.NoError(t, os.Remove(o.Mirror))
		}, []string{"there is no mirror", "--from"}},
		"another's mirror": {func(t *testing.T, folder string, o *Options) {
			o.Mirror = filepath.Join(folder, "x.mirror")
		}, []string{"there is no mirror"}},
		"an empty mirror": {func(t *testing.T, folder string, o *Options) {
			require.NoError(t, os.Remove(store.HeadOf(o.Mirror)))
			db, err := bbolt.Open(o.Mirror, 0o600, nil)
			require.NoError(t, err)
			require.NoError(t, db.Update(func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("followed")) }))
			require.NoError(t, db.Close())
		}, []string{"the mirror is empty", "--from"}},
		"a damaged mirror": {func(t *testing.T, folder string, o *Options) {
			text, err := os.ReadFile(o.Mirror)
			require.NoError(t, err)
			for i := range text[:1<<14] {
				text[i] = 7
			}
			require.NoError(t, os.WriteFile(o.Mirror, text, 0o600))
		}, []string{"the file is damaged", "--from"}},
		"a short mirror": {func(t *testing.T, folder string, o *Options) {
			require.NoError(t, os.Truncate(o.Mirror, 100))
		}, []string{"the file is damaged", "--from"}},
		"a mirror that was taken back": {func(t *testing.T, folder string, o *Options) {
			replaceText(t, store.HeadOf(o.Mirror), `"sequence":`, `"sequence":9`)
		}, []string{"older than what it has acknowledged", "--from"}},
		"a mirror of another store": {func(t *testing.T, folder string, o *Options) {
			replaceText(t, store.HeadOf(o.Mirror), old.Creation, "another")
		}, []string{"the mirror is of another store", "--from"}},
		"a gateway that runs": {func(t *testing.T, folder string, o *Options) {
			db, err := bbolt.Open(o.Mirror, 0o600, nil)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, db.Close()) })
		}, []string{"another process has it open", "stop the gateways"}},
		"another key": {func(t *testing.T, folder string, o *Options) {
			other := filepath.Join(folder, "other.key")
			require.NoError(t, keyring.CreateKeyFile(other))
			w, err := keyring.KeyFile(other)
			require.NoError(t, err)
			o.Wrapper, o.KeyFile = w, other
		}, []string{"cannot be unwrapped", keyring.Copy}},
		"a journal that was taken back": {func(t *testing.T, folder string, o *Options) {
			const noticed = `"rewound":"2026-01-01T00:00:00Z","revision":`
			replaceText(t, store.HeadOf(o.Journals[0].File), `"revision":`, noticed)
		}, []string{"older than what it has acknowledged", "audit log"}},
		"a damaged journal": {func(t *testing.T, folder string, o *Options) {
			require.NoError(t, os.Truncate(o.Journals[0].File, 5000))
		}, []string{"cluster-corp-gw1.journal", "move it away"}},
		"another key of the journal": {func(t *testing.T, folder string, o *Options) {
			require.NoError(t, os.Remove(o.Journals[0].Key))
			_, err := store.ReadKey(o.Journals[0].Key)
			require.NoError(t, err)
		}, []string{"3 changes that its key", "state.db.key"}},
		"no key of the journal": {func(t *testing.T, folder string, o *Options) {
			require.NoError(t, os.Remove(o.Journals[0].Key))
		}, []string{"state.db.key"}},
		"files in the folder": {func(t *testing.T, folder string, o *Options) {
			require.NoError(t, os.Mkdir(o.Folder.Path, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(o.Folder.Path, "x"), nil, 0o600))
		}, []string{"has files already: move them away"}},
		"a store that is open": {func(t *testing.T, folder string, o *Options) {
			f, _, err := store.Open(store.Options{Path: o.Store})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, f.Close()) })
		}, []string{"another process has it open", "stop the gateways"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := old.copied(t)
			o, err := options(folder)
			require.NoError(t, err)
			c.arrange(t, folder, &o)
			_, err = Run(t.Context(), o)
			require.Error(t, err)
			for _, text := range c.says {
				assert.ErrorContains(t, err, text)
			}
			_, err = o.Folder.Identity()
			require.ErrorIs(t, err, os.ErrNotExist)
			_, err = os.Stat(o.Store + asideMark)
			require.ErrorIs(t, err, os.ErrNotExist)
		})
	}
}

// TestAClusterIsNotReplaced: a cluster that was created in another way, or belongs to another
// gateway, is not replaced.
func TestAClusterIsNotReplaced(t *testing.T) {
	old := unpack(t)
	o, err := options(old.folder)
	require.NoError(t, err)
	_, err = Run(t.Context(), o)
	require.NoError(t, err)
	other := o
	other.Gateway = "gw2"
	_, err = Run(t.Context(), other)
	require.ErrorContains(t, err, "has the files of gateway gw1 of the cluster corp")
	f, _, err := store.Open(store.Options{Path: o.Store})
	require.NoError(t, err)
	_, err = Run(t.Context(), o)
	require.ErrorContains(t, err, "needs no migration")
	require.NoError(t, f.Close())
}

func replaceText(t *testing.T, path, before, after string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	replaced := strings.ReplaceAll(string(text), before, after)
	require.NotEqual(t, string(text), replaced)
	require.NoError(t, os.WriteFile(path, []byte(replaced), 0o600))
}

// digests returns digests of the files in a folder whose names have a prefix.
func digests(t *testing.T, folder, prefix string) map[string]string {
	t.Helper()
	all := map[string]string{}
	found, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, entry := range found {
		if strings.HasPrefix(entry.Name(), prefix) {
			text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
			require.NoError(t, err)
			all[entry.Name()] = string(text)
		}
	}
	return all
}
