// Package supervisor runs a gateway and its node of the engine as two processes of one
// service. What starves or ends one of them does not touch the other, and a gateway that is
// restarted for its settings leaves the node running.
//
// The process of the service calls [Start], which starts both as its children, and
// [Supervisor.Serve], which starts a child again that has ended by itself, and stops both
// when the service stops: the gateway first, then the node. A child calls [RunChild]. Both
// ends talk over the child's standard input and output: see channel.go.
//
// A parent that is killed takes its children with it: a child ends when its standard input
// does. On Windows a job object ends also those that hang.
package supervisor

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/winsvc/events"
)

// Options describe the children.
type Options struct {
	Gateway, Node Child

	// Output gets what the children write, in whole lines. One Write is called at a time.
	Output io.Writer
	Log    logrus.FieldLogger
	Event  events.Write // writes to the system's event log; nil: there is none

	// Delays are the pauses before a child that has ended by itself is started again: after
	// the first, the second and every later end. Nil: see delays.
	Delays []time.Duration
}

// Child is a program that calls [RunChild].
type Child struct {
	Command []string // path of the program, and its arguments
	// StopWait is how long it may take to stop; then it is killed. Those of both children
	// together stay below the time that the service manager grants.
	StopWait time.Duration
}

// delays let a child that ended by accident serve again at once, and do not keep a computer
// busy with one that cannot start.
var delays = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, time.Minute}

// steady is how long a child runs until its earlier ends no longer count.
const steady = 10 * time.Minute

var errStopped = errors.New("the service stops")

// Supervisor runs the children. Its methods may be called concurrently.
type Supervisor struct {
	gateway, node *child
}

// Start starts both children and returns when the gateway has started, with the line in
// which it describes itself. If the gateway ends before, Start stops the node and returns
// the reason: the service has not started, and what happens then is up to its manager.
// A node that does not start is started again, for as long as it takes: the gateway has
// other nodes.
//
// [Supervisor.Serve] must be called after a start that succeeded. If ctx ends before,
// Start stops the children.
func Start(ctx context.Context, o Options) (s *Supervisor, started string, err error) {
	if err := tieChildren(); err != nil {
		o.Log.WithError(err).Warn("processes that hang may outlive the service if it is killed")
	}
	if o.Delays == nil {
		o.Delays = delays
	}
	o.Output = &oneAtATime{to: o.Output}
	s = &Supervisor{gateway: newChild("gateway", o.Gateway, o), node: newChild("node", o.Node, o)}
	s.gateway.required = true
	signal.Notify(s.gateway.hangup, syscall.SIGHUP)
	s.node.begin(ctx)
	first := s.gateway.begin(ctx)
	select {
	case a := <-first:
		started, err = a.started, a.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, "", errors.Join(err, s.stop())
	}
	return s, started, nil
}

// Serve keeps the children running until ctx ends and then stops them. It returns what they
// said about their end, and whether one had to be killed. A hangup signal is passed on to
// the gateway, which reads its settings again.
func (s *Supervisor) Serve(ctx context.Context) error {
	<-ctx.Done()
	return s.stop()
}

func (s *Supervisor) stop() error {
	signal.Stop(s.gateway.hangup)
	return errors.Join(s.gateway.end(), s.node.end())
}

// RestartGateway stops the gateway, which finishes its requests, and starts it again with
// the settings of now. It returns when the gateway has started, or why it has not: then it
// is started again after a pause, as after any end. The node runs on.
func (s *Supervisor) RestartGateway(ctx context.Context) error {
	asked := make(chan answer, 1)
	select {
	case s.gateway.restarts <- asked:
	case <-s.gateway.ended:
		return errStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case a := <-asked:
		return a.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// answer is the outcome of a start.
type answer struct {
	started string // how the child describes itself
	err     error  // why it did not start
}

// oneAtATime passes one write at a time on.
type oneAtATime struct {
	mu sync.Mutex
	to io.Writer
}

func (w *oneAtATime) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

func newChild(name string, c Child, o Options) *child {
	return &child{
		Child: c, name: name, options: o,
		log:      o.Log.WithField("process", name),
		restarts: make(chan chan answer), hangup: make(chan os.Signal, 1), ended: make(chan struct{}),
	}
}
