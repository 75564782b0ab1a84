package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"adgateway/ps/packed"
)

// front is the page that links to the others, which are in manualFolder.
const front, manualFolder = "README.md", "gateway/manual"

// pictures matches the pictures in a page.
var pictures = regexp.MustCompile(`!\[[^\]]*\]\(([^)]+)\)`)

// addManual adds the front page, the other pages, and their pictures. It keeps their paths,
// so that the links between them work.
func addManual(all map[string]file, newline string) error {
	pages := map[string]string{front: front}
	err := filepath.WalkDir(filepath.FromSlash(manualFolder), func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".md") {
			pages[filepath.ToSlash(name)] = filepath.ToSlash(name)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%w (run in the module's root)", err)
	}
	if err := add(all, newline, pages); err != nil {
		return err
	}
	for page := range pages {
		for _, match := range pictures.FindAllSubmatch(all[page].content, -1) {
			name := path.Join(path.Dir(page), string(match[1]))
			content, err := os.ReadFile(filepath.FromSlash(name))
			if err != nil {
				return fmt.Errorf("%s has a picture: %w", page, err)
			}
			all[name] = file{content, 0o644}
		}
	}
	text := bytes.ReplaceAll(all[front].content, []byte("](LICENSE)"), []byte("](LICENSE.txt)"))
	all[front] = file{text, 0o644}
	return nil
}

// packable are the files that a program reads with [packed.Text], as folder and extension.
var packable = map[string]string{
	manualFolder: ".md", "scripts": ".ps1", "ps/cmdlets/data": ".ndjson", "ps/sandbox/internal/data": ".ldif",
}

// packedFiles compresses each packable file into a folder. It maps the paths of the originals to them.
func packedFiles(dir string) (map[string]string, error) {
	replaced := map[string]string{}
	for root, extension := range packable {
		err := filepath.WalkDir(filepath.FromSlash(root), func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(name) != extension ||
				strings.Contains(filepath.ToSlash(name), "/testdata/") {
				return err
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			original, err := filepath.Abs(name)
			if err != nil {
				return err
			}
			if text, err = packed.Pack(text); err != nil {
				return err
			}
			replaced[original] = filepath.Join(dir, strconv.Itoa(len(replaced))+".gz")
			return os.WriteFile(replaced[original], text, 0o600)
		})
		if err != nil {
			return nil, fmt.Errorf("%w (run in the module's root)", err)
		}
	}
	return replaced, nil
}

// manualFiles returns the paths of the files that addManual added, except the front page.
func manualFiles(all map[string]file) []string {
	var paths []string
	for name := range all {
		if name != front && (strings.HasSuffix(name, ".md") && strings.HasPrefix(name, manualFolder+"/") ||
			strings.HasSuffix(name, ".png")) {
			paths = append(paths, name)
		}
	}
	slices.Sort(paths)
	return paths
}
