package doctor

import (
	"context"
	_ "embed" // checks.txt, node.txt
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"adgateway/gateway/store"
	"adgateway/ps/packed"
	"adgateway/winsvc"
)

// The tables of checks, see readChecks.
var (
	//go:embed checks.txt
	gatewayTable string
	//go:embed node.txt
	nodeTable string
)

// Checks returns all checks of a gateway in the order in which they run.
func Checks() []Check {
	table := strings.ReplaceAll(gatewayTable, "{afterRewind}", store.AfterRewind)
	return readChecks(table, nil, map[string]probe{
		"settings": probeSettings, "windows": probeSystem, "account": probeAccount, "service": probeService,
		"sleep": probeSleep, "as-service": probeSelf,
		"powershell": probePowerShell, "language-mode": probeLanguageMode, "execution-policy": probePolicy,
		"modules": probeModules, "data-channel": probeSessions,
		"domain-controllers": probeControllers, "adws": probeADWS, "ldap": probeLDAP, "dns-server": probeDNS,
		"clock": probeClock, "rights": probeRights, "recycle-bin": probeBin, "dns-rights": probeDNSRights,
		"keytab": probeKeytab, "service-names": probeServiceNames, "browsers": probeBrowsers,
		"cluster": probeCluster, "certificate": probeCertificate, "port": probePort, "files": probeFiles,
		"disk": probeDisk, "store": probeStore, "webhooks": probeWebhooks, "credentials": probeCredentials,
	})
}

// NodeChecks returns all checks of a host that runs a node of the store, in the order in which they run.
func NodeChecks() []Check {
	return readChecks(nodeTable, Checks(), map[string]probe{
		"settings": probeNodeSettings, "system": probeNodeSystem, "store": probeNodeStore, "volume": probeVolume,
		"write-cache": probeWriteCache, "antivirus": probeScanner, "indexing": probeIndexing,
		"backup": probeBackup, "listeners": probeListeners, "peers": probePeers, "routes": probeRoutes,
	})
}

// readChecks reads a table of checks. A row of seven cells begins a check, and a row of four cells is one of
// its faults. A row of one cell is the name of a check that is taken from others. readChecks panics if the
// table is malformed.
func readChecks(table string, others []Check, probes map[string]probe) []Check {
	var all []Check
	for cells := range packed.Rows(table) {
		switch len(cells) {
		case 1:
			i := slices.IndexFunc(others, func(c Check) bool { return c.Name == cells[0] })
			all = append(all, others[i])
		case 4:
			last := &all[len(all)-1]
			last.Faults = append(last.Faults, Fault{cells[0], Status(cells[1]), cells[2], cells[3]})
		default:
			limit, err := time.ParseDuration(cells[4])
			if err != nil {
				panic("doctor: " + err.Error())
			}
			all = append(all, Check{
				Name: cells[0], Page: cells[1], Windows: cells[2] == "windows", Needs: strings.Fields(cells[3]),
				Limit: limit, About: cells[5], How: cells[6], probe: probes[cells[0]],
			})
		}
	}
	return all
}

func probeSettings(_ context.Context, x *exam) verdict {
	s, err := x.Settings()
	v := verdict{found: s.File, keep: func(x *exam) { x.settings, x.file = s.Values, s.File }}
	switch {
	case err != nil:
		v.hit("faulty", "error", oneLine(err))
	case !s.Exists:
		v.hit("none", "file", s.File)
	}
	if err == nil && s.Values != nil {
		for _, one := range s.Values.ACME.Inherited() {
			v.hit("inherited", "credential", one.Credential, "name", one.Name)
		}
	}
	return v
}

// oldestBuild is the build of Windows Server 2016 and Windows 10 1607.
const oldestBuild = 14393

func probeSleep(_ context.Context, x *exam) verdict {
	s, err := x.Sleep()
	if err != nil {
		return failed(err)
	}
	var v verdict
	if s.Standby > 0 {
		v.hit("standby", "after", s.Standby.String())
	}
	if s.Hibernation > 0 {
		v.hit("hibernation", "after", s.Hibernation.String())
	}
	if len(v.hits) == 0 {
		v.found = "never"
	}
	return v
}

func probeSystem(_ context.Context, x *exam) verdict {
	s, err := x.System()
	if err != nil {
		return failed(err)
	}
	v := verdict{found: s.Name, keep: func(x *exam) { x.system = s }}
	if !s.Windows {
		v.skip = "this is " + s.Name + "; the modules ActiveDirectory and DnsServer are part of Windows"
		return v
	}
	v.found = fmt.Sprintf("%s, build %d, domain %s", s.Name, s.Build, orNone(s.Domain))
	switch {
	case s.Build < oldestBuild:
		v.hit("old", "name", s.Name, "build", strconv.Itoa(s.Build))
	case s.Home:
		v.hit("home", "name", s.Name)
	case !s.Server:
		v.hit("client", "name", s.Name)
	}
	if s.Domain == "" && !s.Home {
		v.hit("workgroup")
	}
	return v
}

func probeAccount(_ context.Context, x *exam) verdict {
	account, err := x.Account()
	if err != nil {
		return failed(err)
	}
	service, err := x.Service()
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return failed(err)
	}
	v := verdict{found: account.Name}
	if account.Elevated {
		v.found += ", as administrator"
	}
	if !service.Installed {
		return v
	}
	v.found += "; the service: " + service.Account
	if _, kind, err := winsvc.Gateway.ParseAccount(service.Account); err == nil {
		v.found += " (" + string(kind) + ")"
	}
	if service.AccountID == "" {
		v.hit("lookup", "service", service.Account)
	}
	domain, _, _ := strings.Cut(strings.ToUpper(service.Account), `\`)
	switch {
	case strings.EqualFold(service.Account, "LocalSystem"):
		v.hit("system", "service", service.Account)
	case domain == "." || strings.EqualFold(service.Account, `NT AUTHORITY\LocalService`):
		v.hit("local", "service", service.Account)
	}
	same := account.ID != "" && account.ID == service.AccountID // names can have several spellings
	if !same && !strings.EqualFold(account.Name, service.Account) {
		v.hit("another", "account", account.Name, "service", service.Account)
	}
	return v
}

// restarts is the number of recovery actions that an installation sets.
const restarts = 3

func probeService(_ context.Context, x *exam) verdict {
	s, err := x.Service()
	if errors.Is(err, errors.ErrUnsupported) {
		return skipped("the service manager of this system is not supported")
	}
	if err != nil {
		return failed(err)
	}
	v := verdict{found: "not installed", keep: func(x *exam) { x.service = s }}
	if !s.Installed {
		v.hit("missing")
		return v
	}
	v.found = fmt.Sprintf("%s, start %s, %s", map[bool]string{true: "runs", false: "stopped"}[s.Running],
		s.Start, s.Program)
	switch {
	case s.Start == "disabled":
		v.hit("disabled")
	case !s.Running:
		v.hit("stopped")
	}
	switch s.Start {
	case "disabled", "automatic, delayed":
	case "automatic":
		v.hit("early")
	default:
		v.hit("manual", "start", s.Start)
	}
	if s.Restarts < restarts || !s.OnErrors {
		v.hit("no-recovery", "restarts", strconv.Itoa(s.Restarts), "errors",
			map[bool]string{true: "yes", false: "no"}[s.OnErrors])
	}
	return v
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
