package supervisor

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"adgateway/winsvc"
	"adgateway/winsvc/events"
)

// stopLine is the line with which the parent asks a child to stop.
const stopLine = "stop\n"

// message is a line that a child writes to its parent. Its Kind is one of the constants below or the name of
// an event of the system's event log.
type message struct {
	Kind string `json:"adgateway"`
	Text string `json:"text"`
}

// The kinds of messages that are not events.
const (
	hasStarted = "process started"
	hasFailed  = "process failed"
)

// parse parses a line as a message. It returns false if the line is not a message.
func parse(line []byte) (m message, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	return m, decoder.Decode(&m) == nil && m.Kind != ""
}

// parent sends messages to the parent, through the child's standard output.
type parent struct {
	mu  sync.Mutex
	out *json.Encoder
}

func (p *parent) tell(kind, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.out.Encode(message{kind, text}) // without a parent the process will end soon
}

// RunChild prepares and runs a service as a child of [Start] until the parent tells it to stop, and
// returns the exit code. in and out are the process's standard input and output; all other output
// goes to standard error. If in ends, the parent has ended, and RunChild calls exit at once.
//
// Neither ctx nor signals stop the child, because a service manager or a terminal sends a signal to all
// processes at the same time, whereas the parent stops its children one after another.
func RunChild(
	ctx context.Context, in io.Reader, out io.Writer, prepare winsvc.Prepare, exit func(code int),
) int {
	dropped := make(chan os.Signal, 1)
	signal.Notify(dropped, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(dropped)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go obey(in, cancel, exit) // runs until the process ends, because a read cannot be canceled

	up := &parent{out: json.NewEncoder(out)}
	serve, started, err := prepare(ctx, func(e events.Event, text string) { up.tell(e.Name, text) })
	if err == nil {
		up.tell(hasStarted, started)
		err = serve(ctx)
	}
	if err == nil || ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return 0
	}
	up.tell(hasFailed, err.Error())
	return 1
}

// obey calls stop when the parent requests it, and exit when the parent has ended.
func obey(in io.Reader, stop func(), exit func(int)) {
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			exit(1)
			return
		}
		if line == stopLine {
			stop()
		}
	}
}
