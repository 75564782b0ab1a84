package doctor

import (
	"context"
	"encoding/json"
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
	portDNS  = "53"
	portRPC  = "135"
)

func serverChecks() []Check {
	return []Check{
		{
			Name: "domain-controllers", About: "Windows finds domain controllers that can be written to",
			How: "runs Get-ADDomainController in a session, unless servers.controllers names them", Needs: []string{"data-channel"}, Limit: time.Minute,
			Faults: []Fault{
				{"not-found", Failure, "No domain controller was found: {error}",
					"Point this computer's DNS client at the domain's DNS servers ('Set-DnsClientServerAddress') and try 'nltest /dsgetdc:'; or set servers.controllers."},
				{"read-only", Failure, "Only read-only domain controllers were found: {servers}.", "Set servers.controllers to one that can be written to, and open the way to it."},
			},
			probe: probeControllers,
		},
		{
			Name: "adws", About: "Active Directory Web Services answer, which the module ActiveDirectory speaks to",
			How: "connects to TCP port " + portADWS + " of each domain controller", Needs: []string{"domain-controllers"},
			Faults: []Fault{
				{"none", Failure, "No domain controller answers on TCP port " + portADWS + ": {servers}.",
					"Open TCP 9389 from here to the domain controllers, and start the service there: 'Get-Service ADWS -ComputerName dc'. Try 'Test-NetConnection dc -Port 9389'."},
				{"some", Warning, "Some domain controllers do not answer on TCP port " + portADWS + ": {servers}.",
					"Open TCP 9389 from here to them and see that the service ADWS runs there, or name the others in servers.controllers."},
			},
			probe: probeADWS,
		},
		{
			Name: "dns-server", About: "the DNS server can be managed from here",
			How:   "connects to TCP ports " + portDNS + " and " + portRPC + " of servers.dnsServer, or of the domain controllers in turn; the ports that RPC then chooses cannot be told from outside",
			Needs: []string{"domain-controllers"},
			Faults: []Fault{
				{"none", Failure, "No DNS server answers on TCP port " + portDNS + ": {servers}.", "Set servers.dnsServer to the domain's DNS server, and open TCP and UDP 53 to it."},
				{"no-rpc", Failure, "{servers} answers on TCP port " + portDNS + ", but not on port " + portRPC + " (RPC), which the module DnsServer needs.",
					"Open TCP 135 and 49152-65535 from here to the DNS server (firewall group 'DNS Service')."},
			},
			probe: probeDNS,
		},
		{
			Name: "clock", About: "the clocks agree, as Kerberos demands",
			How: "asks a domain controller for its time (rootDSE currentTime)", Needs: []string{"adws"},
			Faults: []Fault{
				{"wrong", Failure, "This clock is {skew} {direction} that of {server}: Kerberos refuses more than 5 minutes.", "Run 'w32tm /resync /rediscover'; 'w32tm /query /status' names the source of time."},
				{"off", Warning, "This clock is {skew} {direction} that of {server}.", "Run 'w32tm /resync'; 'w32tm /query /status' names the source of time."},
				{"refused", Failure, "{server} does not let {account} read: {error}", "Run the gateway as an account of the domain."},
			},
			probe: probeClock,
		},
	}
}

func probeControllers(ctx context.Context, x *exam) verdict {
	if named := x.settings.Servers.Controllers; len(named) > 0 {
		var all []candidate
		for _, name := range named {
			all = append(all, candidate{HostName: name, Writable: true})
		}
		return verdict{found: strings.Join(named, ", ") + " (servers.controllers)", keep: func(x *exam) { x.candidates = all }}
	}
	var v verdict
	found, err := records[candidate](ctx, x, ps.Request{Script: "Get-GatewayServer", Lane: ps.Directory, Args: ps.Args{}})
	if err == nil && len(found) == 0 {
		err = errors.New("discovery names none")
	}
	if err != nil {
		v.hit("not-found", "error", oneLine(err))
		return v
	}
	names := hosts(found)
	v.found = strings.Join(names, ", ")
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

// connectWait is for one port, as the gateway itself allows it.
const connectWait = 2 * time.Second

// open tells which servers accept connections on a port, all asked at once.
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
		case <-ctx.Done(): // told by the check's limit
		}
		closed = append(closed, server)
	}
	return open, closed
}

func probeADWS(ctx context.Context, x *exam) verdict {
	open, closed := x.open(ctx, hosts(x.candidates), portADWS)
	v := verdict{found: "open at " + orNone(strings.Join(open, ", ")), keep: func(x *exam) { x.controllers = open }}
	switch {
	case len(open) == 0:
		v.hit("none", "servers", strings.Join(closed, ", "))
	case len(closed) > 0:
		v.hit("some", "servers", strings.Join(closed, ", "))
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

// How far clocks may be apart: what Kerberos takes by default, and what a good
// source of time keeps.
const (
	wrongClock = 5 * time.Minute
	offClock   = 30 * time.Second
)

func probeClock(ctx context.Context, x *exam) verdict {
	server := x.controllers[0]
	asked := x.Now()
	found, err := records[struct{ Time time.Time }](ctx, x, ps.Request{Script: "Get-GatewayClock", Lane: ps.Directory, Args: ps.Args{"Server": ps.Text(server)}})
	if denied(err) {
		v := verdict{}
		v.hit("refused", "server", server, "account", x.accountName(), "error", oneLine(err))
		return v
	}
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("%s told %d times", server, len(found))
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

// accountName is who runs the doctor, for sentences.
func (x *exam) accountName() string {
	account, err := x.Account()
	if err != nil {
		return "this account"
	}
	return account.Name
}

// denied tells whether an error says that the account may not.
func denied(err error) bool {
	if err == nil {
		return false
	}
	e := ps.AsError(err)
	return e.Code == "5" || e.Native == "WIN32 5" || e.Category == "PermissionDenied" || e.Category == "AuthenticationError" || e.Category == "SecurityError"
}

// records runs a script and gives its records.
func records[T any](ctx context.Context, x *exam, request ps.Request) ([]T, error) {
	var all []T
	request.ID = "doctor"
	if deadline, ok := ctx.Deadline(); ok {
		request.Limit = time.Until(deadline)
	}
	request.Records = func(batch json.RawMessage) error {
		var some []T
		err := json.Unmarshal(batch, &some)
		all = append(all, some...)
		return err
	}
	_, err := x.Run(ctx, request)
	return all, err
}
