package session

import (
	"testing"

	"adgateway/ps"
	"adgateway/scripts"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBootLinePassesTheCheck: the boot line, which is the only PowerShell text outside of a
// script, passes the script check, and so does the handshake.
func TestBootLinePassesTheCheck(t *testing.T) {
	for lane, module := range scripts.Modules {
		prelude := []ps.Source{scripts.Prelude(lane)}
		line, err := Boot{Prelude: prelude[0], Module: module, Scripts: scripts.Sources(lane)}.line()
		require.NoError(t, err)
		assert.Empty(t, scripts.Check(ps.Source{Name: "boot", Text: line}, scripts.CheckOptions{Prelude: prelude}))
		assert.Empty(t, scripts.Check(handshake, scripts.CheckOptions{Prelude: prelude}))
	}
}
