package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/internal/doctor"
	"adgateway/gateway/config"
	"adgateway/ps"
	"adgateway/winsvc/host"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// computer is a simulated computer; healthy returns one without faults.
type computer struct {
	probes      doctor.Probes
	settings    *config.Settings
	system      host.System
	account     host.Account
	service     host.Service
	policy      string
	sleep       host.Sleep
	survey      doctor.Survey
	session     map[ps.Lane]error
	took        time.Duration
	self        doctor.SelfView
	selfErr     error
	answers     map[string]string // records by script
	warnings    map[string][]ps.Warning
	refusals    map[string]error // by script
	closed      []string         // HOST:PORT without a listener
	certificate doctor.Certificate
	credentials []doctor.Credential
	readers     map[string]string // by base name
	writers     map[string]error
	locked      map[string]error
	receivers   map[string]error // by the name of the webhook
	rewound     error
	cluster     doctor.Cluster
	clusterErr  error
	free        uint64
}

func healthy() *computer {
	c := &computer{
		settings: config.Default(),
		system:   host.System{Windows: true, Name: "Windows Server 2022 Standard", Build: 20348, Server: true, Domain: "CORP"},
		account:  host.Account{Name: `CORP\svc-adgateway$`},
		service:  host.Service{Installed: true, Running: true, Account: `CORP\svc-adgateway$`, AccountID: "S-1-5-21-1-2-3-1104", Start: "automatic, delayed", Program: `C:\adgateway.exe`, Restarts: 3, OnErrors: true},
		survey:   doctor.Survey{Version: "5.1.20348.1", Edition: "Desktop", LanguageMode: "FullLanguage", Modules: []string{"ActiveDirectory 1.0.1.0", "DnsServer 2.0.0.0"}},
		session:  map[ps.Lane]error{},
		took:     2 * time.Second,
		self: doctor.SelfView{
			Taken: now, Version: "1.0", PID: 7, Account: `CORP\svc-adgateway$`, Self: `CORP\svc-adgateway$`, ReadMilliseconds: 41, SkewMilliseconds: 120,
			Sessions: []doctor.SelfSession{
				{Lane: ps.Directory, PowerShell: "5.1", Edition: "Desktop", Module: "ActiveDirectory", ModuleVersion: "1.0.1.0", LanguageMode: "FullLanguage", Milliseconds: 2100},
				{Lane: ps.DNS, PowerShell: "5.1", Edition: "Desktop", Module: "DnsServer", ModuleVersion: "2.0.0.0", LanguageMode: "FullLanguage", Milliseconds: 1900},
			},
			Folders: []doctor.SelfFolder{{Use: "temporary files", Path: `C:\Temp`}, {Use: "profile of the account", Path: `C:\Users\svc`}},
			Servers: []doctor.SelfServer{{Lane: ps.Directory, Name: "dc1.corp.example"}, {Lane: ps.DNS, Name: "dc1.corp.example"}},
		},
		certificate: doctor.Certificate{Subject: "CN=gw.corp.example", Names: []string{"gw.corp.example"}, Ends: now.AddDate(1, 0, 0)},
		credentials: []doctor.Credential{{Name: "ci", Expires: now.AddDate(0, 3, 0)}, {Name: "ops"}},
		readers:     map[string]string{}, writers: map[string]error{}, locked: map[string]error{}, refusals: map[string]error{},
		free: 50 << 30,
		answers: map[string]string{
			"Get-GatewayServer":    `[{"hostName":"dc1.corp.example","writable":true},{"hostName":"dc2.corp.example","writable":true},{"hostName":"rodc.corp.example","writable":false}]`,
			"Get-GatewayClock":     `[{"time":"2026-03-01T12:00:03Z"}]`,
			"Get-GatewayBinStatus": `[{"enabled":true,"canRead":true,"deletedObjectDays":180}]`,
			"Get-GatewayRights": `[{"container":"CN=Users,DC=corp,DC=example","exists":true,"creates":["user","group","computer"],"writes":27},
				{"container":"OU=Staff,DC=corp,DC=example","exists":true,"creates":["user","group","computer","organizationalUnit"],"writes":30}]`,
			"Get-GatewayDnsAccess": `[{"zones":14}]`,
			"Get-GatewayServiceName": `[{"name":"HTTP/gw.corp.example","account":"svc-adgateway$",
				"sid":"S-1-5-21-1-2-3-1104"}]`,
		},
	}
	c.settings.HTTP.Listen = "0.0.0.0:8443"
	c.settings.Auth.Store, c.settings.Audit.File, c.settings.Log.File = "data/credentials.json", "data/audit.jsonl", "logs/adgateway.log"
	c.probes = doctor.Probes{
		Settings: func() (doctor.Settings, error) {
			return doctor.Settings{File: "data/adgateway.yaml", Exists: true, Values: c.settings}, nil
		},
		System:         func() (host.System, error) { return c.system, nil },
		Account:        func() (host.Account, error) { return c.account, nil },
		Service:        func() (host.Service, error) { return c.service, nil },
		Policy:         func(string) (string, error) { return c.policy, nil },
		Sleep:          func() (host.Sleep, error) { return c.sleep, nil },
		Self:           func(context.Context, *config.Settings) (doctor.SelfView, error) { return c.self, c.selfErr },
		FindPowerShell: func(string) (string, error) { return "powershell.exe", nil },
		Survey:         func(context.Context) (doctor.Survey, error) { return c.survey, nil },
		Open: func(_ context.Context, lane ps.Lane) (doctor.Session, error) {
			return doctor.Session{PowerShell: "5.1", Edition: "Desktop", Module: "M", ModuleVersion: "1.0", Took: c.took}, c.session[lane]
		},
		Run: func(_ context.Context, request ps.Request) (*ps.Result, error) {
			if err := c.refusals[request.Script]; err != nil {
				return nil, err
			}
			return &ps.Result{Warnings: c.warnings[request.Script]}, request.Records(json.RawMessage(c.answers[request.Script]))
		},
		Dial: func(_ context.Context, _, address string) (net.Conn, error) {
			if slices.ContainsFunc(c.closed, func(one string) bool { return strings.HasSuffix(address, one) }) {
				return nil, errors.New("connection refused")
			}
			client, server := net.Pipe()
			return client, server.Close()
		},
		Listen:     func(context.Context, *config.Settings) error { return doctor.ErrPortTaken },
		PortHolder: func(context.Context, string) string { return "process 7 (adgateway.exe)" },
		KeyProbes:  keysOf(c),
		Receiver:   func(_ context.Context, w config.Webhook) error { return c.receivers[w.Name] },
		Rewound:    func(string) error { return c.rewound },
		Cluster:    func(context.Context, *config.Settings) (doctor.Cluster, error) { return c.cluster, c.clusterErr },
		Names:      func() []string { return []string{"gw.corp.example", "GW"} },
		Exposed: func(path string) (string, error) {
			return c.readers[filepath.Base(path)], c.writers[filepath.Base(path)]
		},
		Writable:    func(path string) error { return c.locked[filepath.Base(path)] },
		Free:        func(string) (uint64, error) { return c.free, nil },
		Credentials: func(string) ([]doctor.Credential, error) { return c.credentials, nil },
		Now:         func() time.Time { return now },
	}
	return c
}

