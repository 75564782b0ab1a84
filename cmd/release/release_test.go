package main

import (
	"archive/zip"
	"bytes"
	"context"
	"flag"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var builds = flag.Bool("builds", false, "run tests that build executables")

var stamp = time.Unix(1700000000, 0)

func TestZipDependsOnlyOnItsFiles(t *testing.T) {
	files := map[string]file{"b.txt": {[]byte("two"), 0o644}, "a": {[]byte("one"), 0o755}, "c/d": {nil, 0o644}}
	first, err := pack("x", files, stamp)
	require.NoError(t, err)
	again, err := pack("x", maps.Clone(files), stamp.In(time.FixedZone("elsewhere", 3600)))
	require.NoError(t, err)
	assert.Equal(t, first, again)

	r, err := zip.NewReader(bytes.NewReader(first), int64(len(first)))
	require.NoError(t, err)
	var names []string
	for _, f := range r.File {
		names = append(names, f.Name+" "+f.Mode().String())
		assert.True(t, f.Modified.Equal(stamp), f.Modified)
	}
	assert.Equal(t, []string{"x/a -rwxr-xr-x", "x/b.txt -rw-r--r--", "x/c/d -rw-r--r--"}, names)
	f, err := r.Open("x/b.txt")
	require.NoError(t, err)
	text, err := io.ReadAll(f)
	require.NoError(t, err)
	assert.Equal(t, "two", string(text))
}

func TestVersionNumbers(t *testing.T) {
	for text, want := range map[string][4]uint16{
		"v1.2.3": {1, 2, 3, 0}, "1.2.3": {1, 2, 3, 0}, "v1.2.3-45-gabcdef-dirty": {1, 2, 3, 45}, "v1.2.3-rc1": {1, 2, 3, 0},
		"abcdef": {}, "dev": {}, "v70000.1.0": {0, 1, 0, 0},
	} {
		assert.Equal(t, want, versionNumbers(text), text)
	}
}

func TestSourceDates(t *testing.T) {
	date, err := sourceDate("1700000000")
	require.NoError(t, err)
	assert.True(t, date.Equal(stamp))
	for _, text := range []string{"", "x", "0", "-1"} {
		_, err := sourceDate(text)
		assert.ErrorContains(t, err, "SOURCE_DATE_EPOCH", text)
	}
}

func TestEveryModuleHasAnAllowedLicense(t *testing.T) {
	t.Chdir("../..")
	_, names, err := licensesOf(t.Context(), engine, target{"windows", "amd64"})
	require.NoError(t, err)
	assert.Equal(t, []string{"Apache-2.0"}, names["github.com/nats-io/nats-server/v2"])
	for _, system := range []target{{"windows", "amd64"}, {"linux", "amd64"}} {
		all, names, err := licensesOf(t.Context(), gateway, system)
		require.NoError(t, err)
		assert.Equal(t, []string{"MIT"}, names["github.com/gin-gonic/gin"])
		paths := slices.Collect(maps.Keys(all))
		for _, want := range []string{"go/LICENSE", "github.com/gin-gonic/gin/LICENSE", "MODULES.txt"} {
			assert.Contains(t, paths, want)
		}
		assert.Contains(t, string(all["MODULES.txt"]), "github.com/gin-gonic/gin v")
		assert.NotContains(t, string(all["MODULES.txt"]), "testify", "what tests need is not in the executable")
	}
}

// TestTheZipOfTheEngine: the node runs from its zip. The zip contains the licenses and the
// bill of materials of its own content, and nothing that belongs to the gateway.
func TestTheZipOfTheEngine(t *testing.T) {
	if !*builds {
		t.Skip("it builds an executable: make release-check")
	}
	t.Chdir("../..")
	built := map[string][]byte{}
	name, content, err := (&job{version: "v1.2.3", stamp: stamp}).zip(t.Context(), engine,
		target{runtime.GOOS, runtime.GOARCH}, built)
	require.NoError(t, err)
	assert.Equal(t, "adgateway-engine-v1.2.3-"+runtime.GOOS+"-"+runtime.GOARCH, name)
	assert.ElementsMatch(t, []string{name + ".zip", name + ".cdx.json"}, slices.Collect(maps.Keys(built)))
	pages := manualFiles(content)
	assert.Contains(t, pages, "gateway/manual/cluster.md")
	var others []string
	for path := range content {
		if !strings.HasPrefix(path, "licenses/") && !slices.Contains(pages, path) {
			others = append(others, path)
		}
	}
	assert.ElementsMatch(t, []string{"adgateway-engine", "README.md", "LICENSE.txt", sbomFile, "SHA256SUMS"},
		others)
	assert.Contains(t, string(content[sbomFile].content), `"pkg:golang/github.com/nats-io/nats-server/v2@`)
	assert.Contains(t, content, "licenses/github.com/nats-io/nats-server/v2/LICENSE")
	assert.NotContains(t, string(content[sbomFile].content), "gin-gonic")

	path := filepath.Join(t.TempDir(), "adgateway-engine")
	require.NoError(t, os.WriteFile(path, content["adgateway-engine"].content, 0o700))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	said, err := exec.CommandContext(ctx, path, "version").CombinedOutput()
	require.NoError(t, err, "%s", said)
	assert.Contains(t, string(said), "v1.2.3")
}

func TestUnknownLicenseIsRejected(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) { require.NoError(t, os.WriteFile(dir+"/LICENSE", []byte(text), 0o600)) }
	m := goModule{Path: "example.org/x", Dir: dir}
	for name, text := range map[string]string{"GPL": "GNU GENERAL PUBLIC LICENSE\nVersion 3", "empty": "",
		"proprietary": "All rights reserved."} {
		write(text)
		_, err := collect(m, []string{dir}, map[string][]byte{})
		assert.ErrorContains(t, err, "example.org/x has no allowed license", name)
	}
	write("ISC License\n\nPermission to use, copy, modify, and/or\n" +
		"distribute this software for any purpose with or without fee is hereby\ngranted")
	names, err := collect(m, []string{dir}, map[string][]byte{})
	require.NoError(t, err)
	assert.Equal(t, []string{"ISC"}, names)
}
