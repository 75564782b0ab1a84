package adcmd

import (
	"context"
	"sync"

	"adgateway/ps/sandbox/directory"
)

// connections are the connections that processes hold to domain controllers. A
// process keeps one to each controller it has used until it ends, however its
// commands nest, so the ADWS limit counts processes.
type connections struct {
	mu   sync.Mutex
	held map[connection]bool
}

// connection identifies a connection.
type connection struct {
	process <-chan struct{} // closed when the process ends
	dc      *directory.DC
}

// take ensures that the process behind ctx has a connection to dc. The caller
// calls release after each command; it only has an effect when ctx cannot end,
// so that the connection lasts for that command alone.
func (cs *connections) take(ctx context.Context, dc *directory.DC, account string) (release func(), err error) {
	keep := func() {}
	if account == "" {
		return keep, nil
	}
	key := connection{ctx.Done(), dc}
	if key.process == nil {
		return dc.Connect(account)
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.held[key] {
		return keep, nil
	}
	free, err := dc.Connect(account)
	if err != nil {
		return nil, err
	}
	if cs.held == nil {
		cs.held = map[connection]bool{}
	}
	cs.held[key] = true
	context.AfterFunc(ctx, func() {
		cs.mu.Lock()
		defer cs.mu.Unlock()
		delete(cs.held, key)
		free()
	})
	return keep, nil
}
