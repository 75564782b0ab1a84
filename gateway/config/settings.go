// Package config defines and loads the gateway's settings.
//
// Every setting is one field of [Settings], whose tags declare its key, meaning, default and how its value is
// parsed ([Row] lists the tags, [Rows] is the table of all settings).
// [Sources] (defaults, a YAML file, environment variables, flags) are loaded in one strict pass
// that reports all mistakes at once, each with its place and the allowed values. [Template]
// generates the file from the table. [Live] holds the settings in effect while the gateway runs,
// and applies changes of the file to the settings that the table allows to change.
package config

import (
	"path/filepath"
	"time"

	"adgateway/gateway/attributes"
)

// Settings are the values of all settings. The zero value is not usable; start from [Default] or
// [Load].
type Settings struct {
	HTTP        HTTP
	TLS         TLS
	Auth        Auth
	SignIn      SignIn
	Console     Console
	PowerShell  PowerShell
	Pool        Pool
	Servers     Servers
	Account     Account
	Limits      Limits
	ACME        ACME
	External    ExternalDNS
	Audit       Audit
	Store       Store
	Idempotency Idempotency
	Plans       Plans
	Changes     Changes
	Jobs        Jobs
	Metrics     Metrics
	Memory      Memory
	Reason      Reason
	Time        Time
	Docs        Docs
	Log         Log
	Events      Events
	Cluster     Cluster
	Names       Names
	Engine      Engine
	Sandbox     Sandbox

	Former Former
}

// HTTP configures the HTTP server and its limits.
type HTTP struct {
	Listen                   string        `key:"http.listen" is:"address" default:"127.0.0.1:8080" doc:"Address and port to listen on."`
	AllowUnencrypted         bool          `key:"http.allowUnencrypted" doc:"Allow HTTP without TLS on an address that other computers can reach, for example behind a proxy that encrypts."`
	Dialect                  string        `key:"http.dialect" live:"true" oneOf:"standard, classic" default:"standard" doc:"Format of responses, unless the token sets one."`
	AllowSecretsInQuery      bool          `key:"http.allowSecretsInQuery" live:"true" doc:"Accept passwords in the query string, for older clients."`
	RequireGuard             []string      `key:"http.requireGuard" live:"true" is:"scopes" doc:"Scopes whose changes require If-Match, If-None-Match or a plan; * means all."`
	RequireKey               []string      `key:"http.requireKey" live:"true" is:"scopes" doc:"Scopes whose changes require an Idempotency-Key; * means all. Requires a store."`
	AllowedOrigins           []string      `key:"http.allowedOrigins" live:"true" is:"origins" doc:"Origins of web pages that may call the API."`
	TrustedProxies           []string      `key:"http.trustedProxies" live:"true" is:"networks" doc:"Addresses or networks of proxies whose X-Forwarded-For header is trusted."`
	ReadTimeout              time.Duration `key:"http.readTimeout" live:"true" zero:"default" default:"30s" doc:"Time limit for a request that reads one object."`
	WriteTimeout             time.Duration `key:"http.writeTimeout" live:"true" zero:"default" default:"60s" doc:"Time limit for a request that changes something."`
	SettleTimeout            time.Duration `key:"http.settleTimeout" live:"true" zero:"default" default:"5s" doc:"Time limit for determining the outcome of an interrupted change."`
	SettlePause              time.Duration `key:"http.settlePause" live:"true" zero:"default" default:"1s" doc:"How long an interrupted change must remain invisible before it counts as not made. Must be shorter than http.settleTimeout."`
	ListTimeout              time.Duration `key:"http.listTimeout" live:"true" zero:"default" default:"5m" doc:"Time limit for a request that lists objects."`
	HeaderTimeout            time.Duration `key:"http.headerTimeout" zero:"default" default:"10s" doc:"Time limit for a client to complete the TLS handshake and the header of a request."`
	BodyTimeout              time.Duration `key:"http.bodyTimeout" zero:"default" default:"1m" doc:"Time limit for a client to send a whole request."`
	SendTimeout              time.Duration `key:"http.sendTimeout" zero:"default" default:"1m" doc:"Time limit for a client to receive 64 KiB of a response. A long list consists of many such parts."`
	IdleTimeout              time.Duration `key:"http.idleTimeout" zero:"default" default:"2m" doc:"How long a connection without a request stays open."`
	MaxConnections           int           `key:"http.maxConnections" from:"1" to:"100000" default:"2000" doc:"Maximum number of connections; more connections wait. A tenth is reserved for this computer, for trusted proxies and for addresses that sent a valid credential within the last hour. When the others are in use, more connections are closed."`
	MaxConnectionsPerAddress int           `key:"http.maxConnectionsPerAddress" from:"1" to:"100000" default:"250" doc:"Maximum number of connections from one address, except trusted proxies; more connections are closed. The addresses of an IPv6 /64 network count as one, and so do the addresses of this computer."`
	MaxBodyMemory            int           `key:"http.maxBodyMemory" from:"8" to:"1048576" unit:"MiB" default:"64" doc:"Memory in MiB for the bodies of all running requests. One credential can use a quarter of it. When all of it is in use, the answer is 503; when a credential's quarter is, 429. Bodies of up to 16 KiB do not count."`
	MaxSpool                 int           `key:"http.maxSpool" from:"0" to:"1048576" unit:"MiB" default:"2048" doc:"Space in MiB for temporary, encrypted files that hold the rest of lists above 8 MiB for slow clients. One credential can use a quarter of it. Beyond that, and with 0, such a list occupies its session until the client has read it. The same amount again is used to sort long lists; with 0 they are sorted in memory."`
	SpoolFolder              string        `key:"http.spoolFolder" is:"path" doc:"Folder of the files of http.maxSpool. If empty, the temporary folder of the service account."`
	ShutdownTimeout          time.Duration `key:"http.shutdownTimeout" live:"true" from:"0" to:"15s" zero:"default" default:"15s" doc:"How long running requests may continue when the server stops. Requests that wait for a session get 503 immediately."`
}

