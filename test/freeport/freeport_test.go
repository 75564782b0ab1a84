package freeport

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAPortIsTakenOnce: a port that has been returned is not returned again, even if no process listens on
// it. A port on which a process listens is not returned either.
func TestAPortIsTakenOnce(t *testing.T) {
	port := Ports(t, 1)[0]
	_, ok := take(port)
	assert.False(t, ok)
	l, err := net.Listen("tcp", address(port))
	require.NoError(t, err, "the port itself is free")
	require.NoError(t, l.Close())

	l, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, ok = take(l.Addr().(*net.TCPAddr).Port)
	assert.False(t, ok)
}
