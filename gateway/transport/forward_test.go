package transport

import (
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

// TestAClientThatDoesNotReadAForwardedAnswerIsCutOff: a client that does not read a forwarded answer is cut
// off, because it would hold up the call at the leader.
func TestAClientThatDoesNotReadAForwardedAnswerIsCutOff(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	ended := make(chan error, 1)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := io.Copy(LimitSends(w, time.Millisecond), strings.NewReader(strings.Repeat("x", 1<<20)))
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
