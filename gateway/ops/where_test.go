package ops

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// ownReads maps the reads of the gateways' own data to the reason why they run on the leader or on any
// gateway.
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

// TestEveryReadOfTheGatewaysSaysWhereItRuns: ownReads lists every read of the gateways' own data.
// The golden list of rows shows where each of them runs.
func TestEveryReadOfTheGatewaysSaysWhereItRuns(t *testing.T) {
	own := map[string]string{}
	for _, op := range Table() {
		if op.Local && !op.Effect.Writes() {
			own[op.ID] = ownReads[op.ID]
			assert.NotEmpty(t, own[op.ID], "%s reads what the gateways keep: say where it runs, and why", op.ID)
		}
	}
	assert.Equal(t, ownReads, own)
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
