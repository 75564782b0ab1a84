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

// exposed returns what other accounts may do with the files of a gateway. That they may write one keeps
// the gateway from starting; that they may read a secret, or replace a file, is a warning.
// [config.Settings.Uses] says which files there are, and package host who the others are.
func exposed(cfg *config.Settings, file string) (refused error, warned []string) {
	var faults []error
	var folders []string
	for _, f := range cfg.Uses(file) {
		for _, path := range pathsOf(f) {
			readers, err := program.Files.Exposed(path)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				continue
			case err != nil && f.Told:
				warned = append(warned, fmt.Sprintf("%s: %s: %v", f.Use, path, err))
			case err != nil:
				faults = append(faults, fmt.Errorf("%s: %s is not trusted: %w", f.Use, path, err))
			case readers != "" && f.Secret:
				warned = append(warned, fmt.Sprintf("%s: %s can be read by %s, and it is secret", f.Use, path, readers))
			}
			if folder := filepath.Dir(path); !f.Told && !slices.Contains(folders, folder) {
				folders = append(folders, folder)
				if err := program.Files.ExposedFolder(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
					warned = append(warned, fmt.Sprintf("%s: %v", f.Use, err))
				}
			}
		}
	}
	return errors.Join(faults...), warned
}

// pathsOf returns the paths of a file and of what the gateway keeps beside it, or of all files in a
// folder, without links. One that is not there is left out.
func pathsOf(f config.File) (all []string) {
	add := func(path string) {
		resolved, err := filepath.EvalSymlinks(path)
		if err != nil || slices.Contains(all, resolved) {
			return
		}
		if info, err := os.Stat(resolved); err == nil && (info.Mode().IsRegular() || info.IsDir() && f.Folder) {
			all = append(all, resolved)
		}
	}
	add(f.Path)
	within, begins := filepath.Dir(f.Path), filepath.Base(f.Path)
	switch {
	case f.Folder:
		within, begins = f.Path, ""
	case !f.Written:
		return all
	default:
		begins = strings.TrimSuffix(begins, filepath.Ext(begins)) // rotated files have the time before it
	}
	entries, err := os.ReadDir(within)
	if err != nil {
		return all
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), begins) && entry.Type().IsRegular() {
			add(filepath.Join(within, entry.Name()))
		}
	}
	return all
}
