package program

import (
	"errors"
	"io/fs"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config"
)

// ClusterFolder returns the folder with what the gateway of the settings has of its cluster. It
// has no path if the gateway keeps no store in a file.
func ClusterFolder(s *config.Settings) trust.Folder {
	return trust.Folder{Path: s.Store.ClusterFolder(), Restrict: Files.Restrict}
}

// Joined returns the folder with what the gateway of the settings has of its cluster, and what it
// proves its name with; nil: it has not joined one.
func Joined(s *config.Settings) (trust.Folder, *trust.Identity, error) {
	folder := ClusterFolder(s)
	if folder.Path == "" {
		return folder, nil, nil
	}
	id, err := folder.Identity()
	if errors.Is(err, fs.ErrNotExist) {
		return folder, nil, nil
	}
	return folder, id, err
}
