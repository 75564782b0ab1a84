package gateway

import (
	"adgateway/gateway/cluster"
	"adgateway/gateway/store"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestWhatIsWrongInAClusterIsSaid(t *testing.T) {
	at := func(sequence uint64) store.Point { return store.Point{Journal: "j", Sequence: sequence} }
	for name, c := range map[string]struct {
		status cluster.Status
		want   string
	}{
		"nothing":      {cluster.Status{Leader: "a", Gateways: []cluster.Gateway{{Name: "a", Alive: true}}}, ""},
		"no leader":    {cluster.Status{Leaderless: 7 * time.Second}, "nothing was heard of a leader for 7 s"},
		"a fault":      {cluster.Status{Leader: "a", Fault: io.EOF}, "the log cannot be used: EOF"},
		"no clock":     {cluster.Status{Leader: "a", ClockUnset: true}, "nothing expires"},
		"strangers":    {cluster.Status{Leader: "a", Strangers: []string{"x", "y"}}, "x, y"},
		"a silent one": {cluster.Status{Leader: "a", Gateways: []cluster.Gateway{{Name: "b"}}}, "b is silent"},
		"far behind": {cluster.Status{Leader: "a", Position: at(5), Gateways: []cluster.Gateway{
			{Name: "a", Alive: true, Beat: cluster.Beat{Position: at(5000)}}}}, "lacks the last 4995 entries"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(wrongIn(c.status), "; ")
			assert.Equal(t, c.want == "", got == "")
			assert.Contains(t, got, c.want)
		})
	}
}