// TLS configures the server's certificate and client certificates.
type TLS struct {
	CertificateFile    string   `key:"tls.certificateFile" is:"path" doc:"Certificate of the server in PEM format, followed by intermediate certificates. Requires tls.keyFile."`
	KeyFile            string   `key:"tls.keyFile" is:"path" doc:"Unencrypted private key in PEM format. It can be in the same file as the certificate."`
	PFXFile            string   `key:"tls.pfxFile" is:"path" doc:"Certificate with its private key in one PFX (PKCS #12) file, instead of PEM files."`
	PFXPasswordFile    string   `key:"tls.pfxPasswordFile" is:"path" doc:"File whose only line is the password of the PFX file."`
	StoreThumbprint    string   `key:"tls.storeThumbprint" doc:"Thumbprint of a certificate in the Windows store LocalMachine\\My, instead of files."`
	StoreSubject       string   `key:"tls.storeSubject" doc:"Common name or DNS name of a certificate in that store. If several match, the one that expires last is used, so that renewal needs no change here."`
	MinVersion         string   `key:"tls.minVersion" oneOf:"1.2, 1.3" default:"1.2" doc:"Oldest TLS version that the server accepts."`
	ClientCAFile       string   `key:"tls.clientCAFile" is:"path" doc:"Certificates in PEM format of the authorities whose client certificates are accepted. If empty, the server requests no client certificates."`
	ClientCRLFiles     []string `key:"tls.clientCRLFiles" is:"path" doc:"Certificate revocation lists in PEM or DER format. With any list, a client certificate is refused if it is revoked, or if its authority has no current list. Changed files are loaded within seconds."`
	ClientCertificates string   `key:"tls.clientCertificates" oneOf:"optional, required" default:"optional" doc:"Whether client certificates are optional or required, if tls.clientCAFile is set."`
}

// Jobs configures lists of changes that run as one job.
type Jobs struct {
	MaxItems  int           `key:"jobs.maxItems" from:"1" to:"200000" default:"20000" doc:"Maximum number of items in a job."`
	MaxBytes  int           `key:"jobs.maxBytes" from:"1" to:"1024" unit:"MiB" default:"32" doc:"Maximum size in MiB of a job's list. http.maxBodyMemory must have room for it."`
	Running   int           `key:"jobs.running" from:"1" to:"100" default:"4" doc:"Maximum number of jobs that run at the same time; more jobs are held."`
	PerCaller int           `key:"jobs.perCaller" from:"1" to:"100" default:"2" doc:"Maximum number of jobs of one token or user that run at the same time."`
	Share     int           `key:"jobs.share" from:"1" to:"100" default:"50" doc:"Percentage of the sessions for the directory, and of those for DNS, that jobs may use at the same time; at least one session. The others are reserved for other calls."`
	Rate      int           `key:"jobs.rate" from:"0" to:"1000" default:"20" doc:"Maximum number of items of a job per second; 0 means no limit."`
	Keep      time.Duration `key:"jobs.keep" from:"1h" to:"2160h" default:"168h" doc:"How long jobs are kept with their items and results (168h is 7 days)."`
	MaxStored int           `key:"jobs.maxStored" from:"1" to:"1048576" unit:"MiB" default:"2048" doc:"Space in MiB for the lists and results of all jobs. One credential can use a quarter of it. A list takes about twice its size. Beyond that, new jobs are refused with 429 until others are removed."`
	Secrets   string        `key:"jobs.secrets" oneOf:"refuse, sealed" default:"refuse" doc:"Whether lists may contain passwords. refuse: no. sealed: yes, encrypted with a key for each job, which is destroyed when nothing is left to retry."`
}

