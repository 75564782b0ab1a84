package frame

import "sync"

// SideBySide runs functions at the same time, and returns when all have. A page reads its parts so: it
// is ready with the slowest one.
func SideBySide(all ...func()) {
	var group sync.WaitGroup
	for _, one := range all {
		group.Go(one)
	}
	group.Wait()
}
