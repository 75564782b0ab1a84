package standing

import (
	"adgateway/gateway/cluster"
	"adgateway/gateway/journal"
	"adgateway/gateway/store"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestFaultsOfAClusterAreReported(t *testing.T) {
	at := func(sequence uint64) store.Point { return store.Point{Journal: "j", Sequence: sequence} }
	for name, c := range map[string]struct {
		status cluster.Status
		want   string
	}{
		"nothing":   {cluster.Status{Leader: "a", Gateways: []cluster.Gateway{{Name: "a", Alive: true}}}, ""},
		"no leader": {cluster.Status{Leaderless: 7 * time.Second}, "nothing was heard of a leader for 7 s"},
		"a fault":   {cluster.Status{Leader: "a", Fault: io.EOF}, "the log cannot be used: EOF"},
		"a rewound log": {cluster.Status{Leader: "a", Fault: fmt.Errorf("entry 5: %w", journal.ErrRewound)},
			"stop all gateways, and run 'adgateway cluster recover' on each host (gateway/manual/cluster-restore.md)"},
		"a rewound store": {cluster.Status{Leader: "a", Fault: store.ErrRewound}, "run 'adgateway cluster recover' on each host"},
		"another log":     {cluster.Status{Leader: "a", Fault: journal.ErrReplaced}, "run 'adgateway cluster recover' here, and start them"},
		"no copy": {cluster.Status{Leader: "a", Fault: errors.Join(journal.ErrBehind, io.EOF)},
			"start a gateway that follows the log, whose store this one copies"},
		"a newer log":  {cluster.Status{Leader: "a", Fault: journal.ErrNewer}, "install the version of the other gateways"},
		"off the list": {cluster.Status{Leader: "a", Unlisted: true}, "run 'adgateway cluster invite' on another host"},
		"no clock":     {cluster.Status{Leader: "a", ClockUnset: true}, "nothing expires"},
		"strangers":    {cluster.Status{Leader: "a", Strangers: []string{"x", "y"}}, "x, y"},
		"a silent one": {cluster.Status{Leader: "a", Gateways: []cluster.Gateway{{Name: "b"}}}, "b is silent"},
		"far behind": {cluster.Status{Leader: "a", Position: at(5), Gateways: []cluster.Gateway{
			{Name: "a", Alive: true, Beat: cluster.Beat{Position: at(5000)}}}}, "lacks the last 4995 entries"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(Wrong(c.status), "; ")
			assert.Equal(t, c.want == "", got == "")
			assert.Contains(t, got, c.want)
		})
	}
}
