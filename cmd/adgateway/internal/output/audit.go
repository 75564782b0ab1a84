package output

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"adgateway/gateway/audit"
	"adgateway/gateway/visible"
)

// Verification writes the result of verifying an audit log.
func Verification(w io.Writer, r *audit.Report) {
	for _, fault := range r.Faults {
		fmt.Fprintln(w, "FAULT", fault)
	}
	for _, note := range r.Notes {
		fmt.Fprintln(w, "note", note)
	}
	for _, intent := range r.Interrupted {
		fmt.Fprintf(w, "interrupted line %d: %s\n", intent.Seq, describe(intent))
	}
	for _, intent := range r.Running {
		fmt.Fprintf(w, "no outcome yet line %d: %s\n", intent.Seq, describe(intent))
	}
	keyed := "without a key"
	if r.Keyed {
		keyed = "with a key"
	}
	if r.Anchored {
		keyed += ", compared with the anchor"
	}
	fmt.Fprintf(w, "%s in %s, %d to %d, chained %s\n", count(r.Lines, "line"), count(len(r.Files), "file"),
		r.First, r.Last, keyed)
	fmt.Fprintf(w, "end: %s\n", end(r))
	for _, limit := range limits(r) {
		fmt.Fprintln(w, "not checked:", limit)
	}
	if len(r.Faults) == 0 {
		fmt.Fprintln(w, "OK: every line is as it was written, as far as that was checked")
	} else {
		fmt.Fprintf(w, "NOT OK: %s\n", count(len(r.Faults), "fault"))
	}
}

// Verified is the JSON form of the result of verifying an audit log.
type Verified struct {
	OK          bool          `json:"ok"`
	Faults      []AuditFault  `json:"faults"`
	Notes       []AuditFault  `json:"notes"`       // irregularities that are not faults
	Interrupted []*audit.Line `json:"interrupted"` // calls that were running when the gateway crashed
	Running     []*audit.Line `json:"running"`     // calls without an outcome yet
	Lines       uint64        `json:"lines"`
	Files       []string      `json:"files"`
	First       uint64        `json:"first"`
	Last        uint64        `json:"last"`
	Keyed       bool          `json:"keyed"`
	Anchored    bool          `json:"anchored"`
	End         string        `json:"end"` // the argument of --last for the next verification
	NotChecked  []string      `json:"notChecked"`
}

// AuditFault is a fault of a line, or of a file if its line is 0.
type AuditFault struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// NewVerification returns the JSON form of a report. Its lists are never null.
func NewVerification(r *audit.Report) Verified {
	faults := func(all []audit.Fault) []AuditFault {
		shown := []AuditFault{}
		for _, fault := range all {
			shown = append(shown, AuditFault(fault))
		}
		return shown
	}
	return Verified{
		OK: len(r.Faults) == 0, Faults: faults(r.Faults), Notes: faults(r.Notes),
		Interrupted: append([]*audit.Line{}, r.Interrupted...), Running: append([]*audit.Line{}, r.Running...),
		Lines: r.Lines, Files: append([]string{}, r.Files...), First: r.First, Last: r.Last, Keyed: r.Keyed,
		Anchored: r.Anchored,
		End:      end(r), NotChecked: append([]string{}, limits(r)...),
	}
}

// end returns the last intact line in the format of --last.
func end(r *audit.Report) string { return fmt.Sprintf("%d:%s", r.Head.Seq, r.Head.Hash) }

// limits returns sentences about what the verification cannot detect.
func limits(r *audit.Report) []string {
	var all []string
	if !r.Keyed {
		all = append(all, "without a key (audit.keyFile), an account that can write the files can write a new "+
			"chain, or cut off its end and change the head record to match")
	}
	if !r.Anchored && !r.Noted {
		all = append(all, "neither an anchor (audit.anchorFile) nor an end from elsewhere (--last) was compared: "+
			"if all files were removed or replaced with an older copy, the log looks complete")
	} else if !r.Noted {
		all = append(all, "lines after the last entry of the anchor, and an older copy of log and anchor "+
			"together: compare an end from the event log or the service's log (--last)")
	}
	return all
}

// count formats a number with its noun: "1 line", "2 lines".
func count[N int | uint64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprint(n, " ", noun)
}

func describe(line *audit.Line) string {
	return visible.Text(strings.TrimSpace(fmt.Sprintf("%s %s %s %s", line.Time, caller(line), line.Operation,
		parameters(line))))
}

func caller(line *audit.Line) string {
	if line.Who == nil {
		return "(unknown)"
	}
	return line.Who.Name
}

func parameters(line *audit.Line) string {
	var all []string
	for name, value := range line.Parameters {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// Lines writes the lines of a record as in the audit log, with control characters escaped.
func Lines(w io.Writer, r *audit.Record) error {
	for _, line := range r.Lines() {
		if _, err := fmt.Fprintln(visible.Writer(w), string(line.Raw())); err != nil {
			return err
		}
	}
	return nil
}

// Calls writes a table with a line for each record that read passes to its callback.
func Calls(w io.Writer, read func(func(*audit.Record) error) error) error {
	table := newTable(w)
	table.row("TIME", "WHO", "FROM", "OPERATION", "OUTCOME", "STATUS", "TARGET")
	err := read(func(r *audit.Record) error {
		call := r.Call()
		status, target := "", parameters(call)
		if r.Outcome != nil {
			if r.Outcome.Status != 0 {
				status = strings.TrimSpace(fmt.Sprint(r.Outcome.Status, " ", r.Outcome.Code))
			}
			target = targets(r.Outcome, target)
		}
		table.row(call.Time, caller(call), call.From, call.Operation, r.State(), status, target)
		return nil
	})
	return errors.Join(err, table.Flush())
}

// targets returns the first object of a line and the number of others, or fallback if there is none.
func targets(line *audit.Line, fallback string) string {
	if line.Event == audit.EventCounted {
		return fmt.Sprintf("%s since %s: %s", count(line.Count, "call"), line.Since, codes(line.Codes))
	}
	all := line.Targets()
	if len(all) == 0 {
		return fallback
	}
	text := cmp.Or(all[0].DN, all[0].GUID)
	if len(all) > 1 {
		text += fmt.Sprintf(" and %d more", len(all)-1)
	}
	return text
}

// codes formats counts by code.
func codes(counts map[string]uint64) string {
	var all []string
	for _, code := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%s %d", code, counts[code]))
	}
	return strings.Join(all, ", ")
}
