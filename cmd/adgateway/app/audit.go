package app

import (
	"bytes"
	"fmt"
	"os"

	"adgateway/gateway/audit"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"

	"github.com/sirupsen/logrus"
)

// openAudit opens the audit log of the settings, or returns nil if it is switched
// off.
func openAudit(c config.Audit, log *logrus.Logger) (*audit.Log, error) {
	if !audited(c) {
		return nil, nil
	}
	key, err := AuditKey(c.KeyFile)
	if err != nil {
		return nil, err
	}
	return audit.Open(audit.Options{
		File: c.File, Key: key, MaxSize: int64(c.MaxSize) << 20, MaxAge: c.MaxAge, Keep: c.Keep, Reads: c.Reads,
		Notice: func(message string, fields map[string]any) {
			entry := log.WithFields(fields)
			if _, failed := fields["error"]; failed {
				entry.Error(message)
			} else {
				entry.Info(message)
			}
		},
	})
}

// audited reports whether the settings name an audit log.
func audited(c config.Audit) bool { return c.File != "" && c.File != config.AuditOff }

// AuditKey reads the key of the audit log's hash chain, trimmed of surrounding
// white space. Without a file there is no key.
func AuditKey(file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	const shortest = 32
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, filefault.Explain("audit.keyFile", err)
	}
	if text = bytes.TrimSpace(text); len(text) < shortest {
		return nil, fmt.Errorf("audit.keyFile: %s holds %d bytes: a key has at least %d random bytes", file, len(text), shortest)
	}
	return text, nil
}
