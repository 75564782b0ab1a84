package settings

import (
	"errors"
	"io/fs"

	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/config"
	"adgateway/winsvc/host"
)

// Joined returns the folder with what the gateway of the settings has of its cluster, and what it
// proves its name with; nil: it has not joined one.
func Joined(s *config.Settings) (trust.Folder, *trust.Identity, error) {
	folder := trust.Folder{Path: s.Store.ClusterFolder(), Restrict: host.Files{}.Restrict}
	if folder.Path == "" {
		return trust.Folder{}, nil, nil
	}
	id, err := folder.Identity()
	if errors.Is(err, fs.ErrNotExist) {
		return folder, nil, nil
	}
	return folder, id, err
}
