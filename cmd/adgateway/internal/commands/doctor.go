package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"adgateway/cmd/adgateway/internal/doctor"
	"adgateway/cmd/adgateway/internal/doctor/live"
	"adgateway/gateway/filefault"

	"github.com/spf13/cobra"
)

// doctorFlags are the flags of `adgateway doctor` that are no settings.
type doctorFlags struct {
	settingFlags
	json, list, sandbox, live bool
	ous                       []string
	zone, out                 string
	timeout                   time.Duration
}

func doctorCommand() *cobra.Command {
	f := doctorFlags{settingFlags: settingFlags{fallback: defaultSettingsFile(), logs: runtime.GOOS == "windows"}}
	f.amend = f.places
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check what an installation needs, and say how to put right what it lacks",
		Long: "Checks what an installation needs, with the settings that 'adgateway serve' would\n" +
			"use, and says of each fault what to do. Nothing is changed. It ends with 0 when all\n" +
			"is in order, 1 with warnings, 2 with failures.\n\n" +
			"With --live it tries what only a real domain can answer, and prints what the gateway\n" +
			"counts on beside what was found. It works in the scratch OU --ou and the scratch zone\n" +
			"--zone alone, which must be empty or not be there yet, and in the reverse zone of\n" +
			"192.0.2.0/24, a network reserved for documentation, unless the server has that zone.\n" +
			"All that it makes has a name that begins with " + live.Prefix + " and is removed again. It\n" +
			"ends with 0 when all is as expected, 1 when something differs, 2 when something failed\n" +
			"or remains.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			err := f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
			var ended exitCode
			if err == nil || errors.As(err, &ended) {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "adgateway: %v\n", err)
			return exitCode(2) // 1 stands for warnings
		},
	}
	f.addTo(c)
	flags := c.Flags()
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.BoolVar(&f.list, "list", false, "print all checks, what they can find and what to do about it, and check nothing")
	flags.BoolVar(&f.sandbox, "sandbox", false, "ask the sandbox instead of the PowerShell and the domain of this computer")
	flags.StringArrayVar(&f.ous, "ou", nil, "`DN` of an OU: one whose rights are looked at (repeatable), or the scratch OU of --live")
	flags.DurationVar(&f.timeout, "timeout", 0, "longest `TIME` of each check, such as 5s; 0: each has its own")
	flags.BoolVar(&f.live, "live", false, "try what only a real domain can answer, in a scratch OU and zone")
	flags.StringVar(&f.zone, "zone", "", "scratch `ZONE` of --live")
	flags.StringVar(&f.out, "out", "", "`FILE` to write the report of --live to, as JSON")
	return c
}

func (f *doctorFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	if f.list {
		return doctor.List(stdout)
	}
	if !f.live && (f.zone != "" || f.out != "") {
		return errors.New("--zone and --out belong to --live")
	}
	if f.live && (len(f.ous) != 1 || f.zone == "") {
		return errors.New("--live needs one --ou and a --zone: a scratch OU and a scratch zone that are empty, or not there yet")
	}
	var out *os.File
	if f.out != "" { // first: the run should not be for nothing. An older report stays until there is another
		var err error
		if out, err = os.OpenFile(f.out, os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
			return filefault.Explain("--out", err)
		}
		defer out.Close() // what matters is closed by tryLive
	}
	d, err := newExamination(ctx, f, stderr)
	if err != nil {
		return err
	}
	code := 0
	if f.live {
		code, err = f.tryLive(ctx, d, out, stdout, stderr)
	} else {
		code, err = f.examine(ctx, d, stdout)
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
	defer cancel()
	if err = errors.Join(err, d.close(closing)); err != nil || code == 0 {
		return err
	}
	return exitCode(code)
}

// examine runs the checks and gives the exit code.
func (f *doctorFlags) examine(ctx context.Context, d *examination, stdout io.Writer) (int, error) {
	var broken error
	told := func(r doctor.Result) { broken = errors.Join(broken, r.Text(stdout)) }
	if f.json {
		told = nil
	}
	report := doctor.Examine(ctx, d.probes(), told)
	if ctx.Err() != nil {
		return 2, errors.New("the examination was stopped before its end")
	}
	if f.json {
		return report.ExitCode(), printJSON(stdout, report)
	}
	_, err := fmt.Fprintf(stdout, "\n%s\n", report.Summary())
	return report.ExitCode(), errors.Join(broken, err)
}

// tryLive runs the live probes, writes the report, to out as well unless that is
// nil, and gives the exit code.
func (f *doctorFlags) tryLive(ctx context.Context, d *examination, out *os.File, stdout, stderr io.Writer) (int, error) {
	report, err := d.live(ctx, live.Options{OU: f.ous[0], Zone: f.zone, Progress: func(text string) {
		fmt.Fprintf(stderr, "%s %s\n", time.Now().Format(time.TimeOnly), text)
	}})
	if err != nil {
		return 2, err
	}
	if f.json {
		err = printJSON(stdout, report)
	} else {
		err = report.Text(stdout)
	}
	if out != nil {
		err = errors.Join(err, out.Truncate(0), printJSON(out, report), out.Close())
	}
	return report.ExitCode(), err
}

func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
