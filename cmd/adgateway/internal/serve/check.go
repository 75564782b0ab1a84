package serve

import (
	"context"
	"errors"
	"fmt"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/settings"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/winsvc/host"
)

// Check checks what [Prepare] checks before the gateway listens, without changing,
// opening or listening on anything. file is that of the settings.
func Check(ctx context.Context, cfg *config.Settings, file string) error {
	_, err := PowerShell(cfg.PowerShell, "")
	faults := []error{err, checkFolders(cfg.PowerShell), app.Check(ctx, cfg, host.Certificates()), checkStore(settings.CredentialFile(cfg.Auth, file).Path)}
	if cfg.Log.File != "" {
		faults = append(faults, filefault.Usable("log.file", cfg.Log.File))
	}
	if cfg.HTTP.SettlePause >= cfg.HTTP.SettleTimeout {
		faults = append(faults, fmt.Errorf("http.settlePause: %s is not shorter than http.settleTimeout (%s), so that no second look would be left", cfg.HTTP.SettlePause, cfg.HTTP.SettleTimeout))
	}
	return errors.Join(faults...)
}

// checkStore checks that the credential file can be read or created.
func checkStore(path string) error { return filefault.Usable("auth.store", path) }
