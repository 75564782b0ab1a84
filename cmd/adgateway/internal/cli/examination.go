package cli

import (
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/doctor"
	"adgateway/cmd/adgateway/internal/doctor/live"
	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
	"adgateway/ps/servers"
	"adgateway/ps/session"
)

// examinationOptions configure an examination.
type examinationOptions struct {
	Flags   *program.Flags
	Sandbox bool          // examine the sandbox, not this computer and its domain
	Strict  bool          // mistakes in the settings are returned as an error instead of a result
	OUs     []string      // see [doctor.Probes]
	Limit   time.Duration // see [doctor.Probes]
	Stderr  io.Writer     // receives warnings of the sandbox
}

// examination holds the settings, the PowerShell and the domain that the checks examine.
// Sessions start when they are first needed.
type examination struct {
	options  examinationOptions
	settings doctor.Settings
	faults   error // mistakes in the settings

	engine string
	find   func(path string) (string, error) // returns the path of the PowerShell
	start  func() (session.Starter, error)
	dial   servers.Dial
	end    func() error // called after the last session

	open   func() (*app.Runner, error) // starts the sessions on its first call
	mu     sync.Mutex
	runner *app.Runner // nil until open
}

// newExamination loads the settings. If they contain mistakes, the other checks use
// defaults, unless the options are strict.
func newExamination(ctx context.Context, o examinationOptions) (*examination, error) {
	e := &examination{options: o, engine: "powershell", dial: (&net.Dialer{}).DialContext,
		end: func() error { return nil }}
	src, cfg, _, err := o.Flags.Read()
	if e.faults = err; err != nil {
		if o.Strict {
			return nil, err
		}
		cfg = config.Default()
		if err := o.Flags.DefaultFiles(cfg); err != nil {
			return nil, err
		}
	}
	if cfg.Auth.Store != "" {
		cfg.Auth.Store = program.CredentialFile(cfg.Auth, o.Flags.Path()).Path
	}
	e.settings = doctor.Settings{File: o.Flags.Path(), Exists: src.Text != nil, Values: cfg}
	e.find = func(path string) (string, error) {
		found, err := app.FindPowerShell(path, runtime.GOOS, exec.LookPath)
		if err == nil && found == "" {
			return exec.LookPath(session.DefaultPath())
		}
		return found, err
	}
	e.start = func() (session.Starter, error) { return app.PowerShell(cfg.PowerShell, "") }
	if o.Sandbox {
		if err := e.useSandbox(ctx); err != nil {
			return nil, err
		}
	}
	e.open = sync.OnceValues(e.newRunner)
	return e, nil
}

// useSandbox replaces this computer's PowerShell and domain with the sandbox.
func (e *examination) useSandbox(ctx context.Context) error {
	cfg := e.settings.Values.Sandbox
	engine, err := app.NewEngine(cfg)
	if err != nil {
		return err
	}
	world, err := app.NewWorld(ctx, cfg,
		program.NewLog(config.Log{Level: "warn", Format: "text"}, e.options.Stderr))
	if err != nil {
		return err
	}
	starter, end, err := engine.Starter(world, "")
	if err != nil {
		return err
	}
	e.engine, e.dial, e.end = engine.Name, world.Dial, end
	e.find = func(string) (string, error) { return "the engine of the " + engine.Name, nil }
	e.start = func() (session.Starter, error) { return starter, nil }
	return nil
}

func (e *examination) newRunner() (*app.Runner, error) {
	starter, err := e.start()
	if err != nil {
		return nil, err
	}
	runner, err := app.NewRunner(app.RunnerOptions{Settings: e.settings.Values, Starter: starter, Dial: e.dial})
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.runner = runner
	return runner, nil
}

// Close closes the sessions, waiting for running scripts until ctx ends.
func (e *examination) Close(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	if e.runner != nil {
		err = e.runner.Close(ctx)
	}
	return errors.Join(err, e.end())
}

// Run runs the checks. progress, if not nil, receives each result as soon as it is known.
func (e *examination) Run(ctx context.Context, progress func(doctor.Result)) doctor.Report {
	return doctor.Examine(ctx, doctor.Checks(), e.probes(), progress)
}

// RunLive runs the live probes. It sets the runner and the engine of the options.
func (e *examination) RunLive(ctx context.Context, o live.Options) (*live.Report, error) {
	runner, err := e.open()
	if err != nil {
		return nil, err
	}
	if o.Runner, err = runner.Pin(); err != nil {
		return nil, err
	}
	o.Engine, o.Open, o.Memory = e.engine, runner.Open, runner.Memory
	o.Sessions, o.Crowd = e.settings.Values.Pool.DirectorySessions, runner.Crowd
	return live.Run(ctx, o)
}
