package host

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"

	connections "github.com/shirou/gopsutil/v4/net"
	"github.com/shirou/gopsutil/v4/process"
)

// PortHolder returns a description of the process that listens on the port of a TCP address, such as "process
// 4711 (nginx)", or "" if the process cannot be determined.
func PortHolder(ctx context.Context, address string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return ""
	}
	all, err := connections.ConnectionsWithContext(ctx, "tcp")
	if err != nil {
		return ""
	}
	at := slices.IndexFunc(all, func(c connections.ConnectionStat) bool {
		return c.Status == "LISTEN" && uint64(c.Laddr.Port) == number && c.Pid > 0
	})
	if at < 0 {
		return ""
	}
	holder := fmt.Sprintf("process %d", all[at].Pid)
	p, err := process.NewProcessWithContext(ctx, all[at].Pid)
	if err != nil {
		return holder
	}
	if name, err := p.NameWithContext(ctx); err == nil && name != "" {
		holder += " (" + name + ")"
	}
	return holder
}
