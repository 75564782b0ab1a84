package ui

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/schema"
	"adgateway/gateway/ui/texts"
)

// warned matches the warning codes in scripts.
var warned = regexp.MustCompile(`Add-GatewayWarning -Code '([a-z_]+)'`)

// TestEveryCodeHasAGermanText: errors, warnings of scripts and verdicts on a logon all have a text.
func TestEveryCodeHasAGermanText(t *testing.T) {
	for _, code := range schema.Codes() {
		assert.True(t, texts.Has("error."+string(code)), code)
	}
	for _, field := range schema.LogonState.Fields {
		if field.Name == "verdicts" {
			for _, code := range field.Of[0].Enum {
				assert.True(t, texts.Has("verdict."+code), code)
			}
		}
	}
	files, err := filepath.Glob("../../scripts/*/*.ps1")
	require.NoError(t, err)
	codes := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range warned.FindAllStringSubmatch(string(text), -1) {
			codes[m[1]] = true
		}
	}
	assert.Greater(t, len(codes), 5)
	for code := range codes {
		assert.True(t, texts.Has("warning."+code), code)
	}
}

// TestEveryGuardHasAGermanText: the table has the reasons of all guards, as the scripts give them.
func TestEveryGuardHasAGermanText(t *testing.T) {
	text, err := os.ReadFile("../../scripts/prelude.guards.ps1")
	require.NoError(t, err)
	list, _, found := strings.Cut(string(text), "$GatewayGuardedGroups")
	require.True(t, found)
	reasons := regexp.MustCompile(`\bwhy\s+= '([^']+)'`).FindAllStringSubmatch(list, -1)
	assert.Greater(t, len(reasons), 20)
	for _, m := range reasons {
		said := texts.Guarded(m[1])
		if assert.NotNil(t, said, m[1]) {
			german := protected("object.protected", m[1]).In(texts.German)
			assert.Contains(t, german, "Ihre Rolle darf das nicht ändern: "+said.In(texts.German))
		}
	}
	assert.Contains(t, protected("group.protected", "it is in a group").In(texts.German), "Geschützt")
}
