package wincmd

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

// Log stands in for the security log of the PDC emulator, which contains the lockouts of the
// domain. It is safe for concurrent use. The zero value is empty and readable.
type Log struct {
	mu       sync.Mutex
	denied   bool
	lockouts []directory.Lockout // oldest first
}

// mostLockouts limits the entries of the log.
const mostLockouts = 1000

// Add adds a lockout.
func (l *Log) Add(e directory.Lockout) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lockouts = append(l.lockouts, e)
	l.lockouts = l.lockouts[max(0, len(l.lockouts)-mostLockouts):]
}

// Deny revokes the right of the sessions' account to read the log, or grants it again.
func (l *Log) Deny(denied bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.denied = denied
}

// of returns the lockouts of an account since a time, newest first, and whether the log may be read.
func (l *Log) of(sid string, since time.Time) (found []directory.Lockout, allowed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range slices.Backward(l.lockouts) {
		if e.SID.String() == sid && !e.Time.Before(since) {
			found = append(found, e)
		}
	}
	return found, !l.denied
}

// reading is the namespace of event types.
const reading = "System.Diagnostics.Eventing.Reader."

var (
	tEvent    = dotnet.Define(dotnet.Class{Name: reading + "EventLogRecord"})
	tProperty = dotnet.Define(dotnet.Class{Name: reading + "EventProperty"})
)

// query matches the only supported form of -FilterXPath: the lockouts of an account within a
// number of milliseconds.
var query = regexp.MustCompile(`^\*\[System\[EventID=4740` +
	` and TimeCreated\[timediff\(@SystemTime\) <= (\d{1,12})\]\]` +
	` and EventData\[Data\[@Name='TargetSid'\]='(S-1-[0-9-]{1,180})'\]\]$`)

// getEvents is the body of Get-WinEvent for lockouts (facts S43 to S45).
func getEvents(o *Options, c *engine.Call) error {
	asked := query.FindStringSubmatch(c.String("FilterXPath"))
	if asked == nil || !strings.EqualFold(c.String("LogName"), "Security") {
		return notSupported(c, "this query")
	}
	host := c.String("ComputerName")
	dc := o.controller(c.Context(), host)
	if dc == nil {
		return fail(c, reading+"EventLogException", "The RPC server is unavailable.", host)
	}
	age, _ := strconv.ParseInt(asked[1], 10, 64)
	found, allowed := o.Log.of(asked[2], o.Domain.Now().Add(-time.Duration(age)*time.Millisecond))
	if !allowed {
		const message = "Attempted to perform an unauthorized operation."
		return fail(c, "System.UnauthorizedAccessException", message, host)
	}
	if dc != o.Domain.DCs()[0] {
		found = nil // all simulated lockouts are in the log of the PDC emulator
	}
	if most, err := strconv.Atoi(c.String("MaxEvents")); err == nil && len(found) > most {
		found = found[:most]
	}
	if len(found) == 0 {
		const message = "No events were found that match the specified selection criteria."
		e := dotnet.ExceptionNamed("System.Exception", message)
		return c.WriteError(dotnet.NewError(e, "NoMatchingEventsFound", dotnet.ObjectNotFound, nil))
	}
	for _, e := range found {
		if err := c.Write(o.event(dc, e)); err != nil {
			return err
		}
	}
	return nil
}

// fail writes an error about the log.
func fail(c *engine.Call, exception, message, host string) error {
	e := dotnet.ExceptionNamed(exception, "%s", message)
	return c.WriteError(dotnet.NewError(e, message, dotnet.NotSpecified, host))
}

// event returns event 4740. Its second value is the computer that the passwords came from.
func (o *Options) event(dc *directory.DC, e directory.Lockout) any {
	short, _, _ := strings.Cut(dc.HostName(), ".")
	values := []any{}
	for _, value := range []string{
		e.Account, e.Source, e.SID.String(),
		"S-1-5-18", strings.ToUpper(short) + "$", o.Domain.NetBIOSName(), "0x3e7",
	} {
		values = append(values, dotnet.NewInstance(tProperty, "Value", value))
	}
	return dotnet.NewInstance(tEvent, "Id", int32(4740), "TimeCreated", o.local(e.Time),
		"MachineName", dc.HostName(), "Properties", &dotnet.List{Type: dotnet.TArrayList, Items: values})
}
