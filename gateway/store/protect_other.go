//go:build !windows

package store

// systemProtection protects nothing, because the file's mode keeps others from reading it.
var systemProtection protection
