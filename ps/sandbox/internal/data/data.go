// Package data contains the built-in domain corp.example: LDIF files with its
// entries, and zone files (see package zones for the directives in their comments).
package data

import "embed"

// Files contains the *.ldif and *.zone files in its root.
//
//go:embed *.ldif *.zone
var Files embed.FS
