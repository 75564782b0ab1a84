package audit

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fullDisk is a file on a disk that is full as long as the reserve of the log exists.
type fullDisk struct {
	file
	reserve string
	full    *bool
}

func (d fullDisk) Write(text []byte) (int, error) {
	if _, err := os.Stat(d.reserve); err == nil && *d.full {
		n, _ := d.file.Write(text[:len(text)/2])
		return n, syscall.ENOSPC
	}
	return d.file.Write(text)
}

func TestTheLogHasSpaceOfItsOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	full, low, now := false, false, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	l, err := Open(Options{
		File: path, Reserve: 1 << 20, Low: func() bool { return low }, now: func() time.Time { return now },
		open: func(path string) (file, error) {
			f, err := openFile(path)
			return fullDisk{f, path + reserveSuffix, &full}, err
		},
	})
	require.NoError(t, err)
	info, err := os.Stat(path + reserveSuffix)
	require.NoError(t, err)
	assert.Equal(t, int64(1<<20), info.Size())

	full, low = true, true
	_, err = l.Intent(Call{RequestID: "1", Operation: "user.update"})
	require.NoError(t, err, "what was reserved is used")
	assert.NoFileExists(t, path+reserveSuffix)
	now = now.Add(reserveAgain)
	_, err = l.Intent(Call{RequestID: "2", Operation: "user.update"})
	require.NoError(t, err)
	assert.NoFileExists(t, path+reserveSuffix, "nothing is reserved while little is left")

	full, low, now = false, false, now.Add(reserveAgain)
	_, err = l.Intent(Call{RequestID: "3", Operation: "user.update"})
	require.NoError(t, err)
	assert.FileExists(t, path+reserveSuffix)

	low = true
	for range floodCaller {
		require.NoError(t, l.Refuse(Call{RequestID: "4", Who: &Who{Name: "a", Kind: "token"}},
			Result{Code: "forbidden"}))
	}
	assert.Equal(t, uint64(floodCaller), l.Stats().Suppressed, "calls without effect are only counted")
	require.NoError(t, l.Close())
	report, err := Verify(Check{File: path})
	require.NoError(t, err)
	assert.Empty(t, report.Faults)
}
