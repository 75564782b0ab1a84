package store

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/gateway/store/commitlog"
)

// Environment variables of a process that kills itself at a step of its store.
const (
	killedAtVariable = "TEST_STORE_KILLED_AT"
	killedInVariable = "TEST_STORE_KILLED_IN"
)

// lethal is a commit log that kills its process at a given step, which is before or in the middle of a write,
// or before or after a sync.
type lethal struct {
	commitlog.File
	step func()
}

func (l lethal) WriteAt(text []byte, at int64) (int, error) {
	l.step()
	half := len(text) / 2
	if n, err := l.File.WriteAt(text[:half], at); err != nil {
		return n, err
	}
	l.step()
	n, err := l.File.WriteAt(text[half:], at+int64(half))
	return half + n, err
}

func (l lethal) Sync() error {
	l.step()
	err := l.File.Sync()
	l.step()
	return err
}

// TestAProcessThatKillsItself is the process that kills itself. In an ordinary test run it does
// nothing.
func TestAProcessThatKillsItself(t *testing.T) {
	left, err := strconv.Atoi(os.Getenv(killedAtVariable))
	if err != nil {
		return
	}
	step := func() {
		if left--; left == 0 {
			self, err := os.FindProcess(os.Getpid())
			require.NoError(t, err)
			require.NoError(t, self.Kill())
			select {}
		}
	}
	f, _, err := Open(Options{
		Path: os.Getenv(killedInVariable),
		commits: func(path string) (commitlog.File, error) {
			step()
			file, err := commitlog.Open(path)
			return lethal{file, step}, err
		},
		write: func(path string, text []byte) error {
			step()
			err := os.WriteFile(path, text, 0o600)
			step()
			return err
		},
	})
	require.NoError(t, err)
	for n := range 4 {
		require.NoError(t, counted(t, f, n, 5000))
		fmt.Printf("acknowledged %d\n", n+1)
		step()
		if n == 1 {
			require.NoError(t, f.allPut())
			step()
		}
	}
	require.NoError(t, f.Close())
	step()
	fmt.Println("closed")
}

// TestAStoreWhoseProcessIsKilled: if a process is killed at any step, its store has all acknowledged calls.
// In addition it has at most the one call that was not answered.
func TestAStoreWhoseProcessIsKilled(t *testing.T) {
	for at := 1; ; at++ {
		path := filepath.Join(t.TempDir(), "state.db")
		process := exec.Command(os.Args[0], "-test.run=^TestAProcessThatKillsItself$")
		process.Env = append(os.Environ(), fmt.Sprint(killedAtVariable, "=", at), killedInVariable+"="+path)
		out, err := process.Output()
		acknowledged := strings.Count(string(out), "acknowledged")
		f, aside, opened := Open(Options{Path: path})
		require.NoError(t, opened, at)
		require.Empty(t, aside, at)
		require.NoError(t, f.State().Rewound, at)
		n := counts(t, f, fmt.Sprint("step ", at))
		require.GreaterOrEqual(t, n, acknowledged, at)
		require.LessOrEqual(t, n, acknowledged+1, at)
		require.NoError(t, f.Close())
		if err == nil {
			require.Contains(t, string(out), "closed")
			require.Greater(t, at, 20)
			return
		}
	}
}
