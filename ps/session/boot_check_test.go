package session

import (
	"testing"

	"adgateway/ps"
	"adgateway/scripts"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBootLinePassesTheCheck holds the one line that is not a script against
// the check of scripts, and the handshake with it.
func TestBootLinePassesTheCheck(t *testing.T) {
	for lane, module := range scripts.Modules {
		prelude := []ps.Source{scripts.Prelude(lane)}
		line, err := Boot{Prelude: prelude[0], Module: module, Scripts: scripts.Sources(lane)}.line()
		require.NoError(t, err)
		assert.Empty(t, scripts.Check(ps.Source{Name: "boot", Text: line}, scripts.CheckOptions{Prelude: prelude}))
		assert.Empty(t, scripts.Check(handshake, scripts.CheckOptions{Prelude: prelude}))
	}
}
