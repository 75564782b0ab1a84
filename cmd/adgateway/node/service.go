package node

import (
	"path/filepath"

	"adgateway/cmd/adgateway/internal/settings"
)

// defaultFile is the settings file of a node that has none named: in a folder of its
// own, because a gateway's is closed to other accounts.
func defaultFile() string {
	return filepath.Join(filepath.Dir(settings.DataDir()), "adgateway-engine", settings.FileName)
}
