// Package thorough decides how many combinations a test tries: all of them in `make deep`,
// which sets THOROUGH, and a fixed share in `make test`.
package thorough

import (
	"hash/crc32"
	"os"
	"strings"
)

// All reports whether a test must try everything, even slow cases. The variable is read
// while a test runs, because reading it earlier would not make it part of the key of a cached result.
func All() bool { return os.Getenv("THOROUGH") != "" }

// OneOf reports whether the case with these names must be tried: always in a thorough run,
// otherwise one case in n. The choice is always the same.
func OneOf(n int, names ...string) bool {
	return All() || crc32.ChecksumIEEE([]byte(strings.Join(names, "\x00")))%uint32(n) == 0
}

// Some returns all values in a thorough run, otherwise one of them, always the same for these
// names. There must be one.
func Some[T any](values []T, names ...string) []T {
	if All() {
		return values
	}
	at := int(crc32.ChecksumIEEE([]byte(strings.Join(names, "\x00"))) % uint32(len(values)))
	return values[at : at+1]
}
