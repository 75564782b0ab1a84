package authn

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestFileFaults: all mistakes in a file are reported at once, each with its line.
func TestFileFaults(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "faults.json"))
	require.NoError(t, err)
	_, err = parseDocument("faults.json", text)
	require.Error(t, err)
	golden := filepath.Join("testdata", "faults.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(err.Error()+"\n"), 0o644))
	}
	want, readErr := os.ReadFile(golden)
	require.NoError(t, readErr)
	assert.Equal(t, strings.TrimSpace(string(want)), err.Error())
}

func TestNotACredentialFile(t *testing.T) {
	for text, says := range map[string]string{
		"":                                     "f:1: not a credential file: unexpected end of file",
		"[]":                                   "f:1: not a credential file: it does not start with {",
		"{\n\"version\": 1,\n":                 "f:3: not a credential file: unexpected end of file",
		"{\n\"version\": 1,\n\"tokens\": {}}":  "f:3: not a credential file: a list is expected",
		"{\n\"version\": 1,\n\"tokens\": [\n{": "f:4: not a credential file: unexpected end of file",
		"{\"version\": 1}\n{}":                 "f:2: not a credential file: unexpected text after the end",
		"{\"version\": 2}":                     "f:1: the version is 2; this program reads version 1",
		"{}":                                   "f:1: the version is 0; this program reads version 1",
		"{\"version\": 1,\n \"more\": {}}":     `f:2: unknown member "more"`,
		"\x00":                                 "f:1: not a credential file: invalid character",
	} {
		_, err := parseDocument("f", []byte(text))
		assert.ErrorContains(t, err, says, "%q", text)
	}
}

// TestALinkToTheFile: a command that names the file by a link changes the file itself. So a revocation
// reaches the gateway, which reads the file by its own name.
func TestALinkToTheFile(t *testing.T) {
	folder := t.TempDir()
	file := File{Path: filepath.Join(folder, "credentials.json")}
	link := File{Path: filepath.Join(t.TempDir(), "link.json")}
	require.NoError(t, os.Symlink(file.Path, link.Path))
	add := func(name string) func(*Document) error {
		return func(d *Document) error {
			addToken(d, newClock().Now(), name, rights())
			return nil
		}
	}
	require.NoError(t, file.Edit(t.Context(), add("one")))
	require.NoError(t, link.Edit(t.Context(), add("two")))
	for _, of := range []File{file, link} {
		d, _, err := of.Read()
		require.NoError(t, err)
		assert.Len(t, d.Tokens, 2, of.Path)
	}
	info, err := os.Lstat(link.Path)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink, "it still is a link")
	assert.NoFileExists(t, link.Path+".lock", "both names have one lock")
}
