package ops

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// TestTheRowsAreAsListed: the golden file shows everything in a row that callers, tokens and quotas depend
// on, so that no such change goes unnoticed. Its columns are id, route, mark, scope, the gateway on which the
// row runs, and the limits against which it counts. -update rewrites it.
func TestTheRowsAreAsListed(t *testing.T) {
	names := map[identity.Impact]string{
		identity.Deletion: "deletion", identity.PasswordReset: "reset", identity.Change: "change",
		identity.Reveal: "reveal",
	}
	var got strings.Builder
	for _, op := range Table() {
		mark, scope, counts := string(op.Reply.Mark), string(op.Scope), ""
		for _, impact := range (&Bound{Op: op}).Impacts() {
			counts += " " + names[impact.Kind]
			if impact.Many {
				counts += " of each"
			}
		}
		if counts == "" {
			counts = " -"
			assert.NotContains(t, []Effect{Delete, Rename, Move}, op.Effect, op.ID)
		}
		if mark == "" {
			mark = "-"
		}
		if scope == "" {
			scope = "-"
		}
		fmt.Fprintf(&got, "%-28s %-6s %-62s %s %-20s %-6s%s\n",
			op.ID, op.Method, op.Path, mark, scope, op.Where(""), counts)
	}
	path := filepath.Join("testdata", "rows.txt")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got.String(), "go test ./gateway/ops -run TestTheRowsAreAsListed -update")
}
