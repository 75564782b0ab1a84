// Package nearest finds what was probably meant by a name that nobody knows.
package nearest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// longest bounds what is compared, so that a very long name costs little.
const longest = 64

// shortest is the least that a name must have in common with one it is part of.
const shortest = 4

// Of returns the known name that looks most like the given one, in any case:
// the first of those that differ least. Where one is a part of the other, what
// is around it counts a quarter. Names that differ by limit letters or more are none;
// without any it returns "".
func Of(name string, known []string, limit int) string {
	best, distance := "", limit
	name = strings.ToLower(strings.ToValidUTF8(name[:min(len(name), longest)], ""))
	for _, candidate := range known {
		lower := strings.ToLower(candidate)
		d := levenshtein.ComputeDistance(name, lower)
		if min(len(name), len(lower)) >= shortest && (strings.Contains(lower, name) || strings.Contains(name, lower)) {
			d = (d + 3) / 4
		}
		if d < distance {
			best, distance = candidate, d
		}
	}
	return best
}
