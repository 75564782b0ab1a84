package jobs

// Reversed inverts the dependency graph: an item of the result waits for those items that waited
// for it.
func Reversed(waits [][]int) [][]int {
	after := make([][]int, len(waits))
	for i, all := range waits {
		for _, before := range all {
			after[before] = append(after[before], i)
		}
	}
	return after
}
