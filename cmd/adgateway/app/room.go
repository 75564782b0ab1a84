package app

import (
	"path/filepath"
	"time"

	"adgateway/gateway/bounds"
	"adgateway/gateway/config"
	"adgateway/winsvc/host"
)

// roomOf returns what is left where the store and the audit log of the settings are; nil if the gateway
// keeps nothing on a disk.
func roomOf(o Options) *bounds.Room {
	var folders []string
	if path := o.Settings.Store.File; path != "" && path != config.AuditOff {
		folders = append(folders, filepath.Dir(path))
	}
	if audited(o.Settings.Audit) {
		folders = append(folders, filepath.Dir(o.Settings.Audit.File))
	}
	if len(folders) == 0 {
		return nil
	}
	free := func() (int64, error) { return leastFree(folders, host.FreeSpace) }
	return bounds.NewRoom(free, int64(o.Settings.Store.MinFree)<<20, time.Now)
}

// leastFree returns what is free in the folder that has least.
func leastFree(folders []string, free func(folder string) (uint64, error)) (least int64, err error) {
	least = -1
	for _, folder := range folders {
		bytes, err := free(folder)
		if err != nil {
			return 0, err
		}
		if least < 0 || int64(bytes) < least {
			least = int64(bytes)
		}
	}
	return least, nil
}