func keysOf(c *computer) doctor.KeyProbes {
	return doctor.KeyProbes{
		Certificate: func(*config.Settings) (doctor.Certificate, error) { return c.certificate, nil },
		Keytab:      func(string) ([]string, error) { return []string{"HTTP/gw.corp.example@CORP.EXAMPLE"}, nil },
		Browsers: func() ([]host.BrowserPolicy, error) {
			return []host.BrowserPolicy{{Browser: "Edge", Sites: []string{"*.corp.example"}}}, nil
		},
	}
}

var accessDenied = &ps.Error{Kind: ps.KindScript, Category: "PermissionDenied", Code: "5", Message: "Access is denied"}

// broken are computers with one or more faults. problems lists all faults that are found, as
// check/fault; advice is part of the advice for the first one.
var broken = []struct {
	name     string
	harm     func(c *computer)
	problems string
	advice   string
	code     int
}{
	{"nothing", func(*computer) {}, "", "", 0},
	{"settings with mistakes", func(c *computer) {
		c.probes.Settings = func() (doctor.Settings, error) {
			return doctor.Settings{File: "f.yaml", Exists: true, Values: c.settings}, errors.New("f.yaml:2: unknown setting\nf.yaml:4: http.listen")
		}
	}, "settings/faulty", "adgateway config check", 2},
	{"no settings", func(c *computer) {
		c.probes.Settings = func() (doctor.Settings, error) { return doctor.Settings{File: "f.yaml", Values: c.settings}, nil }
	}, "settings/none", "adgateway config init", 1},
	{"old Windows", func(c *computer) { c.system.Name, c.system.Build = "Windows Server 2012 R2", 9600 }, "windows/old", "Windows Server 2016", 2},
	{"Home edition", func(c *computer) {
		c.system = host.System{Windows: true, Name: "Windows 11 Home", Build: 22631, Home: true}
	}, "windows/home", "Pro", 2},
	{"client", func(c *computer) { c.system.Server = false }, "windows/client", "Windows Server", 1},
	{"workgroup", func(c *computer) { c.system.Domain = "" }, "windows/workgroup", "servers.controllers", 1},
	{"version unreadable", func(c *computer) {
		c.probes.System = func() (host.System, error) { return host.System{}, fs.ErrPermission }
	}, "windows/unknown", "run the doctor again", 2},
	{"another account", func(c *computer) { c.account.Name = `CORP\admin` }, "account/another", "as the service's account", 1},
	{"LocalSystem", func(c *computer) {
		c.account, c.service.Account, c.service.AccountID = host.Account{Name: `NT AUTHORITY\SYSTEM`, ID: "S-1-5-18"}, "LocalSystem", "S-1-5-18"
	}, "account/system", `--account DOMAIN\name$`, 1},
	{"account gone", func(c *computer) { c.service.AccountID = "" }, "account/lookup", "service install --account", 1},
	{"local user", func(c *computer) { c.account.Name, c.service.Account = `.\svc`, `.\svc` }, "account/local", `--account DOMAIN\name$`, 1},
	{"stopped since", func(c *computer) { c.selfErr = doctor.ErrNotRunning }, "as-service/not-running", "adgateway service start", 1},
	{"silent", func(c *computer) { c.selfErr = doctor.ErrNoAnswer }, "as-service/silent", "log", 1},
	{"silent from the start", func(c *computer) { c.self, c.selfErr = doctor.SelfView{}, doctor.ErrNoAnswer }, "as-service/silent", "log", 1},
	{"may not ask", func(c *computer) { c.selfErr = fs.ErrPermission }, "as-service/not-asked", "administrator", 1},
	{"view broken", func(c *computer) { c.selfErr = errors.New("unexpected end of JSON input") }, "as-service/unknown", "again", 2},
	{"never ran", func(c *computer) { c.self, c.selfErr = doctor.SelfView{}, doctor.ErrNotRunning }, "", "", 0},
	{"no session as the service", func(c *computer) {
		c.self.Sessions[1] = doctor.SelfSession{Lane: ps.DNS, Error: "not loaded"}
		c.self.Servers = nil
	}, "as-service/no-session", "account of the service", 2},
	{"blocked as the service", func(c *computer) {
		c.self.Sessions[0] = doctor.SelfSession{Lane: ps.Directory, Error: "ScriptContainedMaliciousContent", Blocked: true}
	}, "as-service/blocked", "gateway/manual/network.md", 2},
	{"no profile", func(c *computer) {
		c.self.Folders[1] = doctor.SelfFolder{Use: "profile of the account", Error: "not defined"}
	}, "as-service/folder", "profile", 1},
	{"no server as the service", func(c *computer) { c.self.Servers[0].Error = "rejected the client credentials" }, "as-service/no-server", "lacks a right", 2},
	{"blocked", func(c *computer) {
		c.session[ps.Directory] = &ps.Error{Kind: ps.KindUnavailable, ID: "ScriptContainedMaliciousContent", Message: "blocked"}
	}, "data-channel/blocked", "Get-MpThreatDetection", 2},
	{"not installed", func(c *computer) { c.service = host.Service{} }, "service/missing", "adgateway service install", 1},
	{"stopped", func(c *computer) { c.service.Running = false }, "service/stopped", "adgateway service start", 1},
	{"disabled", func(c *computer) { c.service.Running, c.service.Start = false, "disabled" }, "service/disabled", "adgateway service install", 2},
	{"started by hand", func(c *computer) { c.service.Start = "manual" }, "service/manual", "adgateway service install", 1},
	{"started early", func(c *computer) { c.service.Start = "automatic" }, "service/early", "adgateway service install", 1},
	{"no recovery", func(c *computer) { c.service.OnErrors = false }, "service/no-recovery", "adgateway service install", 1},
	{"sleeps", func(c *computer) { c.sleep = host.Sleep{Standby: time.Hour, Hibernation: 2 * time.Hour} }, "sleep/standby sleep/hibernation", "powercfg", 1},
	{"no PowerShell", func(c *computer) {
		c.probes.FindPowerShell = func(string) (string, error) { return "", errors.New("pwsh is not there") }
	}, "powershell/not-found", "powershell.path", 2},
	{"PowerShell silent", func(c *computer) {
		c.probes.Survey = func(context.Context) (doctor.Survey, error) { return doctor.Survey{}, errors.New("access denied") }
	}, "powershell/broken", "AppLocker", 2},
	{"PowerShell 4", func(c *computer) { c.survey.Version = "4.0" }, "powershell/old", "5.1", 2},
	{"PowerShell 6", func(c *computer) { c.survey.Version = "6.2.1" }, "powershell/unsupported", "7.2", 1},
	{"AppLocker", func(c *computer) {
		c.survey.LanguageMode = "ConstrainedLanguage"
	}, "language-mode/constrained", "AppLocker or App Control", 2},
	{"no language", func(c *computer) { c.survey.LanguageMode = "NoLanguage" }, "language-mode/restricted", "__PSLockdownPolicy", 2},
	{"policy Restricted", func(c *computer) { c.policy = "Restricted" }, "execution-policy/restricted", "Turn on Script Execution", 2},
	{"policy AllSigned", func(c *computer) { c.policy = "AllSigned" }, "execution-policy/signed", "signed", 1},
	{"policy unreadable", func(c *computer) { c.probes.Policy = func(string) (string, error) { return "", fs.ErrPermission } }, "execution-policy/unknown", "again", 2},
	{"no RSAT on a server", func(c *computer) {
		c.survey.Modules = nil
		c.session[ps.Directory], c.session[ps.DNS] = errors.New("not loaded"), errors.New("not loaded")
	}, "modules/missing-server data-channel/no-session data-channel/no-session", "Install-WindowsFeature RSAT-AD-PowerShell,RSAT-DNS-Server", 2},
	{"no DnsServer on a client", func(c *computer) {
		c.system.Server, c.survey.Modules = false, c.survey.Modules[:1]
		c.session[ps.DNS] = errors.New("not loaded")
	}, "windows/client modules/missing-client data-channel/no-session", "Windows Server", 2},
	{"no modules elsewhere", func(c *computer) { c.system, c.survey.Modules = host.System{Name: "linux"}, nil }, "modules/missing", "RSAT", 2},
	{"data line lost", func(c *computer) { c.session[ps.Directory] = errors.New("the first data line did not arrive") }, "data-channel/no-session", "PowerShell 7", 2},
	{"slow start", func(c *computer) { c.took = 40 * time.Second }, "data-channel/slow data-channel/slow", "pool.startTimeout", 1},
	{"no domain controller", func(c *computer) {
		c.refusals["Get-GatewayServer"] = &ps.Error{Kind: ps.KindScript, Message: "Unable to find a default server"}
	}, "domain-controllers/not-found", "servers.controllers", 2},
	{"discovery names none", func(c *computer) { c.answers["Get-GatewayServer"] = "[]" }, "domain-controllers/not-found", "nltest", 2},
	{"a controller without a name", func(c *computer) {
		c.warnings = map[string][]ps.Warning{"Get-GatewayServer": {{Code: "no_host_name", Target: "CN=X", Message: "'CN=X' has no dNSHostName."}}}
	}, "domain-controllers/unusable", "servers.controllers", 1},
	{"only read-only controllers", func(c *computer) { c.answers["Get-GatewayServer"] = `[{"hostName":"rodc","writable":false}]` }, "domain-controllers/read-only", "servers.controllers", 2},
	{"controllers that are set", func(c *computer) {
		c.settings.Servers.Controllers, c.answers["Get-GatewayServer"] = []string{"dc9"}, "[]"
	}, "", "", 0},
	{"ADWS closed", func(c *computer) { c.closed = []string{":9389"} }, "adws/none", "Get-Service ADWS", 2},
	{"ADWS closed on one", func(c *computer) { c.closed = []string{"dc1.corp.example:9389"} }, "adws/some", "Open TCP 9389", 1},
	{"LDAP closed", func(c *computer) { c.closed = []string{":389"} }, "ldap/closed", "Open TCP 389", 1},
	{"no DNS", func(c *computer) { c.closed = []string{":53"} }, "dns-server/none", "servers.dnsServer", 2},
	{"no RPC", func(c *computer) { c.closed = []string{":135"} }, "dns-server/no-rpc", "49152", 2},
	{"clock wrong", func(c *computer) { c.answers["Get-GatewayClock"] = `[{"time":"2026-03-01T11:50:00Z"}]` }, "clock/wrong", "w32tm /resync", 2},
	{"clock off", func(c *computer) { c.answers["Get-GatewayClock"] = `[{"time":"2026-03-01T12:01:00Z"}]` }, "clock/off", "w32tm", 1},
	{"strangers may not read", func(c *computer) {
		c.refusals["Get-GatewayClock"], c.refusals["Get-GatewayRights"] = accessDenied, accessDenied
	}, "clock/refused rights/denied", "domain account", 2},
	{"may not create", func(c *computer) {
		c.answers["Get-GatewayRights"] = `[{"container":"OU=A,DC=c","exists":true,"creates":["user"],"writes":0},{"container":"OU=B,DC=c","exists":false}]`
	}, "rights/no-create rights/no-write rights/gone", `dsacls "OU=A,DC=c" /I:T /G "CORP\svc-adgateway$:CCDC;group"`, 1},
	{"bin off", func(c *computer) { c.answers["Get-GatewayBinStatus"] = `[{"enabled":false,"canRead":true}]` }, "recycle-bin/off", "Enable-ADOptionalFeature", 1},
	{"bin unseen", func(c *computer) {
		c.answers["Get-GatewayBinStatus"] = `[{"enabled":true,"canRead":false,"deletedObjectDays":180}]`
	}, "recycle-bin/unseen", "bin:restore", 1},
	{"bin refused", func(c *computer) { c.refusals["Get-GatewayBinStatus"] = accessDenied }, "recycle-bin/unknown", "doctor", 2},
	{"may not manage DNS", func(c *computer) {
		c.refusals["Get-GatewayDnsAccess"] = &ps.Error{Kind: ps.KindScript, Native: "WIN32 5"}
	}, "dns-rights/denied", "DnsAdmins", 2},
	{"tickets", func(c *computer) { c.settings.SignIn.Mode = config.SignInBoth }, "", "", 0},
	{"tickets with a keytab", func(c *computer) {
		c.settings.SignIn.Mode, c.settings.SignIn.Keytab = config.SignInKerberos, "data/gw.keytab"
		c.answers["Get-GatewayServiceName"] = `[{"name":"http/GW.corp.example","account":"svc-http","sid":"S-1-5-21-1-2-3-7"}]`
	}, "", "", 0},
	{"tickets as the computer", func(c *computer) {
		c.settings.SignIn.Mode = config.SignInKerberos
		c.account = host.Account{Name: `NT AUTHORITY\SYSTEM`, ID: "S-1-5-18"}
		c.service.Account, c.service.AccountID = "LocalSystem", "S-1-5-18"
		c.answers["Get-GatewayServiceName"] = `[{"name":"HOST/gw.corp.example","account":"GW$","sid":"S-1-5-21-1-2-3-9"}]`
	}, "account/system", "", 1},
	{"no SPN", func(c *computer) {
		c.settings.SignIn.Mode = config.SignInBoth
		c.answers["Get-GatewayServiceName"] = `[{"name":"HOST/gw.corp.example","account":"GW$","sid":"S-1-5-21-1-2-3-9"}]`
	}, "service-names/missing", `setspn -S HTTP/gw.corp.example CORP\svc-adgateway$`, 2},
	{"two SPNs", func(c *computer) {
		c.settings.SignIn.Mode = config.SignInBoth
		c.answers["Get-GatewayServiceName"] = `[{"name":"HTTP/gw.corp.example","account":"svc-adgateway$"},
			{"name":"HTTP/gw.corp.example","account":"WEB1$"}]`
	}, "service-names/double", "setspn -X", 2},
	{"an SPN of another", func(c *computer) {
		c.settings.SignIn.Mode = config.SignInBoth
		c.answers["Get-GatewayServiceName"] = `[{"name":"HTTP/gw.corp.example","account":"WEB1$","sid":"S-1-5-21-1-2-3-8"}]`
	}, "service-names/another", "setspn -D HTTP/gw.corp.example WEB1$", 2},
	{"no name for an SPN", func(c *computer) {
		c.settings.SignIn.Mode = config.SignInBoth
		c.certificate.Names = []string{"192.0.2.7", "localhost"}
	}, "service-names/no-name certificate/name", "full name", 1},
	{"no policy for browsers", func(c *computer) {
		c.settings.SignIn.Mode, c.settings.SignIn.Keytab = config.SignInBoth, "data/gw.keytab"
		c.answers["Get-GatewayServiceName"] = `[{"name":"HTTP/gw.corp.example","account":"svc-adgateway$"}]`
		c.probes.Browsers = func() ([]host.BrowserPolicy, error) {
			return []host.BrowserPolicy{{Browser: "Edge", Sites: []string{"*.other.example"}}}, nil
		}
	}, "browsers/no-policy", "AuthServerAllowlist", 1},
	{"keytab unreadable", func(c *computer) {
		c.settings.SignIn.Mode, c.settings.SignIn.Keytab = config.SignInBoth, "data/gw.keytab"
		c.probes.Keytab = func(string) ([]string, error) { return nil, fs.ErrPermission }
	}, "keytab/unusable", "ktpass", 2},
	{"certificate broken", func(c *computer) {
		c.probes.Certificate = func(*config.Settings) (doctor.Certificate, error) { return doctor.Certificate{}, errors.New("expired") }
	}, "certificate/unusable", "Manage Private Keys", 2},
	{"certificate ends", func(c *computer) { c.certificate.Ends = now.AddDate(0, 0, 9) }, "certificate/expires", "Renew", 1},
	{"certificate of another", func(c *computer) { c.certificate.Names = []string{"www.corp.example"} }, "certificate/name", "DNS names", 1},
	{"no certificate", func(c *computer) {
		c.probes.Certificate = func(*config.Settings) (doctor.Certificate, error) { return doctor.Certificate{}, errors.ErrUnsupported }
	}, "certificate/none", "tls.storeThumbprint", 1},
	{"port taken", func(c *computer) {
		c.probes.PortHolder = func(context.Context, string) string { return "process 4 (System)" }
	}, "port/taken", "http.listen", 2},
	{"port taken by nobody known", func(c *computer) {
		c.service.Running = false
		c.probes.PortHolder = func(context.Context, string) string { return "" }
	}, "service/stopped port/taken", "adgateway service start", 2},
	{"port reserved", func(c *computer) {
		c.probes.Listen = func(context.Context, *config.Settings) error { return doctor.ErrPortForbidden }
	}, "port/reserved", "excludedportrange", 2},
	{"unencrypted", func(c *computer) {
		c.probes.Listen = func(context.Context, *config.Settings) error { return errors.New("without TLS") }
	}, "port/refused", "http.listen", 2},
	{"audit not writable", func(c *computer) { c.locked["audit.jsonl"] = fs.ErrPermission }, "files/not-writable", "icacls", 2},
	{"credentials readable", func(c *computer) { c.readers["credentials.json"] = `BUILTIN\Users` }, "files/others-read", "icacls", 1},
	{"settings writable", func(c *computer) { c.writers["adgateway.yaml"] = errors.New(`BUILTIN\Users may change the file`) }, "files/others-write", "icacls", 2},
	{"key not there", func(c *computer) {
		c.settings.TLS.KeyFile, c.writers["k.pem"] = "data/k.pem", fs.ErrNotExist
	}, "files/not-there", "tls.keyFile", 2},
	{"names that are inherited", func(c *computer) {
		c.settings.ACME.Accounts = []config.ACMEAccount{
			{Credential: "site", Name: "_acme-challenge.www.corp.example"},
			{Credential: "token:4f0c", Name: "_acme-challenge.api.corp.example"},
		}
	}, "settings/inherited", "token:ID", 1},
	{"disk full", func(c *computer) { c.free = 10 << 20 }, "disk/full disk/full", "audit.file", 2},
	{"disk kept free", func(c *computer) { c.free, c.settings.Store.MinFree = 500<<20, 600 }, "disk/kept disk/low", "store.minFree", 2},
	{"disk low", func(c *computer) { c.free = 500 << 20 }, "disk/low disk/low", "audit.maxTotal", 1},
	{"disk unknown", func(c *computer) { c.probes.Free = func(string) (uint64, error) { return 0, fs.ErrPermission } }, "disk/unknown", "again", 2},
	{"credentials broken", func(c *computer) {
		c.probes.Credentials = func(string) ([]doctor.Credential, error) { return nil, errors.New("credentials.json:3: no scope") }
	}, "credentials/unreadable", "backup", 2},
	{"no credentials", func(c *computer) { c.credentials = nil }, "credentials/none", "adgateway token create", 1},
	{"no store", func(c *computer) {
		c.probes.Credentials = func(string) ([]doctor.Credential, error) { return nil, fs.ErrNotExist }
	}, "credentials/none", "adgateway token create", 1},
	{"all expired", func(c *computer) { c.credentials = []doctor.Credential{{Name: "ci", Expires: now}} }, "credentials/all-expired", "adgateway token", 1},
	{"some expired", func(c *computer) { c.credentials[0].Expires = now.Add(-time.Hour) }, "credentials/expired", "adgateway token revoke", 1},
	{"store restored", func(c *computer) {
		c.settings.Store.File, c.rewound = "data/state.db", errors.New("the store is older than what it has acknowledged")
	}, "store/rewound", "adgateway changes rebuild", 1},
	{"a gateway of a cluster", func(c *computer) { c.cluster = inCluster(nil, nil) }, "", "", 0},
	{"an identity that is damaged", func(c *computer) { c.clusterErr = errors.New("the certificate cannot be used") }, "cluster/identity", "the error", 2},
	{"gateways that are silent", func(c *computer) {
		c.cluster = inCluster(errors.New("connection refused"), errors.New("no route"))
	}, "cluster/closed cluster/away", "adgateway service start", 1},
	{"no node and no leader", func(c *computer) {
		c.cluster = inCluster(nil, nil)
		c.cluster.Leader, c.cluster.NoNode = "", []string{"h1:4222: connection refused"}
	}, "cluster/no-node cluster/no-leader", "engine.listen", 2},
	{"receiver down", func(c *computer) {
		c.settings.Events.Webhooks = []config.Webhook{{Name: "siem", SecretFile: "data/siem"}, {Name: "chat", SecretFile: "data/chat"}}
		c.receivers = map[string]error{"chat": errors.New("connection refused")}
	}, "webhooks/unreachable", "firewall", 1},
	{"webhook's secret readable", func(c *computer) {
		c.settings.Events.Webhooks = []config.Webhook{{Name: "chat", SecretFile: "data/chat.secret"}}
		c.readers["chat.secret"] = `BUILTIN\Users`
	}, "files/others-read", "icacls", 1},
	{"some expiring", func(c *computer) { c.credentials[0].Expires = now.AddDate(0, 0, 3) }, "credentials/expiring", "adgateway token list", 1},
}

