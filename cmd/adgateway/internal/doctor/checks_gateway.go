package doctor

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"adgateway/gateway/config"
	"adgateway/gateway/store"
)

func gatewayChecks() []Check {
	return []Check{
		{
			Name: "certificate", Page: "certificate",
			About: "the certificate is valid, for the name that clients use",
			How:   "reads the certificate and its key as the gateway does",
			Faults: []Fault{
				{"unusable", Failure, "The certificate cannot be served: {error}", "Fix what it names; in the Windows store the service's account needs the right to read the private key (certlm.msc, All Tasks, Manage Private Keys)."},
				{"expires", Warning, "The certificate of {subject} ends on {date}, in {days} days.", "Renew it in its current place, such as with 'adgateway tls request' and 'adgateway tls import'; the gateway uses it without a restart."},
				{"name", Warning, "The certificate is for {names}, but this computer is called {host}.", "Get a certificate whose DNS names include the name that clients use."},
				{"none", Warning, "Nothing is encrypted on {listen}, which other machines can reach.", "Get one with 'adgateway tls request', or one that signs itself with 'adgateway tls selfsigned', and set tls.certificateFile with tls.keyFile, or tls.storeThumbprint; or make sure that only a proxy that encrypts can connect."},
			},
			probe: probeCertificate,
		},
		{
			Name: "port", Page: "network#firewall", About: "the gateway can listen where it should",
			How: "opens http.listen and closes it again",
			Faults: []Fault{
				{"taken", Failure, "{listen} is in use by {holder}.", "Stop that program, or set http.listen."},
				{"reserved", Failure, "{listen} may not be used: the port is reserved or needs more rights.", "See 'netsh int ipv4 show excludedportrange tcp', or set http.listen."},
				{"refused", Failure, "The gateway cannot listen: {error}", "Correct http.listen, or what the error names."},
			},
			probe: probePort,
		},
		{
			Name: "files", Page: "limits#files-that-decide",
			About: "the gateway can write its files, and nobody else can read them",
			How:   "reads the access rights of settings, credentials, audit log, keys and logs, and writes a file next to each that must be writable",
			Faults: []Fault{
				{"not-writable", Failure, "{path} ({use}) cannot be written: {error}", "Give the service's account the right to change it. In PowerShell: icacls '{folder}' /grant 'DOMAIN\\name$:(OI)(CI)M'"},
				{"not-there", Failure, "{path} ({use}) does not exist.", "Create it, or correct the setting {use}."},
				{"others-write", Failure, "Others may change {path} ({use}): {error}", "Revoke that right: 'adgateway service install' does so for everything in the gateway's own folder; elsewhere, in PowerShell: icacls '{path}' /inheritance:r /grant:r '*S-1-5-18:F' '*S-1-5-32-544:F' 'DOMAIN\\name$:M' (SYSTEM, administrators, the service). Not on Windows: chmod 600 '{path}'"},
				{"others-read", Warning, "{path} ({use}) can be read by {readers}, and may contain secrets.", "Revoke that right: 'adgateway service install' does so for everything in the gateway's own folder; elsewhere, in PowerShell: icacls '{path}' /inheritance:r /grant:r '*S-1-5-18:F' '*S-1-5-32-544:F' 'DOMAIN\\name$:M' (SYSTEM, administrators, the service). Not on Windows: chmod 600 '{path}'"},
			},
			probe: probeFiles,
		},
		{
			Name: "disk", Page: "audit#how-long",
			About: "there is space for the audit log and the logs",
			How:   "reads the free space of their disks",
			Faults: []Fault{
				{"full", Failure, "Only {free} are free at {path}: changes are rejected when the audit log cannot be written.", "Free some space, or set audit.file and log.file to another disk."},
				{"kept", Failure, "{free} are free at {path}, and store.minFree keeps {kept} of them free: callers get 429 for all that would be kept of their calls.", "Free some space, or lower store.minFree."},
				{"low", Warning, "Only {free} are free at {path}.", "Free some space, lower audit.maxTotal or audit.keepFor, or set audit.file and log.file to another disk."},
			},
			probe: probeDisk,
		},
		{
			Name: "store", Page: "backup#restore",
			About: "the store has all that it acknowledged",
			How:   "reads the head of store.file",
			Faults: []Fault{
				{"rewound", Warning, "{error}.", store.AfterRewind},
			},
			probe: probeStore,
		},
		{
			Name: "webhooks", Page: "webhooks",
			About: "the receivers of webhooks can be reached",
			How:   "connects to each of events.webhooks as the gateway does, and sends nothing",
			Faults: []Fault{
				{"unreachable", Warning, "The webhook {name} cannot be delivered: {error}", "Correct its url or caFile, or let the gateway through the firewall to it; what it is to be told waits for 24 hours. 'GET /readyz' and the log say what the running gateway finds."},
			},
			probe: probeWebhooks,
		},
		{
			Name: "credentials", Page: "tokens",
			About: "somebody can call the API",
			How:   "reads auth.store",
			Faults: []Fault{
				{"unreadable", Failure, "The file of tokens and users cannot be used: {error}", "Correct the lines named, or restore the file from a backup."},
				{"none", Warning, "There are no tokens and users: nobody can call the API.", "Run 'adgateway token create NAME --scope SCOPE,...'."},
				{"all-expired", Warning, "All tokens and users have expired: nobody can call the API.", "Run 'adgateway token create NAME --scope SCOPE,...', and remove the old ones with 'adgateway token revoke NAME'."},
				{"expired", Warning, "Expired: {names}.", "Remove them with 'adgateway token revoke NAME' or 'adgateway user remove NAME', and create new ones where they are still needed."},
				{"expiring", Warning, "Expires within 14 days: {names}.", "Create new ones in time with 'adgateway token create NAME --scope SCOPE,...'; 'adgateway token list' shows when each expires."},
			},
			probe: probeCredentials,
		},
	}
}

