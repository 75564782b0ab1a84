package main

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheModuleIsPackedTwiceAlike(t *testing.T) {
	first, err := moduleArchives(t.Context(), "v1.2.3", "", stamp, false, nil)
	require.NoError(t, err)
	again, err := moduleArchives(t.Context(), "v1.2.3", "", stamp, false, nil)
	require.NoError(t, err)
	assert.Equal(t, first, again)
	names := map[string][]string{}
	for name, content := range first {
		r, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		require.NoError(t, err, name)
		for _, f := range r.File {
			names[name] = append(names[name], f.Name)
		}
	}
	assert.Equal(t, map[string][]string{
		"AdGateway-v1.2.3.zip": {
			"AdGateway/1.2.3/AdGateway.format.ps1xml", "AdGateway/1.2.3/AdGateway.psd1", "AdGateway/1.2.3/AdGateway.psm1",
			"AdGateway/1.2.3/en-US/about_AdGateway.help.txt",
		},
		"AdGateway.1.2.3.nupkg": {
			"AdGateway.format.ps1xml", "AdGateway.nuspec", "AdGateway.psd1", "AdGateway.psm1", "[Content_Types].xml", "_rels/.rels",
			"en-US/about_AdGateway.help.txt",
		},
	}, names)
	for name, text := range packageParts("1.2.3", []string{"AdGateway.psd1"}) {
		decoder := xml.NewDecoder(bytes.NewReader([]byte(text)))
		for err = nil; err == nil; {
			_, err = decoder.Token()
		}
		assert.ErrorIs(t, err, io.EOF, name)
	}
	later, err := moduleArchives(t.Context(), "v1.2.3-4-gabcdef", "", stamp, false, nil)
	require.NoError(t, err)
	assert.Contains(t, later, "AdGateway.1.2.3.4.nupkg")
}
