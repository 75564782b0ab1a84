package program

import (
	"errors"
	"io/fs"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config"
)

// ClusterFolder returns the cluster folder of a gateway with these settings. Its path is
// empty if the gateway has no store in a file.
func ClusterFolder(s *config.Settings) trust.Folder {
	return trust.Folder{Path: s.Store.ClusterFolder(), Restrict: Files.Restrict}
}

// Joined returns the cluster folder of a gateway with these settings and the gateway's
// identity, or a nil identity if it has not joined a cluster.
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
