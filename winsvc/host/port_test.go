package host_test

import (
	"fmt"
	"net"
	"os"
	"testing"

	"adgateway/winsvc/host"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPortHolderNamesTheProcess(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	assert.Contains(t, host.PortHolder(t.Context(), listener.Addr().String()),
		fmt.Sprintf("process %d (", os.Getpid()))
	require.NoError(t, listener.Close())
	assert.Empty(t, host.PortHolder(t.Context(), listener.Addr().String()), "nothing listens any more")
	for _, address := range []string{"", "nowhere", "127.0.0.1:x", "127.0.0.1:99999"} {
		assert.Empty(t, host.PortHolder(t.Context(), address), address)
	}
}
