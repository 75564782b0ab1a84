package winsvc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/kardianos/service"
)

// Kept is the state of a removed or updated service that is stored for the next
// installation. It does not contain a password.
type Kept struct {
	CommandLine string    `json:"commandLine"`
	Account     string    `json:"account"`
	Start       StartType `json:"start"`
	Running     bool      `json:"running"`
}

// Keep returns the state of the installed service, or nil if there is none.
func (m *Manager) Keep() (*Kept, error) {
	found, err := m.native.Find()
	if errors.Is(err, service.ErrNotInstalled) {
		return nil, nil
	}
	if err != nil {
		return nil, m.of.explain(err)
	}
	return &Kept{CommandLine: found.CommandLine, Account: found.Account, Start: found.Start,
		Running: found.State == Running || found.State == Starting}, nil
}

// Restore undoes an installation that failed at a later step. It sets the command line of the service to the
// one in kept, or removes the service if kept is nil. It reports whether it has done so. It does not create a
// service that no longer exists, because the service may have been removed long ago and the next installation
// can use kept.
func (m *Manager) Restore(ctx context.Context, kept *Kept) (done bool, err error) {
	if kept == nil {
		if _, err := m.native.Find(); errors.Is(err, service.ErrNotInstalled) {
			return true, nil
		}
		return true, m.Uninstall(ctx)
	}
	_, err = m.native.Change(change{CommandLine: kept.CommandLine})
	if errors.Is(err, service.ErrNotInstalled) {
		return false, nil
	}
	return err == nil, m.of.explain(err)
}

// Write writes the state to a file.
func (k Kept) Write(path string) error {
	text, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}

// ReadKept reads the state in a file. It returns nil if the file does not exist.
func ReadKept(path string) (*Kept, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var k Kept
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	if err == nil && k.Start != "" && k.Start != Delayed && k.Start != Automatic && k.Start != Manual &&
		k.Start != Disabled {
		err = fmt.Errorf("%q is no start type", k.Start)
	}
	if err != nil {
		return nil, fmt.Errorf("%s, which keeps the service's account and start type: %w; correct or delete it",
			path, err)
	}
	return &k, nil
}
