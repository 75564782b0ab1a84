package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	slashes "path"
	"slices"
	"time"

	"adgateway/cmd/release/clients"
	"adgateway/gateway/ops"
)

// collectionArchive returns the Ansible collection by file name, in the form that
// "ansible-galaxy collection build" makes of a folder with a galaxy.yml: an archive with a
// list of its files in FILES.json, whose checksum is in MANIFEST.json.
func collectionArchive(version string, license []byte, stamp time.Time) (map[string][]byte, error) {
	files, err := clients.Collection(ops.Table())
	if err != nil {
		return nil, err
	}
	short := shortVersion(version)
	files["LICENSE"] = license
	list, err := indented(map[string]any{"files": listed(files), "format": 1})
	if err != nil {
		return nil, err
	}
	manifest, err := indented(map[string]any{
		"collection_info": map[string]any{
			"namespace": clients.CollectionNamespace, "name": clients.CollectionName, "version": short,
			"authors": []string{"The adgateway authors"}, "readme": "README.md", "license": []string{"MIT"}, "license_file": nil,
			"description":  "Active Directory and Windows DNS through an adgateway server",
			"tags":         []string{"windows", "dns", "activedirectory"},
			"dependencies": map[string]string{}, "repository": nil, "documentation": nil, "homepage": nil, "issues": nil,
		},
		"file_manifest_file": entry("FILES.json", list),
		"format":             1,
	})
	if err != nil {
		return nil, err
	}
	files["FILES.json"], files["MANIFEST.json"] = list, manifest
	packed, err := packTar(files, stamp)
	return map[string][]byte{fmt.Sprintf("%s-%s-%s.tar.gz", clients.CollectionNamespace, clients.CollectionName,
		short): packed}, err
}

// listed returns the rows of FILES.json: the folders and files, sorted.
func listed(files map[string][]byte) []any {
	folders := foldersOf(files)
	rows := []any{entry(".", nil)}
	for _, path := range slices.Sorted(maps.Keys(folders)) {
		rows = append(rows, entry(path, nil))
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		rows = append(rows, entry(path, files[path]))
	}
	return rows
}

// entry returns the row of a file, or of a folder if content is nil.
func entry(path string, content []byte) map[string]any {
	if content == nil {
		return map[string]any{"name": path, "ftype": "dir", "chksum_type": nil, "chksum_sha256": nil, "format": 1}
	}
	return map[string]any{"name": path, "ftype": "file", "chksum_type": "sha256",
		"chksum_sha256": fmt.Sprintf("%x", sha256.Sum256(content)), "format": 1}
}

func foldersOf(files map[string][]byte) map[string]bool {
	folders := map[string]bool{}
	for path := range files {
		for dir := slashes.Dir(path); dir != "."; dir = slashes.Dir(dir) {
			folders[dir] = true
		}
	}
	return folders
}

func indented(value any) ([]byte, error) {
	text, err := json.MarshalIndent(value, "", " ")
	return append(text, '\n'), err
}

// packTar creates a compressed archive. Its bytes depend only on the files and the time.
func packTar(files map[string][]byte, stamp time.Time) ([]byte, error) {
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for _, path := range slices.Sorted(maps.Keys(foldersOf(files))) {
		header := &tar.Header{Typeflag: tar.TypeDir, Name: path + "/", Mode: 0o755, ModTime: stamp,
			Format: tar.FormatUSTAR}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: 0o644, Size: int64(len(files[path])),
			ModTime: stamp, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(files[path]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := zipped.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
