// Package data contains the built-in domain corp.example: LDIF files with its
// entries, and zone files (see package zones for the directives in their comments).
package data

import (
	"embed"

	"adgateway/ps/packed"
)

//go:embed *.ldif
var entries embed.FS

// Zones contains the *.zone files in its root.
//
//go:embed *.zone
var Zones embed.FS

// Entries returns the content of a *.ldif file. It fails if there is none with that name.
func Entries(name string) ([]byte, error) {
	content, err := entries.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return packed.Text(content)
}