// The values of jobs.secrets.
const (
	SecretsRefused = "refuse"
	SecretsSealed  = "sealed"
)

// Auth configures authentication.
type Auth struct {
	AllowQueryToken       bool          `key:"auth.allowQueryToken" doc:"Accept Auth-Token in the query string, for older clients."`
	Store                 string        `key:"auth.store" is:"path" doc:"File that contains tokens and users. If empty, credentials.json next to the settings file; the sandbox uses no file."`
	StaleMax              time.Duration `key:"auth.staleMax" from:"1m" to:"24h" default:"15m" doc:"How long shared tokens and users remain valid at a gateway that cannot reach the store. After that, it accepts none until it reaches the store."`
	Failures              int           `key:"auth.failures" from:"1" to:"1000" default:"5" doc:"Number of failed logins after which a user name is locked for the caller's address for a while."`
	Rate                  string        `key:"auth.rate" is:"rate" default:"none" doc:"Request rate for each token, user, certificate and signed-in person without one of its own. Roles can have one (\x60signIn.roles\x60)."`
	Concurrency           *int          `key:"auth.concurrency" from:"0" to:"1000000" default:"64" doc:"Number of concurrent requests for each credential without a limit of its own."`
	DeletionsPerHour      *int          `key:"auth.deletionsPerHour" from:"0" to:"1000000" default:"none" doc:"Number of objects that each credential without a limit of its own may delete per hour."`
	PasswordResetsPerHour *int          `key:"auth.passwordResetsPerHour" from:"0" to:"1000000" default:"none" doc:"Number of passwords that each credential without a limit of its own may reset per hour."`
	ChangesPerHour        *int          `key:"auth.changesPerHour" from:"0" to:"1000000" default:"none" doc:"Number of objects that each credential without a limit of its own may disable, rename, move or remove from groups per hour. Moving or renaming an OU counts every object below it."`
	RevealsPerHour        int           `key:"auth.revealsPerHour" from:"0" to:"1000000" default:"10" doc:"Number of local administrator passwords and BitLocker keys that each credential without a limit of its own may see per hour."`
}

// PowerShell configures the PowerShell that runs the scripts.
type PowerShell struct {
	Path      string   `key:"powershell.path" doc:"PowerShell to run. If empty, Windows PowerShell on Windows and pwsh elsewhere."`
	Arguments []string `key:"powershell.arguments" doc:"Arguments to pass to PowerShell before the gateway's own."`
}

// Pool configures the number of PowerShell sessions and their lifetime.
type Pool struct {
	DirectorySessions int           `key:"pool.directorySessions" from:"1" to:"64" default:"4" doc:"Number of PowerShell sessions for the directory. ADWS allows 5 connections per account and domain controller."`
	DNSSessions       int           `key:"pool.dnsSessions" from:"1" to:"64" default:"2" doc:"Number of PowerShell sessions for DNS."`
	MaxWait           time.Duration `key:"pool.maxWait" zero:"default" default:"10s" doc:"How long a request waits for a session before it gets 503."`
	MaxQueue          int           `key:"pool.maxQueue" from:"1" to:"100000" default:"256" doc:"Maximum number of requests that wait for a session of the directory, and of those that wait for one of DNS. Lists may take half of these places."`
	MaxRequests       int           `key:"pool.maxRequests" from:"1" to:"10000000" default:"50000" doc:"Approximate number of requests after which a session is replaced. A new session is slower for about 600 requests."`
	MaxAge            time.Duration `key:"pool.maxAge" zero:"default" default:"4h" doc:"Approximate age at which a session is replaced."`
	MaxMemory         int           `key:"pool.maxMemory" from:"64" to:"1048576" unit:"MiB" default:"1024" doc:"Private memory in MiB above which a session is replaced after a request."`
	StartTimeout      time.Duration `key:"pool.startTimeout" zero:"default" default:"60s" doc:"Time limit for the start of a session."`
	MaxList           int           `key:"pool.maxList" from:"1" to:"1048576" unit:"MiB" default:"4096" doc:"Size in MiB at which a list is cut off (a user takes 1.5 KB). Lists are streamed and not held in memory."`
}