func problems(report doctor.Report) (names []string, first doctor.Problem) {
	for _, result := range report.Results {
		for _, p := range result.Problems {
			if len(names) == 0 {
				first = p
			}
			names = append(names, result.Check+"/"+p.Fault)
		}
	}
	return names, first
}

func TestEveryFaultHasAdvice(t *testing.T) {
	reached := map[string]bool{}
	for _, c := range broken {
		t.Run(c.name, func(t *testing.T) {
			sick := healthy()
			c.harm(sick)
			report := doctor.Examine(t.Context(), doctor.Checks(), sick.probes, nil)
			found, first := problems(report)
			assert.Equal(t, c.problems, strings.Join(found, " "), "%+v", report)
			assert.Contains(t, first.Advice, c.advice)
			assert.Equal(t, c.code, report.ExitCode())
			for _, result := range report.Results {
				assert.NotRegexp(t, `\{[a-z]+\}`, fmt.Sprint(result), "a value is missing")
			}
			for _, name := range found {
				reached[name] = true
			}
		})
	}
	for _, check := range doctor.Checks() {
		assert.NotEmpty(t, check.About, check.Name)
		assert.NotEmpty(t, check.How, check.Name)
		for _, fault := range check.Faults {
			assert.True(t, reached[check.Name+"/"+fault.ID], "no computer has the fault %s/%s", check.Name, fault.ID)
			assert.NotEmpty(t, fault.Advice)
		}
	}
}