// endsSoon is how long before its expiry a certificate causes a warning.
const endsSoon = 30 * 24 * time.Hour

func probeCertificate(_ context.Context, x *exam) verdict {
	host, _, _ := net.SplitHostPort(x.settings.HTTP.Listen)
	c, err := x.Certificate(x.settings)
	var v verdict
	switch {
	case errors.Is(err, errors.ErrUnsupported): // the settings name no certificate
		if address := net.ParseIP(host); host == "localhost" || address != nil && address.IsLoopback() {
			return skipped("no certificate is set, and only this machine can reach %s", x.settings.HTTP.Listen)
		}
		v.found = "none is set"
		v.hit("none", "listen", x.settings.HTTP.Listen)
		return v
	case err != nil:
		v.hit("unusable", "error", oneLine(err))
		return v
	}
	left := c.Ends.Sub(x.Now())
	v.found = fmt.Sprintf("%s, until %s", c.Subject, c.Ends.UTC().Format(time.DateOnly))
	if left < endsSoon {
		v.hit("expires", "subject", c.Subject, "date", c.Ends.UTC().Format(time.DateOnly), "days",
			strconv.Itoa(int(left.Hours()/24)))
	}
	names := x.Names()
	if len(names) > 0 && !slices.ContainsFunc(names, c.covers) {
		v.hit("name", "names", orNone(strings.Join(c.Names, ", ")), "host", strings.Join(names, ", "))
	}
	return v
}

// covers reports whether the certificate is valid for a host name.
func (c Certificate) covers(name string) bool {
	return (&x509.Certificate{DNSNames: c.Names}).VerifyHostname(name) == nil
}

func probePort(ctx context.Context, x *exam) verdict {
	address := x.settings.HTTP.Listen
	err := x.Listen(ctx, x.settings)
	v := verdict{found: address + " is free"}
	switch {
	case err == nil:
	case errors.Is(err, ErrPortTaken):
		holder := x.PortHolder(ctx, address)
		if strings.Contains(holder, "(adgateway") || holder == "" && x.service.Running {
			v.found = address + " is in use by the gateway itself, which is running"
			return v
		}
		v.found = ""
		if holder == "" {
			holder = "another process"
		}
		v.hit("taken", "listen", address, "holder", holder)
	case errors.Is(err, ErrPortForbidden):
		v.found = ""
		v.hit("reserved", "listen", address)
	default:
		v.found = ""
		v.hit("refused", "error", oneLine(err))
	}
	return v
}