// Servers configures the domain controllers and the DNS server.
type Servers struct {
	Controllers []string      `key:"servers.controllers" is:"hosts" doc:"Domain controllers to use, the preferred one first. If empty, Windows finds one."`
	DNSServer   string        `key:"servers.dnsServer" is:"host" doc:"DNS server to use. If empty, the domain controller in use."`
	ReturnAfter time.Duration `key:"servers.returnAfter" zero:"default" default:"10m" doc:"Time after a failover before the gateway tries the preferred server again. The gateways of a cluster do not return to it."`
}

// Limits are limits for a single request.
type Limits struct {
	BulkDelete    int      `key:"limits.bulkDelete" live:"true" from:"1" to:"100000" default:"50" doc:"Maximum number of objects that one request may delete."`
	StaleDays     int      `key:"limits.staleDays" live:"true" from:"1" to:"3650" default:"90" doc:"Days without a logon after which a computer counts as stale in the filter \x60stale eq true\x60."`
	GuardedGroups []string `key:"limits.guardedGroups" live:"true" is:"groups" doc:"Groups that give rights over the gateway and its hosts, by account name or DN. They and all their members need the scope privileged. If empty, the groups that the service account and the gateway's computer are in."`
	GuardedNames  []string `key:"limits.guardedNames" live:"true" is:"dnsNames" doc:"DNS names whose records need the scope privileged, besides those by which clients find this gateway: its host, its certificate, http.listen and its cluster. Add the names of a proxy and those that a wildcard certificate is used for."`
}

// Account configures the attributes of accounts.
type Account struct {
	Attributes []attributes.Site `key:"directory.userAttributes" takes:"a list of attributes with attribute, and optionally field, form, limit, values, unique and privileged" doc:"More attributes of users, which become fields of records, parameters and fields of filters. Each has attribute (LDAP display name) and optionally field (its name here), form (text, ascii or number), limit (maximum length, or the largest number), values (maximum number of values), unique and privileged. Attributes that give rights always need the scope privileged."`
}

// ACME configures the challenges of certificate authorities in DNS.
type ACME struct {
	TTL      int           `key:"acme.ttl" live:"true" from:"1" to:"86400" default:"60" doc:"Time to live in seconds of the records that answer challenges of certificate authorities."`
	Zones    []string      `key:"acme.zones" live:"true" is:"zones" doc:"Zones that contain only such records. There, a challenge can have any name; elsewhere its name must begin with _acme-challenge."`
	Accounts []ACMEAccount `key:"acme.accounts" live:"true" takes:"a list of accounts with subdomain, credential and name" doc:"Accounts of acme-dns clients: subdomain, credential and name (of the record, in full). The credential is token:ID or user:ID; it can also be the name of a token or user, but a later one of the same name inherits the account. 'adgateway acme account add' adds an account."`
}

// ACMEAccount lets a credential write the challenges for one name, as acme-dns clients do.
type ACMEAccount struct {
	Subdomain  string `field:"subdomain" need:"true"`                  // as sent by the client
	Credential string `field:"credential" is:"credential" need:"true"` // an [identity.Reference] to a token or user
	Name       string `field:"name" is:"dnsName" need:"true"`          // full name of the record
}

// ExternalDNS configures the webhook provider of ExternalDNS.
type ExternalDNS struct {
	Budget time.Duration `key:"externaldns.budget" live:"true" from:"1s" to:"1m" default:"10s" doc:"Time limit for the changes of one request of ExternalDNS. Changes beyond it get 500, and ExternalDNS sends them again in its next loop."`
}

// ExpiryNotice is how long before its expiry a credential deserves a warning.
const ExpiryNotice = 14 * 24 * time.Hour

// Store configures the data that the gateway stores beyond a request.
type Store struct {
	File    string `key:"store.file" is:"path" doc:"Encrypted file for plans, calls with an Idempotency-Key, the history of changes, the used parts of hourly limits and the sessions of the console. Its key is in the file of the same name with .key. If empty, state.db next to the settings file; the sandbox keeps them in memory. off: none are kept."`
	MinFree int    `key:"store.minFree" from:"0" to:"1048576" unit:"MiB" default:"64" doc:"Space in MiB to keep free on the disks of the store and the audit log. One credential can use a quarter of the space above it within a day. After that, it gets 429, and the other credentials are not affected. 0: all space can be used."`
}

// KeyFile returns the path of the file with the store's encryption key.
func (s Store) KeyFile() string { return s.File + ".key" }

// KeptFree returns the number of bytes to keep free on the disks of the store and the audit log.
func (s Store) KeptFree() uint64 { return uint64(s.MinFree) << 20 }

