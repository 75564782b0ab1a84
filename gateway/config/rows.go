package config

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/attributes"
)

// Row declares one setting.
type Row struct {
	Key     string // "http.listen"
	Default string // as written in the file
	Doc     string // one sentence

	value value // of type live if a change takes effect without a restart
}

// Live reports whether a change takes effect while the gateway runs.
func (r Row) Live() bool {
	_, ok := r.value.(live)
	return ok
}

// Variable returns the environment variable of the setting, such as ADGATEWAY_HTTP_READ_TIMEOUT for
// http.readTimeout.
func (r Row) Variable() string {
	words := wordBorder.ReplaceAllString(r.Key, "${1}_${2}")
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(words, ".", "_"))
}

// Value returns the setting's value as plain data that is encoded in YAML and JSON as in the file,
// with secrets masked.
func (r Row) Value(s *Settings) any { return r.value.get(s, true) }

// complete replaces a duration of 0 with the default if 0 means the default.
func (r Row) complete(s *Settings) {
	v := r.value
	if l, ok := v.(live); ok {
		v = l.value
	}
	if d, ok := v.(orDefault); ok && *d.field(s) == 0 {
		_ = r.setText(s, r.Default) // the tests set every default
	}
}

const variablePrefix = "ADGATEWAY_"

// wordBorder matches the start of a new word in a part of a key.
var wordBorder = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// Allowed describes the values that the setting accepts.
func (r Row) Allowed() string { return r.value.allowed() }

// Rows returns all settings, in the order of the file.
func Rows() []Row {
	return slices.Concat(httpRows(), tlsRows(), authRows(), signInRows(), serverRows(), protocolRows(),
		recordRows(), ownRows(), eventRows(), clusterRows(), engineRows(), sandboxRows())
}

