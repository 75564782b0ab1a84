package doctor

import (
	"fmt"
	"io"
	"strings"
)

// Text writes the result for people: the findings, and how to fix each problem.
func (r Result) Text(w io.Writer) error {
	var out strings.Builder
	found := r.Found
	if found == "" && len(r.Problems) > 0 {
		found = r.About + ": no"
	}
	fmt.Fprintf(&out, "%-8s %-19s %s\n", r.Status, r.Check, found)
	for _, p := range r.Problems {
		fmt.Fprintf(&out, "%-9s%s: %s\n%-9sto do: %s\n", "", p.Severity, p.Text, "", p.Advice)
	}
	if len(r.Problems) > 0 {
		fmt.Fprintf(&out, "%-9sto read: %s\n", "", reading(r.Problems[0].Page))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// reading returns the command that prints a page of the manual.
func reading(page string) string {
	name, _, _ := strings.Cut(page, "#")
	return "adgateway help page " + name
}

// Summary returns the last line of the text report.
func (r Report) Summary() string {
	return fmt.Sprintf("%d ok, %d warnings, %d failures, %d skipped", r.Counts[OK], r.Counts[Warning],
		r.Counts[Failure], r.Counts[Skipped])
}

// List writes a table of checks: the condition, the method and the possible faults of each.
func List(w io.Writer, checks []Check) error {
	var out strings.Builder
	for _, c := range checks {
		fmt.Fprintf(&out, "%s: %s\n  how: %s\n  to read: %s\n", c.Name, c.About, c.How, reading(c.Page))
		for _, f := range c.Faults {
			fmt.Fprintf(&out, "  %s: %s\n    to do: %s\n", f.Severity, f.Says, f.Advice)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// Listing is a check in the JSON form of [List].
type Listing struct {
	Check  string    `json:"check"`
	About  string    `json:"about"`
	How    string    `json:"how"`
	Faults []Problem `json:"faults"` // possible faults, with {placeholders}
}

// Listed returns the JSON form of a table of checks.
func Listed(checks []Check) []Listing {
	var all []Listing
	for _, c := range checks {
		l := Listing{Check: c.Name, About: c.About, How: c.How, Faults: []Problem{}}
		for _, f := range c.Faults {
			l.Faults = append(l.Faults, Problem{f.ID, f.Severity, f.Says, f.Advice, c.Page})
		}
		all = append(all, l)
	}
	return all
}
