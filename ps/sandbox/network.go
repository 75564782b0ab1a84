package sandbox

import (
	"context"
	"strings"
	"sync"
	"time"

	"adgateway/ps/sandbox/directory"
)

// Network is the network between the callers of a world and its controllers. The zero value
// causes no delays. It is safe for concurrent use.
type Network struct {
	mu   sync.Mutex
	slow map[string]time.Duration // by host name, folded
	cut  map[[2]string]bool       // caller and host name, both folded
}

// WithCaller names the caller of commands: a gateway, followed by a # and its connection. The network uses
// only the gateway; the write log uses both.
func WithCaller(ctx context.Context, caller string) context.Context {
	return directory.WithWriter(ctx, caller)
}

// processKey is the context key of the function of WithProcess.
type processKey struct{}

// WithProcess returns a context for commands whose caller is a process that can end or be suspended at any
// time. alive waits while the process is suspended, and reports whether it still runs. Every command calls
// alive before it reaches a controller, so that an ended process writes nothing more.
func WithProcess(ctx context.Context, alive func() bool) context.Context {
	return context.WithValue(ctx, processKey{}, alive)
}

// Slow delays every command that reaches a controller; 0 ends the delay.
func (n *Network) Slow(host string, by time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.slow == nil {
		n.slow = map[string]time.Duration{}
	}
	n.slow[strings.ToLower(host)] = by
}

// Cut makes a controller unreachable for a gateway, or reachable again. Commands that have
// already reached it continue.
func (n *Network) Cut(gateway, host string, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut == nil {
		n.cut = map[[2]string]bool{}
	}
	n.cut[[2]string{strings.ToLower(gateway), strings.ToLower(host)}] = cut
}

// Reached reports whether a gateway reaches a controller.
func (n *Network) Reached(gateway, host string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.cut[[2]string{strings.ToLower(gateway), strings.ToLower(host)}]
}

// gate waits while a controller is slow and while the caller is suspended. It returns the caller and whether
// the caller reaches the controller.
func (w *World) gate(ctx context.Context, host string) (caller string, reached bool) {
	n := &w.Network
	caller = directory.Writer(ctx)
	n.mu.Lock()
	wait := n.slow[strings.ToLower(host)]
	n.mu.Unlock()
	if wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return caller, false
		}
	}
	if alive, ok := ctx.Value(processKey{}).(func() bool); ok && !alive() {
		return caller, false
	}
	gateway, _, _ := strings.Cut(caller, "#")
	return caller, n.Reached(gateway, host)
}
