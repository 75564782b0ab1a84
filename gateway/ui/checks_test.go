package ui

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ui/texts"
)

// namedCheck matches the names of readiness checks where they are made.
var namedCheck = regexp.MustCompile(
	`(?:readiness|gateway)\.Check\{\{?\s*Name: "(\w+)"|\b(?:sessions|check)\("(\w+)", `)

// TestEveryCheckHasALabel: the status page has a label for each readiness check.
func TestEveryCheckHasALabel(t *testing.T) {
	names := map[string]bool{}
	for _, folder := range []string{"../audit", "../cluster/here", "../../cmd/adgateway/app"} {
		require.NoError(t, filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range namedCheck.FindAllStringSubmatch(string(text), -1) {
				names[m[1]+m[2]] = true
			}
			return err
		}))
	}
	assert.Greater(t, len(names), 14, names)
	for name := range names {
		assert.True(t, texts.Has("check."+name), name)
	}
}
