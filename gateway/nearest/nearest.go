// Package nearest finds what was probably meant by a name that nobody knows.
package nearest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// longest bounds what is compared, so that a very long name costs little.
const longest = 64

// Of returns the known name that looks most like the given one, in any case:
// the first of those that differ least. Names that differ by limit letters or
// more are none; without any it returns "".
func Of(name string, known []string, limit int) string {
	best, distance := "", limit
	name = strings.ToLower(strings.ToValidUTF8(name[:min(len(name), longest)], ""))
	for _, candidate := range known {
		if d := levenshtein.ComputeDistance(name, strings.ToLower(candidate)); d < distance {
			best, distance = candidate, d
		}
	}
	return best
}
