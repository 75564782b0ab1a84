package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"adgateway/cmd/adgateway/internal/doctor"
	"adgateway/cmd/adgateway/internal/doctor/live"
	"adgateway/cmd/adgateway/internal/output"
	"adgateway/gateway/filefault"
	"adgateway/winsvc/host"
)

// dialogue asks a person questions.
type dialogue struct {
	in  io.Reader
	out io.Writer
}

// person reports whether a person can answer, because in is a terminal.
func (d dialogue) person() bool {
	terminal, ok := d.in.(*os.File)
	return ok && term.IsTerminal(int(terminal.Fd()))
}

// runLive tries the domain, fills in the checklist and writes the report to stdout, and
// also to out unless that is nil. It returns the exit code.
func (f *doctorFlags) runLive(
	ctx context.Context, e *examination, d dialogue, out *os.File, stdout io.Writer,
) (int, error) {
	ask, err := f.asking(d)
	if err != nil {
		return 2, err
	}
	report := &live.Report{Engine: e.engine, Began: time.Now().UTC().Truncate(time.Second)}
	if f.zone != "" && f.agreed(d) {
		report, err = e.RunLive(ctx, live.Options{OU: f.ous[0], Zone: f.zone, Progress: func(text string) {
			fmt.Fprintf(d.out, "%s %s\n", time.Now().Format(time.TimeOnly), text)
		}})
		if err != nil {
			return 2, err
		}
	}
	report.Version = buildVersion()
	if system, err := host.ReadSystem(); err == nil {
		report.System = fmt.Sprintf("%s, build %d", system.Name, system.Build)
	}
	if err := report.Fill(checked(e.Run(ctx, nil)), ask); err != nil {
		return 2, err
	}
	if !f.names {
		if err := report.Redact(f.namesOf(report)); err != nil {
			return 2, err
		}
	}
	if f.json {
		err = output.JSON(stdout, report)
	} else {
		err = report.Text(stdout)
	}
	if out != nil {
		err = errors.Join(err, out.Truncate(0), output.JSON(out, report), out.Close())
	}
	return report.ExitCode(), err
}

// agreed reports whether the user consents to test changes in the domain. If no person can answer, the
// scratch places in the flags count as consent.
func (f *doctorFlags) agreed(d dialogue) bool {
	if f.yes || !d.person() {
		return true
	}
	const question = "Objects will be created in %s and in the zone %s, and removed again. Continue? [y/N] "
	fmt.Fprintf(d.out, question, f.ous[0], f.zone)
	line, _ := bufio.NewReader(d.in).ReadString('\n') // an error counts as no
	return strings.EqualFold(strings.TrimSpace(line), "y")
}

// asking returns a function that asks the user about the items of the checklist, or nil if they stay open.
func (f *doctorFlags) asking(d dialogue) (func(live.Entry) (live.Entry, error), error) {
	items := len(live.Checklist())
	if f.answers != "" {
		file, err := os.Open(f.answers)
		if err != nil {
			return nil, filefault.Explain("--answers", err)
		}
		defer file.Close() // opened for reading
		given, err := live.ReadAnswers(file, items)
		if err != nil {
			return nil, fmt.Errorf("--answers: %s: %w", f.answers, err)
		}
		return func(e live.Entry) (live.Entry, error) { return given[e.Number], nil }, nil
	}
	if f.json || !d.person() {
		return nil, nil
	}
	const how = "%d items follow. Answer ok, differs or skipped, and what you saw, without names or secrets. " +
		"Enter leaves an item open.\n"
	fmt.Fprintf(d.out, how, items)
	lines := bufio.NewReader(d.in)
	return func(e live.Entry) (live.Entry, error) {
		for {
			fmt.Fprintf(d.out, "\n%d. %s: %s\n   Expected: %s\n> ", e.Number, e.Area, e.Item, e.Expect)
			line, err := lines.ReadString('\n')
			if line = strings.TrimSpace(line); line == "" || err != nil && !errors.Is(err, io.EOF) {
				return live.Entry{}, nil
			}
			given, err := live.ReadAnswers(strings.NewReader(fmt.Sprintf("%d %s", e.Number, line)), items)
			if err == nil {
				return given[e.Number], nil
			}
			fmt.Fprintln(d.out, "Write ok, differs or skipped, then what you saw.")
		}
	}, nil
}

// checked returns the results of the doctor's checks for the checklist. Warnings are left for a person to
// judge.
func checked(report doctor.Report) map[string]string {
	results := map[string]string{}
	for _, result := range report.Results {
		switch {
		case result.Status == doctor.OK:
			results[result.Check] = string(live.AsExpected)
		case result.Status == doctor.Failure:
			var faults []string
			for _, p := range result.Problems {
				faults = append(faults, p.Fault)
			}
			results[result.Check] = strings.Join(faults, ", ")
		}
	}
	return results
}

// namesOf returns the names that a report may contain and their replacements.
func (f *doctorFlags) namesOf(r *live.Report) map[string]string {
	names := map[string]string{
		r.Controller: "<controller>", r.DNSServer: "<dns server>", r.Zone: "<zone>", r.OU: "<scratch OU>",
	}
	if _, domain, below := strings.Cut(strings.ToUpper(r.OU), ",DC="); below {
		dn := "DC=" + domain
		names[dn] = "<domain>"
		names[strings.ReplaceAll(strings.TrimPrefix(dn, "DC="), ",DC=", ".")] = "<domain>"
	}
	for _, name := range host.Names() {
		names[name] = "<computer>"
	}
	for name, by := range map[string]string{r.Controller: "<controller>", r.DNSServer: "<dns server>"} {
		short, _, _ := strings.Cut(name, ".")
		names[short] = by
	}
	if account, err := host.ReadAccount(); err == nil {
		names[account.Name] = "<account>"
		before, after, found := strings.Cut(account.Name, `\`)
		if found {
			names[before], names[after] = "<domain>", "<account>"
		}
	}
	return names
}
