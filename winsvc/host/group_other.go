//go:build !windows

package host

import "errors"

// GroupSecrets encrypts what the accounts in a group of the domain can decrypt.
type GroupSecrets struct{}

var errNoGroups = errors.New("cluster.keyGroup needs Windows: leave it empty, so that every gateway has a copy of the key file")

// ForGroup returns an error: there are such secrets on Windows only.
func ForGroup(string) (*GroupSecrets, error) { return nil, errNoGroups }

// Wrap returns an error.
func (*GroupSecrets) Wrap([]byte) ([]byte, error) { return nil, errNoGroups }

// Unwrap returns an error.
func (*GroupSecrets) Unwrap([]byte) ([]byte, error) { return nil, errNoGroups }

// Remedy says why.
func (*GroupSecrets) Remedy() string { return errNoGroups.Error() }
