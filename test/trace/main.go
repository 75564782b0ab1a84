// Command trace counts the functions and files that one call enters. It builds the gateway with coverage
// counters, and runs the sandbox once without calls and then once for each kind of call, which it makes 60
// times. A function belongs to a kind of call if its run enters the function at least 50 times more often
// than the run without calls.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// Each kind of call is made [calls] times. A function that is entered at least [enough] times more often than
// without calls belongs to the call. [enough] is less than [calls], because the number of readiness queries
// differs between runs.
const calls, enough = 60, 50

// A kind is a kind of call. It makes its calls to a running sandbox.
type kind struct {
	name string
	make func(ctx context.Context, c client) error
}

var kinds = []kind{
	{"GET of one user", get},
	{"PUT of one user with a key", put},
	{"item of a job", job},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := trace(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "trace:", err)
		os.Exit(1)
	}
}

// trace prints the table. It removes the folder with the program and its counters.
func trace(ctx context.Context, out io.Writer) (err error) {
	folder, err := os.MkdirTemp("", "trace")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	program := filepath.Join(folder, "adgateway")
	build := command(ctx, "go", "build", "-cover", "-covermode=atomic", "-coverpkg=adgateway/...",
		"-o", program, "./cmd/adgateway")
	if err := build.Run(); err != nil {
		return fmt.Errorf("building the gateway: %w", err)
	}
	functions := index{}
	idle, err := run(ctx, program, filepath.Join(folder, "idle"), nil)
	if err != nil {
		return err
	}
	var entered []map[function]bool
	for i, k := range kinds {
		busy, err := run(ctx, program, filepath.Join(folder, strconv.Itoa(i)), k.make)
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		found, err := functions.entered(idle, busy)
		if err != nil {
			return err
		}
		entered = append(entered, found)
	}
	printTable(out, entered)
	return nil
}

// command returns a command that runs in this project and whose messages are shown.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Stderr = os.Stderr
	return c
}

// counters holds the execution counts of code blocks, by file and position.
type counters map[string]int

// run runs a sandbox with its store and its audit in a new folder, and returns its counters.
func run(
	ctx context.Context, program, folder string, busy func(context.Context, client) error,
) (counters, error) {
	covered := filepath.Join(folder, "covered")
	if err := os.MkdirAll(covered, 0o700); err != nil {
		return nil, err
	}
	sandbox := exec.CommandContext(ctx, program, "sandbox", "--listen", "127.0.0.1:0",
		"--token", secret, "--users", "100", "--set", "jobs.rate=0",
		"--set", "store.file="+filepath.Join(folder, "state.db"),
		"--set", "audit.file="+filepath.Join(folder, "audit.jsonl"))
	sandbox.Env = append(os.Environ(), "GOCOVERDIR="+covered)
	sandbox.Cancel = func() error { return sandbox.Process.Signal(os.Interrupt) }
	var said bytes.Buffer
	sandbox.Stderr = &said
	stdout, err := sandbox.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := sandbox.Start(); err != nil {
		return nil, err
	}
	failed := use(ctx, stdout, busy)
	_ = sandbox.Process.Signal(os.Interrupt) // Wait reports its exit status
	if err := errors.Join(failed, sandbox.Wait()); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, &said)
	}
	text := filepath.Join(folder, "counters.txt")
	if err := command(ctx, "go", "tool", "covdata", "textfmt", "-i="+covered, "-o="+text).Run(); err != nil {
		return nil, err
	}
	return readCounters(text)
}

var listening = regexp.MustCompile(`^listening on (http://\S+)`)

// use waits until a sandbox listens and is ready, and makes calls.
func use(ctx context.Context, stdout io.Reader, busy func(context.Context, client) error) error {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		m := listening.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		go func() { _, _ = io.Copy(io.Discard, stdout) }() // until the sandbox ends
		c := client{m[1]}
		if err := c.ready(ctx); err != nil || busy == nil {
			return err
		}
		return busy(ctx, c)
	}
	return cmp.Or(lines.Err(), errors.New("the sandbox does not listen"))
}

// readCounters reads the output of `go tool covdata textfmt`.
func readCounters(file string) (counters, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	counted := counters{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 3 { // the first line has the mode
			continue
		}
		n, err := strconv.Atoi(fields[2])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		counted[fields[0]] += n
	}
	return counted, nil
}

// A function is a declared function. Function literals belong to the enclosing declaration.
type function struct{ file, name string }

// An index contains the functions of parsed files, by the path from the root.
type index map[string][]span

// A span is the range of lines of a function, or of a variable declaration whose values contain functions.
type span struct {
	first, last int // lines
	name        string
}

const module = "adgateway/"

// entered returns the functions with a block that was entered at least [enough] times more
// often in busy than in idle.
func (x index) entered(idle, busy counters) (map[function]bool, error) {
	found := map[function]bool{}
	for block, n := range busy {
		if n-idle[block] < enough {
			continue
		}
		file, position, _ := strings.Cut(strings.TrimPrefix(block, module), ":")
		line, err := strconv.Atoi(strings.Split(position, ".")[0])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", block, err)
		}
		name, err := x.at(file, line)
		if err != nil {
			return nil, err
		}
		found[function{file, name}] = true
	}
	return found, nil
}

// at returns the name of the function at a line.
func (x index) at(file string, line int) (string, error) {
	spans, known := x[file]
	if !known {
		positions := token.NewFileSet()
		parsed, err := parser.ParseFile(positions, filepath.FromSlash(file), nil, parser.SkipObjectResolution)
		if err != nil {
			return "", err
		}
		for _, declaration := range parsed.Decls {
			first, last := positions.Position(declaration.Pos()), positions.Position(declaration.End())
			name := fmt.Sprintf("line %d", first.Line)
			if f, ok := declaration.(*ast.FuncDecl); ok {
				name = f.Name.Name + ", " + name
			}
			spans = append(spans, span{first.Line, last.Line, name})
		}
		x[file] = spans
	}
	for _, s := range spans {
		if s.first <= line && line <= s.last {
			return s.name, nil
		}
	}
	return "", fmt.Errorf("%s:%d: no function is there", file, line)
}