// keptFiles returns the files that the gateway uses.
func (x *exam) keptFiles() []config.File { return x.settings.Uses(x.file) }

func probeFiles(_ context.Context, x *exam) verdict {
	files := x.keptFiles()
	v := verdict{found: fmt.Sprintf("%d files checked", len(files))}
	for _, f := range files {
		values := []string{"path", f.Path, "use", f.Use, "folder", filepath.Dir(f.Path)}
		readers, err := x.Exposed(f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if f.Required {
				v.hit("not-there", values...)
			}
		case err != nil:
			v.hit("others-write", append(values, "error", oneLine(err))...)
		case readers != "" && f.Secret:
			v.hit("others-read", append(values, "readers", readers)...)
		}
		if f.Written && !f.Folder {
			if err := x.Writable(f.Path); err != nil {
				v.hit("not-writable", append(values, "error", oneLine(err))...)
			}
		}
	}
	return v
}

// Limits of the free space.
const (
	fullDisk = 100 << 20
	lowDisk  = 1 << 30
)

func probeDisk(_ context.Context, x *exam) verdict {
	var v verdict
	var found, seen []string
	for _, f := range x.keptFiles() {
		folder := filepath.Dir(f.Path)
		if !f.Written || slices.Contains(seen, folder) {
			continue
		}
		seen = append(seen, folder)
		free, err := x.Free(folder)
		if err != nil {
			return failed(err)
		}
		amount := mebibytes(free)
		found = append(found, amount+" free at "+folder)
		switch {
		case free < fullDisk:
			v.hit("full", "free", amount, "path", folder)
		case f.Use != "log.file" && free <= x.settings.Store.KeptFree():
			v.hit("kept", "free", amount, "path", folder, "kept", mebibytes(x.settings.Store.KeptFree()))
		case free < lowDisk:
			v.hit("low", "free", amount, "path", folder)
		}
	}
	v.found = strings.Join(found, "; ")
	return v
}

func mebibytes(n uint64) string { return fmt.Sprintf("%d MiB", n>>20) }

func probeStore(_ context.Context, x *exam) verdict {
	file := x.settings.Store.File
	if file == "" || file == config.AuditOff {
		return skipped("there is none")
	}
	v := verdict{found: file}
	if err := x.Rewound(file); err != nil {
		v.hit("rewound", "error", oneLine(err))
	}
	return v
}

func probeWebhooks(ctx context.Context, x *exam) verdict {
	all := x.settings.Events.Webhooks
	if len(all) == 0 {
		return skipped("there are none")
	}
	v := verdict{found: fmt.Sprintf("%d checked", len(all))}
	for _, w := range all {
		if err := x.Receiver(ctx, w); err != nil {
			v.hit("unreachable", "name", w.Name, "error", oneLine(err))
		}
	}
	return v
}

func probeCredentials(ctx context.Context, x *exam) verdict {
	if in, err := x.Cluster(ctx, x.settings); err == nil && in.Gateway != "" {
		return skipped("the gateways of the cluster share them: 'adgateway token list' shows them")
	}
	found, err := x.Credentials(x.settings.Auth.Store)
	v := verdict{found: fmt.Sprintf("%d tokens and users", len(found))}
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(found) == 0:
		v.hit("none")
		return v
	case err != nil:
		v.found = ""
		v.hit("unreadable", "error", oneLine(err))
		return v
	}
	now := x.Now()
	var expired, expiring []string
	for _, c := range found {
		switch {
		case c.Expires.IsZero():
		case !now.Before(c.Expires):
			expired = append(expired, c.Name)
		case c.Expires.Sub(now) < config.ExpiryNotice:
			expiring = append(expiring, c.Name)
		}
	}
	if len(expired) == len(found) {
		v.hit("all-expired")
	} else if len(expired) > 0 {
		v.hit("expired", "names", strings.Join(expired, ", "))
	}
	if len(expiring) > 0 {
		v.hit("expiring", "names", strings.Join(expiring, ", "))
	}
	return v
}
