// Package supervisor runs a gateway and its node as two processes of one service. If one of
// them is overloaded or ends, the other is not affected.
//
// The process of the service calls [Start], which starts both as its children, and then [Supervisor.Serve],
// which restarts a child that has ended by itself. When the service stops, Serve stops first the gateway and
// then the node. A child calls [RunChild]. Parent and child communicate over the child's standard input and
// output, see channel.go.
//
// If the parent is killed, the children end as well, because a child ends when its standard input ends. On
// Windows a job object also ends children that hang.
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

// Options configure the children.
type Options struct {
	Gateway, Node Child

	// Output receives the output of the children in whole lines. Calls of Write are not concurrent.
	Output io.Writer
	Log    logrus.FieldLogger
	Event  events.Write // writes to the system's event log; may be nil

	// Delays contains the pauses before the restart of a child that has ended by itself, after the first, the
	// second and every later end. Nil means the default, delays.
	Delays []time.Duration
}

// Child is a program that calls [RunChild].
type Child struct {
	Command []string // path and arguments of the program
	// StopWait is the time within which the child must stop before it is killed. The sum for both children must
	// be less than the time limit of the service manager.
	StopWait time.Duration
}

// delays contains the default delays. The first ones are short, so that a child that ended by accident is
// restarted quickly. The last one keeps a child that cannot start from using much of the computer.
var delays = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, time.Minute}

// steady is the running time after which a child's earlier ends no longer count.
const steady = 10 * time.Minute

var errStopped = errors.New("the service stops")

// Supervisor runs the children. It is safe for concurrent use.
type Supervisor struct {
	gateway, node *child
}

// Start starts both children and returns when the gateway has started. started is the line in which the
// gateway describes itself. If the gateway ends first, Start stops the node and returns the reason as the
// error. The service has then not started, and its manager decides what to do. A node that does not start is
// restarted without limit, because the gateway can use other nodes.
//
// [Supervisor.Serve] must be called after a successful start. If ctx ends before that, Start
// stops the children.
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

// Serve keeps the children running until ctx ends and then stops them. It returns the errors that the
// children reported when they ended, and an error if a child had to be killed. It passes a hangup signal on
// to the gateway, which then reads its settings again.
func (s *Supervisor) Serve(ctx context.Context) error {
	<-ctx.Done()
	return s.stop()
}

func (s *Supervisor) stop() error {
	signal.Stop(s.gateway.hangup)
	return errors.Join(s.gateway.end(), s.node.end())
}

// answer is the outcome of a child's start.
type answer struct {
	started string // the child's description of itself
	err     error  // reason why the child did not start
}

// oneAtATime passes on one write at a time.
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
		log:    o.Log.WithField("process", name),
		hangup: make(chan os.Signal, 1), ended: make(chan struct{}),
	}
}
