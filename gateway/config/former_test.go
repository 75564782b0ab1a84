package config

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/test/manual"
)

// TestTheManualNamesFormerSettings: the manual page about migration names every setting of an
// earlier version, with its replacement.
func TestTheManualNamesFormerSettings(t *testing.T) {
	page := manual.Text(t, "cluster-migrate")
	for _, s := range formerSettings {
		assert.Contains(t, page, "`"+s.key+"`")
	}
}
