package members

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"adgateway/gateway/atomicfile"
	"adgateway/gateway/keep"
)

// disk is what a gateway keeps of its membership on its own disk.
type disk struct {
	V        int    `json:"v"`
	Number   uint64 `json:"incarnation"`
	Identity string `json:"identity"`
}

// readDisk returns what the file says; the zero value if there is none.
func readDisk(path string) (on disk, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return on, nil
	}
	if err != nil {
		return on, err
	}
	if err := json.Unmarshal(text, &on); err != nil {
		return on, fmt.Errorf("%w: %s cannot be read (%w): %s", ErrBehind, path, err, afterBehind)
	}
	if on.V > version {
		return on, fmt.Errorf("%s: %w: it is %d", path, keep.ErrNewer, on.V)
	}
	return on, nil
}

func (d disk) write(path string) error {
	d.V = version
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(text, '\n'), nil)
}
