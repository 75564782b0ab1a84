package app

import (
	"bytes"
	"fmt"
	"os"

	"adgateway/gateway/audit"
	"adgateway/gateway/bounds"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/winsvc/events"
)

// auditReserve is the size of the disk space reserved for the audit log, in bytes.
const auditReserve = 16 << 20

// openAudit opens the audit log of the settings, or returns nil if it is switched off. Its head and its
// errors are also written to the system's event log, which an intruder who can only change the gateway's
// files cannot reach.
func openAudit(o Options, calls *callEvents, room *bounds.Room) (*audit.Log, error) {
	c := o.Settings.Audit
	if !audited(c) {
		return nil, nil
	}
	key, err := AuditKey(c.KeyFile)
	if err != nil {
		return nil, err
	}
	options := audit.Options{
		File: c.File, Key: key, MaxSize: int64(c.MaxSize) << 20, MaxAge: c.MaxAge, Reads: c.Reads,
		KeepFor: c.KeepFor, MaxTotal: int64(c.MaxTotal) << 20, Anchor: c.Anchor(), Checkpoint: c.Checkpoint,
		Gateway: GatewayName(o), Reserve: auditReserve, Low: room.Low,
		Notice: func(message string, fields map[string]any) { auditNotice(o, message, fields) },
	}
	if calls != nil {
		options.Recorded = calls.record
	}
	return audit.Open(options)
}

// auditNotice logs a message of the audit log.
func auditNotice(o Options, message string, fields map[string]any) {
	entry := o.Log.WithFields(fields)
	fault, failed := fields["error"]
	if failed {
		entry.Error(message)
	} else {
		entry.Info(message)
	}
	switch {
	case o.Event == nil:
	case failed:
		o.Event(events.AuditTrouble, fmt.Sprintf("%s: %v", message, fault))
	case fields["hash"] != nil:
		o.Event(events.AuditEnd, fmt.Sprintf("%s: its end is %v:%v (%v)", message, fields["sequence"],
			fields["hash"], fields["file"]))
	}
}

// audited reports whether the settings name an audit log.
func audited(c config.Audit) bool { return c.File != "" && c.File != config.AuditOff }

// AuditKey reads the key of the audit log's hash chain and trims
// surrounding white space. It returns nil if file is empty.
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
		return nil, fmt.Errorf("audit.keyFile: %s holds %d bytes: a key has at least %d random bytes", file,
			len(text), shortest)
	}
	return text, nil
}
