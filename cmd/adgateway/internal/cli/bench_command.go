package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/jobclient"
	"adgateway/cmd/adgateway/internal/output"
	"adgateway/cmd/adgateway/internal/program"
)

// benchFlags are the flags of the benchmark, in addition to the settings of the sandbox.
type benchFlags struct {
	program.Flags
	json                     bool
	url, tokenFile, user, ou string
	duration                 time.Duration
	steps                    []int
}

func benchCommand() *cobra.Command {
	var f benchFlags
	c := &cobra.Command{
		Use:  "bench",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), c.OutOrStdout()) },
	}
	f.AddTo(c.Flags(), sandboxSpellings()...)
	flags := c.Flags()
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.StringVar(&f.url, "url", "", "`URL` of a running gateway to measure instead of a sandbox")
	flags.StringVar(&f.tokenFile, "token-file", "",
		"`FILE` with the token for --url; it needs user:read, and ops:read for the shares")
	flags.StringVar(&f.user, "user", "", "account `NAME` that is read with --url")
	flags.StringVar(&f.ou, "ou", "", "`DN` of the OU that is listed with --url")
	flags.DurationVar(&f.duration, "time", 2*time.Second, "how long each measurement takes")
	flags.IntSliceVar(&f.steps, "sessions", []int{1, 2, 4},
		"numbers of sessions of the sandbox, or of clients with --url")
	return c
}

func (f *benchFlags) run(ctx context.Context, stdout io.Writer) error {
	if len(f.steps) == 0 || slices.Min(f.steps) < 1 || slices.Max(f.steps) > 64 {
		return errors.New("--sessions takes numbers from 1 to 64")
	}
	if f.url == "" && (f.tokenFile != "" || f.user != "" || f.ou != "") {
		return errors.New("--token-file, --user and --ou can only be used with --url")
	}
	measure := f.sandbox
	if f.url != "" {
		measure = f.running
	}
	result, err := measure(ctx)
	if err != nil {
		return err
	}
	if f.json {
		return output.JSON(stdout, result)
	}
	return result.Text(stdout)
}

// running measures a running gateway.
func (f *benchFlags) running(ctx context.Context) (*benchReport, error) {
	if f.user == "" || f.tokenFile == "" {
		return nil, errors.New("--url needs --token-file and --user")
	}
	if err := jobclient.CheckAddress(f.url); err != nil {
		return nil, fmt.Errorf("--url: %w", err)
	}
	token, err := os.ReadFile(f.tokenFile)
	if err != nil {
		return nil, fmt.Errorf("--token-file: %w", err)
	}
	target := newBenchTarget(f.url, strings.TrimSpace(string(token)), slices.Max(f.steps))
	defer target.Client.CloseIdleConnections()
	requests := []benchRequest{{Name: "read", Method: http.MethodGet,
		Path: "/api/ADUser/" + url.PathEscape(f.user) + "/Details"}}
	if f.ou != "" {
		requests = append(requests, benchRequest{Name: "list", Method: http.MethodGet,
			Path: "/api/ADUser/ListUsers?OUPath=" + url.QueryEscape(f.ou)})
	}
	r := &benchReport{Gateway: f.url}
	for _, clients := range f.steps {
		for _, request := range requests {
			m, err := target.Measure(ctx, request, clients, f.duration)
			if err != nil {
				return nil, err
			}
			r.Measurements = append(r.Measurements, m)
		}
	}
	return r, nil
}

// sandbox measures a separate sandbox for each number of sessions, first with as many
// clients as sessions and then with four times as many.
func (f *benchFlags) sandbox(ctx context.Context) (*benchReport, error) {
	r := &benchReport{}
	for _, sessions := range f.steps {
		if err := f.sandboxOf(ctx, sessions, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (f *benchFlags) sandboxOf(ctx context.Context, sessions int, r *benchReport) (err error) {
	flags := f.Flags
	flags.Sandbox = true
	flags.Set = slices.Concat([]string{"http.listen=127.0.0.1:0", "log.level=error"}, f.Set,
		[]string{fmt.Sprintf("pool.directorySessions=%d", sessions)})
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	started := time.Now()
	s, err := app.PrepareSandbox(ctx,
		app.ServerOptions{Flags: &flags, Version: buildVersion(), Stderr: io.Discard})
	if err != nil {
		return err
	}
	if s.Token == "" {
		err = errors.New("the benchmark starts a sandbox with its own token; remove settings with credentials")
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	defer func() { stop(); err = errors.Join(err, <-ended) }()
	if err != nil {
		return err
	}
	target := newBenchTarget(s.URL(), s.Token, 4*sessions)
	defer target.Client.CloseIdleConnections()
	if err := target.Ready(ctx); err != nil {
		return err
	}
	if len(r.Measurements) == 0 {
		r.Gateway = "sandbox, scripts run in " + cmp.Or(s.PowerShell, "the built-in engine")
		r.Start = float64(time.Since(started).Milliseconds())
	}
	path := "/api/ADUser/" + url.PathEscape(s.Example(ctx).User)
	for _, request := range []benchRequest{
		{Name: "read", Method: http.MethodGet, Path: path + "/Details"},
		{Name: "write", Method: http.MethodPut, Path: path, Body: func(n int64) string { return fmt.Sprintf(`{"Description":"benchmark %d"}`, n) }},
		{Name: "list", Method: http.MethodGet, Path: "/api/ADUser/ListUsers/All"},
	} {
		for _, clients := range []int{sessions, 4 * sessions} {
			m, err := target.Measure(ctx, request, clients, f.duration)
			if err != nil {
				return err
			}
			m.Sessions = sessions
			r.Measurements = append(r.Measurements, m)
		}
	}
	return nil
}
