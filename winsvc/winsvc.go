// Package winsvc is the gateway as a Windows service: installing and
// controlling it ([Manager]), and running as it ([Run]). kardianos/service does
// what it can; three restarts with growing delays, changes in place, and words
// for what Windows refuses are added here.
//
// It knows nothing of the gateway itself. Away from Windows only Run works, as
// a process in the foreground.
package winsvc

import (
	"context"
	"fmt"
	"time"

	"github.com/kardianos/service"
)

// Name is the name of the service, of its source in the event log, and of its
// virtual account.
const Name = "adgateway"

const (
	displayName = "Active Directory gateway"
	description = "Manages Active Directory, Windows DNS and computers over HTTP."
)

// StopWait is how long the service may take to stop. Windows waits as long when
// it shuts down, because the service asks to be told of that beforehand.
const StopWait = 20 * time.Second

// State is what the service manager says of the service.
type State string

// The states.
const (
	NotInstalled State = "not installed"
	Starting     State = "starting"
	Running      State = "running"
	Stopping     State = "stopping"
	Stopped      State = "stopped"
	Unknown      State = "unknown"
)

// Prepare makes everything ready that must be before the service counts as
// started; what takes time comes in serve. Its error keeps the service from
// starting. serve runs until its context is done, and ends everything it
// started before it returns; started says in one line what runs.
type Prepare func(ctx context.Context) (serve func(context.Context) error, started string, err error)

// Run runs as the service, until the service manager or ctx ends it. An error
// of serve ends the process with a code other than zero, so that the service
// manager starts it again. Start, stop and errors are told in the system's log.
// Signals do not end a service of Windows.
func Run(ctx context.Context, prepare Prepare, exit func(code int)) error {
	ctx = endedByManager(ctx)
	h := newHandler(ctx, prepare, exit)
	s, err := service.New(h, &service.Config{Name: Name, DisplayName: displayName, Description: description})
	if err != nil {
		return noManager(err)
	}
	if h.events, err = s.Logger(nil); err != nil {
		h.events = service.ConsoleLogger
	}
	return run(h, s)
}

// handler is what kardianos/service calls.
type handler struct {
	ctx     context.Context // of everything that serves
	cancel  context.CancelFunc
	prepare Prepare
	exit    func(code int)
	events  service.Logger
	ended   chan struct{} // closed when serve has returned; nil before it began
	err     error         // of serve; read after ended
}

func newHandler(ctx context.Context, prepare Prepare, exit func(int)) *handler {
	h := &handler{prepare: prepare, exit: exit, events: service.ConsoleLogger}
	h.ctx, h.cancel = context.WithCancel(ctx)
	return h
}

// Start is called once and must return soon.
func (h *handler) Start(service.Service) error {
	serve, started, err := h.prepare(h.ctx)
	if err != nil {
		_ = h.events.Error("The service cannot start: ", err) // nowhere else to tell it
		return err
	}
	_ = h.events.Info(started)
	h.ended = make(chan struct{})
	go func() {
		defer close(h.ended)
		h.err = serve(h.ctx)
		if h.ctx.Err() == nil {
			_ = h.events.Error("The service ends because of an error: ", h.err)
			h.exit(1)
		}
	}()
	return nil
}

// Stop is called once, after Start. It returns no error: of a stop that was asked
// for, Windows would take one for a failure and start the service again.
func (h *handler) Stop(service.Service) error {
	h.cancel()
	timer := time.NewTimer(StopWait)
	defer timer.Stop()
	select {
	case <-h.ended:
	case <-timer.C:
		h.err = fmt.Errorf("requests or sessions did not end within %s", StopWait)
	}
	if h.err != nil {
		_ = h.events.Warning("The service has stopped: ", h.err)
		return nil
	}
	_ = h.events.Info("The service has stopped.")
	return nil
}

// stop stops, and calls tell with a growing number in between.
func (h *handler) stop(every time.Duration, tell func(checkpoint uint32)) {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = h.Stop(nil) // never fails
	}()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for checkpoint := uint32(1); ; checkpoint++ {
		select {
		case <-stopped:
			return
		case <-ticker.C:
			tell(checkpoint)
		}
	}
}

func noManager(err error) error {
	return fmt.Errorf("no service manager that is known runs here: %w", err)
}
