// Package data holds the built-in domain corp.example as files: entries in
// LDIF, zones in the form of RFC 1035 (see package zones for the directives in
// their comments).
package data

import "embed"

// Files has the files, all in its root: *.ldif and *.zone.
//
//go:embed *.ldif *.zone
var Files embed.FS