func httpRows() []Row {
	return []Row{
		{"http.listen", "127.0.0.1:8080", "Address and port to listen on.",
			address(func(s *Settings) *string { return &s.HTTP.Listen })},
		{"http.allowUnencrypted", "false", "Listen without TLS on an address that other machines can reach, for example behind a proxy that encrypts.",
			boolean(func(s *Settings) *bool { return &s.HTTP.AllowUnencrypted })},
		{"http.dialect", "standard", "Shape of responses, unless a token has its own.",
			live{choice(func(s *Settings) *string { return &s.HTTP.Dialect }, "standard", "classic")}},
		{"http.allowSecretsInQuery", "false", "Accept passwords in the query string, as older clients send them.",
			live{boolean(func(s *Settings) *bool { return &s.HTTP.AllowSecretsInQuery })}},
		{"http.requireGuard", "[]", "Scopes, or *, whose changes are made only with If-Match, If-None-Match or a plan.",
			live{scopes(func(s *Settings) *[]string { return &s.HTTP.RequireGuard })}},
		{"http.requireKey", "[]", "Scopes, or *, whose changes are made only with an Idempotency-Key; requires a store.",
			live{scopes(func(s *Settings) *[]string { return &s.HTTP.RequireKey })}},
		{"http.allowedOrigins", "[]", "Origins of web pages that may call the API.",
			live{origins(func(s *Settings) *[]string { return &s.HTTP.AllowedOrigins })}},
		{"http.trustedProxies", "[]", "Addresses or networks of proxies whose X-Forwarded-For header is trusted.",
			live{networks(func(s *Settings) *[]string { return &s.HTTP.TrustedProxies })}},
		{"http.readTimeout", "30s", "Time limit of a request that reads one object.",
			live{limit(func(s *Settings) *time.Duration { return &s.HTTP.ReadTimeout })}},
		{"http.writeTimeout", "60s", "Time limit of a request that changes something.",
			live{limit(func(s *Settings) *time.Duration { return &s.HTTP.WriteTimeout })}},
		{"http.settleTimeout", "5s", "Time limit for determining the outcome of a change that was cut off.",
			live{limit(func(s *Settings) *time.Duration { return &s.HTTP.SettleTimeout })}},
		{"http.settlePause", "1s", "How long a change that was cut off must remain invisible before it counts as not made; shorter than settleTimeout.",
			live{limit(func(s *Settings) *time.Duration { return &s.HTTP.SettlePause })}},
		{"http.listTimeout", "5m", "Time limit of a request that lists objects.",
			live{limit(func(s *Settings) *time.Duration { return &s.HTTP.ListTimeout })}},
		{"http.headerTimeout", "10s", "How long a client may take for the TLS handshake and the header of a request.",
			limit(func(s *Settings) *time.Duration { return &s.HTTP.HeaderTimeout })},
		{"http.bodyTimeout", "1m", "How long a client may take to send a whole request.",
			limit(func(s *Settings) *time.Duration { return &s.HTTP.BodyTimeout })},
		{"http.sendTimeout", "1m", "How long a client may take to receive 64 KiB of a response; a long list has many such parts.",
			limit(func(s *Settings) *time.Duration { return &s.HTTP.SendTimeout })},
		{"http.idleTimeout", "2m", "How long a connection without a request is kept open.",
			limit(func(s *Settings) *time.Duration { return &s.HTTP.IdleTimeout })},
		{"http.maxConnections", "2000", "Maximum number of connections; further ones wait. A tenth is kept for this machine, for trusted proxies and for addresses that sent a valid credential in the last hour; when the others are taken, further ones are closed.",
			number(func(s *Settings) *int { return &s.HTTP.MaxConnections }, 1, 100000)},
		{"http.maxConnectionsPerAddress", "250", "Maximum number of connections from one address, except trusted proxies; further ones are closed. The addresses of an IPv6 /64 count as one, and so do this machine's addresses.",
			number(func(s *Settings) *int { return &s.HTTP.MaxConnectionsPerAddress }, 1, 100000)},
		{"http.maxBodyMemory", "64", "Memory in MiB for the bodies of all running requests, of which one credential gets a quarter; beyond it 503 and 429. Bodies up to 16 KiB do not count.",
			number(func(s *Settings) *int { return &s.HTTP.MaxBodyMemory }, 8, 1<<20)},
		{"http.maxSpool", "2048", "Size in MiB of the temporary, encrypted files for what slow clients have not taken of lists above 8 MiB; one credential gets a quarter. Beyond it, and with 0, such a list holds its session until the client has read it. As much again is used to sort long lists; with 0 they are sorted in memory.",
			number(func(s *Settings) *int { return &s.HTTP.MaxSpool }, 0, 1<<20)},
		{"http.spoolFolder", "\"\"", "Folder of these files; if empty, the temporary folder of the gateway's account.",
			text(func(s *Settings) *string { return &s.HTTP.SpoolFolder })},
		{"http.shutdownTimeout", "15s", "How long running requests may continue when the server stops; those that wait for a session get 503 at once.",
			live{orDefault{shortDuration(func(s *Settings) *time.Duration { return &s.HTTP.ShutdownTimeout }, 0, 15*time.Second).(scalar[time.Duration])}}},
	}
}

func tlsRows() []Row {
	return []Row{
		{"tls.certificateFile", "\"\"", "Certificate of the server in PEM format, followed by intermediate certificates; requires tls.keyFile.",
			text(func(s *Settings) *string { return &s.TLS.CertificateFile })},
		{"tls.keyFile", "\"\"", "Private key in PEM format, not encrypted; may be in the same file.",
			text(func(s *Settings) *string { return &s.TLS.KeyFile })},
		{"tls.pfxFile", "\"\"", "Certificate with its private key in one PFX (PKCS #12) file, instead of PEM files.",
			text(func(s *Settings) *string { return &s.TLS.PFXFile })},
		{"tls.pfxPasswordFile", "\"\"", "File whose only line is the password of the PFX file.",
			text(func(s *Settings) *string { return &s.TLS.PFXPasswordFile })},
		{"tls.storeThumbprint", "\"\"", "Thumbprint of a certificate in the Windows store LocalMachine\\My, instead of files.",
			text(func(s *Settings) *string { return &s.TLS.StoreThumbprint })},
		{"tls.storeSubject", "\"\"", "Common name or DNS name of a certificate in that store; of several the one that expires last, so that a renewed one is used.",
			text(func(s *Settings) *string { return &s.TLS.StoreSubject })},
		{"tls.minVersion", "1.2", "Oldest TLS version that is accepted.",
			choice(func(s *Settings) *string { return &s.TLS.MinVersion }, "1.2", "1.3")},
		{"tls.clientCAFile", "\"\"", "Certificates in PEM format of the authorities whose client certificates are accepted; if empty, clients are not asked for one.",
			text(func(s *Settings) *string { return &s.TLS.ClientCAFile })},
		{"tls.clientCRLFiles", "[]", "Certificate revocation lists in PEM or DER format; if there are any, a client certificate is refused when it was revoked, and when its authority has no current list. Changed files are loaded within seconds.",
			texts(func(s *Settings) *[]string { return &s.TLS.ClientCRLFiles })},
		{"tls.clientCertificates", "optional", "Whether client certificates are optional or required, if tls.clientCAFile is set.",
			choice(func(s *Settings) *string { return &s.TLS.ClientCertificates }, "optional", "required")},
	}
}

func authRows() []Row {
	return []Row{
		{"auth.allowQueryToken", "false", "Accept Auth-Token in the query string, as older clients send it.",
			boolean(func(s *Settings) *bool { return &s.Auth.AllowQueryToken })},
		{"auth.store", "\"\"", "File of tokens and users; if empty, credentials.json next to the settings file, and no file for the sandbox.",
			text(func(s *Settings) *string { return &s.Auth.Store })},
		{"auth.staleMax", "15m", "How long shared tokens and users remain valid at a gateway that cannot reach the store; then nobody is let in there until it can.",
			shortDuration(func(s *Settings) *time.Duration { return &s.Auth.StaleMax }, time.Minute, 24*time.Hour)},
		{"auth.failures", "5", "Failed logins of a user from one address before it is locked for a while.",
			number(func(s *Settings) *int { return &s.Auth.Failures }, 1, 1000)},
		{"auth.rate", "none", "Request rate of each token, user, certificate, and person who is signed in, without one of its own. Roles may have one (`signIn.roles`).",
			rate(func(s *Settings) *string { return &s.Auth.Rate })},
		{"auth.concurrency", "64", "Concurrent requests of each of them without a limit of its own.",
			numberOrNone(func(s *Settings) **int { return &s.Auth.Concurrency }, 0, 1000000)},
		{"auth.deletionsPerHour", "none", "Objects that each of them without a limit of its own may delete per hour.",
			numberOrNone(func(s *Settings) **int { return &s.Auth.DeletionsPerHour }, 0, 1000000)},
		{"auth.passwordResetsPerHour", "none", "Passwords that each of them without a limit of its own may reset per hour.",
			numberOrNone(func(s *Settings) **int { return &s.Auth.PasswordResetsPerHour }, 0, 1000000)},
		{"auth.changesPerHour", "none", "Objects that each of them without a limit of its own may disable, rename, move or take out of groups per hour; moving or renaming an OU counts what lies below it.",
			numberOrNone(func(s *Settings) **int { return &s.Auth.ChangesPerHour }, 0, 1000000)},
		{"auth.revealsPerHour", "10", "Passwords of local administrators and BitLocker keys that each of them without a limit of its own may see per hour.",
			number(func(s *Settings) *int { return &s.Auth.RevealsPerHour }, 0, 1000000)},
	}
}

func serverRows() []Row {
	return []Row{
		{"powershell.path", "\"\"", "PowerShell to run; if empty, Windows PowerShell on Windows and pwsh elsewhere.",
			text(func(s *Settings) *string { return &s.PowerShell.Path })},
		{"powershell.arguments", "[]", "Arguments to pass to PowerShell before the gateway's own.",
			texts(func(s *Settings) *[]string { return &s.PowerShell.Arguments })},

		{"pool.directorySessions", "4", "PowerShell sessions for the directory; ADWS allows 5 connections per account and domain controller.",
			number(func(s *Settings) *int { return &s.Pool.DirectorySessions }, 1, 64)},
		{"pool.dnsSessions", "2", "PowerShell sessions for DNS.",
			number(func(s *Settings) *int { return &s.Pool.DNSSessions }, 1, 64)},
		{"pool.maxWait", "10s", "How long a request waits for a session before it gets 503.",
			limit(func(s *Settings) *time.Duration { return &s.Pool.MaxWait })},
		{"pool.maxQueue", "256", "How many requests of a lane may wait; lists may take half of these places.",
			number(func(s *Settings) *int { return &s.Pool.MaxQueue }, 1, 100000)},
		{"pool.maxRequests", "50000", "Approximate number of requests after which a session is replaced; a new one is slower for some 600 requests.",
			number(func(s *Settings) *int { return &s.Pool.MaxRequests }, 1, 10000000)},
		{"pool.maxAge", "4h", "Approximate age at which a session is replaced.",
			limit(func(s *Settings) *time.Duration { return &s.Pool.MaxAge })},
		{"pool.maxMemory", "1024", "Private memory in MiB above which a session is replaced after a request.",
			number(func(s *Settings) *int { return &s.Pool.MaxMemory }, 64, 1<<20)},
		{"pool.startTimeout", "60s", "How long a session may take to start.",
			limit(func(s *Settings) *time.Duration { return &s.Pool.StartTimeout })},
		{"pool.maxList", "4096", "Size in MiB at which a list is cut off (1.5 KB per user); lists are streamed and not held in memory.",
			number(func(s *Settings) *int { return &s.Pool.MaxList }, 1, 1<<20)},

		{"servers.controllers", "[]", "Domain controllers to use, the preferred one first; if empty, Windows finds one.",
			hosts(func(s *Settings) *[]string { return &s.Servers.Controllers })},
		{"servers.dnsServer", "\"\"", "DNS server to use; if empty, the domain controller in use.",
			host(func(s *Settings) *string { return &s.Servers.DNSServer })},
		{"servers.returnAfter", "10m", "Time after a failover before the preferred server is tried again; the gateways of a cluster stay.",
			limit(func(s *Settings) *time.Duration { return &s.Servers.ReturnAfter })},

		{"directory.userAttributes", "[]", "Further attributes of users, which become fields of records, inputs and fields of filters: attribute (LDAP display name), and perhaps field (its name here), form (text, ascii or number), limit (characters, or the largest number), values (how many), unique, privileged. What gives rights needs the scope privileged in any case.",
			siteAttributes(func(s *Settings) *[]attributes.Site { return &s.Account.Attributes })},

		{"limits.bulkDelete", "50", "Maximum number of objects that one request may delete.",
			live{number(func(s *Settings) *int { return &s.Limits.BulkDelete }, 1, 100000)}},
		{"limits.staleDays", "90", "Days without a logon after which a computer is stale, for the filter `stale eq true`.",
			live{number(func(s *Settings) *int { return &s.Limits.StaleDays }, 1, 3650)}},
		{"limits.guardedGroups", "[]", "Groups of the gateway's own rights and hosts, by account name or DN, which need the scope privileged with all their members; if empty, those that its account and its computer are in.",
			live{groups(func(s *Settings) *[]string { return &s.Limits.GuardedGroups })}},
		{"limits.guardedNames", "[]", "DNS names whose records need the scope privileged, besides those by which clients find this gateway: its host, its certificate, http.listen and its cluster. Name here what a proxy or a wildcard certificate is for.",
			live{dnsNames(func(s *Settings) *[]string { return &s.Limits.GuardedNames })}},
	}
}

// The values of a setting whose default differs between a gateway and the sandbox.
const (
	SwitchAuto = "auto"
	SwitchOn   = "on"
	SwitchOff  = "off"
)

// signInRows are the settings for signing in to the pages for people.
func signInRows() []Row {
	return []Row{
		{"signIn.mode", SwitchOff, "How people sign in with their account of the domain, over HTTPS only: form, with name and password, to the pages under /ui/; kerberos, as they are signed in to Windows, to the pages and the API; form+kerberos, both; off: they cannot. The sandbox has people of its own, who may use the form unless this is kerberos.",
			choice(func(s *Settings) *string { return &s.SignIn.Mode }, SwitchOff, SignInForm, SignInKerberos, SignInBoth)},
		{"signIn.keytab", "\"\"", "File with the keys of the names HTTP/... that tickets are for; if empty, Windows checks them with the keys of the service's account. It is read at the start. Only the service may read it.",
			text(func(s *Settings) *string { return &s.SignIn.Keytab })},
		{"signIn.bindings", BindingsRequired, "Whether a ticket must be made for the TLS connection that it comes by (channel bindings): required; ifSent, for clients that cannot; off, if TLS ends at a proxy.",
			choice(func(s *Settings) *string { return &s.SignIn.Bindings }, BindingsRequired, BindingsIfSent, SwitchOff)},
		{"signIn.roles", "[]", "What people may do there, by group (DOMAIN\\name or SID): scopes, and limits as tokens have them: limits, rate, concurrency, deletionsPerHour, passwordResetsPerHour, changesPerHour, revealsPerHour. Of several roles each action must be allowed by one whole; what a person does counts for all of them.",
			signInRoles(func(s *Settings) *[]Role { return &s.SignIn.Roles })},
		{"signIn.domains", "[]", "Names of domains, NetBIOS names and UPN suffixes, whose accounts may sign in; if empty, the domain of this computer.",
			zones(func(s *Settings) *[]string { return &s.SignIn.Domains })},
		{"signIn.tokens", SwitchAuto, "Whether the pages for people under /ui/ can be signed in to with a token, over HTTPS only: on or off; auto is off, and in the sandbox on.",
			choice(func(s *Settings) *string { return &s.SignIn.Tokens }, SwitchAuto, SwitchOn, SwitchOff)},
		{"signIn.idle", "15m", "How long a session of the pages lasts without a request of its person; a page that keeps itself up to date does not prolong it.",
			shortDuration(func(s *Settings) *time.Duration { return &s.SignIn.Idle }, time.Minute, 8*time.Hour)},
		{"signIn.max", "8h", "How long a session of the pages lasts at most.",
			shortDuration(func(s *Settings) *time.Duration { return &s.SignIn.Max }, time.Minute, 24*time.Hour)},
		{"signIn.recheck", "5m", "How often it is checked that a person who is signed in may still log on, and in which groups they are.",
			shortDuration(func(s *Settings) *time.Duration { return &s.SignIn.Recheck }, time.Second, time.Hour)},
		{"signIn.tries", "3", "Wrong passwords of an account that are passed on to the domain within its lockout window; fewer where it locks accounts out at fewer than five.",
			number(func(s *Settings) *int { return &s.SignIn.Tries }, 1, 10)},
		{"console.procedures", "[]", "Changes that belong together, with one form on the pages for people, besides those for somebody who joins, moves or leaves: name, title (one text, or two, in English and German) and steps, each an operation with parameters in which names in braces are asked for. One of the name join, move or leave replaces that; without steps it takes it away. The manual has a page about procedures.",
			procedures(func(s *Settings) *[]Procedure { return &s.Console.Procedures })},
	}
}

func protocolRows() []Row {
	return []Row{
		{"acme.ttl", "60", "Time to live in seconds of the records that answer challenges of certificate authorities.",
			live{number(func(s *Settings) *int { return &s.ACME.TTL }, 1, 86400)}},
		{"acme.zones", "[]", "Zones that only hold such records: a challenge may have any name in them, elsewhere only one that begins with _acme-challenge.",
			live{zones(func(s *Settings) *[]string { return &s.ACME.Zones })}},
		{"acme.accounts", "[]", "Accounts of clients that speak acme-dns: subdomain, credential (the token or user: token:ID or user:ID, or its name, which a later one of the same name inherits), name (of the record, in full). 'adgateway acme account add' adds one.",
			live{acmeAccounts(func(s *Settings) *[]ACMEAccount { return &s.ACME.Accounts })}},
		{"externaldns.budget", "10s", "Time for the changes of one request of ExternalDNS; what is left then is answered with 500 and waits for its next loop.",
			live{shortDuration(func(s *Settings) *time.Duration { return &s.External.Budget }, time.Second, time.Minute)}},
	}
}

// recordRows are the settings of the gateway's records: audit, store, history, jobs.
func recordRows() []Row {
	return []Row{
		{"audit.file", "\"\"", "File in which every change is recorded; if empty, audit.jsonl next to the settings file, and none for the sandbox; off switches the audit log off.",
			text(func(s *Settings) *string { return &s.Audit.File })},
		{"audit.keyFile", "\"\"", "File with a key of at least 32 bytes for the hash chain of the audit log, which prevents rewriting it as a whole; if empty, plain hashes.",
			text(func(s *Settings) *string { return &s.Audit.KeyFile })},
		{"audit.maxSize", "100", "Size in MiB at which the audit file is rotated.",
			number(func(s *Settings) *int { return &s.Audit.MaxSize }, 1, 100000)},
		{"audit.maxAge", "24h", "Age at which the audit file is rotated; 0s: only the size counts.",
			duration(func(s *Settings) *time.Duration { return &s.Audit.MaxAge })},
		{"audit.keepFor", "2160h", "Time for which what was recorded is kept at least (2160h are 90 days): older files are removed; 0s keeps all.",
			duration(func(s *Settings) *time.Duration { return &s.Audit.KeepFor })},
		{"audit.maxTotal", "40960", "Space in MiB for all audit files; when it is spent and no file is older than audit.keepFor, changes are refused with 503. 0: no limit.",
			number(func(s *Settings) *int { return &s.Audit.MaxTotal }, 0, 1<<30)},
		{"audit.anchorFile", "\"\"", "File in which the end of the audit log is recorded as well, best on another disk, so that a removal of the log as a whole is found; if empty, the name of the key file with .anchor, and none without a key; off: none.",
			text(func(s *Settings) *string { return &s.Audit.AnchorFile })},
		{"audit.checkpoint", "10m", "How often the end of a growing audit log is written to audit.anchorFile, the service's log and the event log; 0s: only at start, stop and rotation.",
			duration(func(s *Settings) *time.Duration { return &s.Audit.Checkpoint })},
		{"audit.eventLog", "changes", "Which calls the Windows event log gets as well, when the gateway runs as a service: changes, made, refused and failed ones; all: callers that were refused, too; off: none.",
			choice(func(s *Settings) *string { return &s.Audit.EventLog }, "changes", "all", "off")},
		{"audit.mirror", SwitchOn, "Whether a gateway of a cluster copies its audit log into the shared store: on or off. The file remains the evidence, and no change waits for the copy.",
			choice(func(s *Settings) *string { return &s.Audit.Mirror }, SwitchOn, SwitchOff)},
		{"audit.mirrorKeep", "9600h", "How long these copies are kept (9600h are 400 days).",
			shortDuration(func(s *Settings) *time.Duration { return &s.Audit.MirrorKeep }, time.Hour, 87600*time.Hour)},
		{"audit.witness", "60s", "How often a gateway of a cluster tells the others the end of its audit log, which they record in theirs, so that 'adgateway cluster verify' finds an end that is cut off.",
			shortDuration(func(s *Settings) *time.Duration { return &s.Audit.Witness }, time.Second, time.Hour)},
		{"audit.reads", "false", "Record requests that only read as well.",
			boolean(func(s *Settings) *bool { return &s.Audit.Reads })},
		{"store.file", "\"\"", "File in which the gateway keeps plans, calls with an Idempotency-Key, the history of changes, what credentials have spent of their hourly limits and who is signed in to the pages, encrypted with the key in the file of the same name with .key; if empty, state.db next to the settings file, and in memory for the sandbox; off: none are kept.",
			text(func(s *Settings) *string { return &s.Store.File })},
		{"store.minFree", "64", "Space in MiB that is kept free where the store and the audit log are. Of what is left above it, one credential may take a quarter within a day; then it gets 429, and the others go on. 0: all may be taken.",
			number(func(s *Settings) *int { return &s.Store.MinFree }, 0, 1<<20)},
		{"idempotency.keep", "24h", "How long a call with an Idempotency-Key is kept, so that its repetition gets the same answer.",
			shortDuration(func(s *Settings) *time.Duration { return &s.Idempotency.Keep }, time.Minute, 168*time.Hour)},
		{"idempotency.maxSize", "1024", "Space in MiB for calls with an Idempotency-Key and their answers, of which one credential gets a quarter; beyond it such calls are refused with 429.",
			number(func(s *Settings) *int { return &s.Idempotency.MaxSize }, 1, 1<<20)},
		{"plans.maxSize", "256", "Space in MiB for plans, of which one credential gets a quarter; its oldest ones are forgotten for newer ones.",
			number(func(s *Settings) *int { return &s.Plans.MaxSize }, 1, 1<<20)},
		{"plans.life", "30m", "How long the plan of a dry run can be applied.",
			live{shortDuration(func(s *Settings) *time.Duration { return &s.Plans.Life }, time.Minute, 24*time.Hour)}},
		{"plans.otherCaller", "false", "A credential may apply a plan that another one has made, with its own scopes and limits; the audit names both.",
			live{boolean(func(s *Settings) *bool { return &s.Plans.OtherCaller })}},

		{"changes.keep", "2160h", "How long changes are kept in the history, from which they can be undone (2160h are 90 days).",
			shortDuration(func(s *Settings) *time.Duration { return &s.Changes.Keep }, time.Hour, 87600*time.Hour)},
		{"changes.maxSize", "1024", "Space in MiB for the history; the oldest changes of the credential that has most are removed for newer ones.",
			number(func(s *Settings) *int { return &s.Changes.MaxSize }, 1, 1<<20)},

		{"jobs.maxItems", "20000", "Maximum number of items of a job.",
			number(func(s *Settings) *int { return &s.Jobs.MaxItems }, 1, 200000)},
		{"jobs.maxBytes", "32", "Maximum size in MiB of the list of a job; http.maxBodyMemory must have room for it.",
			number(func(s *Settings) *int { return &s.Jobs.MaxBytes }, 1, 1024)},
		{"jobs.running", "4", "How many jobs run at a time; the others are held.",
			number(func(s *Settings) *int { return &s.Jobs.Running }, 1, 100)},
		{"jobs.perCaller", "2", "How many jobs of one token or user run at a time.",
			number(func(s *Settings) *int { return &s.Jobs.PerCaller }, 1, 100)},
		{"jobs.share", "50", "Percentage of the sessions of a lane that jobs may use at a time, one at least; the others are left to calls.",
			number(func(s *Settings) *int { return &s.Jobs.Share }, 1, 100)},
		{"jobs.rate", "20", "Maximum number of items of a job a second; 0: no limit.",
			number(func(s *Settings) *int { return &s.Jobs.Rate }, 0, 1000)},
		{"jobs.keep", "168h", "How long jobs with their items and results are kept (168h are 7 days).",
			shortDuration(func(s *Settings) *time.Duration { return &s.Jobs.Keep }, time.Hour, 2160*time.Hour)},
		{"jobs.maxStored", "2048", "Space in MiB for the lists and results of all jobs, of which one credential gets a quarter; a list takes about twice its size. Beyond it further jobs are refused with 429 until some are removed.",
			number(func(s *Settings) *int { return &s.Jobs.MaxStored }, 1, 1<<20)},
		{"jobs.secrets", SecretsRefused, "Whether lists may hold passwords: refuse, or sealed: encrypted with a key of each job, which is destroyed when nothing is left to retry.",
			choice(func(s *Settings) *string { return &s.Jobs.Secrets }, SecretsRefused, SecretsSealed)},
	}
}

