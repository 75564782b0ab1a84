package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/doctor"
	"adgateway/cmd/adgateway/internal/doctor/live"
	"adgateway/gateway/auth"
	"adgateway/gateway/config"
	"adgateway/ps"
	"adgateway/ps/servers"
	"adgateway/ps/session"
	"adgateway/scripts"
	"adgateway/winsvc"
	"adgateway/winsvc/host"
)

// examination is what a doctor works with: the settings, and a PowerShell and a
// domain, which are this computer's or the sandbox's.
type examination struct {
	flags    *doctorFlags
	settings doctor.Settings
	faults   error // of the settings

	engine string
	find   func(path string) (string, error)
	start  func() (session.Starter, error)
	dial   servers.Dial
	end    func() error // after the last session

	open   func() (*app.Runner, error) // once; the first call starts sessions
	mu     sync.Mutex
	runner *app.Runner // nil: none was opened
}

func newExamination(ctx context.Context, f *doctorFlags, stderr io.Writer) (*examination, error) {
	d := &examination{flags: f, engine: "powershell", dial: (&net.Dialer{}).DialContext, end: func() error { return nil }}
	src, settings, _, err := f.read()
	d.faults = err
	if err != nil && f.live { // what changes something does not run with settings that nobody meant
		return nil, err
	}
	if err != nil { // the other checks look all the same
		settings = config.Default()
		if err := f.places(settings); err != nil {
			return nil, err
		}
	}
	if settings.Auth.Store != "" {
		settings.Auth.Store = storeFile(settings.Auth, f.path()).Path
	}
	d.settings = doctor.Settings{File: f.path(), Exists: src.Text != nil, Values: settings}
	d.find = func(path string) (string, error) {
		found, err := findPowerShell(path, runtime.GOOS, exec.LookPath)
		if err == nil && found == "" {
			return exec.LookPath(session.DefaultPath())
		}
		return found, err
	}
	d.start = func() (session.Starter, error) { return powerShell(settings.PowerShell) }
	if f.sandbox {
		if err := d.useSandbox(ctx, stderr); err != nil {
			return nil, err
		}
	}
	d.open = sync.OnceValues(d.newRunner)
	return d, nil
}

// useSandbox puts the sandbox in the place of this computer's PowerShell and domain.
func (d *examination) useSandbox(ctx context.Context, stderr io.Writer) error {
	engine, err := engineOf(d.settings.Values.Sandbox)
	if err != nil {
		return err
	}
	log := newLog(config.Log{Level: "warn", Format: "text"}, stderr)
	world, err := newWorld(ctx, d.settings.Values, log)
	if err != nil {
		return err
	}
	starter, end, err := engine.starter(world)
	if err != nil {
		return err
	}
	d.engine, d.dial, d.end = engine.name, world.Dial, end
	d.find = func(string) (string, error) { return "the engine of the " + engine.name, nil }
	d.start = func() (session.Starter, error) { return starter, nil }
	return nil
}

func (d *examination) newRunner() (*app.Runner, error) {
	starter, err := d.start()
	if err != nil {
		return nil, err
	}
	runner, err := app.NewRunner(app.RunnerOptions{Settings: d.settings.Values, Starter: starter, Dial: d.dial})
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.runner = runner
	return runner, nil
}

// close ends the sessions.
func (d *examination) close(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var err error
	if d.runner != nil {
		err = d.runner.Close(ctx)
	}
	return errors.Join(err, d.end())
}

// live tries what only a real domain can answer.
func (d *examination) live(ctx context.Context, o live.Options) (*live.Report, error) {
	runner, err := d.open()
	if err != nil {
		return nil, err
	}
	if o.Runner, err = runner.Pin(); err != nil {
		return nil, err
	}
	o.Engine, o.Open, o.Memory = d.engine, runner.Open, runner.Memory
	return live.Run(ctx, o)
}

func (d *examination) probes() doctor.Probes {
	files := host.Files{Service: winsvc.Name}
	return doctor.Probes{
		Settings: func() (doctor.Settings, error) { return d.settings, d.faults },
		System:   host.ReadSystem,
		Account:  host.ReadAccount,
		Service:  func() (host.Service, error) { return host.ReadService(winsvc.Name) },
		Policy:   host.ExecutionPolicy,

		FindPowerShell: d.find,
		Survey:         d.survey,
		Open:           d.session,
		Run: func(ctx context.Context, request ps.Request) (*ps.Result, error) {
			runner, err := d.open()
			if err != nil {
				return nil, err
			}
			return runner.Pool.Run(ctx, request)
		},
		Dial: d.dial,

		Listen:      listenOnce,
		PortHolder:  host.PortHolder,
		Certificate: certificateOf,
		Names:       host.Names,

		Exposed:     files.Exposed,
		Writable:    host.Writable,
		Free:        host.FreeSpace,
		Credentials: readCredentials,

		Now: time.Now, OUs: d.flags.ous, Limit: d.flags.timeout,
	}
}

// survey asks a PowerShell that is no session.
func (d *examination) survey(ctx context.Context) (doctor.Survey, error) {
	starter, err := d.start()
	if err != nil {
		return doctor.Survey{}, err
	}
	written, err := session.Ask(ctx, starter, scripts.Survey())
	if err != nil {
		return doctor.Survey{}, err
	}
	for line := range strings.Lines(written) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), scripts.SurveyMark); ok {
			var survey doctor.Survey
			return survey, json.Unmarshal([]byte(text), &survey)
		}
	}
	return doctor.Survey{}, fmt.Errorf("it wrote something else than was asked for: %.200q", written)
}

func (d *examination) session(ctx context.Context, lane ps.Lane) (doctor.Session, error) {
	runner, err := d.open()
	if err != nil {
		return doctor.Session{}, err
	}
	ready, took, err := runner.Open(ctx, lane)
	return doctor.Session{
		PowerShell: ready.PowerShell, Edition: ready.Edition, Module: ready.Module, ModuleVersion: ready.ModuleVersion, Took: took,
	}, err
}

// listenOnce opens the gateway's listener and closes it.
func listenOnce(settings *config.Settings) error {
	listener, err := app.Listen(settings)
	switch {
	case err == nil:
		return listener.Close()
	case portTaken(err):
		return fmt.Errorf("%w: %w", doctor.ErrPortTaken, err)
	case portForbidden(err):
		return fmt.Errorf("%w: %w", doctor.ErrPortForbidden, err)
	}
	return err
}

// certificateOf is the certificate that a gateway with these settings has.
func certificateOf(settings *config.Settings) (doctor.Certificate, error) {
	leaf, err := app.Certificate(settings, host.Certificates())
	if err != nil {
		return doctor.Certificate{}, err
	}
	c := doctor.Certificate{Subject: leaf.Subject.String(), Names: leaf.DNSNames, Ends: leaf.NotAfter}
	for _, address := range leaf.IPAddresses {
		c.Names = append(c.Names, address.String())
	}
	return c, nil
}

// readCredentials reads who can call the API, without what proves it.
func readCredentials(path string) ([]doctor.Credential, error) {
	document, _, err := auth.File{Path: path, Guardian: host.Files{Service: winsvc.Name}}.Read() // the warning is of the check of files
	if err != nil {
		return nil, err
	}
	var found []doctor.Credential
	for _, account := range append(document.Tokens, document.Users...) {
		c := doctor.Credential{Name: account.Name}
		if account.Expires != nil {
			c.Expires = *account.Expires
		}
		found = append(found, c)
	}
	return found, nil
}