// ClusterFolder returns the folder that holds a gateway's data about its cluster. It is "" if there
// is no store, so the gateway cannot be in a cluster.
func (s Store) ClusterFolder() string {
	if s.File == "" || s.File == AuditOff {
		return ""
	}
	return filepath.Join(filepath.Dir(s.File), "cluster")
}

// Reason configures which changes must have a reason.
type Reason struct {
	Required []string `key:"reason.required" live:"true" is:"operations" doc:"Operations that need the parameter Reason: ids such as user.delete, or user.* for all that begin with user., or * for all."`
}

// Time configures the time zone in which days begin and end.
type Time struct {
	Zone string `key:"time.zone" is:"timeZone" default:"UTC" doc:"Time zone in which days end, such as an account's last day, and in which the console shows times unless a person chooses another. A name such as Europe/Berlin."`
}

// Location returns the time zone.
func (t Time) Location() *time.Location {
	if zone, err := time.LoadLocation(t.Zone); err == nil && t.Zone != "UTC" {
		return zone
	}
	return time.UTC // settings with an unknown zone are refused
}

// Names configures the names of objects in a cluster.
type Names struct {
	Hold time.Duration `key:"names.hold" from:"1m" to:"168h" default:"4h" doc:"In a cluster, how long a name that was used at one domain controller or DNS server is refused at another, which may not know it yet. Must be longer than the slowest replication."`
}

// Idempotency configures calls with an Idempotency-Key.
type Idempotency struct {
	Keep    time.Duration `key:"idempotency.keep" from:"1m" to:"168h" default:"24h" doc:"How long a call with an Idempotency-Key is kept. If it is repeated within this time, it gets the same answer."`
	MaxSize int           `key:"idempotency.maxSize" from:"1" to:"1048576" unit:"MiB" default:"1024" doc:"Space in MiB for calls with an Idempotency-Key and their answers. One credential can use a quarter of it. Beyond that, such calls are refused with 429."`
}

// Changes configures the history of changes.
type Changes struct {
	Keep    time.Duration `key:"changes.keep" from:"1h" to:"87600h" default:"2160h" doc:"How long changes stay in the history, where they can be undone (2160h is 90 days)."`
	MaxSize int           `key:"changes.maxSize" from:"1" to:"1048576" unit:"MiB" default:"1024" doc:"Space in MiB for the history. Beyond it, the oldest changes of the credential with the most are removed."`
}

// Events configures how clients are notified of changes.
type Events struct {
	Streams  int       `key:"events.sse" from:"1" to:"1000" default:"50" doc:"Maximum number of event streams at the same time. One credential can use a quarter of them."`
	Webhooks []Webhook `key:"events.webhooks" takes:"a list of webhooks with name, url, secretFile, and optionally caFile and types" doc:"Receivers of messages about changes and finished jobs. Each has name, url (https), secretFile (one line whsec_..., two during a rotation) and optionally caFile (authorities of its certificate) and types (change, job)."`
}

// Webhook is a receiver of messages about changes.
type Webhook struct {
	Name       string   `field:"name" is:"webhookName" need:"true"`
	URL        string   `field:"url" is:"webhookURL" need:"true"`
	SecretFile string   `field:"secretFile" is:"path" need:"true"`
	CAFile     string   `field:"caFile" is:"path"`          // empty means the system's authorities
	Types      []string `field:"types" oneOf:"change, job"` // empty means all
}

// Console configures the pages for people.
type Console struct {
	Procedures []Procedure `key:"console.procedures" takes:"a list of procedures with name, title and steps" doc:"Sets of related changes, each with one form in the console, besides those for somebody who joins, moves or leaves. Each has name, title (one text, or two, in English and German) and steps. A step is an operation with parameters; the form has a field for each name in braces. A procedure named join, move or leave replaces the built-in one; without steps, it removes that. See the page about procedures in the manual."`
}

// Procedure is a set of related changes with a single form on the pages.
type Procedure struct {
	Name  string   `field:"name" need:"true"`
	Title []string `field:"title"` // in English, and optionally in German
	Steps []string `field:"steps"` // operations with their parameters
}

// The values of a setting whose default differs between a gateway and the sandbox.
const (
	SwitchAuto = "auto"
	SwitchOn   = "on"
	SwitchOff  = "off"
)