// A check that cannot be run is skipped, with the reason, and never counts as passed.
func TestSkippedChecks(t *testing.T) {
	status := func(c *computer) map[string]doctor.Status {
		out := map[string]doctor.Status{}
		for _, result := range doctor.Examine(t.Context(), doctor.Checks(), c.probes, nil).Results {
			out[result.Check] = result.Status
			if result.Status == doctor.Skipped {
				assert.NotEmpty(t, result.Found)
			}
		}
		return out
	}
	elsewhere := healthy()
	elsewhere.system = host.System{Name: "linux"}
	of := status(elsewhere)
	for _, check := range doctor.Checks() {
		if check.Windows || check.Name == "windows" {
			assert.Equal(t, doctor.Skipped, of[check.Name], check.Name)
		}
	}
	without := healthy()
	without.probes.FindPowerShell = func(string) (string, error) { return "", errors.New("none") }
	of = status(without)
	for _, name := range []string{"language-mode", "modules", "data-channel", "domain-controllers", "adws", "ldap", "dns-server", "clock", "rights", "recycle-bin", "dns-rights"} {
		assert.Equal(t, doctor.Skipped, of[name], name)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	for _, result := range doctor.Examine(stopped, doctor.Checks(), healthy().probes, nil).Results {
		assert.Equal(t, doctor.Skipped, result.Status)
	}
}

// A probe that does not return is reported, and the other checks still run.
func TestHangingProbe(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	for name, hang := range map[string]func(c *computer){
		"for ever": func(c *computer) {
			c.probes.Free = func(string) (uint64, error) { <-never; return 0, nil }
		},
		"at once": func(c *computer) {
			c.probes.Settings = func() (doctor.Settings, error) { <-never; return doctor.Settings{}, nil }
		},
		"until its time is over": func(c *computer) {
			c.probes.Run = func(ctx context.Context, _ ps.Request) (*ps.Result, error) { <-ctx.Done(); return nil, ctx.Err() }
			c.settings.Servers.Controllers = []string{"dc1"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := healthy()
			hang(c)
			c.probes.Limit = 20 * time.Millisecond
			report := doctor.Examine(t.Context(), doctor.Checks(), c.probes, nil)
			found, first := problems(report)
			require.NotEmpty(t, found)
			for _, one := range found {
				assert.Regexp(t, "^(settings|disk|clock|rights|recycle-bin|dns-rights)/hangs$", one)
			}
			assert.Contains(t, first.Text, "20ms")
			assert.Equal(t, 2, report.ExitCode())
			assert.Equal(t, doctor.OK, report.Results[len(report.Results)-1].Status, "the checks after it are made")
		})
	}
}

// The report on a computer with many faults is complete, as text and as JSON.
func TestReport(t *testing.T) {
	c := healthy()
	for _, one := range broken {
		if slices.Contains([]string{"workgroup", "another account", "policy AllSigned", "ADWS closed on one", "no RPC", "clock off", "may not create",
			"certificate ends", "settings writable", "disk low", "some expired"}, one.name) {
			one.harm(c)
		}
	}
	var text strings.Builder
	report := doctor.Examine(t.Context(), doctor.Checks(), c.probes, func(r doctor.Result) { require.NoError(t, r.Text(&text)) })
	text.WriteString("\n" + report.Summary() + "\n")
	golden(t, "report.txt", text.String())
	encoded, err := json.MarshalIndent(report, "", "  ")
	require.NoError(t, err)
	golden(t, "report.json", string(encoded)+"\n")
	var list strings.Builder
	require.NoError(t, doctor.List(&list, doctor.Checks()))
	golden(t, "list.txt", list.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// inCluster returns a cluster of two gateways. own and other are the errors of this gateway and of the other
// one, or nil if it answers.
func inCluster(own, other error) doctor.Cluster {
	return doctor.Cluster{
		Name: "corp", Gateway: "gw1", Leader: "gw2",
		Gateways: []doctor.ClusterGateway{{Name: "gw1", Err: own}, {Name: "gw2", Err: other}},
	}
}
