// Package thorough decides how many combinations a test tries. In `make deep`, which sets THOROUGH, a test
// tries all of them, and in `make test` a fixed share.
package thorough

import (
	"hash/crc32"
	"os"
	"strings"
)

// All reports whether a test must try everything, even slow cases. It reads the environment variable while
// the test runs, because a variable that is read earlier is not part of the key of a cached test result.
func All() bool { return os.Getenv("THOROUGH") != "" }

// OneOf reports whether the case with the given names must be tried. In a thorough run it is true for every
// case, and otherwise for about one case in n. The choice is always the same.
func OneOf(n int, names ...string) bool {
	return All() || crc32.ChecksumIEEE([]byte(strings.Join(names, "\x00")))%uint32(n) == 0
}

// Some returns all values in a thorough run, and otherwise one of them, which is always the same for the
// given names. values must not be empty.
func Some[T any](values []T, names ...string) []T {
	if All() {
		return values
	}
	at := int(crc32.ChecksumIEEE([]byte(strings.Join(names, "\x00"))) % uint32(len(values)))
	return values[at : at+1]
}
