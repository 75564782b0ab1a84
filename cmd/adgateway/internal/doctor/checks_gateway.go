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
)

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
			v.found = address + " is in use by the running gateway"
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
		return skipped("no store is set")
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
		return skipped("no webhooks are set")
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
