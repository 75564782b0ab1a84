package hostile

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/test/systemtest"
)

var storedBin = map[string]storedCheck{
	"bin.restore": func(s *systemtest.System, g *guard, p *ops.Param, name, value string, a systemtest.Answer) {
		back := a.Envelope.Result[0]
		if p.Name == "NewName" && value != "" {
			assert.Equal(s.T, value, back["name"], name)
		}
		ref := "<GUID=" + back["guid"].(string) + ">"
		require.NoError(s.T, s.DC1().SetProtected(s.T.Context(), ref, false))
		require.NoError(s.T, s.DC1().Delete(s.T.Context(), ref))
		g.base = s.Snapshot()
	},
}
