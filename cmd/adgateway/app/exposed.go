package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
)

// exposed checks the access that other accounts have to the files of a gateway. If they may write a file, it
// returns an error, and the gateway does not start. If they may read a secret or replace a file, it returns a
// warning. [config.Settings.Uses] lists the files, and package host knows the other accounts.
func exposed(cfg *config.Settings, file string) (warned []string, refused error) {
	var faults []error
	var folders []string
	for _, f := range whole(cfg.Uses(file)) {
		readers, err := program.Files.Exposed(f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil && f.Told:
			warned = append(warned, fmt.Sprintf("%s: %s: %v", f.Use, f.Path, err))
		case err != nil:
			faults = append(faults, fmt.Errorf("%s: %s is not trusted: %w", f.Use, f.Path, err))
		case readers != "" && f.Secret:
			warned = append(warned, fmt.Sprintf("%s: %s can be read by %s, and it is secret", f.Use, f.Path, readers))
		}
		if folder := filepath.Dir(f.Path); !f.Told && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
			if err := program.Files.ExposedFolder(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
				warned = append(warned, fmt.Sprintf("%s: %v", f.Use, err))
			}
		}
	}
	return warned, errors.Join(faults...)
}

// whole returns each of the files once, by its real path, and then the files that
// the gateway keeps next to them and in its folders. It omits missing files.
func whole(named []config.File) (all []config.File) {
	add := func(f config.File, path string) {
		resolved, err := filepath.EvalSymlinks(path)
		if err != nil || slices.ContainsFunc(all, func(other config.File) bool { return other.Path == resolved }) {
			return
		}
		if info, err := os.Stat(resolved); err == nil && (info.Mode().IsRegular() || info.IsDir() && f.Folder) {
			f.Path = resolved
			all = append(all, f)
		}
	}
	for _, f := range named {
		add(f, f.Path)
	}
	for _, f := range named {
		within, begins := filepath.Dir(f.Path), filepath.Base(f.Path)
		begins = strings.TrimSuffix(begins, filepath.Ext(begins)) // rotated files have a time before the extension
		if f.Folder {
			within, begins = f.Path, ""
		}
		entries, err := os.ReadDir(within)
		if err != nil || !f.Written {
			continue
		}
		for _, entry := range entries {
			if strings.HasPrefix(entry.Name(), begins) && entry.Type().IsRegular() {
				add(f, filepath.Join(within, entry.Name()))
			}
		}
	}
	return all
}

// withStore returns the settings with the path of their credential file.
func withStore(cfg *config.Settings, file string) *config.Settings {
	meant := *cfg
	meant.Auth.Store = program.CredentialFile(cfg.Auth, file).Path
	return &meant
}
