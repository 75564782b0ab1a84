// Package winsvc installs and controls the product's Windows services ([Gateway], [Manager]) and
// runs a process as one of them ([Service.Run]). It builds on kardianos/service and adds recovery
// actions with growing delays, updates in place, and explanations of the errors of Windows.
//
// The package does not depend on the code of the services. On systems other than Windows only Run works, in
// the foreground.
package winsvc

import (
	"context"
	"fmt"
	"time"

	"github.com/kardianos/service"

	"adgateway/winsvc/events"
)

// StopWait is the maximum time that the service may take to stop. Windows also waits that long during a
// shutdown, because the service registers for the pre-shutdown notification.
const StopWait = 20 * time.Second

// State is the state of the service as reported by the service manager.
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

// Prepare does everything that must be complete before the service counts as started. If it fails, the
// service does not start. The returned function serve runs until its context is done, and stops everything
// before it returns. started is a one-line description of the running service. write may be called until
// serve has returned.
type Prepare func(ctx context.Context, write events.Write) (serve func(context.Context) error, started string,
	err error)

// Run runs this process as the service until the service manager or ctx stops it. After an error of serve it
// calls exit with a non-zero code, so that the service manager restarts the service. It records starts, stops
// and errors in the system's event log. Signals do not stop a Windows service.
func (s Service) Run(ctx context.Context, prepare Prepare, exit func(code int)) error {
	h := newHandler(ctx, prepare, exit)
	manager, err := service.New(h,
		&service.Config{Name: s.Name, DisplayName: s.display, Description: s.description})
	if err != nil {
		return noManager(err)
	}
	if h.events, err = manager.Logger(nil); err != nil {
		h.events = service.ConsoleLogger
	}
	return run(h, manager, s, ctx)
}

// handler implements [service.Interface].
type handler struct {
	ctx     context.Context // passed to serve
	cancel  context.CancelFunc
	prepare Prepare
	exit    func(code int)
	events  service.Logger
	ended   chan struct{} // closed when serve has returned; nil before serve is called
	err     error         // returned by serve; valid after ended is closed
}

func newHandler(ctx context.Context, prepare Prepare, exit func(int)) *handler {
	h := &handler{prepare: prepare, exit: exit, events: service.ConsoleLogger}
	h.ctx, h.cancel = context.WithCancel(ctx)
	return h
}

// Start implements [service.Interface]. It is called once.
func (h *handler) Start(service.Service) error {
	serve, started, err := h.prepare(h.ctx, h.write)
	if err != nil {
		h.write(events.CannotStart, fmt.Sprint("The service cannot start: ", err))
		return err
	}
	h.write(events.Started, started)
	h.ended = make(chan struct{})
	go func() {
		defer close(h.ended)
		h.err = serve(h.ctx)
		if h.ctx.Err() == nil {
			h.write(events.Ended, fmt.Sprint("The service stops because of an error: ", h.err))
			h.exit(1)
		}
	}()
	return nil
}

// numbered is an event log whose entries have ids, as on Windows.
type numbered interface {
	NInfo(id uint32, v ...any) error
	NWarning(id uint32, v ...any) error
	NError(id uint32, v ...any) error
}

// write implements [events.Write]. An entry that cannot be written appears in the service's log instead.
func (h *handler) write(e events.Event, text string) {
	if log, ok := h.events.(numbered); ok {
		_ = [...]func(uint32, ...any) error{log.NInfo, log.NWarning, log.NError}[e.Level](e.ID, text)
		return
	}
	_ = [...]func(...any) error{h.events.Info, h.events.Warning, h.events.Error}[e.Level](text)
}

// Stop implements [service.Interface]. It is called once, after Start. It always returns nil, because Windows
// would restart the service after a failed stop.
func (h *handler) Stop(service.Service) error {
	h.cancel()
	timer := time.NewTimer(StopWait)
	defer timer.Stop()
	select {
	case <-h.ended:
	case <-timer.C:
		h.err = fmt.Errorf("what was running did not end within %s", StopWait)
	}
	if h.err != nil {
		h.write(events.StoppedLate, fmt.Sprint("The service has stopped: ", h.err))
		return nil
	}
	h.write(events.Stopped, "The service has stopped.")
	return nil
}

// stop calls Stop, and meanwhile report, see [reporting].
func (h *handler) stop(every time.Duration, report func(checkpoint uint32)) {
	_ = reporting(every, report, func() error { return h.Stop(nil) }) // never fails
}

// start calls Start and meanwhile calls report repeatedly (see [reporting]), because Windows considers a
// service hung if its checkpoint does not increase.
func (h *handler) start(every time.Duration, report func(checkpoint uint32)) error {
	return reporting(every, report, func() error { return h.Start(nil) })
}

// reporting calls do, and meanwhile calls report with an increasing checkpoint at every interval.
func reporting(every time.Duration, report func(checkpoint uint32), do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for checkpoint := uint32(1); ; checkpoint++ {
		select {
		case err := <-done:
			return err
		case <-ticker.C:
			report(checkpoint)
		}
	}
}

func noManager(err error) error {
	return fmt.Errorf("no supported service manager is running: %w", err)
}
