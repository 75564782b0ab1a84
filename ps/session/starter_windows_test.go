package session

import (
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"
)

// Windows PowerShell may hang on an overlapped pipe (facts-5.1 K2), so the pipes that os/exec gives a child
// must be synchronous. A new version of Go might change that.
func TestThePipesOfAChildAreSynchronous(t *testing.T) {
	const fileModeInformation = 16
	const synchronousIO = 0x10 | 0x20 // FILE_SYNCHRONOUS_IO_ALERT, _NONALERT
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	for _, end := range []*os.File{r, w} {
		var mode uint32
		var status windows.IO_STATUS_BLOCK
		require.NoError(t, windows.NtQueryInformationFile(windows.Handle(end.Fd()), &status,
			(*byte)(unsafe.Pointer(&mode)), uint32(unsafe.Sizeof(mode)), fileModeInformation))
		assert.NotZero(t, mode&synchronousIO, end.Name())
	}
}
