package cli

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

// benchReport is the result for one gateway.
type benchReport struct {
	Gateway      string        `json:"gateway"`
	Start        float64       `json:"start,omitempty"` // ms until the first session was ready; 0 if unknown
	Measurements []measurement `json:"measurements"`
}

// Text writes the report as a table.
func (r *benchReport) Text(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s\n", r.Gateway); err != nil {
		return err
	}
	if r.Start > 0 {
		if _, err := fmt.Fprintf(w, "ready after %.0f ms\n", r.Start); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(w, "\nmilliseconds; gateway, queue and session are shares of the mean"); err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "sessions\tclients\trequest\trequests\tper "+
		"second\tbytes\tp50\tp99\tlongest\tgateway\tqueue\tsession\t")
	for _, m := range r.Measurements {
		gateway, queue, session := "-", "-", "-"
		if m.Parts != nil {
			gateway, queue, session = shortMilliseconds(m.Parts.Gateway), shortMilliseconds(
				m.Parts.Queue), shortMilliseconds(m.Parts.Session)
		}
		sessions := "-"
		if m.Sessions > 0 {
			sessions = strconv.Itoa(m.Sessions)
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%d\t%.4g\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", sessions, m.Clients, m.Request,
			m.Requests,
			m.PerSecond, m.Bytes, shortMilliseconds(m.P50), shortMilliseconds(m.P99), shortMilliseconds(m.Longest),
			gateway, queue, session)
	}
	return table.Flush()
}

// shortMilliseconds formats a time in milliseconds with a suitable number of decimals.
func shortMilliseconds(ms float64) string {
	digits := cmp.Compare(10, ms) + 1 // two below ten milliseconds, none above
	return strconv.FormatFloat(ms, 'f', digits, 64)
}