// SignIn configures how people sign in to the pages.
type SignIn struct {
	Mode     string        `key:"signIn.mode" oneOf:"off, form, kerberos, form+kerberos" default:"off" doc:"How people sign in with their domain account, over HTTPS only. form: with name and password, to the console under /ui/. kerberos: with their Windows logon, to the console and the API. form+kerberos: both. off: not at all. The sandbox has its own people, who can use the form unless this is kerberos."`
	Keytab   string        `key:"signIn.keytab" is:"path" doc:"File with the keys of the service principal names HTTP/... that tickets are issued for. If empty, Windows checks tickets with the keys of the service account. The file is read at startup. Only the service may have access to it."`
	Bindings string        `key:"signIn.bindings" oneOf:"required, ifSent, off" default:"required" doc:"Whether a ticket must be bound to the TLS connection on which it arrives (channel bindings). required: always. ifSent: if the client sends them, for clients that cannot. off: never, for example if TLS ends at a proxy."`
	Roles    []Role        `key:"signIn.roles" takes:"a list of roles with group, scopes, and optionally name, limits, rate, concurrency, deletionsPerHour, passwordResetsPerHour, changesPerHour and revealsPerHour" doc:"What people may do after they sign in, by group (DOMAIN\\name or SID). Each role has group and scopes, and optionally name and the limits of a token: limits, rate, concurrency, deletionsPerHour, passwordResetsPerHour, changesPerHour and revealsPerHour. If a person has several roles, one role alone must allow the action. What a person does counts for all of them."`
	Domains  []string      `key:"signIn.domains" is:"zones" doc:"Domains whose accounts may sign in: DNS names, NetBIOS names and UPN suffixes. If empty, the domain of this computer."`
	Tokens   string        `key:"signIn.tokens" oneOf:"auto, on, off" default:"auto" doc:"Whether people can sign in to the console under /ui/ with a token, over HTTPS only. auto: on in the sandbox, otherwise off."`
	Idle     time.Duration `key:"signIn.idle" from:"1m" to:"8h" default:"15m" doc:"How long a session of the console lasts without a request from its person. Automatic updates of a page do not prolong it."`
	Max      time.Duration `key:"signIn.max" from:"1m" to:"24h" default:"8h" doc:"Maximum duration of a session of the console."`
	Recheck  time.Duration `key:"signIn.recheck" from:"1s" to:"1h" default:"5m" doc:"How often the gateway checks whether a signed-in person may still log on, and which groups they are in."`
	Tries    int           `key:"signIn.tries" from:"1" to:"10" default:"3" doc:"Number of wrong passwords of an account that the gateway passes on to the domain within the lockout window. It is less if the domain locks accounts out after fewer than five."`
}

// The modes in which people sign in with their account.
const (
	SignInForm     = "form"     // with name and password
	SignInKerberos = "kerberos" // with a ticket
	SignInBoth     = "form+kerberos"
)

// The values of the setting whether a ticket must be bound to the TLS connection on which it arrives.
// SwitchOff means that it need not be.
const (
	BindingsRequired = "required"
	BindingsIfSent   = "ifSent"
)

// Tickets reports whether people sign in with Kerberos tickets.
func (s SignIn) Tickets() bool { return s.Mode == SignInKerberos || s.Mode == SignInBoth }

// Role holds the rights of a group's members on the pages for people.
type Role struct {
	Group  string      `field:"group" need:"true"` // DOMAIN\name, or a SID
	Name   string      `field:"name"`              // for people; empty means the group's name
	Scopes []string    `field:"scopes" need:"true"`
	Limits TokenLimits `field:"limits"`
	Quota  Quota
}

// Quota limits each member of a role. Values that are not set come from [Auth].
type Quota struct {
	Rate                  string `field:"rate" is:"rate"` // empty if unset
	Concurrency           *int   `field:"concurrency"`
	DeletionsPerHour      *int   `field:"deletionsPerHour"`
	PasswordResetsPerHour *int   `field:"passwordResetsPerHour"`
	ChangesPerHour        *int   `field:"changesPerHour"`
	RevealsPerHour        *int   `field:"revealsPerHour"`
}

// Plans configures plans of changes that dry runs make.
type Plans struct {
	MaxSize     int           `key:"plans.maxSize" from:"1" to:"1048576" unit:"MiB" default:"256" doc:"Space in MiB for plans. One credential can use a quarter of it; beyond that, its oldest plans are removed."`
	Life        time.Duration `key:"plans.life" live:"true" from:"1m" to:"24h" default:"30m" doc:"How long the plan of a dry run can be applied."`
	OtherCaller bool          `key:"plans.otherCaller" live:"true" doc:"Allow a credential to apply the plan of another, with its own scopes and limits. The audit log names both."`
}

