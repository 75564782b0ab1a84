// Package events defines the entries that a gateway and its node write to the system's event log
// (Application, source adgateway). [List] contains all of them. Collectors of events rely on ids, so an id is
// never reused for another event.
package events

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Level is the severity of an event.
type Level uint8

// The levels.
const (
	Info Level = iota
	Warning
	Error
)

// String returns the name of the level in the event log.
func (l Level) String() string { return [...]string{"Information", "Warning", "Error"}[l] }

// Event is a kind of entry.
type Event struct {
	ID    uint32
	Level Level
	Name  string // also the value of the field "event" in the service's log
	About string
}

// Failed is the difference between the id of a change and the id of the same change when the change was
// refused or failed.
const Failed = 50

// The events of the service itself.
var (
	Started     = Event{100, Info, "started", "the service has started"}
	Stopped     = Event{101, Info, "stopped", "the service has stopped as asked"}
	StoppedLate = Event{104, Warning, "stopped_late",
		"the service has stopped, and something did not end in time"}
	CannotStart = Event{102, Error, "cannot_start", "the service cannot start"}
	Ended       = Event{103, Error, "ended", "the service ends because of an error"}

	ProcessEnded = Event{105, Error, "process_ended",
		"the process of the gateway or of the node has ended by itself, and starts again"}
	ProcessStarted = Event{106, Info, "process_started",
		"the process of the gateway or of the node has started again"}
)

// The events of settings, certificates, sessions, servers and files.
var (
	SettingsTaken   = Event{110, Info, "settings_taken", "changed settings are in effect"}
	SettingsRefused = Event{111, Error, "settings_refused",
		"changed settings have mistakes; the previous ones stay in effect"}
	CertificateTaken   = Event{120, Info, "certificate_taken", "a certificate is served"}
	CertificateRefused = Event{121, Error, "certificate_refused",
		"a changed certificate cannot be used; the previous one is served"}
	CertificateEnds = Event{122, Warning, "certificate_ends",
		"the certificate ends soon or has ended, or a revocation list is out of date"}
	SessionTrouble = Event{130, Warning, "session_trouble", "a PowerShell session could not be started"}
	Failover       = Event{140, Warning, "failover",
		"another domain controller or DNS server is asked from now on"}
	AuditTrouble = Event{150, Error, "audit_trouble", "the audit log cannot be written, or was altered"}
	AuditEnd     = Event{151, Info, "audit_end", "number and hash of the last line of the audit log"}
	NotWritten   = Event{152, Warning, "not_written",
		"calls of which no event was written, because there were too many"}
	NodeTrouble         = Event{160, Error, "node_trouble", "a node of the engine is not healthy"}
	NodeHealthy         = Event{161, Info, "node_healthy", "a node of the engine is healthy again"}
	CredentialsMade     = Event{310, Info, "credentials_made", "tokens or users were made"}
	CredentialsRevoked  = Event{311, Info, "credentials_revoked", "tokens or users were removed"}
	CredentialsUnusable = Event{312, Error, "credentials_unusable",
		"the file of tokens and users cannot be used"}
)

// The events of calls. Each of the first ten also has an event for the failure of the call, see
// [Event.AsFailed].
var (
	Created           = Event{200, Info, "created", "an object was created or restored"}
	Changed           = Event{201, Info, "changed", "an object was changed, or a change was taken back"}
	Moved             = Event{202, Info, "moved", "an object was renamed or moved"}
	Removed           = Event{203, Info, "removed", "an object was removed"}
	PasswordSet       = Event{204, Info, "password_set", "a password was set"}
	MembershipAdded   = Event{205, Info, "membership_added", "a member was added to a group"}
	MembershipRemoved = Event{206, Info, "membership_removed", "a member was removed from a group"}
	RecordMade        = Event{207, Info, "record_made", "a DNS record or zone was created or changed"}
	RecordRemoved     = Event{208, Info, "record_removed", "a DNS record or zone was removed"}
	Revealed          = Event{280, Info, "revealed", "a secret of a computer was shown"}
	ManyReveals       = Event{281, Warning, "many_reveals", "one caller has seen many secrets of computers"}
	Incomplete        = Event{290, Error, "incomplete",
		"only a part of a change was made, or it is unknown whether it was"}
	SignInRefused = Event{300, Warning, "sign_in_refused", "a caller had no valid credential"}
	Locked        = Event{301, Warning, "locked",
		"a caller has failed or asked too often, and is refused for a while"}
	OutOfLimits = Event{302, Warning, "out_of_limits",
		"a caller lacks a scope, or asked for something outside of its limits"}
)

// changes are the events of calls that made a change.
var changes = []Event{Created, Changed, Moved, Removed, PasswordSet, MembershipAdded, MembershipRemoved,
	RecordMade, RecordRemoved}

// AsFailed returns the event of a change that was refused or failed.
func (e Event) AsFailed() Event {
	return Event{e.ID + Failed, Warning, e.Name + "_failed", "refused or failed: " + e.About}
}

// List returns all events, ordered by id.
func List() []Event {
	all := []Event{
		Started, Stopped, StoppedLate, CannotStart, Ended, ProcessEnded, ProcessStarted,
		SettingsTaken, SettingsRefused, CertificateTaken, CertificateRefused, CertificateEnds, SessionTrouble, Failover,
		AuditTrouble, AuditEnd, NotWritten, NodeTrouble, NodeHealthy, CredentialsMade, CredentialsRevoked, CredentialsUnusable,
		Revealed, ManyReveals, Incomplete, SignInRefused, Locked, OutOfLimits,
	}
	for _, e := range changes {
		all = append(all, e, e.AsFailed())
	}
	slices.SortFunc(all, func(a, b Event) int { return int(a.ID) - int(b.ID) })
	return all
}

// ByName returns the event with the given name.
func ByName(name string) (Event, bool) {
	all := List()
	if i := slices.IndexFunc(all, func(e Event) bool { return e.Name == name }); i >= 0 {
		return all[i], true
	}
	return Event{}, false
}

// Write writes an entry to the event log. It is safe for concurrent use.
type Write func(e Event, text string)

// MaxText is the maximum length of an entry in UTF-16 code units. Windows does not write longer entries at
// all (the limit of ReportEvent is 31,839).
const MaxText = 31_000

// field is the field of a log entry that names an event. Packages that do not depend on the event log set it.
const field = "event"

// Logged writes an entry of the service's log to the event log if the field "event" names an event in [List].
// write may be nil.
func Logged(write Write, message string, fields map[string]any) {
	name, _ := fields[field].(string)
	event, known := ByName(name)
	if write == nil || !known {
		return
	}
	var all strings.Builder
	all.WriteString(message)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name != field {
			fmt.Fprintf(&all, "\r\n%s: %v", name, fields[name])
		}
	}
	write(event, all.String())
}
