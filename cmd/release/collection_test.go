package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheCollectionIsPackedTwiceAlike(t *testing.T) {
	first, err := collectionArchive("v1.2.3-4-gabcdef", []byte("MIT"), stamp)
	require.NoError(t, err)
	again, err := collectionArchive("v1.2.3-4-gabcdef", []byte("MIT"), stamp)
	require.NoError(t, err)
	assert.Equal(t, first, again)
	require.Contains(t, first, "adgateway-ad-1.2.3.tar.gz")
	unzipped, err := gzip.NewReader(bytes.NewReader(first["adgateway-ad-1.2.3.tar.gz"]))
	require.NoError(t, err)
	sums := map[string]string{}
	var list, manifest []byte
	for r := tar.NewReader(unzipped); ; {
		header, err := r.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		assert.True(t, header.ModTime.Equal(stamp), header.Name)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		switch header.Name {
		case "FILES.json":
			list = content
		case "MANIFEST.json":
			manifest = content
			continue
		}
		if header.Typeflag == tar.TypeReg {
			sums[header.Name] = fmt.Sprintf("%x", sha256.Sum256(content))
		}
	}
	type row struct {
		Name string
		Sum  string `json:"chksum_sha256"`
	}
	var content struct{ Files []row }
	require.NoError(t, json.Unmarshal(list, &content))
	listed := map[string]string{}
	for _, r := range content.Files {
		if r.Sum != "" {
			listed[r.Name] = r.Sum
		}
	}
	var about struct {
		Info map[string]any `json:"collection_info"`
		List row            `json:"file_manifest_file"`
	}
	require.NoError(t, json.Unmarshal(manifest, &about))
	assert.Equal(t, row{"FILES.json", sums["FILES.json"]}, about.List)
	assert.Equal(t, "1.2.3", about.Info["version"])
	delete(sums, "FILES.json")
	assert.Equal(t, sums, listed)
}
