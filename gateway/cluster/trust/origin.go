package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"adgateway/gateway/store"
)

// originFile exists on the host where the cluster was created, once its creation is complete.
const originFile = "origin.json"

type origin struct {
	Hash []byte `json:"hash"`
}

// SetOrigin writes the origin of a new cluster's log: the hash of the last position in the store of its first
// gateway. The node of this host then creates the log.
func (f Folder) SetOrigin(hash store.Hash) error {
	text, err := json.Marshal(origin{hash[:]})
	if err != nil {
		return err
	}
	return f.write(originFile, append(text, '\n'))
}

// Origin reads the origin written by [Folder.SetOrigin]. It returns false if the cluster was not
// created on this host.
func (f Folder) Origin() (hash store.Hash, begun bool, err error) {
	path := filepath.Join(f.Path, originFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return hash, false, nil
	}
	var o origin
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err == nil && len(o.Hash) != len(hash) {
		err = fmt.Errorf("it has %d bytes", len(o.Hash))
	}
	if err != nil {
		return hash, false, fmt.Errorf("%s says what the log of the cluster begins with, and cannot be used: %w; "+
			"restore it from a backup, or remove it if the log was made", path, err)
	}
	copy(hash[:], o.Hash)
	return hash, true, nil
}
