package live

import (
	"fmt"
	"io"
	"strings"
)

// Text writes a report for people. Expected and actual results are on separate lines if they differ.
func (r *Report) Text(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "adgateway %s on %s\n", orNone(r.Version), orNone(r.System))
	if len(r.Findings) > 0 {
		fmt.Fprintf(&out, "engine %s, domain controller %s, DNS server %s\nscratch OU %s, scratch zone %s\n",
			r.Engine, orNone(r.Controller), orNone(r.DNSServer), r.OU, r.Zone)
	}
	for _, finding := range r.Findings {
		fmt.Fprintf(&out, "\n%s: %s (facts %s)\n", finding.Probe, finding.About, strings.Join(finding.Facts, ", "))
		for _, o := range finding.Observations {
			fmt.Fprintf(&out, "  %-8s %s\n", o.Status, o.Fact)
			switch o.Status {
			case Differs, Failed:
				fmt.Fprintf(&out, "             expected %s\n             found    %s\n", orNone(o.Expected), o.Found)
			case AsExpected:
				fmt.Fprintf(&out, "             expected and found %s\n", o.Found)
			default:
				fmt.Fprintf(&out, "             %s\n", o.Found)
			}
			if o.Message != "" && o.Status != AsExpected {
				fmt.Fprintf(&out, "             message  %s\n", strings.Join(strings.Fields(o.Message), " "))
			}
			if o.IfDiffers != "" {
				fmt.Fprintf(&out, "             to do    %s\n", o.IfDiffers)
			}
		}
	}
	for _, e := range r.Checklist {
		fmt.Fprintf(&out, "\n%2d %-8s %s: %s\n", e.Number, e.Status, e.Area, e.Item)
		if e.Status != AsExpected {
			fmt.Fprintf(&out, "             expected %s\n", e.Expect)
		}
		if e.Found != "" {
			fmt.Fprintf(&out, "             found    %s\n", e.Found)
		}
	}
	out.WriteByte('\n')
	if r.CutShort != "" {
		fmt.Fprintf(&out, "The run was cut short: %s.\n", r.CutShort)
	}
	if len(r.Remains) == 0 && len(r.Findings) > 0 {
		out.WriteString("Everything that was created has been removed.\n")
	}
	for _, left := range r.Remains {
		fmt.Fprintf(&out, "REMAINS: %s (%s)\n", left.DN, orNone(left.Reason))
	}
	fmt.Fprintf(&out, "%d as expected, %d differ, %d measured, %d skipped, %d failed\n",
		r.Counts[AsExpected], r.Counts[Differs], r.Counts[Measured], r.Counts[Skipped], r.Counts[Failed])
	_, err := io.WriteString(w, out.String())
	return err
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
