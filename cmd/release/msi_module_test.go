package main

import (
	"encoding/xml"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/release/clients"
	"adgateway/gateway/ops"
)

func moduleFiles(t *testing.T) map[string]file {
	t.Helper()
	texts, err := clients.Module(ops.Table(), "1.2.3", "")
	require.NoError(t, err)
	files := map[string]file{}
	for name, content := range texts {
		files[name] = file{content, 0o644}
	}
	return files
}

// Windows counts the users of files by component identifier. A folder has another identifier
// in each version, because its path differs.
func TestThePackageOfTheModuleHasEveryFileOnce(t *testing.T) {
	names := slices.Sorted(maps.Keys(moduleFiles(t)))
	source, err := moduleSource("1.2.3", names)
	require.NoError(t, err)
	var root any
	require.NoError(t, xml.Unmarshal(source, &struct{ X *any }{&root}), "it is XML")
	for _, name := range names {
		assert.Equal(t, 1, strings.Count(string(source), `Source="`+name+`"`), name)
	}
	first, later := moduleFolders("1.2.3", names), moduleFolders("1.2.4", names)
	assert.Equal(t, first, moduleFolders("1.2.3", names))
	for i := range first {
		assert.NotEqual(t, first[i].GUID, later[i].GUID, first[i].Name)
	}
	const product = "{4FC2C682-478A-587B-8158-4A710A5998E6}"
	assert.Equal(t, product, moduleInstaller.code("1.2.3"), "the product code of a version never changes")
}

// The package is built and inspected if the programs for that are installed. `make release`
// needs them as well.
func TestThePackageOfTheModuleIsBuilt(t *testing.T) {
	for _, tool := range append([]string{"msiextract"}, msiTools...) {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is missing: apt-get install wixl msitools faketime")
		}
	}
	files := moduleFiles(t)
	first, err := moduleMSI(t.Context(), "v1.2.3", "1.2.3", files, stamp)
	require.NoError(t, err)
	again, err := moduleMSI(t.Context(), "v1.2.3", "1.2.3", files, stamp)
	require.NoError(t, err)
	assert.Equal(t, first, again, "the same files give the same bytes")

	dir := t.TempDir()
	file := filepath.Join(dir, "module.msi")
	require.NoError(t, os.WriteFile(file, first, 0o644))
	out, err := exec.CommandContext(t.Context(), "msiextract", "-C", dir, file).CombinedOutput()
	require.NoError(t, err, string(out))
	folders, err := exec.CommandContext(t.Context(), "msiinfo", "export", file, "Directory").Output()
	require.NoError(t, err)
	assert.Contains(t, string(folders), "WindowsPowerShell\tProgramFiles64Folder\t", "msiextract leaves it out")
	modules := filepath.Join(dir, "WindowsPowerShell", "Modules", "AdGateway", "1.2.3")
	for name, f := range files {
		content, err := os.ReadFile(filepath.Join(modules, filepath.FromSlash(name)))
		require.NoError(t, err)
		assert.Equal(t, string(f.content), string(content), name)
	}
}
