package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"adgateway/ps"
)

const (
	notConstrained = "Sign adgateway.exe or allow its folder in the AppLocker or App Control (WDAC) policy " +
		"that constrains PowerShell, for the service's account; " +
		"'Get-AppLockerPolicy -Effective' and the event logs AppLocker and CodeIntegrity name the rule."
	forServer = "On Windows Server: 'Install-WindowsFeature RSAT-AD-PowerShell,RSAT-DNS-Server'."
	forClient = "On a Windows client: 'Add-WindowsCapability -Online -Name " +
		"Rsat.ActiveDirectory.DS-LDS.Tools~~~~0.0.1.0' and " +
		"'Add-WindowsCapability -Online -Name Rsat.Dns.Tools~~~~0.0.1.0'."
)

// Time limits for PowerShell. The setting pool.startTimeout may end a start earlier.
const (
	surveyWait  = 2 * time.Minute
	sessionWait = 10 * time.Minute
)

func powerShellChecks() []Check {
	return []Check{
		{
			Name: "powershell", Page: "install#before-you-start",
			About: "PowerShell starts and has a supported version",
			How:   "finds powershell.path and runs a few lines in it", Limit: surveyWait,
			Faults: []Fault{
				{"not-found", Failure, "PowerShell cannot be started: {error}", "Install PowerShell " +
					"7, or set powershell.path to an existing powershell.exe or pwsh."},
				{"broken", Failure, "{path} does not respond: {error}", "Start it by hand as the service's account; the logs of antivirus software and AppLocker show what stops it."},
				{"old", Failure, "PowerShell {version} is too old.", "Install Windows PowerShell 5.1 (Windows Management Framework 5.1) or PowerShell 7.2 or later."},
				{"unsupported", Warning, "PowerShell {version} is no longer supported by Microsoft.", "Install PowerShell 7.2 or later, or leave powershell.path empty for Windows PowerShell 5.1."},
			},
			probe: probePowerShell,
		},
		{
			Name: "language-mode", Page: "network#how-a-block-is-recognized",
			About: "PowerShell runs scripts without constraints",
			How:   "reads $ExecutionContext.SessionState.LanguageMode", Needs: []string{"powershell"},
			Faults: []Fault{
				{"constrained", Failure, "PowerShell runs in the language mode {mode}: an AppLocker or App Control policy constrains it, and .NET cannot be called.", notConstrained},
				{"restricted", Failure, "PowerShell runs in the language mode {mode}, in which scripts cannot run.",
					"Remove what sets it: the variable __PSLockdownPolicy, or the session configuration of the account."},
			},
			probe: probeLanguageMode,
		},
		{
			Name: "execution-policy", Page: "network#endpoint-protection",
			About: "no group policy keeps modules from loading", Windows: true,
			How:   "reads SOFTWARE\\Policies\\Microsoft\\Windows\\PowerShell (PowerShellCore for PowerShell 7) of the computer and the user; the gateway's own sessions are started with Bypass, which only a group policy overrides",
			Needs: []string{"powershell"},
			Faults: []Fault{
				{"restricted", Failure, "A group policy sets the execution policy {policy}: modules that contain scripts or formats do not load.",
					"Set 'Turn on Script Execution' in Computer Configuration, Administrative Templates, Windows Components, Windows PowerShell to 'Allow local scripts and remote signed scripts' for this computer."},
				{"signed", Warning, "A group policy sets the execution policy {policy}: every module must be signed by a trusted publisher.",
					"The modules of Windows need nothing; other modules must be signed."},
			},
			probe: func(_ context.Context, x *exam) verdict {
				policy, err := x.Policy(x.survey.Edition)
				if err != nil {
					return failed(err)
				}
				v := verdict{found: orNone(policy) + " by group policy"}
				switch policy {
				case "Restricted":
					v.hit("restricted", "policy", policy)
				case "AllSigned":
					v.hit("signed", "policy", policy)
				}
				return v
			},
		},
		{
			Name: "modules", Page: "install#before-you-start",
			About: "the RSAT modules ActiveDirectory and DnsServer are installed",
			How:   "runs Get-Module -ListAvailable", Needs: []string{"powershell"},
			Faults: []Fault{
				{"missing-server", Failure, "PowerShell does not find the module {modules}.", forServer},
				{"missing-client", Failure, "PowerShell does not find the module {modules}.", forClient},
				{"missing", Failure, "PowerShell does not find the module {modules}.", forServer + " " + forClient},
			},
			probe: probeModules,
		},
		{
			Name: "data-channel", Page: "troubleshooting#the-service-does-not-start",
			About: "sessions start, and receive data intact",
			How:   "starts a session for each lane and tests its data line as the gateway does", Needs: []string{"powershell", "language-mode"}, Limit: sessionWait,
			Faults: []Fault{
				{"blocked", Failure, "A session for {lane} is blocked: {error}", allowProtection},
				{"no-session", Failure, "A session for {lane} does not start: {error}", "Fix what it names. If it names the data line, set powershell.path to PowerShell 7 (pwsh.exe)."},
				{"slow", Warning, "A session for {lane} took {took} to start; pool.startTimeout is {limit}.",
					"Increase pool.startTimeout, and exclude PowerShell's module folders from antivirus scans."},
			},
			probe: probeSessions,
		},
	}
}

