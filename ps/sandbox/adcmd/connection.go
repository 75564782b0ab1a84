package adcmd

import (
	"context"
	"sync"

	"adgateway/ps/sandbox/directory"
)

// connections are those that processes hold to controllers. A process keeps
// one to each controller it has spoken to until it ends, however many commands
// run inside each other: so the limit of ADWS counts processes.
type connections struct {
	mu   sync.Mutex
	held map[connection]bool
}

// connection is one process, known by the channel that is closed when it ends,
// and one controller.
type connection struct {
	process <-chan struct{}
	dc      *directory.DC
}

// take makes sure that there is a connection. The function it returns ends one
// that lasts for a call only: of a caller whose end cannot be seen.
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
