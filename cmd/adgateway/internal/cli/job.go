package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/jobclient"
	"adgateway/cmd/adgateway/internal/output"
	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
	"adgateway/gateway/filefault"
	"adgateway/gateway/visible"
)

// The exit codes of commands that wait for a job, in addition to the general ones.
const (
	codeSomeFailed  exitCode = 3
	codeSomeUnknown exitCode = 4
	codeInterrupted exitCode = 130 // Ctrl-C, by the convention of shells; the job continues
)

// jobFlags select the gateway and the credential of a call.
type jobFlags struct {
	program.Flags
	url, tokenFile string
}

func jobCommand() *cobra.Command {
	f := &jobFlags{}
	f.Fallback = program.DefaultFile()
	c := group("job", jobSubmitCommand(f), jobListCommand(f), jobShowCommand(f), jobWatchCommand(f),
		jobActCommand(f, "pause", jobclient.Pause, nil), jobActCommand(f, "resume", jobclient.Resume, nil),
		jobActCommand(f, "cancel", jobclient.Cancel, nil), jobActCommand(f, "remove", jobclient.Remove, nil),
		jobActCommand(f, "start", jobclient.Start, addWatch),
		jobActCommand(f, "retry", jobclient.Retry, retryFlags),
		jobActCommand(f, "undo", jobclient.Undo, undoFlags), jobResultCommand(f))
	flags := c.PersistentFlags()
	flags.StringVar(&f.url, "url", "", "`URL` of the gateway")
	flags.StringVar(&f.tokenFile, "token-file", "", "`FILE` with the token")
	flags.StringVar(&f.File, "config", "", "settings `FILE` that names the gateway on this computer")
	return c
}

// client returns a client for the gateway.
func (f *jobFlags) client() (*jobclient.Client, error) {
	token := os.Getenv(config.TokenVariable)
	if f.tokenFile != "" {
		text, err := os.ReadFile(f.tokenFile)
		if err != nil {
			return nil, filefault.Explain("--token-file", err)
		}
		token = string(text)
	}
	token = strings.TrimPrefix(strings.TrimSpace(token), "Bearer ")
	if token == "" || strings.ContainsAny(token, "\r\n") {
		return nil, fmt.Errorf("a token is missing: name a file that contains it as its only line with "+
			"--token-file, or set %s; create a token with 'adgateway token create NAME --scope "+
			"job:submit,job:read,...'", config.TokenVariable)
	}
	address := cmp.Or(f.url, os.Getenv(config.URLVariable))
	if address == "" {
		live, err := f.Load()
		if err != nil {
			return nil, fmt.Errorf("the address of the gateway is not known: give it with --url or %s; "+
				"%w", config.URLVariable, err)
		}
		address = localAddress(live.Now())
	}
	return jobclient.NewClient(address, token)
}

// calling returns the function of a command that calls the gateway; do gets the client.
func (f *jobFlags) calling(
	do func(c *cobra.Command, client *jobclient.Client, args []string) error,
) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		client, err := f.client()
		if err != nil {
			return err
		}
		return do(c, client, args)
	}
}

// localAddress returns the URL by which this computer reaches its gateway.
func localAddress(s *config.Settings) string {
	host, port, err := net.SplitHostPort(s.HTTP.Listen)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return app.Scheme(s) + "://" + net.JoinHostPort("localhost", port)
	}
	return app.Scheme(s) + "://" + s.HTTP.Listen
}

// interrupted returns err. After Ctrl-C it prints that the job continues and returns codeInterrupted instead.
func interrupted(c *cobra.Command, id string, err error) error {
	if err == nil || c.Context().Err() == nil || !errors.Is(c.Context().Err(), context.Canceled) {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "The job continues. Follow it: adgateway job watch %s\n"+
		"Cancel it: adgateway job cancel %s\n", id, id)
	return codeInterrupted
}

// follow shows the progress of a job on the error stream until the job is no longer active,
// and returns the job.
func (f *jobFlags) follow(c *cobra.Command, client *jobclient.Client, id string) (*jobclient.Job, error) {
	w := c.ErrOrStderr()
	bar := isTerminal(visible.Raw(w))
	if bar {
		w = visible.Raw(w) // shows only numbers and names of states
	}
	show := func(*jobclient.Job) {}
	if !asJSON(c) {
		display := jobclient.NewDisplay(w, bar, time.Now)
		defer display.Close()
		show = display.Show
	}
	var last *jobclient.Job
	err := client.Follow(c.Context(), id, func(job *jobclient.Job) bool {
		last = job
		show(job)
		return true
	})
	return last, interrupted(c, id, err)
}

// isTerminal reports whether w is a terminal of known size. A progress bar needs the size.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return false
	}
	width, height, err := term.GetSize(int(file.Fd()))
	return err == nil && width > 0 && height > 0
}

func showJob(c *cobra.Command, job *jobclient.Job) error {
	return show(c, job, func(w io.Writer) error { return output.Job(w, job) })
}

