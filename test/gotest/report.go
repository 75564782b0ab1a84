package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is a line of the output of go test -json.
type event struct {
	Action  string
	Package string
	Test    string // empty if the event is about the package itself
	Output  string
}

// reporter collects the output of packages, and prints it when a package ends.
type reporter struct {
	to io.Writer

	// said holds the output of each test that has not passed yet, by package and test.
	said map[string]map[string]*strings.Builder
}

// report reads the output of go test -json and prints the results as they arrive. A line
// that is not an event, such as a compiler message, is printed unchanged.
func report(events io.Reader, to io.Writer) error {
	r := &reporter{to: to, said: map[string]map[string]*strings.Builder{}}
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		switch {
		case len(line) == 0:
		case json.Unmarshal(line, &e) != nil:
			_, _ = to.Write(line)
		default:
			r.take(e)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *reporter) take(e event) {
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.to, e.Output)
	case "output":
		if !isProgress(e.Output) {
			r.output(e.Package, e.Test).WriteString(e.Output)
		}
	case "pass", "skip", "fail":
		r.end(e)
	}
}

// isProgress reports whether a line only shows the progress of a test.
func isProgress(line string) bool {
	for _, prefix := range []string{"=== RUN", "=== PAUSE", "=== CONT", "=== NAME", "--- PASS", "--- SKIP"} {
		if strings.HasPrefix(strings.TrimLeft(line, " "), prefix) {
			return true
		}
	}
	return false
}

func (r *reporter) output(pkg, test string) *strings.Builder {
	if r.said[pkg] == nil {
		r.said[pkg] = map[string]*strings.Builder{}
	}
	if r.said[pkg][test] == nil {
		r.said[pkg][test] = &strings.Builder{}
	}
	return r.said[pkg][test]
}

// end handles the end of a test or of a package.
func (r *reporter) end(e event) {
	if e.Test != "" {
		if e.Action == "fail" {
			fmt.Fprint(r.to, r.output(e.Package, e.Test))
		}
		delete(r.said[e.Package], e.Test)
		return
	}
	own := r.output(e.Package, "").String()
	delete(r.said[e.Package], "")
	if e.Action == "fail" {
		for _, unfinished := range r.said[e.Package] { // a panic stopped them
			fmt.Fprint(r.to, unfinished)
		}
		fmt.Fprint(r.to, own)
	} else {
		for line := range strings.Lines(own) {
			if strings.HasPrefix(line, "ok") {
				fmt.Fprint(r.to, line)
			}
		}
	}
	delete(r.said, e.Package)
}
