package main

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"maps"
	slashes "path"
	"slices"
	"time"
)

type file struct {
	content []byte
	mode    fs.FileMode
}

// pack creates a zip of files below a folder, or without one if folder is empty. Its bytes
// depend only on its arguments.
func pack(folder string, files map[string]file, stamp time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		header := &zip.FileHeader{Name: slashes.Join(folder, path), Method: zip.Deflate, Modified: stamp.UTC()}
		header.SetMode(files[path].mode)
		entry, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(files[path].content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