// finish prints a job that was followed or changed, and the next steps. It returns the exit code.
func (f *jobFlags) finish(c *cobra.Command, job *jobclient.Job) error {
	if err := showJob(c, job); err != nil {
		return err
	}
	switch {
	case job.State == "rejected":
		return codeMisuse
	case job.Unknown > 0:
		return codeSomeUnknown
	case job.Ended() && (job.State != "done" || job.Failed+job.NotRun+job.Skipped > 0):
		return codeSomeFailed
	case job.State == "ready" && job.Failed > 0:
		return codeSomeFailed
	default:
		return nil
	}
}

// settle calls finish for a job that was just changed. With watch it follows the job first.
func (f *jobFlags) settle(c *cobra.Command, client *jobclient.Client, job *jobclient.Job, watch bool) error {
	if !watch {
		if job.State == "rejected" {
			return f.finish(c, job)
		}
		return showJob(c, job)
	}
	followed, err := f.follow(c, client, job.ID)
	if err != nil {
		return err
	}
	return f.finish(c, followed)
}

// addStop declares the flags that say when a job stops.
func addStop(flags *pflag.FlagSet) {
	flags.Int("stop-after", 20, "stop after `N` items have failed; 0 means never")
	flags.String("on-unknown", "",
		"`WHAT` to do when the outcome of an item is unknown: stop (default) or continue")
}

// flagParameters maps flags to the parameters of calls that submit a job or act on one.
var flagParameters = map[string]string{
	"stop-after": "StopAfter", "on-unknown": "OnUnknown", "state": "State", "fields": "Fields",
	"operation": "Operation", "name": "Name", "not-before": "NotBefore", "skip-invalid": "SkipInvalid",
}

// flagQuery returns the flags of a command as parameters. Empty and false ones are left out.
func flagQuery(c *cobra.Command) url.Values {
	query := url.Values{}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		name, value := flagParameters[f.Name], f.Value.String()
		if name != "" && value != "" && value != "false" {
			query.Set(name, value)
		}
	})
	return query
}

// addWatch declares --watch, which [watches] reads.
func addWatch(flags *pflag.FlagSet) {
	flags.Bool("watch", false, "show the progress until the job ends")
}

func watches(c *cobra.Command) bool {
	set, err := c.Flags().GetBool("watch")
	return set && err == nil
}

func jobListCommand(f *jobFlags) *cobra.Command {
	var state string
	limit := 0
	c := &cobra.Command{
		Use:  "list",
		Args: cobra.NoArgs,
		RunE: f.calling(func(c *cobra.Command, client *jobclient.Client, _ []string) error {
			jobs, more, err := client.List(c.Context(), state, limit)
			if err != nil {
				return err
			}
			return show(c, jobs, func(w io.Writer) error { return output.Jobs(w, jobs, more) })
		}),
	}
	c.Flags().StringVar(&state, "state", "", "only jobs in this `STATE`, such as running or paused")
	c.Flags().IntVar(&limit, "limit", 50, "maximum number of jobs, up to 1000")
	jsonFlag(c)
	return c
}

func jobShowCommand(f *jobFlags) *cobra.Command {
	c := &cobra.Command{
		Use:  "show ID",
		Args: cobra.ExactArgs(1),
		RunE: f.calling(func(c *cobra.Command, client *jobclient.Client, args []string) error {
			job, err := client.Get(c.Context(), args[0])
			if err != nil {
				return err
			}
			return showJob(c, job)
		}),
	}
	jsonFlag(c)
	return c
}

func jobWatchCommand(f *jobFlags) *cobra.Command {
	c := &cobra.Command{
		Use:  "watch ID",
		Args: cobra.ExactArgs(1),
		RunE: f.calling(func(c *cobra.Command, client *jobclient.Client, args []string) error {
			job, err := f.follow(c, client, args[0])
			if err != nil {
				return err
			}
			return f.finish(c, job)
		}),
	}
	jsonFlag(c)
	return c
}

// jobActCommand returns a command that performs an action on a job. flags declares the flags of the action.
// It is nil if the action has none.
func jobActCommand(
	f *jobFlags, name string, action jobclient.Action, flags func(*pflag.FlagSet),
) *cobra.Command {
	c := &cobra.Command{
		Use: name + " ID", Args: cobra.ExactArgs(1),
		RunE: f.calling(func(c *cobra.Command, client *jobclient.Client, args []string) error {
			query := flagQuery(c)
			if dry, err := c.Flags().GetBool("dry-run"); dry && err == nil {
				query.Set("DryRun", "true")
			}
			job, err := client.Do(c.Context(), args[0], action, query)
			if err != nil {
				return err
			}
			return f.settle(c, client, job, watches(c))
		}),
	}
	if flags != nil {
		flags(c.Flags())
	}
	jsonFlag(c)
	return c
}

func retryFlags(flags *pflag.FlagSet) {
	flags.String("state", "", "`STATES` of the items: failed, unknown, not_run (default failed,not_run)")
	addStop(flags)
	addWatch(flags)
}

func undoFlags(flags *pflag.FlagSet) {
	flags.Bool("dry-run", false, "only show what each undo would do")
	flags.String("fields", "", "undo only these `FIELDS`, such as department,jobTitle")
	addStop(flags)
	addWatch(flags)
}
