package config

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// Row declares one setting.
type Row struct {
	Key     string // "http.listen"
	Default string // as it would stand in the file
	Doc     string // one sentence

	value value // wrapped in live where a change takes effect without a restart
}

// Live tells whether a change takes effect while the gateway runs.
func (r Row) Live() bool {
	_, ok := r.value.(live)
	return ok
}

// Variable is the variable of the environment that sets it: http.readTimeout
// is ADGATEWAY_HTTP_READ_TIMEOUT.
func (r Row) Variable() string {
	words := wordBorder.ReplaceAllString(r.Key, "${1}_${2}")
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(words, ".", "_"))
}

// Value returns the setting's value as plain data that reads in YAML and JSON
// as it would stand in the file, with secrets masked.
func (r Row) Value(s *Settings) any { return r.value.get(s, true) }

const variablePrefix = "ADGATEWAY_"

// wordBorder is where a new word starts in a part of a key.
var wordBorder = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// Allowed says in words which values the setting takes.
func (r Row) Allowed() string { return r.value.allowed() }

// Rows lists every setting, in the order of the file.
func Rows() []Row {
	return slices.Concat(httpRows(), tlsRows(), serverRows(), sandboxRows())
}

func httpRows() []Row {
	return []Row{
		{"http.listen", "127.0.0.1:8080", "Address and port to listen on.",
			address(func(s *Settings) *string { return &s.HTTP.Listen })},
		{"http.allowUnencrypted", "false", "Listen without TLS on an address that other machines reach, such as behind a proxy that encrypts.",
			boolean(func(s *Settings) *bool { return &s.HTTP.AllowUnencrypted })},
		{"http.dialect", "standard", "Shape of answers, unless a token has its own.",
			live{choice(func(s *Settings) *string { return &s.HTTP.Dialect }, "standard", "classic")}},
		{"http.allowSecretsInQuery", "false", "Take passwords from the query string, as older clients send them.",
			live{boolean(func(s *Settings) *bool { return &s.HTTP.AllowSecretsInQuery })}},
		{"http.allowedOrigins", "[]", "Origins of web pages that may call the API.",
			live{origins(func(s *Settings) *[]string { return &s.HTTP.AllowedOrigins })}},
		{"http.trustedProxies", "[]", "Addresses or networks of proxies whose X-Forwarded-For is believed.",
			live{networks(func(s *Settings) *[]string { return &s.HTTP.TrustedProxies })}},
		{"http.readTimeout", "30s", "Longest run of a request that reads one thing.",
			live{duration(func(s *Settings) *time.Duration { return &s.HTTP.ReadTimeout })}},
		{"http.writeTimeout", "60s", "Longest run of a request that changes something.",
			live{duration(func(s *Settings) *time.Duration { return &s.HTTP.WriteTimeout })}},
		{"http.settleTimeout", "5s", "How long it may take to find out what became of a change that was cut off.",
			live{duration(func(s *Settings) *time.Duration { return &s.HTTP.SettleTimeout })}},
		{"http.settlePause", "1s", "How long a change that was cut off must not show before it counts as not made; shorter than settleTimeout.",
			live{duration(func(s *Settings) *time.Duration { return &s.HTTP.SettlePause })}},
		{"http.listTimeout", "5m", "Longest run of a request that lists.",
			live{duration(func(s *Settings) *time.Duration { return &s.HTTP.ListTimeout })}},
		{"http.headerTimeout", "10s", "How long a client may take to send the header of a request, and to agree on TLS.",
			duration(func(s *Settings) *time.Duration { return &s.HTTP.HeaderTimeout })},
		{"http.bodyTimeout", "1m", "How long a client may take to send a whole request.",
			duration(func(s *Settings) *time.Duration { return &s.HTTP.BodyTimeout })},
		{"http.sendTimeout", "1m", "How long a client may take to receive 64 KiB of an answer; a long list is many of them.",
			duration(func(s *Settings) *time.Duration { return &s.HTTP.SendTimeout })},
		{"http.idleTimeout", "2m", "How long a connection without a request is kept open.",
			duration(func(s *Settings) *time.Duration { return &s.HTTP.IdleTimeout })},
		{"http.maxConnections", "2000", "Most connections at a time; more wait.",
			number(func(s *Settings) *int { return &s.HTTP.MaxConnections }, 1, 100000)},
		{"http.maxConnectionsPerAddress", "250", "Most connections of one address at a time, trusted proxies aside; more are closed.",
			number(func(s *Settings) *int { return &s.HTTP.MaxConnectionsPerAddress }, 1, 100000)},
		{"http.shutdownTimeout", "15s", "How long running requests may continue when the server stops; requests that wait for a session get 503 at once.",
			live{shortDuration(func(s *Settings) *time.Duration { return &s.HTTP.ShutdownTimeout }, 15*time.Second)}},
	}
}

