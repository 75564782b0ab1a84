// Package nearest suggests what was probably meant by an unknown name.
package nearest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// longest limits the length of names that are compared, to limit the cost.
const longest = 64

// shortest is the minimum length of a name that is part of another one.
const shortest = 4

// Limit returns the limit for [Of] with which only names are suggested that are near
// enough to be meant.
func Limit(name string) int { return max(4, len(name)/3+1) }

// Of returns the known name that is nearest to the given one by edit distance,
// regardless of case; the first of several. If one name contains the other, the rest
// counts a quarter. It returns "" if all names differ by limit letters or more.
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
