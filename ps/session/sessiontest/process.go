// Package sessiontest is a fake PowerShell for tests of sessions and of the layers above them. It
// implements only the protocol: it reads the boot line, sends a ready frame, reads data lines and
// answers with frames. A "script" is a Go function in [Process.Scripts].
//
// [Process] is a Starter whose process is a goroutine behind three pipes. Its Serve can also be the main
// function of a real process. [Faults] are scripts that violate the protocol, each in a different way.
package sessiontest

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"adgateway/ps/session"
)

// Call is one request, as a script receives it.
type Call struct {
	Context context.Context // ends when the process is killed
	ID      string
	Script  string
	Args    map[string]any // string, bool, float64, []any of strings, or nil; a secret is a string
	Stdout  io.Writer
	Stderr  io.Writer

	In *bufio.Reader // the answers to announcements
}

// Frame writes one frame of this call.
func (c *Call) Frame(kind, payload string) { WriteFrame(c.Stdout, c.ID, kind, payload) }

// Announce announces a change and waits for the answer, as scripts do before a change. It
// reports whether the change is allowed.
func (c *Call) Announce(intent string) bool {
	c.Frame("intent", intent)
	line, err := c.In.ReadString('\n')
	return err == nil && strings.TrimRight(line, "\r\n") == "+"
}

// End writes an end frame without changes.
func (c *Call) End() { c.Frame("end", `{"effect":"none","warnings":[]}`) }

// WriteFrame writes one frame with a single write.
func WriteFrame(w io.Writer, id, kind, payload string) {
	_, _ = io.WriteString(w, fmt.Sprintf("\x1e%s %s %d\n%s\n", id, kind, len(payload), payload))
}

// ErrExit ends the process immediately if a script panics with it.
var ErrExit = errors.New("exit")

// ReadyPayload is the payload of a valid ready frame.
const ReadyPayload = `{"powershell":"7.6.5","edition":"Core","clr":"10.0.0","module":"ActiveDirectory",` +
	`"moduleVersion":"1.0.1.0","languageMode":"FullLanguage","pid":4711,"culture":"en-US"}`

// Process describes a process. It is also a Starter, which starts such processes. The zero value follows the
// protocol and has no scripts.
type Process struct {
	Scripts map[string]func(*Call)

	// Boot, if set, replaces the ready frame. If it returns false, the process does
	// not enter the request loop.
	Boot func(c *Call) bool
	// Line, if set, receives every line after the boot line before it is run. If it
	// returns false, the line is dropped.
	Line func(line string) bool
	// NoLeave makes the process ignore '#' and the end of its input.
	NoLeave bool
	// StartErr, if set, is returned by StartProcess.
	StartErr error

	mu      sync.Mutex
	started int
	args    []string
	boot    string
}

// Started returns the number of processes started.
func (p *Process) Started() int { p.mu.Lock(); defer p.mu.Unlock(); return p.started }

// Args returns the arguments of the last start.
func (p *Process) Args() []string { p.mu.Lock(); defer p.mu.Unlock(); return p.args }

// BootLine returns the last boot line.
func (p *Process) BootLine() string { p.mu.Lock(); defer p.mu.Unlock(); return p.boot }

// StartProcess starts a process within this one.
func (p *Process) StartProcess(
	_ string, args ...string,
) (session.Waiter, io.Writer, io.Reader, io.Reader, error) {
	if p.StartErr != nil {
		return nil, nil, nil, nil, p.StartErr
	}
	p.mu.Lock()
	p.started++
	p.args = args
	p.mu.Unlock()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	errR, errW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	running := &running{cancel: cancel, done: make(chan struct{})}
	running.closers = []io.Closer{inR, inW, outW, errW}
	go func() {
		defer close(running.done)
		defer cancel()
		running.code = p.Serve(ctx, inR, outW, errW)
		_ = inR.Close()
		_ = outW.Close()
		_ = errW.Close()
	}()
	return running, inW, outR, errR, nil
}

// running is a process within this one.
type running struct {
	cancel  context.CancelFunc
	closers []io.Closer
	done    chan struct{}
	code    int
}

func (r *running) Wait() error {
	<-r.done
	if r.code != 0 {
		return fmt.Errorf("exit status %d", r.code)
	}
	return nil
}

func (r *running) Kill() error {
	r.cancel()
	for _, c := range r.closers {
		_ = c.Close()
	}
	return nil
}

