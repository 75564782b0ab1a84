package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/doctor"
	"adgateway/cmd/adgateway/internal/output"
	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/filefault"
)

// doctorFlags are the flags of the doctor, in addition to the settings.
type doctorFlags struct {
	program.Flags
	json, list, sandbox, live bool
	yes, names                bool
	ous                       []string
	zone, out, answers        string
	timeout                   time.Duration
}

func doctorCommand() *cobra.Command {
	f := doctorFlags{Flags: program.Flags{Fallback: program.DefaultFile(), Beside: true,
		LogBeside: runtime.GOOS == "windows"}}
	c := &cobra.Command{
		Use:  "doctor",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			err := f.run(c.Context(), c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
			var code exitCode
			if err == nil || errors.As(err, &code) {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "adgateway: %v\n", err)
			return codeMisuse // 1 would mean warnings
		},
	}
	f.AddTo(c.Flags())
	flags := c.Flags()
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.BoolVar(&f.list, "list", false,
		"list all checks with their possible findings and the remedies; check nothing")
	flags.BoolVar(&f.sandbox, "sandbox", false,
		"check the sandbox instead of the PowerShell and the domain of this computer")
	flags.StringArrayVar(&f.ous, "ou", nil,
		"`DN` of an OU whose rights are checked (repeatable), or the scratch OU of --live")
	flags.DurationVar(&f.timeout, "timeout", 0, "time limit for each check, such as 5s; 0 means the check's "+
		"own limit")
	flags.BoolVar(&f.live, "live", false, "go through the checklist for a real domain")
	flags.BoolVar(&f.yes, "yes", false, "do not ask before --live creates objects, which it removes again")
	flags.BoolVar(&f.names, "names", false, "keep the names of the domain in the report of --live")
	flags.StringVar(&f.answers, "answers", "", "`FILE` with results of the checklist, such as 14 ok")
	flags.StringVar(&f.zone, "zone", "", "scratch `ZONE` of --live")
	flags.StringVar(&f.out, "out", "", "`FILE` to write the report of --live to, as JSON")
	return c
}

func (f *doctorFlags) run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	if f.list && f.json {
		return output.JSON(stdout, doctor.Listed(doctor.Checks()))
	}
	if f.list {
		return doctor.List(stdout, doctor.Checks())
	}
	if !f.live && (f.zone != "" || f.out != "" || f.answers != "" || f.names || f.yes) {
		return errors.New("--zone, --out, --answers, --names and --yes can only be used with --live")
	}
	if f.live && (len(f.ous) > 0 || f.zone != "") && (len(f.ous) != 1 || f.zone == "") {
		return errors.New("--live needs one --ou and one --zone to try the domain: a scratch OU and a scratch " +
			"zone that are empty or do not exist yet")
	}
	var out *os.File
	// open the file first, so that no run is wasted, but do not truncate it, because an older report stays until
	// there is a new one
	if f.out != "" {
		var err error
		if out, err = os.OpenFile(f.out, os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
			return filefault.Explain("--out", err)
		}
		defer out.Close() // runLive closes it and checks the error
	}
	e, err := newExamination(ctx, examinationOptions{
		// --live changes the domain, so mistaken settings must stop it
		Flags: &f.Flags, Sandbox: f.sandbox, Strict: f.live,
		OUs: f.ous, Limit: f.timeout, Stderr: stderr,
	})
	if err != nil {
		return err
	}
	code := 0
	if f.live {
		code, err = f.runLive(ctx, e, dialogue{stdin, stderr}, out, stdout)
	} else {
		code, err = f.runChecks(ctx, e, stdout)
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), app.CloseWait)
	defer cancel()
	if err = errors.Join(err, e.Close(closing)); err != nil || code == 0 {
		return err
	}
	return exitCode(code)
}

// runChecks runs the checks and returns the exit code.
func (f *doctorFlags) runChecks(ctx context.Context, e *examination, stdout io.Writer) (int, error) {
	var writeErr error
	progress := func(r doctor.Result) { writeErr = errors.Join(writeErr, r.Text(stdout)) }
	if f.json {
		progress = nil
	}
	result := e.Run(ctx, progress)
	if ctx.Err() != nil {
		return 2, errors.New("the examination was interrupted")
	}
	if f.json {
		return result.ExitCode(), output.JSON(stdout, result)
	}
	_, err := fmt.Fprintf(stdout, "\n%s\n", result.Summary())
	return result.ExitCode(), errors.Join(writeErr, err)
}
