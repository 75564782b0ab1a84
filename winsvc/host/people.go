package host

import (
	"context"
	"fmt"
)

// Logon is an account of the domain and its groups, as Windows reports them.
type Logon struct {
	SID    string
	Name   string   // sAMAccountName
	Groups []string // SIDs, nested ones included; only those that give rights
}

// LogonError means that Windows refused a logon. Code is 1326 for a wrong name or password,
// and 1907 for a correct password that must be changed.
type LogonError struct {
	Code uint32
	Text string // in the language of Windows
}

func (e *LogonError) Error() string { return fmt.Sprintf("logon refused: %d, %s", e.Code, e.Text) }

// logons is the maximum number of concurrent calls to Windows about accounts of people. Each call waits for a
// domain controller.
const logons = 8

var logonSlots = make(chan struct{}, logons)

// limited calls ask as soon as fewer than the maximum number of calls are running. If ctx is done first, it
// does not call ask. If ctx is done during the call, limited returns, but the call occupies its slot until
// Windows ends it.
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
