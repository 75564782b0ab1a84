package program

import (
	"errors"
	"io/fs"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config"
)

// ClusterFolder returns the cluster folder of the gateway of the settings. It has no path if the
// gateway keeps no store in a file.
func ClusterFolder(s *config.Settings) trust.Folder {
	return trust.Folder{Path: s.Store.ClusterFolder(), Restrict: Files.Restrict}
}

// Joined returns the cluster folder of the gateway of the settings, and the gateway's proof of its
// name; nil: it has not joined a cluster.
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
