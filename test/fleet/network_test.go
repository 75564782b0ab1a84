package fleet

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// network connects the hosts with each other and with the test.
type network struct {
	t          testing.TB
	own        string   // address of the test and of the domain
	ips        []string // addresses of the hosts
	namespaces []string // network namespaces of the hosts; if empty, all hosts share the namespace of the test
}

func (n *network) namespace(i int) string {
	if n.namespaces == nil {
		return ""
	}
	return n.namespaces[i]
}

// newNetwork gives each host a network namespace on a bridge that also connects the test.
// The network is removed at the end of the test.
func newNetwork(t testing.TB) *network {
	t.Helper()
	number := os.Getpid() % 60000
	subnet := fmt.Sprintf("10.%d.%d.", 64+number/250%64, number%250)
	n := &network{t: t, own: subnet + "254"}
	bridge := fmt.Sprintf("adgw%d", number)
	n.ip("link", "add", bridge, "type", "bridge")
	t.Cleanup(func() { n.ip("link", "del", bridge) })
	n.ip("addr", "add", n.own+"/24", "dev", bridge)
	n.ip("link", "set", bridge, "up")
	for i := range size {
		space, outside := fmt.Sprintf("%s-%d", bridge, i+1), fmt.Sprintf("%sv%d", bridge, i+1)
		address := fmt.Sprint(subnet, i+1)
		n.namespaces, n.ips = append(n.namespaces, space), append(n.ips, address)
		n.ip("netns", "add", space)
		t.Cleanup(func() { n.ip("netns", "del", space) })
		n.ip("link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", space)
		n.ip("link", "set", outside, "master", bridge, "up")
		n.ip("-n", space, "addr", "add", address+"/24", "dev", "eth0")
		n.ip("-n", space, "link", "set", "lo", "up")
		n.ip("-n", space, "link", "set", "eth0", "up")
	}
	return n
}

// ip runs a command of iproute2.
func (n *network) ip(args ...string) {
	n.t.Helper()
	text, err := exec.Command("ip", args...).CombinedOutput()
	require.NoError(n.t, err, "ip %s: %s", strings.Join(args, " "), text)
}

// mute drops the packets of a host to some addresses, or lets them pass again.
func (n *network) mute(i int, to []string, on bool) {
	do := "del"
	if on {
		do = "add"
	}
	for _, address := range to {
		command := exec.Command("ip", "-n", n.namespaces[i], "route", do, "blackhole", address+"/32")
		text, err := command.CombinedOutput()
		assert.NoError(n.t, err, "%s", text)
	}
}

// others returns the addresses of the other hosts.
func (n *network) others(i int) []string { return slices.Delete(slices.Clone(n.ips), i, i+1) }

// away disconnects a host from the network, or reconnects it.
func (n *network) away(i int, on bool) {
	state := "up"
	if on {
		state = "down"
	}
	text, err := exec.Command("ip", "-n", n.namespaces[i], "link", "set", "eth0", state).CombinedOutput()
	assert.NoError(n.t, err, "%s", text)
}

// forward connects the clients of a listener to an address until the listener is closed. It is needed because
// a simulated domain and its gateways use loopback addresses only, and each namespace has a separate loopback
// interface.
func forward(listener net.Listener, to string) {
	for {
		from, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer from.Close()
			conn, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			defer conn.Close()
			go func() { // ends with the connection
				_, _ = io.Copy(conn, from)
				_ = conn.Close()
			}()
			_, _ = io.Copy(from, conn)
		}()
	}
}

// domain returns the address at which the hosts reach a domain that listens on a loopback address.
func (n *network) domain(t testing.TB, address string) string {
	t.Helper()
	if n.namespaces == nil {
		return address
	}
	listener, err := net.Listen("tcp", n.own+":0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go forward(listener, address)
	return listener.Addr().String()
}