func tlsRows() []Row {
	return []Row{
		{"tls.certificateFile", "\"\"", "Certificate of the server in PEM form, intermediate certificates after it; with tls.keyFile.",
			text(func(s *Settings) *string { return &s.TLS.CertificateFile })},
		{"tls.keyFile", "\"\"", "Private key in PEM form, not encrypted; may be the same file.",
			text(func(s *Settings) *string { return &s.TLS.KeyFile })},
		{"tls.pfxFile", "\"\"", "Certificate with its private key in one PFX (PKCS #12) file, instead of PEM files.",
			text(func(s *Settings) *string { return &s.TLS.PFXFile })},
		{"tls.pfxPasswordFile", "\"\"", "File whose one line is the password of the PFX file.",
			text(func(s *Settings) *string { return &s.TLS.PFXPasswordFile })},
		{"tls.storeThumbprint", "\"\"", "Thumbprint of a certificate in the store LocalMachine\\My of Windows, instead of files.",
			text(func(s *Settings) *string { return &s.TLS.StoreThumbprint })},
		{"tls.storeSubject", "\"\"", "Common name or DNS name of a certificate in that store; of several the one that lasts longest, so that a renewed one is found.",
			text(func(s *Settings) *string { return &s.TLS.StoreSubject })},
		{"tls.minVersion", "1.2", "Oldest version of TLS that is spoken.",
			choice(func(s *Settings) *string { return &s.TLS.MinVersion }, "1.2", "1.3")},
		{"tls.clientCAFile", "\"\"", "Certificates in PEM form of the authorities whose client certificates are accepted; none: clients are not asked for one.",
			text(func(s *Settings) *string { return &s.TLS.ClientCAFile })},
		{"tls.clientCertificates", "optional", "Whether a client may do without a certificate, where tls.clientCAFile is set.",
			choice(func(s *Settings) *string { return &s.TLS.ClientCertificates }, "optional", "required")},
	}
}

