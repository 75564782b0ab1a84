package host

import (
	"context"
	"fmt"
)

// Logon is an account of the domain with its groups, as Windows knows them.
type Logon struct {
	SID    string
	Name   string   // sAMAccountName
	Groups []string // SIDs, nested ones included; only those that give rights
}

// LogonError means that Windows refused a logon, with its code: 1326 is a wrong name or
// password, 1907 a right one that must be changed.
type LogonError struct {
	Code uint32
	Text string // in the language of Windows
}

func (e *LogonError) Error() string { return fmt.Sprintf("logon refused: %d, %s", e.Code, e.Text) }

// logons limits how many calls of Windows about people run at once: each waits for a
// domain controller.
const logons = 8

var logonSlots = make(chan struct{}, logons)

// limited calls ask, unless too many calls run until ctx is done. A call that Windows does
// not end is left behind when ctx is done; its slot stays taken.
func limited[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	var none T
	select {
	case logonSlots <- struct{}{}:
	case <-ctx.Done():
		return none, fmt.Errorf("too many logons are waiting for a domain controller: %w", context.Cause(ctx))
	}
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	go func() {
		defer func() { <-logonSlots }()
		value, err := ask()
		answered <- answer{value, err}
	}()
	select {
	case a := <-answered:
		return a.value, a.err
	case <-ctx.Done():
		return none, fmt.Errorf("the domain controller did not answer: %w", context.Cause(ctx))
	}
}
