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
)

var update = flag.Bool("update", false, "rewrite the golden file")

// ownReads are the reads of what the gateways keep themselves, and why they run where they do.
var ownReads = map[string]string{
	"caller.show":   "the credential is checked by the gateway that shows it",
	"plan.get":      "a plan can be read as soon as the dry run is answered, and whether it was applied decides the leader",
	"change.list":   "the history has a change as soon as its call is answered; with Wait it is the feed",
	"change.get":    "the history has a change as soon as its call is answered, and only the leader knows that it runs",
	"change.stream": "a cursor of the feed is a position in the log, which every gateway has a copy of",
	"job.list":      "jobs run on the leader",
	"job.get":       "how far a job has come is known where it runs",
	"job.stream":    "the progress of a job is known where it runs",
	"job.items":     "what became of an item is known where the job runs",
	"job.result":    "what became of an item is known where the job runs",
	"cluster.show":  "it is what this gateway knows of the others, also without a leader",
}

// TestEveryOperationSaysWhereItRuns: -update rewrites the list.
func TestEveryOperationSaysWhereItRuns(t *testing.T) {
	var got strings.Builder
	own := map[string]string{}
	for _, op := range Table() {
		reason := "directory or DNS"
		switch {
		case op.Effect.Writes():
			reason = "change"
		case op.Local:
			reason = ownReads[op.ID]
			own[op.ID] = reason
			assert.NotEmpty(t, reason, "%s reads what the gateways keep: say where it runs, and why", op.ID)
		}
		fmt.Fprintf(&got, "%-28s %-6s  %s\n", op.ID, op.Where(""), reason)
	}
	assert.Equal(t, ownReads, own)
	path := filepath.Join("testdata", "where.txt")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got.String(), "go test ./gateway/ops -run TestEveryOperationSaysWhereItRuns -update")
}

func TestTheQueryDecidesOnlyWhetherTheFeedIsFollowed(t *testing.T) {
	for _, c := range []struct {
		id, query string
		want      Where
	}{
		{"change.list", "", Leader},
		{"change.list", "After=abc&Limit=5", Leader},
		{"change.list", "After=abc&wait=30", Here},
		{"change.list", "%zz&Wait=30", Here},
		{"change.list", "Object=Wait", Leader},
		{"change.get", "Wait=30", Leader},
		{"job.list", "Wait=30", Leader},
		{"user.create", "DryRun=true", Leader},
		{"user.create", "Wait=30", Leader},
		{"user.get", "Wait=30", Here},
	} {
		assert.Equal(t, c.want, Find(Table(), c.id).Where(c.query), "%s?%s", c.id, c.query)
	}
}