func serverRows() []Row {
	return []Row{
		{"auth.allowQueryToken", "false", "Take Auth-Token from the query string, as older clients send it.",
			boolean(func(s *Settings) *bool { return &s.Auth.AllowQueryToken })},
		{"auth.store", "\"\"", "File of tokens and users; empty: credentials.json next to the settings file; none for the sandbox.",
			text(func(s *Settings) *string { return &s.Auth.Store })},
		{"auth.failures", "5", "Failed logins of a user from one address until it is locked for a while.",
			number(func(s *Settings) *int { return &s.Auth.Failures }, 1, 1000)},
		{"auth.rate", "none", "Requests of each token or user without a rate of its own.",
			rate(func(s *Settings) *string { return &s.Auth.Rate })},
		{"auth.concurrency", "none", "Requests that each token or user without a number of its own may run at once.",
			numberOrNone(func(s *Settings) **int { return &s.Auth.Concurrency }, 0, 1000000)},
		{"auth.deletionsPerHour", "none", "Objects that each token or user without a number of its own may remove in an hour.",
			numberOrNone(func(s *Settings) **int { return &s.Auth.DeletionsPerHour }, 0, 1000000)},
		{"auth.passwordResetsPerHour", "none", "Passwords that each token or user without a number of its own may reset in an hour.",
			numberOrNone(func(s *Settings) **int { return &s.Auth.PasswordResetsPerHour }, 0, 1000000)},

		{"powershell.path", "\"\"", "PowerShell to run; none: Windows PowerShell on Windows, pwsh elsewhere.",
			text(func(s *Settings) *string { return &s.PowerShell.Path })},
		{"powershell.arguments", "[]", "Arguments of PowerShell before the gateway's own.",
			texts(func(s *Settings) *[]string { return &s.PowerShell.Arguments })},

		{"pool.directorySessions", "4", "PowerShell sessions for the directory; ADWS allows 5 connections per account and domain controller.",
			number(func(s *Settings) *int { return &s.Pool.DirectorySessions }, 1, 64)},
		{"pool.dnsSessions", "2", "PowerShell sessions for DNS.",
			number(func(s *Settings) *int { return &s.Pool.DNSSessions }, 1, 64)},
		{"pool.maxWait", "10s", "How long a request waits for a session before it is answered with 503.",
			duration(func(s *Settings) *time.Duration { return &s.Pool.MaxWait })},
		{"pool.maxQueue", "256", "How many requests of a lane may wait, lists in at most half of these places.",
			number(func(s *Settings) *int { return &s.Pool.MaxQueue }, 1, 100000)},
		{"pool.maxRequests", "5000", "A session is replaced after so many requests.",
			number(func(s *Settings) *int { return &s.Pool.MaxRequests }, 1, 10000000)},
		{"pool.maxAge", "4h", "A session is replaced when it is about so old.",
			duration(func(s *Settings) *time.Duration { return &s.Pool.MaxAge })},
		{"pool.maxMemory", "1024", "A session is replaced after a request that leaves its process with more private memory than so many MiB.",
			number(func(s *Settings) *int { return &s.Pool.MaxMemory }, 64, 1<<20)},
		{"pool.startTimeout", "60s", "How long a session may take until it is ready.",
			duration(func(s *Settings) *time.Duration { return &s.Pool.StartTimeout })},
		{"pool.maxList", "4096", "A list is cut off when it has so many MiB (1.5 KB a user); lists are handed on as they come and fill no memory.",
			number(func(s *Settings) *int { return &s.Pool.MaxList }, 1, 1<<20)},

		{"servers.controllers", "[]", "Domain controllers to use, the preferred one first; none: Windows finds one.",
			texts(func(s *Settings) *[]string { return &s.Servers.Controllers })},
		{"servers.dnsServer", "\"\"", "DNS server to use; none: the domain controller in use.",
			text(func(s *Settings) *string { return &s.Servers.DNSServer })},
		{"servers.returnAfter", "10m", "How long after a failover the preferred server is tried again.",
			duration(func(s *Settings) *time.Duration { return &s.Servers.ReturnAfter })},

		{"limits.bulkDelete", "50", "Most objects that one request removes.",
			live{number(func(s *Settings) *int { return &s.Limits.BulkDelete }, 1, 100000)}},

		{"audit.file", "\"\"", "File in which every change is recorded; empty: audit.jsonl in the service's data folder, none in the sandbox; off: none.",
			text(func(s *Settings) *string { return &s.Audit.File })},
		{"audit.keyFile", "\"\"", "File with a key of 32 bytes or more for the audit's chain, so that nobody without the key can rewrite it; empty: plain hashes.",
			text(func(s *Settings) *string { return &s.Audit.KeyFile })},
		{"audit.maxSize", "100", "Size of an audit file in MiB after which another is begun.",
			number(func(s *Settings) *int { return &s.Audit.MaxSize }, 1, 100000)},
		{"audit.maxAge", "24h", "Age of an audit file after which another is begun; 0s: only the size counts.",
			duration(func(s *Settings) *time.Duration { return &s.Audit.MaxAge })},
		{"audit.keep", "400", "Finished audit files that are kept; 0: all.",
			number(func(s *Settings) *int { return &s.Audit.Keep }, 0, 100000)},
		{"audit.reads", "false", "Record what only reads, too.",
			boolean(func(s *Settings) *bool { return &s.Audit.Reads })},

		{"metrics.openOnLoopback", "true", "Clients on the gateway's own machine read /metrics without a credential; all others need the scope ops:read.",
			boolean(func(s *Settings) *bool { return &s.Metrics.OpenOnLoopback })},

		{"docs.enabled", "true", "Serve the description of the API at /openapi.json and the page /docs, to everybody who can connect.",
			boolean(func(s *Settings) *bool { return &s.Docs.Enabled })},

		{"log.format", "text", "Shape of the log.",
			live{choice(func(s *Settings) *string { return &s.Log.Format }, "text", "json")}},
		{"log.level", "info", "Least important entries that are written.",
			live{choice(func(s *Settings) *string { return &s.Log.Level }, "debug", "info", "warn", "error")}},
		{"log.file", "\"\"", "File to log to; none: standard error, as the Windows service logs\\adgateway.log beside its settings.",
			text(func(s *Settings) *string { return &s.Log.File })},
		{"log.maxSize", "20", "A new log file is begun when the one in use has so many MiB.",
			number(func(s *Settings) *int { return &s.Log.MaxSize }, 1, 10000)},
		{"log.maxFiles", "10", "So many older log files are kept.",
			number(func(s *Settings) *int { return &s.Log.MaxFiles }, 1, 1000)},
	}
}

