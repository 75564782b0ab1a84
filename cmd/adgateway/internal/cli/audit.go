package cli

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/output"
	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/audit"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
)

// auditFlags select the audit log that a command reads. Without files it is the log of the
// settings that serve reads.
type auditFlags struct{ program.Flags }

func (f *auditFlags) add(c *cobra.Command) {
	f.Fallback, f.Beside = program.DefaultFile(), true
	f.AddTo(c.Flags(),
		program.Spelling{Flag: "file", Key: "audit.file", Placeholder: "FILE", Doc: "the audit log"},
		program.Spelling{Flag: "key-file", Key: "audit.keyFile", Placeholder: "FILE",
			Doc: "the key of its hash chain"},
		program.Spelling{Flag: "anchor-file", Key: "audit.anchorFile", Placeholder: "FILE",
			Doc: "the separate record of its end (default: the file in the settings, unless --file is given)"})
}

// check returns the audit log to verify or read, with its key and its anchor. The settings' anchor applies
// only to the settings' own log.
func (f *auditFlags) check(c *cobra.Command, files []string) (audit.Check, error) {
	live, err := f.Load()
	if err != nil {
		return audit.Check{}, err
	}
	s := live.Now().Audit
	if s.File == config.AuditOff && len(files) == 0 {
		return audit.Check{}, errors.New(
			"the audit log is off in the settings; name one with --file, or pass its files as arguments")
	}
	check := audit.Check{File: s.File, Files: files, Anchor: s.Anchor()}
	if (c.Flags().Changed("file") || len(files) > 0) && !c.Flags().Changed("anchor-file") {
		check.Anchor = ""
	}
	check.Key, err = app.AuditKey(s.KeyFile)
	return check, err
}

// explainAudit adds to err the reason why an audit log cannot be read.
func explainAudit(files []string, err error) error {
	if len(files) > 0 {
		return filefault.Explain("FILES", err)
	}
	return filefault.Explain("audit.file (--file)", err)
}

func auditCommand() *cobra.Command {
	return group("audit", auditVerifyCommand(), auditShowCommand())
}

func auditVerifyCommand() *cobra.Command {
	var f auditFlags
	var last string
	c := &cobra.Command{
		Use: "verify [FILES]",
		RunE: func(c *cobra.Command, files []string) error {
			check, err := f.check(c, files)
			if err != nil {
				return err
			}
			if check.Least, err = parseHead(last); err != nil {
				return err
			}
			result, err := audit.Verify(check)
			if err != nil {
				return explainAudit(files, err)
			}
			err = show(c, output.NewVerification(result), func(w io.Writer) error {
				output.Verification(w, result)
				return nil
			})
			if err == nil && len(result.Faults) > 0 {
				return codeFailed
			}
			return err
		},
	}
	f.add(c)
	c.Flags().StringVar(&last, "last", "",
		"end of the log that was recorded elsewhere: `NUMBER[:HASH]` of a line that must exist")
	jsonFlag(c)
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

func auditShowCommand() *cobra.Command {
	var f auditFlags
	var filter audit.Filter
	var since, until string
	c := &cobra.Command{
		Use: "show [FILES]",
		RunE: func(c *cobra.Command, files []string) error {
			check, err := f.check(c, files)
			if err != nil {
				return err
			}
			now := time.Now()
			if filter.Since, err = program.ParseMoment(since, now); err == nil {
				filter.Until, err = program.ParseMoment(until, now)
			}
			if err = errors.Join(err, filter.Check()); err != nil {
				return err
			}
			read := func(each func(*audit.Record) error) error { return audit.Read(check.File, files, filter, each) }
			if asJSON(c) {
				err = read(func(r *audit.Record) error { return output.Lines(c.OutOrStdout(), r) })
			} else {
				err = output.Calls(c.OutOrStdout(), read)
			}
			return explainAudit(files, err)
		},
	}
	f.add(c)
	flags := c.Flags()
	flags.StringVar(&since, "since", "",
		"calls since this `TIME`: 2006-01-02, 2006-01-02T15:04:05Z, or how long ago, such as 12h or 7d")
	flags.StringVar(&until, "until", "", "calls before this `TIME`, in the same formats")
	flags.StringVar(&filter.Who, "who", "", "callers whose name contains this `TEXT`")
	flags.StringVar(&filter.Target, "target", "",
		"objects whose DN, GUID or given name contains this `TEXT`, or the request or change with this id")
	flags.StringVar(&filter.Outcome, "outcome", "",
		"calls with this `OUTCOME`: "+strings.Join(audit.Outcomes(), ", "))
	flags.StringVar(&filter.Operation, "operation", "", "operations that match this `PATTERN`, such as user.*")
	flags.Bool("json", false, "print the lines themselves, as JSON")
	return c
}