// Audit configures the audit log.
type Audit struct {
	File       string        `key:"audit.file" is:"path" doc:"File in which every change is recorded. If empty, audit.jsonl next to the settings file; the sandbox has none. off: no audit log."`
	KeyFile    string        `key:"audit.keyFile" is:"path" doc:"File with a key of at least 32 bytes for the hash chain of the audit log. Without the key, nobody can rewrite the whole log unnoticed. If empty, the hashes have no key."`
	MaxSize    int           `key:"audit.maxSize" from:"1" to:"100000" unit:"MiB" default:"100" doc:"Size in MiB at which the audit file is rotated."`
	MaxAge     time.Duration `key:"audit.maxAge" default:"24h" doc:"Age at which the audit file is rotated. 0s: only its size counts."`
	KeepFor    time.Duration `key:"audit.keepFor" default:"2160h" doc:"Minimum time that records of the audit log are kept (2160h is 90 days). Older files are removed. 0s: all are kept."`
	MaxTotal   int           `key:"audit.maxTotal" from:"0" to:"1073741824" unit:"MiB" default:"40960" doc:"Space in MiB for all audit files. When it is used up and no file is older than audit.keepFor, changes are refused with 503. 0: no limit."`
	AnchorFile string        `key:"audit.anchorFile" is:"path" doc:"File that also records the end of the audit log, best on another disk. It shows whether the whole log was removed. If empty, the name of the key file with .anchor, or no file if there is no key. off: no file."`
	Checkpoint time.Duration `key:"audit.checkpoint" default:"10m" doc:"How often the end of a growing audit log is written to audit.anchorFile, the service's log and the event log. 0s: only at start, stop and rotation."`
	EventLog   string        `key:"audit.eventLog" oneOf:"changes, all, off" default:"changes" doc:"Calls that are also written to the Windows event log when the gateway runs as a service. changes: made, refused and failed changes. all: refused callers, too. off: none."`
	Mirror     string        `key:"audit.mirror" oneOf:"on, off" default:"on" doc:"Whether a gateway of a cluster copies its audit log to the shared store. The file remains the evidence, and no change waits for the copy."`
	MirrorKeep time.Duration `key:"audit.mirrorKeep" from:"1h" to:"87600h" default:"9600h" doc:"How long these copies are kept (9600h is 400 days)."`
	Witness    time.Duration `key:"audit.witness" from:"1s" to:"1h" default:"60s" doc:"How often a gateway of a cluster sends the end of its audit log to the other gateways. They record it in their own logs, where 'adgateway cluster verify' uses it to detect a truncated log."`
	Reads      bool          `key:"audit.reads" doc:"Also record requests that only read."`
}

// Anchor returns the path of the file that also records the end of the log, or "".
func (a Audit) Anchor() string {
	switch {
	case a.AnchorFile == AuditOff:
		return ""
	case a.AnchorFile == "" && a.KeyFile != "":
		return a.KeyFile + ".anchor"
	}
	return a.AnchorFile
}

// AuditOff is the value of audit.file that switches the audit log off, and of audit.anchorFile that
// switches the anchor off.
const AuditOff = "off"

// Metrics configures who may read the metrics.
type Metrics struct {
	OpenOnLoopback bool `key:"metrics.openOnLoopback" default:"true" doc:"Allow clients on the gateway's computer to read /metrics without a credential. All others need the scope ops:read."`
}

// Docs configures the documentation that the server serves.
type Docs struct {
	Enabled bool `key:"docs.enabled" default:"true" doc:"Serve the manual at /manual, the description of the API at /openapi.json and the page /docs to everyone who can connect."`
}

// Memory configures the garbage collector of the gateway process.
type Memory struct {
	GCPercent int `key:"memory.gcPercent" from:"10" to:"10000" default:"400" doc:"How much the gateway's memory may grow before garbage collection, in percent of the memory in use. A higher value uses more memory and less processor time. Above 64 MiB in use it decreases, to 100 from 200 MiB on. The environment variable GOGC takes precedence."`
	Limit     int `key:"memory.limit" from:"0" to:"1048576" unit:"MiB" default:"2048" doc:"Memory in MiB near which garbage is collected more often. It does not limit the memory that the gateway uses. 0: none. The environment variable GOMEMLIMIT takes precedence."`
}

// Log configures the log.
type Log struct {
	Format   string `key:"log.format" live:"true" oneOf:"text, json" default:"text" doc:"Format of the log."`
	Level    string `key:"log.level" live:"true" oneOf:"debug, info, warn, error" default:"info" doc:"Minimum severity of log entries."`
	File     string `key:"log.file" is:"path" doc:"Log file. If empty, standard error; for the Windows service, logs\\adgateway.log next to its settings file."`
	MaxSize  int    `key:"log.maxSize" from:"1" to:"10000" unit:"MiB" default:"20" doc:"Size in MiB at which the log file is rotated."`
	MaxFiles int    `key:"log.maxFiles" from:"1" to:"1000" default:"10" doc:"Number of rotated log files to keep."`
}