// Serve is the main function of a process. It returns the exit code.
func (p *Process) Serve(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	defer func() {
		if r := recover(); r != nil {
			if err, ok := r.(error); !ok || !errors.Is(err, ErrExit) {
				panic(r)
			}
			code = 3
		}
	}()
	in := bufio.NewReaderSize(stdin, 64<<10)
	boot, err := in.ReadString('\n')
	if err != nil {
		return 1
	}
	p.mu.Lock()
	p.boot = boot
	p.mu.Unlock()
	outMark, errMark, ok := marks(boot)
	if !ok {
		_, _ = io.WriteString(stderr, "unexpected boot line\n")
		return 2
	}
	c := &Call{Context: ctx, ID: "boot", Stdout: stdout, Stderr: stderr}
	loop := true
	if p.Boot != nil {
		loop = p.Boot(c)
	} else {
		c.Frame("ready", ReadyPayload)
	}
	if loop && !p.loop(ctx, in, stdout, stderr) {
		return 0
	}
	_, _ = io.WriteString(stdout, outMark+"\n")
	_, _ = io.WriteString(stderr, errMark+"\n")
	for {
		line, err := in.ReadString('\n')
		if err != nil || strings.TrimSpace(line) == "exit" {
			return 0
		}
	}
}

// loop serves data lines. It returns false if the input ends.
func (p *Process) loop(ctx context.Context, in *bufio.Reader, stdout, stderr io.Writer) bool {
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			if p.NoLeave {
				<-ctx.Done()
			}
			return false
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" || (p.Line != nil && !p.Line(line)) {
			continue
		}
		if line == "#" {
			if p.NoLeave {
				continue
			}
			return true
		}
		p.serve(ctx, line, in, stdout, stderr)
	}
}

// serve runs one data line in the same way as the prelude.
func (p *Process) serve(ctx context.Context, line string, in *bufio.Reader, stdout, stderr io.Writer) {
	c, err := parse(line)
	if err != nil {
		WriteFrame(stdout, "?", "error", `{"step":"decode","type":"System.FormatException","id":"FormatException","category":"NotSpecified","message":"bad line"}`)
		return
	}
	c.Context, c.Stdout, c.Stderr, c.In = ctx, stdout, stderr, in
	if c.Script == "Test-GatewayLine" && p.Scripts[c.Script] == nil {
		text, _ := c.Args["Text"].(string)
		secret, _ := c.Args["Secret"].(string)
		batch, _ := json.Marshal([]any{map[string]any{"text": text, "length": len(utf16.Encode([]rune(secret)))}})
		c.Frame("records", string(batch))
		c.End()
		return
	}
	script := p.Scripts[c.Script]
	if script == nil {
		c.Frame("error", `{"step":"run","type":"System.Management.Automation.CommandNotFoundException","id":"CommandNotFoundException",`+
			`"category":"ObjectNotFound","code":null,"native":null,"message":"not recognized","server":null,"line":126,"remains":[]}`)
		return
	}
	script(c)
}

// parse reads a data line.
func parse(line string) (*Call, error) {
	parts := strings.Split(strings.TrimPrefix(line, "#"), " ")
	var secrets []string
	for _, part := range parts[1:] {
		plain, err := base64.StdEncoding.DecodeString(part)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, string(plain))
	}
	body, err := base64.StdEncoding.DecodeString(parts[0])
	if err != nil {
		return nil, err
	}
	var request struct {
		ID, Script string
		Arguments  map[string]any
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, err
	}
	c := &Call{ID: strings.TrimPrefix(request.ID, "="), Script: strings.TrimPrefix(request.Script, "="),
		Args: map[string]any{}}
	for name, value := range request.Arguments {
		c.Args[name] = plain(value, secrets)
	}
	return c, nil
}

func plain(value any, secrets []string) any {
	switch v := value.(type) {
	case string:
		if rest, ok := strings.CutPrefix(v, "!"); ok {
			var n int
			_, _ = fmt.Sscan(rest, &n)
			return secrets[n]
		}
		if rest, ok := strings.CutPrefix(v, ","); ok {
			_, size := utf8.DecodeRuneInString(rest)
			var items []any
			for item := range strings.SplitSeq(rest[size:], rest[:size]) {
				items = append(items, item)
			}
			return items
		}
		return strings.TrimPrefix(v, "=")
	case []any:
		for i := range v {
			v[i] = plain(v[i], secrets)
		}
	}
	return value
}

// marks returns the library's two markers from the end of its command.
func marks(boot string) (out, err string, ok bool) {
	rest, ok := strings.CutSuffix(boot, "')\n")
	if !ok {
		return "", "", false
	}
	rest, err, ok = cutLast(rest, "'; [Console]::Error.WriteLine('")
	if !ok {
		return "", "", false
	}
	_, out, ok = cutLast(rest, "; echo '")
	return out, err, ok
}

func cutLast(s, sep string) (before, after string, ok bool) {
	at := strings.LastIndex(s, sep)
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at+len(sep):], true
}
