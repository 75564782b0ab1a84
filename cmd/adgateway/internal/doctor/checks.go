package doctor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"adgateway/winsvc"
)

// Checks returns all checks in the order in which they run.
func Checks() []Check {
	all := append([]Check{settingsCheck}, systemChecks()...)
	all = append(all, selfCheck)
	all = append(all, powerShellChecks()...)
	all = append(all, serverChecks()...)
	all = append(all, rightsChecks()...)
	all = append(all, ticketChecks()...)
	all = append(all, clusterChecks()...)
	return append(all, gatewayChecks()...)
}

var settingsCheck = Check{
	Name: "settings", Page: "install#steps",
	About: "the settings have no mistakes",
	How:   "reads the settings file, ADGATEWAY_ variables and flags as 'adgateway serve' does",
	Faults: []Fault{
		{"faulty", Failure, "The settings have mistakes: {error}", "Correct each line named; 'adgateway config check' checks them again. All other checks use the defaults."},
		{"inherited", Warning, "The credential '{credential}' of {name} in acme.accounts is a name, which a later token or user inherits.", "Write token:ID or user:ID; 'adgateway token show' says the id."},
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
		if err == nil && s.Values != nil {
			for _, one := range s.Values.ACME.Inherited() {
				v.hit("inherited", "credential", one.Credential, "name", one.Name)
			}
		}
		return v
	},
}

// oldestBuild is the build of Windows Server 2016 and Windows 10 1607.
const oldestBuild = 14393

func systemChecks() []Check {
	return []Check{
		{
			Name: "windows", Page: "install#before-you-start",
			About: "this version of Windows has what the gateway needs",
			How:   "reads HKLM\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion and the domain membership",
			Faults: []Fault{
				{"old", Failure, "{name} (build {build}) is too old.", "Use Windows Server 2016 or later, or Windows 10 1607 or later."},
				{"home", Failure, "{name} can neither join a domain nor have RSAT.", "Use a Pro, Enterprise or Server edition."},
				{"client", Warning, "{name} is a client: Windows may restart or sleep at any time.", "Use Windows Server for a gateway that others rely on."},
				{"workgroup", Warning, "This computer has not joined a domain, so Windows neither finds domain controllers nor logs on to them as the service's account.",
					"Join it with 'Add-Computer -DomainName corp.example -Restart', or set servers.controllers and run the service as an account that the domain controllers know."},
			},
			probe: probeSystem,
		},
		{
			Name: "account", Page: "account#choose",
			About: "the doctor runs as the account of the service", Windows: true,
			How: "compares the account of this process with the account of the service",
			Faults: []Fault{
				{"another", Warning, "This is {account}, but the service runs as {service}: what the other checks say about rights is only true for {account}.",
					"Run 'adgateway doctor' as the service's account; for a group managed one with 'psexec -u {service} -p ~ cmd', or a scheduled task."},
				{"system", Warning, "The service runs as {service}, which may do everything on this computer, and on a domain controller everything in the domain.",
					"Use a group managed service account: 'adgateway service install --account DOMAIN\\name$'."},
				{"local", Warning, "The service runs as {service}, which the domain does not know.",
					"Use a group managed service account: 'adgateway service install --account DOMAIN\\name$'."},
				{"lookup", Warning, "The account of the service, {service}, cannot be looked up: it is gone or was renamed, or no domain controller answers. Files whose rights go to an account without a name cannot be judged.",
					"Try 'Test-ComputerSecureChannel'. If the account is gone: 'adgateway service install --account DOMAIN\\name$'."},
			},
			probe: probeAccount,
		},
		serviceCheck("adgateway", " --account DOMAIN\\name$"),
		sleepCheck,
	}
}

// serviceCheck checks the service of a program. options are the options with which the service is installed.
func serviceCheck(program, options string) Check {
	// without --reset, both are kept
	repair := "Run '" + program + " service install --reset', which fixes this."
	return Check{
		Name: "service", Page: "install#what-the-service-is",
		About: "the service is installed, starts with Windows and restarts after failures", Windows: true,
		How: "asks the service manager",
		Faults: []Fault{
			{"missing", Warning, "The service is not installed.", "Run '" + program + " service install" + options + "' from an administrator's console."},
			{"stopped", Warning, "The service is not running.", "Run '" + program + " service start'."},
			{"disabled", Failure, "The service is disabled.", repair},
			{"manual", Warning, "The service does not start with Windows: its startup type is {start}.", repair},
			{"early", Warning, "The service starts before other services that it needs: its start is not delayed.", repair},
			{"no-recovery", Warning, "Windows does not restart the service after every failure ({restarts} of 3 actions; after errors that it reports itself: {errors}).", repair},
		},
		probe: probeService,
	}
}

// sleepCheck applies to all computers that others rely on.
var sleepCheck = Check{
	Name: "sleep", Page: "install#what-the-service-is",
	About: "this computer does not sleep by itself", Windows: true,
	How: "reads the power plan in use",
	Faults: []Fault{
		{"standby", Warning, "This computer goes to sleep after {after} without input: whoever relies on it waits until it wakes up, and a change in progress is left to the others.",
			"Run 'powercfg /change standby-timeout-ac 0', or set it by group policy."},
		{"hibernation", Warning, "This computer hibernates after {after} without input: whoever relies on it waits until it wakes up, and a change in progress is left to the others.",
			"Run 'powercfg /change hibernate-timeout-ac 0', or set it by group policy."},
	},
	probe: probeSleep,
}

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