func sandboxRows() []Row {
	return []Row{
		{"sandbox.ldif", "[]", "LDIF files loaded into the simulated directory.",
			texts(func(s *Settings) *[]string { return &s.Sandbox.LDIF })},
		{"sandbox.zones", "[]", "Zone files loaded into the simulated DNS server.",
			texts(func(s *Settings) *[]string { return &s.Sandbox.Zones })},
		{"sandbox.generatedUsers", "0", "So many more users are generated.",
			number(func(s *Settings) *int { return &s.Sandbox.GeneratedUsers }, 0, 1000000)},
		{"sandbox.empty", "false", "Leave the built-in domain out; the domain is the topmost domainDNS entry of the files.",
			boolean(func(s *Settings) *bool { return &s.Sandbox.Empty })},
		{"sandbox.seed", "1", "Seed of everything that is generated: the same seed gives the same domain.",
			number(func(s *Settings) *int { return &s.Sandbox.Seed }, 0, 1<<31-1)},
		{"sandbox.culture", "en-US", "Language of the messages that the simulated Windows gives.",
			choice(func(s *Settings) *string { return &s.Sandbox.Culture }, "en-US", "de-DE")},
		{"sandbox.replicationLag", "0s", "How long a change takes to reach the second domain controller.",
			duration(func(s *Settings) *time.Duration { return &s.Sandbox.ReplicationLag })},
		{"sandbox.processes", "false", "Run every session of the sandbox in a process of its own, as PowerShell is.",
			boolean(func(s *Settings) *bool { return &s.Sandbox.Processes })},
		{"sandbox.engine", "sandbox", "What runs the scripts of the sandbox: sandbox (its own engine), pwsh, powershell, or the path of a PowerShell.",
			text(func(s *Settings) *string { return &s.Sandbox.Engine })},
		{"sandbox.tokens", "[]", "Bearer tokens of the sandbox: value, or subject of a client certificate, scopes, dialect, limits {ous, zones, groups}.",
			tokens(func(s *Settings) *[]Token { return &s.Sandbox.Tokens })},
		{"sandbox.users", "[]", "Users of the sandbox who send name and password: name, password, scopes.",
			users(func(s *Settings) *[]User { return &s.Sandbox.Users })},
	}
}
