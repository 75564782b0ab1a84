package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"

	"adgateway/cmd/adgateway/app/options"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/gateway/store"
	"adgateway/gateway/tlscert"
	"adgateway/gateway/ui/procedure"
	"adgateway/gateway/webhooks"
)

// Check checks everything that the settings refer to, without changing anything: the certificate and its key,
// the client CAs, the audit log and its key, the store and its key, the files of webhooks, the policy,
// and whether the address may be served without TLS. It joins all errors, so that they are reported together
// before the gateway listens. db is the system's certificate store, or nil if the system has none.
func Check(ctx context.Context, settings *config.Settings, db tlscert.Store) error {
	_, err := Certificate(settings, db)
	if errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	faults := []error{err}
	if audited(settings.Audit) {
		_, err := AuditKey(settings.Audit.KeyFile)
		faults = append(faults, filefault.Usable("audit.file", settings.Audit.File), err)
		if anchor := settings.Audit.AnchorFile; anchor != "" && anchor != config.AuditOff {
			faults = append(faults, filefault.Usable("audit.anchorFile", anchor))
		}
	}
	if file := settings.Store.File; file != "" && file != config.AuditOff {
		faults = append(faults, filefault.Usable("store.file", file),
			filefault.Explain(storeKey, store.CheckKey(settings.Store.KeyFile())))
	}
	faults = append(faults, checkWebhooks(settings)...)
	_, err = proceduresOf(settings)
	faults = append(faults, err)
	policy := options.Policy(settings)
	return errors.Join(append(faults, policy.Check(), checkAddress(ctx, settings))...)
}

// proceduresOf returns the procedures of the pages.
func proceduresOf(settings *config.Settings) ([]*procedure.Procedure, error) {
	var given []procedure.Given
	for _, p := range settings.Console.Procedures {
		given = append(given, procedure.Given{Name: p.Name, Title: p.Title, Steps: p.Steps})
	}
	all, err := procedure.All(given)
	if err != nil {
		return nil, fmt.Errorf("console.procedures: %w", err)
	}
	return all, nil
}

// checkWebhooks checks the files of the webhooks.
func checkWebhooks(settings *config.Settings) (faults []error) {
	for _, w := range settings.Events.Webhooks {
		_, err := webhooks.ReadSecrets(w.SecretFile)
		faults = append(faults, filefault.Explain("events.webhooks (secretFile of "+w.Name+")",
			inFile(w.SecretFile, err)))
		if w.CAFile != "" {
			_, err = webhooks.ReadCA(w.CAFile)
			faults = append(faults, filefault.Explain("events.webhooks (caFile of "+w.Name+")", inFile(w.CAFile, err)))
		}
	}
	return faults
}

// inFile adds the file to an error about its content.
func inFile(path string, err error) error {
	var named *fs.PathError
	if err == nil || errors.As(err, &named) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// checkAddress checks whether the address in http.listen may be
// exposed. A host name that does not resolve is left to [Listen].
func checkAddress(ctx context.Context, settings *config.Settings) error {
	host, _, err := net.SplitHostPort(settings.HTTP.Listen)
	if err != nil {
		return nil
	}
	addresses := []netip.Addr{netip.IPv6Unspecified()}
	if host != "" {
		if addresses, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host); err != nil {
			return nil
		}
	}
	for _, address := range addresses {
		if checkExposure(settings, address) == nil {
			return nil // Listen decides on the address it takes
		}
	}
	return checkExposure(settings, addresses[0])
}