func probeLanguageMode(_ context.Context, x *exam) verdict {
	v := verdict{found: x.survey.LanguageMode}
	switch x.survey.LanguageMode {
	case "FullLanguage":
	case "ConstrainedLanguage":
		v.hit("constrained", "mode", x.survey.LanguageMode)
	default:
		v.hit("restricted", "mode", orUnknown(x.survey.LanguageMode))
	}
	return v
}

func probePowerShell(ctx context.Context, x *exam) verdict {
	var v verdict
	path, err := x.FindPowerShell(x.settings.PowerShell.Path)
	if err != nil {
		v.hit("not-found", "error", oneLine(err))
		return v
	}
	survey, err := x.Survey(ctx)
	if err != nil {
		v.found = path
		v.hit("broken", "path", path, "error", oneLine(err))
		return v
	}
	v.found = fmt.Sprintf("%s, %s %s", path, orUnknown(survey.Version), survey.Edition)
	v.keep = func(x *exam) { x.survey = survey }
	major, minor := version(survey.Version)
	switch {
	case major < 5 || major == 5 && minor < 1:
		v.hit("old", "version", orUnknown(survey.Version))
	case major == 6 || major == 7 && minor < 2:
		v.hit("unsupported", "version", survey.Version)
	}
	return v
}

// version returns the first two numbers of a version, or zeros if text is not a version.
func version(text string) (major, minor int) {
	parts := strings.SplitN(text, ".", 3)
	major, _ = strconv.Atoi(parts[0])
	if len(parts) > 1 {
		minor, _ = strconv.Atoi(parts[1])
	}
	return major, minor
}

func probeModules(_ context.Context, x *exam) verdict {
	v := verdict{found: orNone(strings.Join(x.survey.Modules, ", "))}
	var missing []string
	for _, name := range []string{"ActiveDirectory", "DnsServer"} {
		if !slices.ContainsFunc(x.survey.Modules,
			func(module string) bool { return strings.HasPrefix(module, name+" ") }) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		fault := "missing"
		if x.system.Windows {
			fault = map[bool]string{true: "missing-server", false: "missing-client"}[x.system.Server]
		}
		v.hit(fault, "modules", strings.Join(missing, " and "))
	}
	return v
}

func probeSessions(ctx context.Context, x *exam) verdict {
	var v verdict
	var found []string
	allowed := x.settings.Pool.StartTimeout
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		s, err := x.Open(ctx, lane)
		if err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				return failed(err)
			}
			fault := "no-session"
			if ps.AsError(err).Blocked() {
				fault = "blocked"
			}
			v.hit(fault, "lane", string(lane), "error", oneLine(err))
			continue
		}
		found = append(found, fmt.Sprintf("%s: %s %s, PowerShell %s %s, %.1f s", lane, s.Module, s.ModuleVersion,
			s.PowerShell, s.Edition, s.Took.Seconds()))
		if s.Took > allowed/2 {
			v.hit("slow", "lane", string(lane), "took", fmt.Sprintf("%.1f s", s.Took.Seconds()), "limit",
				allowed.String())
		}
	}
	if len(found) > 0 {
		found = append(found, "as "+x.accountName()+", without a console window")
	}
	v.found = strings.Join(found, "; ")
	return v
}