// ownRows are the settings for metrics, memory and the log.
func ownRows() []Row {
	return []Row{
		{"metrics.openOnLoopback", "true", "Clients on the gateway's machine may read /metrics without a credential; all others need the scope ops:read.",
			boolean(func(s *Settings) *bool { return &s.Metrics.OpenOnLoopback })},

		{"memory.gcPercent", "400", "How much the gateway's memory may grow before it is tidied, in percent of what is in use: more costs memory, less costs processor time. Beyond 64 MiB in use it falls, to 100 from 200 MiB on. The environment variable GOGC takes precedence.",
			number(func(s *Settings) *int { return &s.Memory.GCPercent }, 10, 10000)},
		{"memory.limit", "2048", "Memory in MiB near which the gateway tidies more often than that; not a limit on what it uses. 0: none. The environment variable GOMEMLIMIT takes precedence.",
			number(func(s *Settings) *int { return &s.Memory.Limit }, 0, 1<<20)},

		{"reason.required", "[]", "Operations whose calls must say why, in the parameter Reason: ids such as user.delete, or user.* for all that begin so, or *.",
			live{operations(func(s *Settings) *[]string { return &s.Reason.Required })}},
		{"time.zone", "UTC", "Zone in which days end, such as an account's last day, and in which the pages show times to a person who chose no other: a name such as Europe/Berlin.",
			timeZone(func(s *Settings) *string { return &s.Time.Zone })},

		{"docs.enabled", "true", "Serve the manual at /manual, the description of the API at /openapi.json and the page /docs, to everyone who can connect.",
			boolean(func(s *Settings) *bool { return &s.Docs.Enabled })},

		{"log.format", "text", "Format of the log.",
			live{choice(func(s *Settings) *string { return &s.Log.Format }, "text", "json")}},
		{"log.level", "info", "Minimum severity of the entries that are written.",
			live{choice(func(s *Settings) *string { return &s.Log.Level }, "debug", "info", "warn", "error")}},
		{"log.file", "\"\"", "File to log to; if empty, standard error, and for the Windows service logs\\adgateway.log next to its settings.",
			text(func(s *Settings) *string { return &s.Log.File })},
		{"log.maxSize", "20", "Size in MiB at which the log file is rotated.",
			number(func(s *Settings) *int { return &s.Log.MaxSize }, 1, 10000)},
		{"log.maxFiles", "10", "Number of rotated log files to keep.",
			number(func(s *Settings) *int { return &s.Log.MaxFiles }, 1, 1000)},
	}
}

