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
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
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
	c := group("job", "Run lists of changes as jobs of a gateway",
		jobSubmitCommand(f), jobListCommand(f), jobShowCommand(f), jobWatchCommand(f),
		jobActCommand(f, "pause", "Pause a job between two items", jobclient.Pause),
		jobActCommand(f, "resume", "Resume a paused job", jobclient.Resume),
		jobActCommand(f, "cancel", "Cancel a job: items that have started are finished, the rest is not run",
			jobclient.Cancel),
		jobActCommand(f, "remove", "Remove a finished job with its list and results", jobclient.Remove),
		jobStartCommand(f), jobRetryCommand(f), jobUndoCommand(f), jobResultCommand(f))
	c.Long = "Runs lists of changes, such as a spreadsheet saved as CSV, as jobs of a running gateway.\n" +
		"Name the gateway with --url or ADGATEWAY_URL; by default, it is the gateway of the\n" +
		"settings on this computer. The token comes from --token-file or ADGATEWAY_TOKEN."
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
		"End it: adgateway job cancel %s\n", id, id)
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

// stopFlags select when a job stops.
type stopFlags struct {
	after     int
	onUnknown string
}

func (f *stopFlags) add(c *cobra.Command) {
	c.Flags().IntVar(&f.after, "stop-after", 20, "stop after `N` items have failed; 0 means never")
	c.Flags().StringVar(&f.onUnknown, "on-unknown", "",
		"`WHAT` to do when the outcome of an item is unknown: stop (default) or continue")
}

// query returns the flags as parameters of a call.
func (f *stopFlags) query() url.Values {
	query := url.Values{"StopAfter": {strconv.Itoa(f.after)}}
	if f.onUnknown != "" {
		query.Set("OnUnknown", f.onUnknown)
	}
	return query
}

// watchFlag adds the flag --watch.
func watchFlag(c *cobra.Command, into *bool) {
	c.Flags().BoolVar(into, "watch", false, "show the progress until the job ends")
}

func jobListCommand(f *jobFlags) *cobra.Command {
	var state string
	limit := 0
	c := &cobra.Command{
		Use:     "list",
		Short:   "List jobs, the newest first",
		Example: "  adgateway job list\n  adgateway job list --state running",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := f.client()
			if err != nil {
				return err
			}
			jobs, more, err := client.List(c.Context(), state, limit)
			if err != nil {
				return err
			}
			return show(c, jobs, func(w io.Writer) error { return output.Jobs(w, jobs, more) })
		},
	}
	c.Flags().StringVar(&state, "state", "", "only jobs in this `STATE`, such as running or paused")
	c.Flags().IntVar(&limit, "limit", 50, "maximum number of jobs, up to 1000")
	jsonFlag(c)
	return c
}

func jobShowCommand(f *jobFlags) *cobra.Command {
	c := &cobra.Command{
		Use:     "show ID",
		Short:   "Show a job, its progress, and what to do next",
		Example: "  adgateway job show jb_019ab3f0-0000-7000-8000-000000000000",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			client, err := f.client()
			if err != nil {
				return err
			}
			job, err := client.Get(c.Context(), args[0])
			if err != nil {
				return err
			}
			return showJob(c, job)
		},
	}
	jsonFlag(c)
	return c
}

func jobWatchCommand(f *jobFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "watch ID",
		Short: "Show the progress of a job until it ends",
		Long: "Shows the progress of a job until it ends or waits for 'adgateway job start': a bar in a\n" +
			"terminal, otherwise a line every five seconds. It continues after a restart of the\n" +
			"gateway. Ctrl-C does not affect the job.",
		Example: "  adgateway job watch jb_019ab3f0-0000-7000-8000-000000000000",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			client, err := f.client()
			if err != nil {
				return err
			}
			job, err := f.follow(c, client, args[0])
			if err != nil {
				return err
			}
			return f.finish(c, job)
		},
	}
	jsonFlag(c)
	return c
}

// jobActCommand returns a command that performs an action on a job.
func jobActCommand(f *jobFlags, name, short string, action jobclient.Action) *cobra.Command {
	c := &cobra.Command{
		Use: name + " ID", Short: short, Args: cobra.ExactArgs(1),
		Example: "  adgateway job " + name + " jb_019ab3f0-0000-7000-8000-000000000000",
		RunE: func(c *cobra.Command, args []string) error {
			return f.act(c, args[0], action, nil, false)
		},
	}
	jsonFlag(c)
	return c
}

// act performs an action on a job. With watch it then follows the job.
func (f *jobFlags) act(
	c *cobra.Command, id string, action jobclient.Action, query url.Values, watch bool,
) error {
	client, err := f.client()
	if err != nil {
		return err
	}
	job, err := client.Do(c.Context(), id, action, query)
	if err != nil {
		return err
	}
	return f.settle(c, client, job, watch)
}

func jobStartCommand(f *jobFlags) *cobra.Command {
	watch := false
	c := &cobra.Command{
		Use:   "start ID",
		Short: "Run the items of a job that was validated or run dry",
		Long: "Runs the items of a job that was submitted with --validate or --dry-run. After a dry\n" +
			"run, each item does what it showed, or fails with 'drifted' if the object has changed in\n" +
			"the meantime.",
		Example: "  adgateway job start jb_019ab3f0-0000-7000-8000-000000000000 --watch",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return f.act(c, args[0], jobclient.Start, nil, watch)
		},
	}
	watchFlag(c, &watch)
	jsonFlag(c)
	return c
}

func jobRetryCommand(f *jobFlags) *cobra.Command {
	var stop stopFlags
	watch, states := false, ""
	c := &cobra.Command{
		Use:   "retry ID",
		Short: "Retry the items of a job that were not done, as a new job",
		Long: "Retries items of a job as a new job: those that failed and those that were not run, or\n" +
			"those in the states of --state. Each item keeps its key, so nothing is done twice. With\n" +
			"--state unknown, the outcome is determined first.",
		Example: "  adgateway job retry jb_019ab3f0-0000-7000-8000-000000000000 --state unknown --watch",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			query := stop.query()
			if states != "" {
				query.Set("State", states)
			}
			return f.act(c, args[0], jobclient.Retry, query, watch)
		},
	}
	c.Flags().StringVar(&states, "state", "",
		"`STATES` of the items: failed, unknown, not_run (default failed,not_run)")
	stop.add(c)
	watchFlag(c, &watch)
	jsonFlag(c)
	return c
}

func jobUndoCommand(f *jobFlags) *cobra.Command {
	var stop stopFlags
	watch, dryRun, fields := false, false, ""
	c := &cobra.Command{
		Use:   "undo ID",
		Short: "Undo the changes of a job, as a new job",
		Long: "Undoes the changes of a job as a new job, the last change first. A change that cannot be\n" +
			"undone is skipped, and the result gives the reason.",
		Example: "  adgateway job undo jb_019ab3f0-0000-7000-8000-000000000000 --dry-run --watch",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			query := stop.query()
			if dryRun {
				query.Set("DryRun", "true")
			}
			if fields != "" {
				query.Set("Fields", fields)
			}
			return f.act(c, args[0], jobclient.Undo, query, watch)
		},
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only show what each undo would do")
	c.Flags().StringVar(&fields, "fields", "", "undo only these `FIELDS`, such as department,jobTitle")
	stop.add(c)
	watchFlag(c, &watch)
	jsonFlag(c)
	return c
}
