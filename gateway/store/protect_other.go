//go:build !windows

package store

// systemProtection is none: the mode of the file keeps others from reading it.
var systemProtection protection