// eventRows are the settings for notifications about changes.
func eventRows() []Row {
	return []Row{
		{"events.sse", "50", "Streams of events that are served at the same time, of which one credential gets a quarter.",
			number(func(s *Settings) *int { return &s.Events.Streams }, 1, 1000)},
		{"events.webhooks", "[]", "Receivers that are told of changes and of jobs that have ended: name, url (https), secretFile (a line whsec_..., during a rotation two), and perhaps caFile (authorities of its certificate) and types (change, job).",
			webhooks(func(s *Settings) *[]Webhook { return &s.Events.Webhooks })},
	}
}

func sandboxRows() []Row {
	return []Row{
		{"sandbox.ldif", "[]", "LDIF files loaded into the simulated directory.",
			texts(func(s *Settings) *[]string { return &s.Sandbox.LDIF })},
		{"sandbox.zones", "[]", "Zone files loaded into the simulated DNS server.",
			texts(func(s *Settings) *[]string { return &s.Sandbox.Zones })},
		{"sandbox.generatedUsers", "0", "Number of additional users to generate.",
			number(func(s *Settings) *int { return &s.Sandbox.GeneratedUsers }, 0, 1000000)},
		{"sandbox.empty", "false", "Leave out the built-in domain; the domain is the topmost domainDNS entry in the LDIF files.",
			boolean(func(s *Settings) *bool { return &s.Sandbox.Empty })},
		{"sandbox.seed", "1", "Seed of everything that is generated: the same seed gives the same domain.",
			number(func(s *Settings) *int { return &s.Sandbox.Seed }, 0, 1<<31-1)},
		{"sandbox.culture", "en-US", "Language of the messages of the simulated Windows.",
			choice(func(s *Settings) *string { return &s.Sandbox.Culture }, "en-US", "de-DE")},
		{"sandbox.replicationLag", "0s", "How long a change takes to reach the second domain controller.",
			duration(func(s *Settings) *time.Duration { return &s.Sandbox.ReplicationLag })},
		{"sandbox.recycleBin", "true", "Whether the Recycle Bin of the simulated directory is enabled.",
			boolean(func(s *Settings) *bool { return &s.Sandbox.RecycleBin })},
		{"sandbox.dns.setRemovesPtr", "true", "Whether a change of an A or AAAA record in the simulated DNS removes its PTR record, as Windows may do.",
			boolean(func(s *Settings) *bool { return &s.Sandbox.SetRemovesPTR })},
		{"sandbox.processes", "false", "Run every session of the sandbox in a process of its own, like PowerShell.",
			boolean(func(s *Settings) *bool { return &s.Sandbox.Processes })},
		{"sandbox.engine", "sandbox", "What runs the scripts of the sandbox: sandbox (its own engine), pwsh, powershell, or the path of a PowerShell.",
			text(func(s *Settings) *string { return &s.Sandbox.Engine })},
		{"sandbox.domain", "\"\"", "Address of the process, started with 'adgateway sandbox domain', that holds the simulated domain for several gateways; if empty, this process holds one of its own.",
			text(func(s *Settings) *string { return &s.Sandbox.Domain })},
		{"sandbox.ticketFile", "\"\"", "File with the ticket that the process of sandbox.domain has written.",
			text(func(s *Settings) *string { return &s.Sandbox.TicketFile })},
		{"sandbox.gatewayName", "gw1", "Name of this gateway in the domain of sandbox.domain.",
			text(func(s *Settings) *string { return &s.Sandbox.GatewayName })},
		{"sandbox.account", "\"\"", "Account that the sessions connect to the controllers of sandbox.domain with, which count the connections of each; if empty, the one that all gateways share.",
			text(func(s *Settings) *string { return &s.Sandbox.Account })},
		{"sandbox.clock", "0s", "How far the clock of sandbox.domain is ahead of this computer's.",
			duration(func(s *Settings) *time.Duration { return &s.Sandbox.Clock })},
		{"sandbox.tokens", "[]", "Bearer tokens of the sandbox: value, or subject of a client certificate, scopes, dialect, secretsInQuery, limits {ous, zones, groups, names}.",
			tokens(func(s *Settings) *[]Token { return &s.Sandbox.Tokens })},
		{"sandbox.users", "[]", "Users of the sandbox who send name and password: name, password, scopes, limits {ous, zones, groups, names}.",
			users(func(s *Settings) *[]User { return &s.Sandbox.Users })},
	}
}
