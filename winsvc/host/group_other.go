//go:build !windows

package host

import "errors"

// GroupSecrets encrypts data for the accounts in a group of the domain.
type GroupSecrets struct{}

var errNoGroups = errors.New("cluster.keyGroup needs Windows: leave it empty, so that every gateway has a " +
	"copy of the key file")

// ForGroup returns an error, because such secrets exist only on Windows.
func ForGroup(string) (*GroupSecrets, error) { return nil, errNoGroups }

// Wrap returns an error.
func (*GroupSecrets) Wrap([]byte) ([]byte, error) { return nil, errNoGroups }

// Unwrap returns an error.
func (*GroupSecrets) Unwrap([]byte) ([]byte, error) { return nil, errNoGroups }

// Remedy returns the reason.
func (*GroupSecrets) Remedy() string { return errNoGroups.Error() }