// Sandbox configures the sandbox.
type Sandbox struct {
	LDIF           []string      `key:"sandbox.ldif" doc:"LDIF files loaded into the simulated directory."`
	Zones          []string      `key:"sandbox.zones" doc:"Zone files loaded into the simulated DNS server."`
	GeneratedUsers int           `key:"sandbox.generatedUsers" from:"0" to:"1000000" default:"0" doc:"Number of additional users to generate."`
	Empty          bool          `key:"sandbox.empty" doc:"Leave out the built-in domain. The domain is then the topmost domainDNS entry in the LDIF files."`
	Seed           int           `key:"sandbox.seed" from:"0" to:"2147483647" default:"1" doc:"Seed of all generated data. The same seed gives the same domain."`
	Culture        string        `key:"sandbox.culture" oneOf:"en-US, de-DE" default:"en-US" doc:"Language of the simulated Windows messages."`
	ReplicationLag time.Duration `key:"sandbox.replicationLag" default:"0s" doc:"Time until a change reaches the second domain controller."`
	RecycleBin     bool          `key:"sandbox.recycleBin" default:"true" doc:"Whether the Recycle Bin of the simulated directory is enabled."`
	SetRemovesPTR  bool          `key:"sandbox.dns.setRemovesPtr" default:"true" doc:"Whether changing an A or AAAA record in the simulated DNS removes its PTR record, as Windows may do."`
	Processes      bool          `key:"sandbox.processes" doc:"Run each session of the sandbox in its own process, like PowerShell."`
	Engine         string        `key:"sandbox.engine" default:"sandbox" doc:"Engine that runs the scripts of the sandbox: sandbox (its own engine), pwsh, powershell, or the path of a PowerShell."`
	Domain         string        `key:"sandbox.domain" doc:"Address of the process, started with 'adgateway sandbox domain', that holds the simulated domain for several gateways. If empty, this process holds its own domain."`
	TicketFile     string        `key:"sandbox.ticketFile" doc:"File with the ticket that the process of sandbox.domain wrote."`
	GatewayName    string        `key:"sandbox.gatewayName" default:"gw1" doc:"Name of this gateway in the domain of sandbox.domain."`
	Account        string        `key:"sandbox.account" doc:"Account with which the sessions connect to the domain controllers of sandbox.domain, which count connections by account. If empty, the account that all gateways share."`
	Clock          time.Duration `key:"sandbox.clock" default:"0s" doc:"How far the clock of sandbox.domain is ahead of the clock of this computer."`
	Tokens         []Token       `key:"sandbox.tokens" takes:"a list of tokens with value (or the subject of a client certificate), scopes, dialect, secretsInQuery and limits" doc:"Bearer tokens of the sandbox: value, or subject of a client certificate, and scopes, dialect, secretsInQuery and limits {ous, zones, groups, names}."`
	Users          []User        `key:"sandbox.users" takes:"a list of users with name, password, scopes and limits" doc:"Users of the sandbox who send name and password: name, password, scopes and limits {ous, zones, groups, names}."`
}

// Token is a bearer token of the sandbox.
type Token struct {
	Value string `field:"value" secret:"true"`
	// Subject is the subject of a client certificate that is accepted in place of the token.
	Subject string      `field:"subject"`
	Scopes  []string    `field:"scopes"`                            // empty means all
	Dialect string      `field:"dialect" oneOf:"standard, classic"` // empty means http.dialect
	InQuery bool        `field:"secretsInQuery"`                    // passwords may be sent in the query
	Limits  TokenLimits `field:"limits"`
}

// TokenLimits restrict what a token can see and change. An empty list means no limit.
type TokenLimits struct {
	OUs    []string `field:"ous"`
	Zones  []string `field:"zones"`
	Groups []string `field:"groups"`
	Names  []string `field:"names"`
}

// User is a caller of the sandbox that sends a name and a password (Basic).
type User struct {
	Name     string      `field:"name" need:"true"`
	Password string      `field:"password" secret:"true" need:"true"`
	Scopes   []string    `field:"scopes"` // empty means all
	Limits   TokenLimits `field:"limits"`
}

// Default returns the default settings.
func Default() *Settings {
	s := &Settings{}
	for _, row := range Rows() {
		if err := row.setText(s, row.Default); err != nil {
			panic("config: default of " + row.Key + ": " + err.Error()) // a defect of the table
		}
	}
	return s
}
