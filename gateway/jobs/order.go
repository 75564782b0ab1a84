package jobs

// Reversed returns what items wait for when they are undone, given what they waited for:
// each waits for those that waited for it.
func Reversed(waits [][]int) [][]int {
	after := make([][]int, len(waits))
	for i, all := range waits {
		for _, before := range all {
			after[before] = append(after[before], i)
		}
	}
	return after
}
