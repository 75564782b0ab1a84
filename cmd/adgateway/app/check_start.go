package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/authn"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/winsvc/host"
)

// CheckStart returns, joined, all reasons why a gateway with these settings cannot start, except that
// its port may be in use. [Prepare] begins with it. It changes nothing. file is the settings file.
func CheckStart(ctx context.Context, cfg *config.Settings, file string) error {
	_, err := PowerShell(cfg.PowerShell, "")
	_, peopleErr := domainPeople(cfg.SignIn)
	_, rights := exposed(withStore(cfg, file), "") // the settings were trusted when they were read
	return errors.Join(err, peopleErr, checkFolders(cfg.PowerShell), rights, checkFiles(ctx, cfg),
		checkListen(ctx, cfg), checkStore(program.CredentialFile(cfg.Auth, file)))
}

// CheckSandbox is [CheckStart] for a gateway over a simulated domain, which needs no PowerShell.
func CheckSandbox(ctx context.Context, cfg *config.Settings) error {
	_, _, err := staticCredentials(cfg)
	_, engineErr := NewEngine(cfg.Sandbox)
	_, rights := exposed(cfg, "")
	_, ticketErr := ticketsOf(cfg.SignIn, nil)
	return errors.Join(err, engineErr, rights, ticketErr, checkFiles(ctx, cfg), checkListen(ctx, cfg),
		checkData(cfg.Sandbox), checkDomain(cfg))
}

// checkFiles checks the files that a gateway and a sandbox both use.
func checkFiles(ctx context.Context, cfg *config.Settings) error {
	faults := []error{Check(ctx, cfg, host.Certificates())}
	if cfg.Log.File != "" {
		faults = append(faults, filefault.Usable("log.file", cfg.Log.File))
	}
	for key, path := range map[string]string{
		"log.file": cfg.Log.File, "audit.file": cfg.Audit.File, "audit.anchorFile": cfg.Audit.Anchor(), "store.file": cfg.Store.File,
	} {
		// otherwise it has already been reported
		if path != "" && path != config.AuditOff && filefault.Usable(key, path) == nil {
			faults = append(faults, filefault.Explain(key, host.Writable(path)))
		}
	}
	return errors.Join(faults...)
}

// checkListen returns an error if nothing can listen on the address even when
// its port is free. [Check] checks whether the settings allow the address.
func checkListen(ctx context.Context, cfg *config.Settings) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.HTTP.Listen)
	if err == nil {
		return listener.Close()
	}
	if PortTaken(err) {
		return nil
	}
	return explainListen(ctx, cfg.HTTP.Listen, err)
}

// checkStore checks the content of the credential file, or that a gateway can create the file.
func checkStore(file authn.File) error {
	const name = "auth.store (--store)"
	err := readStore(file)
	if errors.Is(err, fs.ErrNotExist) {
		if err = filefault.Usable(name, file.Path); err == nil {
			err = filefault.Explain(name, host.Writable(file.Path))
		}
	}
	return err
}

// readStore reads the credential file, and returns every mistake in it.
func readStore(file authn.File) error {
	if _, _, err := file.Read(); err != nil {
		return fmt.Errorf("credentials:\n%w", err)
	}
	return nil
}
