// Package doctor checks whether an installation works, and explains how to fix each fault.
//
// A [Check] is a row of a table ([Checks] for a gateway, [NodeChecks] for a node of the log). It states the
// condition and how it is checked, and lists every fault that can be found, each with a severity and advice.
// Checks use only [Probes], so tests can simulate any broken computer. [Examine] runs all checks in the order
// of the table, each with a time limit. A check that depends on a failed one is skipped, and its result says
// so.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/config"
)

// Status is the outcome of a check, and the severity of a fault.
type Status string

// The statuses. The last three are ordered by severity.
const (
	Skipped Status = "skipped" // the check does not apply here, or could not be run
	OK      Status = "ok"
	Warning Status = "warning" // the gateway runs, but not as well as it could
	Failure Status = "failure" // the gateway does not run, or not safely
)

// Check is one row of the table.
type Check struct {
	Name  string
	Page  string // page of the manual that explains the check, with an anchor if useful: "network#firewall"
	About string // statement that is true if the check passes
	How   string // how it is checked
	// Windows is true if the check only applies to Windows.
	Windows bool
	Needs   []string      // earlier checks that must not have failed
	Limit   time.Duration // time limit
	Faults  []Fault

	probe probe
}

// probe examines a computer. It does not change x; verdict.keep does.
type probe func(ctx context.Context, x *exam) verdict

// Fault is a fault that a check can find.
type Fault struct {
	ID       string
	Severity Status
	Says     string // describes the fault; {name} stands for a value
	Advice   string // the remedy, such as a command or a setting; {name} as in Says
}

// Faults that every check may find.
const (
	hangs   = "hangs"
	unknown = "unknown"
)

// common are the faults that every check may find.
var common = []Fault{
	{hangs, Failure, "The check did not finish within {limit}.",
		"Run the doctor again. If it hangs again, examine what the check does: {how}."},
	{unknown, Failure, "The check could not be completed: {error}", "Fix what the error names, then run the doctor again."},
}

func (c Check) fault(id string) (Fault, bool) {
	all := slices.Concat(c.Faults, common)
	if i := slices.IndexFunc(all, func(f Fault) bool { return f.ID == id }); i >= 0 {
		return all[i], true
	}
	return Fault{}, false
}

// verdict is the result of a probe.
type verdict struct {
	found string // one line
	hits  []hit  // none if there is no fault
	skip  string // the reason why the check does not apply; empty if it does
	// keep stores findings for later checks. It is not called after the time limit.
	keep func(x *exam)
}

// hit is a detected fault with the values for its texts.
type hit struct {
	fault  string
	values []string // alternating names and values
}

func (v *verdict) hit(fault string, values ...string) {
	v.hits = append(v.hits, hit{fault, values})
}

func failed(err error) verdict {
	return verdict{hits: []hit{{unknown, []string{"error", oneLine(err)}}}}
}

func skipped(format string, args ...any) verdict {
	return verdict{skip: fmt.Sprintf(format, args...)}
}

// Problem is a detected fault.
type Problem struct {
	Fault    string `json:"fault"`
	Severity Status `json:"severity"`
	Text     string `json:"text"`
	Advice   string `json:"advice"`
	Page     string `json:"page"` // page of the manual, see [Check]
}

// Result is the result of a check.
type Result struct {
	Check    string    `json:"check"`
	About    string    `json:"about"`
	Status   Status    `json:"status"`
	Found    string    `json:"found"`
	Problems []Problem `json:"problems"`
}

// Report is the result of all checks.
type Report struct {
	Results []Result       `json:"results"`
	Counts  map[Status]int `json:"counts"`
}

// ExitCode returns 0 if there are no problems, 1 if there are only warnings, and 2 if there are failures.
func (r Report) ExitCode() int {
	switch {
	case r.Counts[Failure] > 0:
		return 2
	case r.Counts[Warning] > 0:
		return 1
	}
	return 0
}

// Examine runs the checks of a table. progress, if not nil, receives each result as soon as
// it is known. When ctx ends, the remaining checks are skipped.
func Examine(ctx context.Context, checks []Check, probes Probes, progress func(Result)) Report {
	report := Report{Results: []Result{}, Counts: map[Status]int{}}
	x := &exam{Probes: probes, ended: map[string]Status{}, settings: config.Default()}
	for _, check := range checks {
		result := check.run(ctx, x)
		x.ended[check.Name] = result.Status
		report.Counts[result.Status]++
		report.Results = append(report.Results, result)
		if progress != nil {
			progress(result)
		}
	}
	return report
}

func (c Check) run(ctx context.Context, x *exam) Result {
	v := c.ask(ctx, x)
	result := Result{Check: c.Name, About: c.About, Status: OK, Found: v.found, Problems: []Problem{}}
	if v.skip != "" {
		result.Status, result.Found = Skipped, v.skip
		return result
	}
	for _, h := range v.hits {
		fault, known := c.fault(h.fault)
		if !known {
			// the table lacks a fault; the tests reach every fault
			panic("doctor: " + c.Name + " knows no fault " + h.fault)
		}
		fill := filler(h.values)
		result.Problems = append(result.Problems, Problem{fault.ID, fault.Severity, fill.Replace(fault.Says),
			fill.Replace(fault.Advice), c.Page})
		if result.Status != Failure {
			result.Status = fault.Severity
		}
	}
	return result
}

// ask runs the probe with its time limit. A probe that does not return is abandoned, because it may be inside
// a system call that cannot be canceled. The process ends soon afterwards.
func (c Check) ask(ctx context.Context, x *exam) verdict {
	switch {
	case ctx.Err() != nil:
		return skipped("the examination was stopped")
	case c.Windows && !x.system.Windows:
		return skipped("it applies only to Windows, and this is %s", orUnknown(x.system.Name))
	}
	for _, need := range c.Needs {
		if before := x.ended[need]; before == Failure || before == Skipped {
			return skipped("it needs the check '%s'", need)
		}
	}
	within := c.Limit
	if x.Limit > 0 {
		within = min(within, x.Limit)
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	answers := make(chan verdict, 1)
	seen := *x // a copy, because an abandoned probe must not race with later checks
	go func() { answers <- c.probe(ctx, &seen) }()
	hanging := verdict{hits: []hit{{hangs, []string{"limit", within.String(), "how", c.How}}}}
	grace := time.NewTimer(within + graceTime)
	defer grace.Stop()
	select {
	case v := <-answers:
		// the hits only report that the time limit was exceeded
		if errors.Is(ctx.Err(), context.DeadlineExceeded) && len(v.hits) > 0 {
			return hanging
		}
		if v.keep != nil {
			v.keep(x)
		}
		return v
	case <-grace.C:
		return hanging
	}
}

// graceTime is how long a probe may take to notice that its time limit has passed.
const graceTime = 500 * time.Millisecond

func filler(values []string) *strings.Replacer {
	pairs := slices.Clone(values)
	for i := 0; i < len(pairs); i += 2 {
		pairs[i] = "{" + pairs[i] + "}"
	}
	return strings.NewReplacer(pairs...)
}

func orUnknown(text string) string {
	if text == "" {
		return "not known"
	}
	return text
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
