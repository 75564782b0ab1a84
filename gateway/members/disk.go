package members

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"adgateway/gateway/atomicfile"
	"adgateway/gateway/keep"
)

// disk is what a gateway keeps of its membership on its own disk.
type disk struct {
	keep.Formatted
	Number   uint64 `json:"incarnation"`
	Identity string `json:"identity"`
}

// readDisk returns what the file says; the zero value if there is none.
func readDisk(store *keep.Sealed, path string) (on disk, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return on, nil
	}
	if err != nil {
		return on, err
	}
	err = keep.Decode(store, text, &on)
	switch {
	case errors.Is(err, keep.ErrNewer):
		return on, fmt.Errorf("%s: %w", path, err)
	case err != nil:
		return on, fmt.Errorf("%w: %s cannot be read (%w): %s", ErrBehind, path, err, afterBehind)
	}
	return on, nil
}

func (d disk) write(store *keep.Sealed, path string) error {
	text, err := keep.Encode(store, d)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(text, '\n'), nil)
}
