// Package thorough decides how many combinations a test tries: all of them in
// `make deep`, which sets THOROUGH, and a fixed share of them in `make test`.
package thorough

import (
	"hash/crc32"
	"os"
	"strings"
)

var all = os.Getenv("THOROUGH") != ""

// All reports whether everything is to be tried, also what takes long.
func All() bool { return all }

// OneOf reports whether the case with these names is to be tried: always in a thorough
// run, otherwise one in n, always the same.
func OneOf(n int, names ...string) bool {
	return all || crc32.ChecksumIEEE([]byte(strings.Join(names, "\x00")))%uint32(n) == 0
}
