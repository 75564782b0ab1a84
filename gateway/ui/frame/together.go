package frame

import "sync"

// SideBySide runs functions concurrently, and returns when all have returned. Pages use it to read their
// parts.
func SideBySide(all ...func()) {
	var group sync.WaitGroup
	for _, one := range all {
		group.Go(one)
	}
	group.Wait()
}
