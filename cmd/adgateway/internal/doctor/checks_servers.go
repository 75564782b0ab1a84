package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"adgateway/ps"
)

// Ports that the modules use (facts G4).
const (
	portADWS = "9389"
	portLDAP = "389"
	portDNS  = "53"
	portRPC  = "135"
)

func probeControllers(ctx context.Context, x *exam) verdict {
	if named := x.settings.Servers.Controllers; len(named) > 0 {
		var all []candidate
		for _, name := range named {
			all = append(all, candidate{HostName: name, Writable: true})
		}
		return verdict{found: strings.Join(named, ", ") + " (servers.controllers)",
			keep: func(x *exam) { x.candidates = all }}
	}
	var v verdict
	found, warnings, err := recordsAndWarnings[candidate](ctx, x,
		ps.Request{Script: "Get-GatewayServer", Lane: ps.Directory, Args: ps.Args{}})
	if err == nil && len(found) == 0 {
		err = errors.New("discovery returned none")
	}
	if err != nil {
		v.hit("not-found", "error", oneLine(err))
		return v
	}
	names := hosts(found)
	v.found = strings.Join(names, ", ")
	if len(warnings) > 0 {
		var texts []string
		for _, w := range warnings {
			texts = append(texts, w.Message)
		}
		v.hit("unusable", "warnings", strings.Join(texts, " "))
	}
	writable := slices.DeleteFunc(slices.Clone(found), func(c candidate) bool { return !c.Writable })
	if len(writable) == 0 {
		v.hit("read-only", "servers", v.found)
		return v
	}
	v.keep = func(x *exam) { x.candidates = writable }
	return v
}

func hosts(all []candidate) []string {
	var names []string
	for _, c := range all {
		names = append(names, c.HostName)
	}
	return names
}

// connectWait is the time limit for one port, as in the gateway.
const connectWait = 2 * time.Second

// open connects to a port of all servers concurrently, and returns the servers that accept the connection.
func (x *exam) open(ctx context.Context, servers []string, port string) (open, closed []string) {
	answers := make([]chan error, len(servers))
	for i, server := range servers {
		answers[i] = make(chan error, 1)
		go func() {
			ctx, cancel := context.WithTimeout(ctx, connectWait)
			defer cancel()
			connection, err := x.Dial(ctx, "tcp", net.JoinHostPort(server, port))
			if err == nil {
				_ = connection.Close() // nothing was sent
			}
			answers[i] <- err
		}()
	}
	for i, server := range servers {
		select {
		case err := <-answers[i]:
			if err == nil {
				open = append(open, server)
				continue
			}
		case <-ctx.Done(): // the check's time limit is reported instead
		}
		closed = append(closed, server)
	}
	return open, closed
}

func probeADWS(ctx context.Context, x *exam) verdict {
	open, closed := x.open(ctx, hosts(x.candidates), portADWS)
	v := verdict{found: "open at " + orNone(strings.Join(open, ", ")),
		keep: func(x *exam) { x.controllers = open }}
	switch {
	case len(open) == 0:
		v.hit("none", "servers", strings.Join(closed, ", "))
	case len(closed) > 0:
		v.hit("some", "servers", strings.Join(closed, ", "))
	}
	return v
}

func probeLDAP(ctx context.Context, x *exam) verdict {
	open, closed := x.open(ctx, hosts(x.candidates), portLDAP)
	v := verdict{found: "open at " + orNone(strings.Join(open, ", "))}
	if len(closed) > 0 {
		v.hit("closed", "servers", strings.Join(closed, ", "))
	}
	return v
}

func probeDNS(ctx context.Context, x *exam) verdict {
	servers := hosts(x.candidates)
	if named := x.settings.Servers.DNSServer; named != "" {
		servers = []string{named}
	}
	resolving, _ := x.open(ctx, servers, portDNS)
	managed, _ := x.open(ctx, resolving, portRPC)
	v := verdict{found: "ports 53 and 135 open at " + orNone(strings.Join(managed, ", "))}
	switch {
	case len(resolving) == 0:
		v.hit("none", "servers", strings.Join(servers, ", "))
	case len(managed) == 0:
		v.hit("no-rpc", "servers", strings.Join(resolving, ", "))
	default:
		v.keep = func(x *exam) { x.dnsServer = managed[0] }
	}
	return v
}

// Limits of the clock skew: the default of Kerberos, and the accuracy of a good time source.
const (
	wrongClock = 5 * time.Minute
	offClock   = 30 * time.Second
)

func probeClock(ctx context.Context, x *exam) verdict {
	server := x.controllers[0]
	asked := x.Now()
	found, err := records[struct{ Time time.Time }](ctx, x,
		ps.Request{Script: "Get-GatewayClock", Lane: ps.Directory, Args: ps.Args{"Server": ps.Text(server)}})
	if denied(err) {
		v := verdict{}
		v.hit("refused", "server", server, "account", x.accountName(), "error", oneLine(err))
		return v
	}
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("%s returned %d records, not one", server, len(found))
	}
	if err != nil {
		return failed(err)
	}
	skew := asked.Sub(found[0].Time).Round(time.Second)
	direction := "ahead of"
	if skew < 0 {
		skew, direction = -skew, "behind"
	}
	v := verdict{found: fmt.Sprintf("%s %s %s", skew, direction, server)}
	fault := ""
	switch {
	case skew > wrongClock:
		fault = "wrong"
	case skew > offClock:
		fault = "off"
	default:
		return v
	}
	v.hit(fault, "skew", skew.String(), "direction", direction, "server", server)
	return v
}

// accountName returns a name of this process's account for messages.
func (x *exam) accountName() string {
	account, err := x.Account()
	if err != nil {
		return "this account"
	}
	return account.Name
}

// denied reports whether an error means that the account lacks a right.
func denied(err error) bool {
	if err == nil {
		return false
	}
	e := ps.AsError(err)
	return e.Code == "5" || e.Native == "WIN32 5" || e.Category == "PermissionDenied" ||
		e.Category == "AuthenticationError" || e.Category == "SecurityError"
}

// records runs a script and returns its records.
func records[T any](ctx context.Context, x *exam, request ps.Request) ([]T, error) {
	all, _, err := recordsAndWarnings[T](ctx, x, request)
	return all, err
}

// recordsAndWarnings is like records, and also returns the script's warnings.
func recordsAndWarnings[T any](ctx context.Context, x *exam, request ps.Request) ([]T, []ps.Warning, error) {
	var all []T
	request.ID = "doctor"
	if deadline, ok := ctx.Deadline(); ok {
		request.Limit = time.Until(deadline)
	}
	request.Records = ps.Collect(&all)
	result, err := x.Run(ctx, request)
	if err != nil {
		return all, nil, err
	}
	return all, result.Warnings, nil
}
