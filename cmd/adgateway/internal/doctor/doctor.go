// Package doctor finds out whether an installation has what it needs, and says
// how to put right what it lacks.
//
// A [Check] is a row of a table ([Checks]): what it is about, how it finds out,
// and every fault it knows, each with its severity and what to do about it. A
// check asks [Probes] only, so that tests put any broken computer in their
// place. [Examine] runs all checks in the order of the table, each within its
// time; one that rests on another which failed is skipped and says so.
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

// Status says what came of a check, and how grave a fault is.
type Status string

// The statuses, in rising gravity but for Skipped.
const (
	Skipped Status = "skipped" // it does not apply here, or could not be made
	OK      Status = "ok"
	Warning Status = "warning" // the gateway runs, but not as well as it could
	Failure Status = "failure" // the gateway does not run, or not safely
)

// Check is one row.
type Check struct {
	Name  string
	About string // what it means that it is in order
	How   string // how that is found out
	// Windows says that it applies to Windows only.
	Windows bool
	Needs   []string      // earlier checks that must have come to an end
	Limit   time.Duration // zero: [limit]
	Faults  []Fault

	probe func(ctx context.Context, x *exam) verdict
}

// Fault is one thing that can be wrong.
type Fault struct {
	ID       string
	Severity Status
	Says     string // what is wrong; {name} stands for a value that was found
	Advice   string // what to do: a command or a setting; {name} as in Says
}

// Every check may find these.
const (
	hangs   = "hangs"
	unknown = "unknown"
)

const limit = 15 * time.Second

// common are faults of every check.
var common = []Fault{
	{hangs, Failure, "The check gave no answer within {limit}.",
		"Run 'adgateway doctor' again; if it hangs again, look at what the check asks: {how}."},
	{unknown, Failure, "It could not be found out: {error}", "Put right what the error names, then run 'adgateway doctor' again."},
}

func (c Check) fault(id string) (Fault, bool) {
	all := slices.Concat(c.Faults, common)
	if i := slices.IndexFunc(all, func(f Fault) bool { return f.ID == id }); i >= 0 {
		return all[i], true
	}
	return Fault{}, false
}

// verdict is what a probe found.
type verdict struct {
	found string // one line
	hits  []hit  // none: in order
	skip  string // why it does not apply; empty: it does
	// keep hands what was found to later checks. It is called in time only.
	keep func(x *exam)
}

// hit is a fault that was found, with the values in its texts.
type hit struct {
	fault  string
	values []string // name, value, ...
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

// Problem is a fault that was found.
type Problem struct {
	Fault    string `json:"fault"`
	Severity Status `json:"severity"`
	Text     string `json:"text"`
	Advice   string `json:"advice"`
}

// Result is what came of a check.
type Result struct {
	Check    string    `json:"check"`
	About    string    `json:"about"`
	Status   Status    `json:"status"`
	Found    string    `json:"found"`
	Problems []Problem `json:"problems"`
}

// Report is what came of all checks.
type Report struct {
	Results []Result       `json:"results"`
	Counts  map[Status]int `json:"counts"`
}

// ExitCode is 0 when all that applies is in order, 1 when there are warnings,
// and 2 when there are failures.
func (r Report) ExitCode() int {
	switch {
	case r.Counts[Failure] > 0:
		return 2
	case r.Counts[Warning] > 0:
		return 1
	}
	return 0
}

// Examine runs all checks. told is given each result as it comes; nil: nobody
// is. When ctx ends, the checks that are left are skipped.
func Examine(ctx context.Context, probes Probes, told func(Result)) Report {
	report := Report{Results: []Result{}, Counts: map[Status]int{}}
	x := &exam{Probes: probes, ended: map[string]Status{}, settings: config.Default()}
	for _, check := range Checks() {
		result := check.run(ctx, x)
		x.ended[check.Name] = result.Status
		report.Counts[result.Status]++
		report.Results = append(report.Results, result)
		if told != nil {
			told(result)
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
			panic("doctor: " + c.Name + " knows no fault " + h.fault) // a defect of the table; the tests reach every fault
		}
		fill := filler(h.values)
		result.Problems = append(result.Problems, Problem{fault.ID, fault.Severity, fill.Replace(fault.Says), fill.Replace(fault.Advice)})
		if result.Status != Failure {
			result.Status = fault.Severity
		}
	}
	return result
}

// ask runs the probe within its time. One that does not come back is left
// behind: it may be inside a call of the system that nothing can end, and the
// process ends soon.
func (c Check) ask(ctx context.Context, x *exam) verdict {
	switch {
	case ctx.Err() != nil:
		return skipped("the examination was stopped")
	case c.Windows && !x.system.Windows:
		return skipped("it is about Windows, and this is %s", orUnknown(x.system.Name))
	}
	for _, need := range c.Needs {
		if before := x.ended[need]; before == Failure || before == Skipped {
			return skipped("it needs the check '%s'", need)
		}
	}
	within := c.Limit
	if within == 0 {
		within = limit
	}
	if x.Limit > 0 {
		within = min(within, x.Limit)
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	answers := make(chan verdict, 1)
	seen := *x // what later checks learn must not race with one that was left behind
	go func() { answers <- c.probe(ctx, &seen) }()
	hanging := verdict{hits: []hit{{hangs, []string{"limit", within.String(), "how", c.How}}}}
	grace := time.NewTimer(within + graceTime)
	defer grace.Stop()
	select {
	case v := <-answers:
		if errors.Is(ctx.Err(), context.DeadlineExceeded) && len(v.hits) > 0 { // what it says is that its time was over
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

// graceTime is for a probe to notice that its time is over.
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
