package gateway

import (
	"adgateway/gateway/cluster"
	"adgateway/gateway/journal"
	"adgateway/gateway/store"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatIsWrongInAClusterIsSaid(t *testing.T) {
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
			got := strings.Join(wrongIn(c.status), "; ")
			assert.Equal(t, c.want == "", got == "")
			assert.Contains(t, got, c.want)
		})
	}
}

// TestAClientThatDoesNotReadAForwardedAnswerIsCutOff: it would hold the call of the leader.
func TestAClientThatDoesNotReadAForwardedAnswerIsCutOff(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	ended := make(chan error, 1)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := io.Copy(&limitedWriter{w, time.Millisecond}, strings.NewReader(strings.Repeat("x", 1<<20)))
		ended <- err
	})}
	defer server.Close()
	go func() { _ = server.Serve(&oneConnection{conn: near, closed: make(chan struct{})}) }()
	_, err := io.WriteString(far, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	require.NoError(t, err)
	assert.ErrorIs(t, <-ended, os.ErrDeadlineExceeded)
}

// oneConnection is a listener with one connection.
type oneConnection struct {
	conn   net.Conn
	taken  bool
	closed chan struct{}
}

func (l *oneConnection) Accept() (net.Conn, error) {
	if l.taken {
		<-l.closed
		return nil, net.ErrClosed
	}
	l.taken = true
	return l.conn, nil
}

func (l *oneConnection) Close() error {
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return nil
}

func (l *oneConnection) Addr() net.Addr { return l.conn.LocalAddr() }
