package commands

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/audit"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"

	"github.com/spf13/cobra"
)

// auditFlags say which log a command is about: that of the settings, as serve
// reads them.
type auditFlags struct {
	settingFlags
}

func (f *auditFlags) add(c *cobra.Command) {
	f.fallback = defaultSettingsFile()
	f.amend = f.places
	f.addTo(c,
		spelling{"file", "audit.file", "FILE", "the audit"},
		spelling{"key-file", "audit.keyFile", "FILE", "the key of its chain"})
}

// log finds the log and its key.
func (f *auditFlags) log(files []string) (file string, key []byte, err error) {
	live, err := f.load()
	if err != nil {
		return "", nil, err
	}
	settings := live.Now().Audit
	if settings.File == config.AuditOff && len(files) == 0 {
		return "", nil, errors.New("the settings switch the audit off; name one with --file, or give files")
	}
	key, err = app.AuditKey(settings.KeyFile)
	return settings.File, key, err
}

// unread says what is wrong with an audit that cannot be read.
func unread(files []string, err error) error {
	if len(files) > 0 {
		return filefault.Explain("FILES", err)
	}
	return filefault.Explain("audit.file (--file)", err)
}

func auditCommand() *cobra.Command {
	return group("audit", "Verify and show the record of changes", auditVerifyCommand(), auditShowCommand())
}

func auditVerifyCommand() *cobra.Command {
	var f auditFlags
	var last string
	c := &cobra.Command{
		Use:   "verify [FILES]",
		Short: "Find lines that were altered, removed, inserted or put in another place",
		Long: "Reads the audit from its first line to its last, rotated files included, and tells\n" +
			"every line that was altered, removed, inserted, put in another place, or cut off at\n" +
			"the end. Exit code 0: all is as it was written. 1: it is not, or cannot be read.",
		Example: "  adgateway audit verify\n  adgateway audit verify --file backup/audit.jsonl --last 4711",
		RunE: func(c *cobra.Command, files []string) error {
			file, key, err := f.log(files)
			if err != nil {
				return err
			}
			least, err := parseHead(last)
			if err != nil {
				return err
			}
			report, err := audit.Verify(audit.Check{File: file, Files: files, Key: key, Least: least})
			if err != nil {
				return unread(files, err)
			}
			printReport(c.OutOrStdout(), report)
			if len(report.Faults) > 0 {
				return exitCode(1)
			}
			return nil
		},
	}
	f.add(c)
	c.Flags().StringVar(&last, "last", "", "the end that was noted elsewhere: `NUMBER[:HASH]` of a line that must be there")
	return c
}

func parseHead(text string) (audit.Head, error) {
	if text == "" {
		return audit.Head{}, nil
	}
	number, hash, _ := strings.Cut(text, ":")
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return audit.Head{}, errors.New("--last takes NUMBER or NUMBER:HASH of a line")
	}
	return audit.Head{Seq: seq, Hash: hash}, nil
}

func printReport(w io.Writer, r *audit.Report) {
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
	fmt.Fprintf(w, "%s in %s, %d to %d, chained %s\n", counted(r.Lines, "line"), counted(len(r.Files), "file"), r.First, r.Last, keyed)
	fmt.Fprintf(w, "end: %d:%s\n", r.Head.Seq, r.Head.Hash)
	if len(r.Faults) == 0 {
		fmt.Fprintln(w, "OK: every line is as it was written")
	} else {
		fmt.Fprintf(w, "NOT OK: %s\n", counted(len(r.Faults), "fault"))
	}
}

// counted says how many things there are.
func counted[N int | uint64](n N, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}

func describe(line *audit.Line) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", line.Time, who(line), line.Operation, parameters(line)))
}

func who(line *audit.Line) string {
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

func auditShowCommand() *cobra.Command {
	var f auditFlags
	var filter audit.Filter
	var since, until string
	var asJSON bool
	c := &cobra.Command{
		Use:     "show [FILES]",
		Short:   "Show what was done, by whom, and to what",
		Example: "  adgateway audit show --since 7d --who portal --operation 'user.*' --outcome refused",
		RunE: func(c *cobra.Command, files []string) error {
			file, _, err := f.log(files)
			if err != nil {
				return err
			}
			now := time.Now()
			if filter.Since, err = parseMoment(since, now); err == nil {
				filter.Until, err = parseMoment(until, now)
			}
			if err = errors.Join(err, filter.Check()); err != nil {
				return err
			}
			if asJSON {
				return unread(files, showJSON(c.OutOrStdout(), file, files, filter))
			}
			return unread(files, showTable(c.OutOrStdout(), file, files, filter))
		},
	}
	f.add(c)
	flags := c.Flags()
	flags.StringVar(&since, "since", "", "from this `TIME` on: 2006-01-02, 2006-01-02T15:04:05Z, or how long ago, such as 12h or 7d")
	flags.StringVar(&until, "until", "", "before this `TIME`, written in the same way")
	flags.StringVar(&filter.Who, "who", "", "callers whose name holds this `TEXT`")
	flags.StringVar(&filter.Target, "target", "", "objects whose DN, GUID or given name holds this `TEXT`")
	flags.StringVar(&filter.Outcome, "outcome", "", "calls of this `OUTCOME`: "+strings.Join(audit.Outcomes(), ", "))
	flags.StringVar(&filter.Operation, "operation", "", "operations that match this `PATTERN`, such as user.*")
	flags.BoolVar(&asJSON, "json", false, "the lines themselves, as JSON")
	return c
}

// parseMoment reads a day, a time, or how long ago; empty is no moment.
func parseMoment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := parseSpan(text); err == nil {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: write 2006-01-02, 2006-01-02T15:04:05Z, or how long ago, such as 12h or 7d", text)
}

func showJSON(w io.Writer, file string, files []string, filter audit.Filter) error {
	return audit.Read(file, files, filter, func(r *audit.Record) error {
		for _, line := range r.Lines() {
			if _, err := fmt.Fprintf(w, "%s\n", line.Raw()); err != nil {
				return err
			}
		}
		return nil
	})
}

func showTable(w io.Writer, file string, files []string, filter audit.Filter) error {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "TIME\tWHO\tFROM\tOPERATION\tOUTCOME\tSTATUS\tTARGET")
	err := audit.Read(file, files, filter, func(r *audit.Record) error {
		call := r.Call()
		status, target := "", parameters(call)
		if r.Outcome != nil {
			if r.Outcome.Status != 0 {
				status = strings.TrimSpace(fmt.Sprint(r.Outcome.Status, " ", r.Outcome.Code))
			}
			target = targets(r.Outcome, target)
		}
		_, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			call.Time, plainText(who(call)), call.From, call.Operation, r.State(), status, plainText(target))
		return err
	})
	return errors.Join(err, table.Flush())
}

// targets are the first object of a line and how many more there are; given is
// shown where there is none.
func targets(line *audit.Line, given string) string {
	if line.Event == audit.EventCounted {
		return fmt.Sprintf("%d calls since %s", line.Count, line.Since)
	}
	all := line.Targets()
	if len(all) == 0 {
		return given
	}
	text := cmp.Or(all[0].DN, all[0].GUID)
	if len(all) > 1 {
		text += fmt.Sprintf(" and %d more", len(all)-1)
	}
	return text
}

// plainText keeps what a caller wrote from steering the terminal.
func plainText(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x200e && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '\ufffd'
		}
		return r
	}, text)
}
