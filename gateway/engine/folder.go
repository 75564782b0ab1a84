package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats-server/v2/server"
)

const (
	identityFile = "adgateway-engine.json"
	lockFile     = "adgateway-engine.lock"
)

// identity identifies the owner of a folder's data. A node that opened the folder of another node would vote
// without knowing its own earlier votes.
type identity struct {
	Node    string `json:"node"`
	Cluster string `json:"cluster"`
}

// folder is a node's folder, locked against other processes.
type folder struct{ lock *flock.Flock }

// OwnFolder reports whether a folder contains nothing except a node's data. For a folder that does
// not exist it returns true and [fs.ErrNotExist].
func OwnFolder(path string) (bool, error) {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, err
	}
	for _, entry := range entries {
		if name := entry.Name(); name != identityFile && name != lockFile && name != server.JetStreamStoreDir {
			return false, nil
		}
	}
	return err == nil, err
}

// claim creates the folder if it is missing, and fails if it belongs to another node or another process has
// it open.
func claim(path string, want identity) (*folder, error) {
	explain := func(err error) error {
		return fmt.Errorf("engine.store: %s cannot be used: %w; it must be a folder on a local disk that the "+
			"account of the engine may write", path, err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, explain(err)
	}
	lock := flock.New(filepath.Join(path, lockFile))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, explain(err)
	}
	if !locked {
		return nil, fmt.Errorf("engine.store: %s is in use by another process: end it, or give this node a "+
			"folder of its own", path)
	}
	f := &folder{lock: lock}
	if err := f.identify(path, want); err != nil {
		f.release()
		return nil, err
	}
	return f, nil
}

func (f *folder) identify(path string, want identity) error {
	file := filepath.Join(path, identityFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = json.Marshal(want)
		if err == nil {
			err = os.WriteFile(file, text, 0o600)
		}
		if err != nil {
			return fmt.Errorf("engine.store: %s cannot be written: %w; the account of the engine needs the right to",
				path, err)
		}
		return nil
	}
	var found identity
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	switch {
	case err != nil:
		return fmt.Errorf("engine.store: %s cannot be read: %w; if the disk lost power, empty the folder, and "+
			"the node joins anew", file, err)
	case found != want:
		return fmt.Errorf("engine.store: %s belongs to node %q of cluster %q, and this is node %q of cluster "+
			"%q: correct engine.store, or empty the folder when its data is no longer needed",
			path, found.Node, found.Cluster, want.Node, want.Cluster)
	}
	return nil
}

// release unlocks the folder for the next process.
func (f *folder) release() { _ = f.lock.Unlock() }
