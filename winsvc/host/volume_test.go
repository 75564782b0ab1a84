package host

import (
	"errors"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCovers(t *testing.T) {
	for name, c := range map[string]struct {
		folders []string
		want    bool
	}{
		"the folder":       {[]string{`d:\Engine\`}, true},
		"all that is in":   {[]string{`D:\engine\*`}, true},
		"above":            {[]string{`C:\x`, `D:\`}, true},
		"other slashes":    {[]string{`D:/engine`}, true},
		"a longer name":    {[]string{`D:\eng`}, false},
		"below":            {[]string{`D:\engine\data\jetstream`}, false},
		"nothing":          {nil, false},
		"an empty line":    {[]string{"", " "}, false},
		"another drive":    {[]string{`E:\engine`}, false},
		"files in it only": {[]string{`D:\engine\*.blk`}, false},
	} {
		assert.Equal(t, c.want, Covers(c.folders, `D:\Engine\data`), name)
	}
}

func TestWholeFolders(t *testing.T) {
	assert.Equal(t, []string{`d:\engine`, `e:\x y`, `f:`}, wholeFolders([]string{`D:\Engine\* /s`, ` E:\x y\*.* /S `, `F:\* /s`, `D:\engine\*`, `D:\a.txt`, `D:\*.tmp /s`, `\hiberfil.sys`, ""}))
}

// TestHostOfAFolder: information about a folder's volume is available even if the folder does not exist yet.
func TestHostOfAFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "none", "yet")
	volume, err := ReadVolume(folder)
	require.NoError(t, err)
	assert.NotEmpty(t, volume.FileSystem)
	assert.False(t, volume.Remote)
	for name, err := range map[string]error{
		"write cache": errorOf(ReadWriteCache(folder)), "scanner": errorOf(ScannerExclusions()), "backup": errorOf(BackupExclusions()),
		"index": errorOf(Indexed(folder)), "sleep": errorOf(ReadSleep()),
	} {
		if runtime.GOOS != "windows" {
			assert.ErrorIs(t, err, errors.ErrUnsupported, name)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }
