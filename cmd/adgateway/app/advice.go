package app

import (
	"adgateway/gateway/config"
	"adgateway/winsvc/host"
	"fmt"
	"slices"
)

// Advice returns sentences about settings that are allowed but currently work badly on this computer. from
// maps each setting to its origin, and file is the path of the settings file.
func Advice(s *config.Settings, file string, from map[string]config.Origin) []string {
	warned, _ := exposed(withStore(s, file), file)
	all := append(s.Advice(from), warned...)
	for _, folder := range slices.Compact(keptIn(s)) {
		free, err := host.FreeSpace(folder)
		if err == nil && free <= s.Store.KeptFree() {
			all = append(all, fmt.Sprintf("store.minFree is %d MiB, and %d MiB are free at %s: "+
				"callers get 429 for all that would be kept of their calls", s.Store.MinFree, free>>20, folder))
		}
	}
	return all
}
