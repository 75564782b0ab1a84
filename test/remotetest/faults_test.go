package remotetest

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps"
)

// TestAFaultIsSelectedByArguments: only the arguments of a request select a fault. Its ID is random, so it
// may contain any short text.
func TestAFaultIsSelectedByArguments(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		want string
	}{
		"in an argument": {ps.EncodeRequest("id", "Set-X", ps.Args{"Description": ps.Text("a HANG b")}), hangAtStep},
		"in the ID":      {ps.EncodeRequest("XHANGX", "Set-X", ps.Args{"Description": ps.Text("a")}), ""},
		"in a secret":    {ps.EncodeRequest("id", "Set-X", ps.Args{"Password": ps.Secret("HANG")}), ""},
		"no arguments":   {ps.EncodeRequest("id", "Set-X", nil), ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := parseFaults(hangAtStep + "@HANG")
			require.NoError(t, err)
			line := c.line + "\n"
			in, _, _ := f.wrap(strings.NewReader("boot\n"+line), io.Discard, io.Discard)
			read, err := io.ReadAll(in)
			require.NoError(t, err)
			assert.Equal(t, "boot\n"+line, string(read), "the session runs the request")
			active := ""
			if name := f.active.Load(); name != nil {
				active = *name
			}
			assert.Equal(t, c.want, active)
		})
	}
}
