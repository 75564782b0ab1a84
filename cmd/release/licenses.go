package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// license is a license that is allowed in a release, with phrases that its text must
// contain.
type license struct {
	name    string
	phrases []string
}

// allowed lists the licenses that only require their text to be included, and two that permit linking
// unchanged libraries into other works. The list in the zip says where the sources of those libraries are.
var allowed = []license{
	{"Apache-2.0", []string{"Apache License Version 2.0"}},
	{"MIT", []string{"Permission is hereby granted, free of charge, to any person obtaining a copy"}},
	{"BSD", []string{"Redistribution and use in source and binary forms, with or without modification, are permitted"}},
	{"ISC", []string{"Permission to use, copy, modify, and", "distribute this software for any purpose with or without fee is hereby granted"}},
	{"Unlicense", []string{"This is free and unencumbered software released into the public domain", "Anyone is free to copy, modify, publish, use, compile, sell, or distribute this software"}},
	{"Zlib", []string{"This software is provided 'as-is'", "Altered source versions must be plainly marked"}},
	{"MPL-2.0", []string{"Mozilla Public License, version 2.0"}},
	{"LGPL-3.0 with linking exception", []string{"As a special exception to the GNU Lesser General Public License", "convey to a third party a Combined Work"}},
}

var spaces = regexp.MustCompile(`\s+`)

// licenseOf returns the name of the license in a text, or "" if it is not allowed.
func licenseOf(text []byte) string {
	folded := strings.ToLower(spaces.ReplaceAllString(string(text), " "))
	for _, l := range allowed {
		if !slices.ContainsFunc(l.phrases,
			func(phrase string) bool { return !strings.Contains(folded, strings.ToLower(phrase)) }) {
			return l.name
		}
	}
	return ""
}

// licenseFile matches the name of a file with a license or a notice about one.
var licenseFile = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying|copyright|notice|patents)([-._].*)?$`)

// goModule is the output of `go list` for a module.
type goModule struct {
	Path, Version, Dir string
	Main               bool
	Replace            *goModule // nil if the module is not replaced
}

// licensesOf returns the license files of Go and of all modules with code in the executable,
// by their path below licenses/, and the names of the licenses by module path. A module
// without an allowed license is an error.
func licensesOf(
	ctx context.Context, p program, t target,
) (all map[string][]byte, of map[string][]string, err error) {
	listed, err := goTool(ctx, t, "list", "-deps", "-json=ImportPath,Dir,Module", "./cmd/"+p.Name)
	if err != nil {
		return nil, nil, err
	}
	root, err := goTool(ctx, t, "env", "GOROOT", "GOVERSION")
	if err != nil {
		return nil, nil, err
	}
	goRoot, goVersion, _ := strings.Cut(strings.TrimSpace(string(root)), "\n")
	dirs, modules, err := packageDirs(listed)
	if err != nil {
		return nil, nil, err
	}
	standard := goModule{Path: "go", Version: goVersion, Dir: goRoot}
	modules["go"], dirs["go"] = standard, []string{goRoot}

	all, of = map[string][]byte{}, map[string][]string{}
	var faults []error
	overview := []string{"The executable holds code of these modules, unchanged. Their sources are at " +
		"https://pkg.go.dev/PATH@VERSION.", ""}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		m := modules[name]
		names, err := collect(m, dirs[name], all)
		if err != nil {
			faults = append(faults, err)
		}
		of[m.Path] = names
		overview = append(overview, fmt.Sprintf("%s %s: %s", m.Path, m.Version, strings.Join(names, ", ")))
	}
	all["MODULES.txt"] = []byte(strings.Join(overview, "\n") + "\n")
	return all, of, errors.Join(faults...)
}

// packageDirs returns the package folders of each module except our own.
func packageDirs(listed []byte) (dirs map[string][]string, modules map[string]goModule, err error) {
	dirs, modules = map[string][]string{}, map[string]goModule{}
	decoder := json.NewDecoder(bytes.NewReader(listed))
	for {
		var p struct {
			Dir    string
			Module *goModule
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return dirs, modules, nil
		} else if err != nil {
			return nil, nil, err
		}
		if p.Module != nil && !p.Module.Main && (p.Module.Replace == nil || !ours(p.Module.Replace.Path)) {
			modules[p.Module.Path] = *p.Module
			dirs[p.Module.Path] = append(dirs[p.Module.Path], p.Dir)
		}
	}
}

// collect reads the license files of a module: those in its root, and those in the folders
// on the path to each package in use.
func collect(m goModule, packages []string, all map[string][]byte) (names []string, err error) {
	folders := map[string]bool{}
	for _, dir := range packages {
		for ; strings.HasPrefix(dir, m.Dir); dir = filepath.Dir(dir) {
			folders[dir] = true
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if entry.IsDir() || !licenseFile.MatchString(entry.Name()) || filepath.Ext(entry.Name()) == ".go" {
				continue
			}
			text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
			if err != nil {
				return nil, err
			}
			below, err := filepath.Rel(m.Dir, folder)
			if err != nil {
				return nil, err
			}
			all[path.Join(m.Path, filepath.ToSlash(below), entry.Name())] = text
			if name := licenseOf(text); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no allowed license: see %s", m.Path, m.Dir)
	}
	return names, nil
}
