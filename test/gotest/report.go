package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is a line of go test -json.
type event struct {
	Action  string
	Package string
	Test    string // empty: the package itself
	Output  string
}

// reporter prints what is said of packages that have not ended yet when they end.
type reporter struct {
	to io.Writer

	// said has the output of each test that has not passed yet, by package and test.
	said map[string]map[string]*strings.Builder
}

// report prints the results in a stream of go test -json as they come. A line that is no event,
// such as a message of the compiler, is printed as it is.
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

// isProgress reports whether a line of a test says only that it runs.
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

// end takes the end of a test or of a package.
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
		for _, unfinished := range r.said[e.Package] { // a panic ended them
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
