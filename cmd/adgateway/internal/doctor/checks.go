package doctor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"adgateway/winsvc"
)

// Checks lists all checks in the order they are made.
func Checks() []Check {
	all := append([]Check{settingsCheck}, systemChecks()...)
	all = append(all, powerShellChecks()...)
	all = append(all, serverChecks()...)
	all = append(all, rightsChecks()...)
	return append(all, gatewayChecks()...)
}

var settingsCheck = Check{
	Name: "settings", About: "the settings have no mistakes",
	How: "reads the settings file, ADGATEWAY_ variables and flags as 'adgateway serve' does",
	Faults: []Fault{
		{"faulty", Failure, "The settings have mistakes: {error}", "Correct each line named; 'adgateway config check' looks again. All other checks use the defaults."},
		{"none", Warning, "There is no settings file {file}: every setting has its default.", "Run 'adgateway config init', then edit the file."},
	},
	probe: func(_ context.Context, x *exam) verdict {
		s, err := x.Settings()
		v := verdict{found: s.File, keep: func(x *exam) { x.settings, x.file = s.Values, s.File }}
		switch {
		case err != nil:
			v.hit("faulty", "error", oneLine(err))
		case !s.Exists:
			v.hit("none", "file", s.File)
		}
		return v
	},
}

// oldestBuild is of Windows Server 2016 and Windows 10 1607.
const oldestBuild = 14393

func systemChecks() []Check {
	return []Check{
		{
			Name: "windows", About: "this version of Windows has what the gateway needs",
			How: "reads HKLM\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion and the membership in a domain",
			Faults: []Fault{
				{"old", Failure, "{name} (build {build}) is too old.", "Use Windows Server 2016 or later, or Windows 10 1607 or later."},
				{"home", Failure, "{name} can neither join a domain nor have RSAT.", "Use a Pro, Enterprise or Server edition."},
				{"client", Warning, "{name} is a client: Windows may restart or sleep when it likes.", "Use Windows Server for a gateway that others rely on."},
				{"workgroup", Warning, "This computer is in no domain, so Windows neither finds domain controllers nor logs on to them as the service's account.",
					"Join it with 'Add-Computer -DomainName corp.example -Restart', or set servers.controllers and run the service as an account that the domain controllers know."},
			},
			probe: probeSystem,
		},
		{
			Name: "account", About: "the doctor looks with the eyes of the service", Windows: true,
			How: "compares the account of this process with that of the service",
			Faults: []Fault{
				{"another", Warning, "This is {account}, but the service runs as {service}: what the other checks say of rights holds for {account} only.",
					"Run 'adgateway doctor' as the service's account; of a group managed one with 'psexec -u {service} -p ~ cmd', or a scheduled task."},
				{"system", Warning, "The service runs as {service}, which may do everything on this computer, and on a domain controller in the domain.",
					"Use a group managed service account: 'adgateway service install --account DOMAIN\\name$'."},
				{"local", Warning, "The service runs as {service}, which the domain does not know.",
					"Use a group managed service account: 'adgateway service install --account DOMAIN\\name$'."},
			},
			probe: probeAccount,
		},
		{
			Name: "service", About: "the service is installed, starts with Windows and comes back after failures", Windows: true,
			How: "asks the service manager",
			Faults: []Fault{
				{"missing", Warning, "The service is not installed.", "Run 'adgateway service install --account DOMAIN\\name$' from a console of an administrator."},
				{"stopped", Warning, "The service does not run.", "Run 'adgateway service start'."},
				{"disabled", Failure, "The service is disabled.", "Run 'adgateway service install', which sets it right."},
				{"manual", Warning, "The service does not start with Windows: its start is {start}.", "Run 'adgateway service install', which sets it right."},
				{"early", Warning, "The service starts with Windows before others that it needs: its start is not delayed.", "Run 'adgateway service install', which sets it right."},
				{"no-recovery", Warning, "Windows does not start the service again after each failure ({restarts} of 3 actions; after errors it reports itself: {errors}).",
					"Run 'adgateway service install', which sets it right."},
			},
			probe: probeService,
		},
	}
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
	if _, kind, err := winsvc.ParseAccount(service.Account); err == nil {
		v.found += " (" + string(kind) + ")"
	}
	domain, _, _ := strings.Cut(strings.ToUpper(service.Account), `\`)
	switch {
	case strings.EqualFold(service.Account, "LocalSystem"):
		v.hit("system", "service", service.Account)
	case domain == "." || strings.EqualFold(service.Account, `NT AUTHORITY\LocalService`):
		v.hit("local", "service", service.Account)
	}
	same := account.ID != "" && account.ID == service.AccountID // the name can be written in many ways
	if !same && !strings.EqualFold(account.Name, service.Account) {
		v.hit("another", "account", account.Name, "service", service.Account)
	}
	return v
}

// restarts is how many recovery actions an installed service has.
const restarts = 3

func probeService(_ context.Context, x *exam) verdict {
	s, err := x.Service()
	if errors.Is(err, errors.ErrUnsupported) {
		return skipped("the service manager of this system is not known")
	}
	if err != nil {
		return failed(err)
	}
	v := verdict{found: "not installed", keep: func(x *exam) { x.service = s }}
	if !s.Installed {
		v.hit("missing")
		return v
	}
	v.found = fmt.Sprintf("%s, start %s, %s", map[bool]string{true: "runs", false: "stopped"}[s.Running], s.Start, s.Program)
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
		v.hit("no-recovery", "restarts", strconv.Itoa(s.Restarts), "errors", map[bool]string{true: "yes", false: "no"}[s.OnErrors])
	}
	return v
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
