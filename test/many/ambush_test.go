package many

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"adgateway/ps/session"
)

// The points of a change at which a gateway can be lain in wait for: what it has written to
// the store, and what it exchanges with the client and the session that makes the change.
// Between two of them is at most one write to the store.
const (
	atAsked     = "asked"     // before (A)
	atRequest   = "request"   // after (A), before the script
	atIntent    = "intent"    // before (B)
	atGo        = "go"        // after (B), before #go
	atGone      = "gone"      // after #go, which the session has
	atStep      = "step"      // after a step that is done
	atSecond    = "second"    // after the second one
	atEnd       = "end"       // before (C)
	atAnswered  = "answered"  // after (C), before the answer
	pointHeader = "X-Ambush"  // point, number of calls, and whether the process is killed or stopped
	killed      = "killed"    // by itself
	stopped     = "stopped"   // likewise, until it is told to go on
	goAhead     = "+"         // what a session is told whose change may begin
	latest      = time.Second // for the other calls to come to the point
)

// points are all of them in their order.
var points = []string{atAsked, atRequest, atIntent, atGo, atGone, atStep, atSecond, atEnd, atAnswered}

// ambush ends a gateway, or lets it stand still, in the process of that gateway: when all the
// calls whose header names a point have come to it, or the others do not come.
type ambush struct {
	mu     sync.Mutex
	point  string // empty: none
	wanted int    // calls
	how    string
	over   chan struct{} // closed when it has been sprung
}

var ambushed = regexp.MustCompile(`(?i)\r\n` + pointHeader + `: (\w+) (\d+) (\w+)\r\n`)

// lay notes what a request asks for.
func (a *ambush) lay(request []byte) {
	match := ambushed.FindSubmatch(request)
	if match == nil {
		return
	}
	a.mu.Lock()
	if a.point == "" {
		a.point, a.how, a.over = string(match[1]), string(match[3]), make(chan struct{})
		a.wanted, _ = strconv.Atoi(string(match[2]))
	}
	a.mu.Unlock()
	a.reach(atAsked)
}

// reach is called at each point, and returns when the caller may go on.
func (a *ambush) reach(point string) {
	a.mu.Lock()
	if a.point != point || a.wanted == 0 {
		a.mu.Unlock()
		return
	}
	over, how := a.over, a.how
	if a.wanted--; a.wanted == 0 {
		a.mu.Unlock()
		a.spring(how, over)
		return
	}
	a.mu.Unlock()
	select {
	case <-over:
	case <-time.After(latest):
		a.mu.Lock()
		late := a.wanted > 0
		a.wanted = 0
		a.mu.Unlock()
		if late {
			a.spring(how, over)
		}
		<-over
	}
}

// spring ends the process, or stops it until it is told to go on.
func (a *ambush) spring(how string, over chan struct{}) {
	if how == stopped {
		_ = exec.Command("kill", "-STOP", strconv.Itoa(os.Getpid())).Run()
		a.mu.Lock()
		a.point = ""
		a.mu.Unlock()
		close(over)
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		_ = self.Kill()
	}
	select {} // for the moment that it takes
}

// around lies in wait at what a gateway exchanges with its sessions.
func (a *ambush) around(inner session.Starter) session.Starter { return &ambushedSessions{inner, a} }

type ambushedSessions struct {
	session.Starter
	*ambush
}

func (s *ambushedSessions) StartProcess(command string, args ...string) (session.Waiter, io.Writer, io.Reader, io.Reader, error) {
	waiter, stdin, stdout, stderr, err := s.Starter.StartProcess(command, args...)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	run := &ambushedRun{}
	return waiter, &ambushedInput{stdin.(io.WriteCloser), s.ambush, run}, &ambushedOutput{stdout, s.ambush, run}, stderr, nil
}

// ambushedRun is what a session is doing.
type ambushedRun struct {
	mu    sync.Mutex
	makes bool // a change, which was announced
	steps int
}

// ambushedInput is what a gateway tells a session.
type ambushedInput struct {
	io.WriteCloser
	*ambush
	run *ambushedRun
}

func (w *ambushedInput) Write(p []byte) (int, error) {
	line := strings.TrimSpace(string(p))
	if writes(line) {
		w.reach(atRequest)
	}
	if line == goAhead {
		w.reach(atGo)
	}
	n, err := w.WriteCloser.Write(p)
	if line == goAhead {
		w.reach(atGone)
	}
	return n, err
}

// writes reports whether a line is a request for a script that changes something.
func writes(line string) bool {
	encoded, found := strings.CutPrefix(line, "#")
	encoded, _, _ = strings.Cut(encoded, " ")
	text, err := base64.StdEncoding.DecodeString(encoded)
	var request struct{ Script string }
	if !found || err != nil || json.Unmarshal(text, &request) != nil {
		return false
	}
	verb, _, _ := strings.Cut(strings.TrimPrefix(request.Script, "="), "-")
	return verb != "" && !strings.Contains("Get Confirm Find Test Search Read Resolve", verb)
}

// ambushedOutput is what a session tells.
type ambushedOutput struct {
	io.Reader
	*ambush
	run *ambushedRun
}

var frames = regexp.MustCompile(`\x1e\S+ (intent|step|end|error) \d+\n`)

func (r *ambushedOutput) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	for _, frame := range frames.FindAllSubmatch(p[:n], -1) {
		for _, point := range r.run.points(string(frame[1])) {
			r.reach(point)
		}
	}
	return n, err
}

// points returns where a session is that has sent a frame.
func (r *ambushedRun) points(frame string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case frame == "intent":
		r.makes, r.steps = true, 0
		return []string{atIntent}
	case !r.makes:
	case frame == "step":
		r.steps++
		return map[int][]string{1: {atStep}, 2: {atSecond}}[r.steps]
	default:
		r.makes = false
		return []string{atEnd}
	}
	return nil
}

// listen lies in wait at what a gateway exchanges with its clients.
func (a *ambush) listen(l net.Listener) net.Listener { return &ambushedListener{l, a} }

type ambushedListener struct {
	net.Listener
	*ambush
}

func (l *ambushedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &ambushedClient{Conn: conn, ambush: l.ambush}, nil
}

// ambushedClient is a connection for one request.
type ambushedClient struct {
	net.Conn
	*ambush
	waits bool // it has asked for it
}

func (c *ambushedClient) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if bytes.Contains(p[:n], []byte(pointHeader)) {
		c.waits = true
		c.lay(p[:n])
	}
	return n, err
}

func (c *ambushedClient) Write(p []byte) (int, error) {
	if c.waits {
		c.reach(atAnswered)
	}
	return c.Conn.Write(p)
}
