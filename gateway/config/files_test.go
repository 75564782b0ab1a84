package config

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// notUsed are settings that name a file or folder whose write access is not checked, with the
// reason.
var notUsed = map[string]string{
	"powershell.path":  "it is run: its folder is checked with the program's",
	"http.spoolFolder": "each file in it is made for this account alone, and is encrypted",
}

// TestEveryFileOfTheSettingsIsKnown: every setting that names a file has its access rights checked, and its
// relative paths are resolved against the folder of the settings.
func TestEveryFileOfTheSettingsIsKnown(t *testing.T) {
	names := regexp.MustCompile(`(?i)(file|files|folder|store|ca|path|ldif|keytab|sandbox\.zones)$`)
	found := 0
	for _, row := range Rows() {
		if !names.MatchString(row.Key) || strings.Contains(row.Key, ".max") {
			continue
		}
		s := Default()
		if row.setText(s, "/there/one") != nil {
			require.NoError(t, row.setText(s, "[/there/one]"), row.Key)
		}
		found++
		known := slices.ContainsFunc(s.Uses(""), func(f File) bool {
			return f.Path == "/there/one" && f.Use == row.Key
		})
		assert.Equal(t, notUsed[row.Key] == "", known, row.Key)
		// The sandbox is started by hand, so its paths are relative to the working directory.
		byHand := strings.HasPrefix(row.Key, "sandbox.") || row.Key == "powershell.path"
		assert.Equal(t, !byHand, row.path, row.Key)
	}
	assert.Greater(t, found, 18)
	s := Default()
	s.Store.File, s.Audit.File = AuditOff, AuditOff
	assert.Len(t, s.Uses("x.yaml"), 1)
}
