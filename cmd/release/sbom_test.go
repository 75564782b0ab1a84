package main

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The bill of materials lists exactly the modules that the linker recorded in the executable.
func TestBillOfMaterials(t *testing.T) {
	path, err := os.Executable()
	require.NoError(t, err)
	executable, err := os.ReadFile(path)
	require.NoError(t, err)
	info, err := buildinfo.Read(bytes.NewReader(executable))
	require.NoError(t, err)
	licenses := map[string][]string{"go": {"BSD"}}
	want := map[string]string{"Go standard library": info.GoVersion}
	for _, m := range info.Deps {
		if m.Replace != nil { // replaced by a package of ours
			continue
		}
		licenses[m.Path] = []string{"MIT", "BSD"}
		want[m.Path] = m.Version
	}
	require.Greater(t, len(want), 3)
	linux := target{"linux", "amd64"}
	first, err := sbom(executable, gateway, linux, "v1.0.0", stamp, licenses)
	require.NoError(t, err)
	again, err := sbom(executable, gateway, linux, "v1.0.0", stamp, licenses)
	require.NoError(t, err)
	assert.Equal(t, first, again, "the same input gives the same bytes")

	var found cyclonedx.BOM
	require.NoError(t, cyclonedx.NewBOMDecoder(bytes.NewReader(first),
		cyclonedx.BOMFileFormatJSON).Decode(&found))
	got := map[string]string{}
	for _, c := range *found.Components {
		got[c.Name] = c.Version
		assert.Regexp(t, `^pkg:golang/[^ ]+@[^ ]+$`, c.PackageURL)
		require.NotEmpty(t, *c.Licenses, c.Name)
	}
	assert.Equal(t, want, got)
	assert.Equal(t, "v1.0.0", found.Metadata.Component.Version)
	assert.Len(t, (*found.Metadata.Component.Hashes)[0].Value, 64)

	delete(licenses, info.Deps[0].Path)
	_, err = sbom(executable, gateway, linux, "v1.0.0", stamp, licenses)
	assert.ErrorContains(t, err, info.Deps[0].Path+" has no license")
	_, err = sbom([]byte("no executable"), gateway, linux, "v1.0.0", stamp, licenses)
	assert.Error(t, err)
}
