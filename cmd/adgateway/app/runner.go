package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"adgateway/gateway/config"
	"adgateway/ps"
	"adgateway/ps/pool"
	"adgateway/ps/servers"
	"adgateway/ps/session"
	"adgateway/scripts"
)

// RunnerOptions configure a [Runner]. Settings and Starter are required.
type RunnerOptions struct {
	Settings *config.Settings
	Starter  session.Starter
	Dial     servers.Dial                 // probes servers; nil dials the network
	Log      func(string, map[string]any) // nil discards log entries
}

// Runner runs the doctor's scripts in the same way as a gateway runs its own, in one session per lane
// and against pinned servers. It is safe for concurrent use, except that Pin is called at most once.
type Runner struct {
	Pool *pool.Pool // runs scripts against the servers named in their arguments

	options  RunnerOptions
	sessions map[ps.Lane]*firstSession
	pinned   *servers.Servers // nil until Pin
}

// firstSession is the result of the first session start in a lane.
type firstSession struct {
	done    chan struct{}
	once    sync.Once
	session *session.Session
	took    time.Duration
	err     error
}

// NewRunner starts one session per lane in the background.
// [Runner.Open] waits for it. The caller must close the runner.
func NewRunner(o RunnerOptions) (*Runner, error) {
	r := &Runner{options: o, sessions: map[ps.Lane]*firstSession{}}
	lanes := map[ps.Lane]pool.Lane{}
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		first := &firstSession{done: make(chan struct{})}
		r.sessions[lane] = first
		cfg := r.config(lane)
		lanes[lane] = pool.Lane{Size: 1, Start: func(ctx context.Context) (pool.Session, error) {
			startedAt := time.Now()
			s, err := session.Start(ctx, cfg)
			first.once.Do(func() {
				first.session, first.took, first.err = s, time.Since(startedAt), err
				close(first.done)
			})
			return poolSession(s, err)
		}}
	}
	var err error
	r.Pool, err = pool.New(pool.Config{Lanes: lanes, MaxWait: o.Settings.Pool.StartTimeout, Log: o.Log})
	return r, err
}

// Open waits for the first session of a lane and returns how long its start took. It returns the error of the
// start if that failed, and the cause of ctx if ctx ends first.
func (r *Runner) Open(ctx context.Context, lane ps.Lane) (session.Ready, time.Duration, error) {
	first := r.sessions[lane]
	select {
	case <-ctx.Done():
		return session.Ready{}, 0, context.Cause(ctx)
	case <-first.done:
	}
	if first.err != nil {
		return session.Ready{}, first.took, first.err
	}
	return first.session.Ready(), first.took, nil
}

// Memory returns the private bytes that the first session of a lane
// currently uses, or [errors.ErrUnsupported] if there is no such session.
func (r *Runner) Memory(lane ps.Lane) (int64, error) {
	if first := r.sessions[lane]; first.session != nil {
		return first.session.Memory()
	}
	return 0, errors.ErrUnsupported
}

// Crowd starts n more sessions for the directory, one after another. They
// run scripts at the same time, against the server named in the arguments.
// end closes them and waits for running scripts until its context ends.
func (r *Runner) Crowd(
	ctx context.Context, n int,
) (sessions []ps.Runner, end func(context.Context) error, err error) {
	var started []*session.Session
	end = func(ctx context.Context) error {
		var faults []error
		for _, s := range started {
			faults = append(faults, s.Close(ctx))
		}
		return errors.Join(faults...)
	}
	for range n {
		s, err := session.Start(ctx, r.config(ps.Directory))
		if err != nil {
			return nil, nil, errors.Join(err, end(ctx))
		}
		started, sessions = append(started, s), append(sessions, s)
	}
	return sessions, end, nil
}

// config returns the configuration of a lane's sessions.
func (r *Runner) config(lane ps.Lane) session.Config {
	return session.Config{
		Starter: r.options.Starter, StartTimeout: r.options.Settings.Pool.StartTimeout, Log: r.options.Log,
		Boot: session.Boot{Prelude: scripts.DoctorPrelude(lane), Scripts: scripts.DoctorSources(lane),
			Module: scripts.Modules[lane]},
	}
}

// Pin returns a runner that discovers and pins a domain controller and a DNS
// server and passes their names to the scripts. It must be called at most once.
func (r *Runner) Pin() (*servers.Servers, error) {
	var err error
	r.pinned, err = servers.New(servers.Config{
		Runner: r.Pool, Script: lookup(scripts.DescribeDoctor()), Dial: r.options.Dial, Log: r.options.Log,
		Directory: r.options.Settings.Servers.Controllers, DNS: optional(r.options.Settings.Servers.DNSServer),
	})
	return r.pinned, err
}

// Close closes the sessions, waiting for running scripts until ctx ends.
func (r *Runner) Close(ctx context.Context) error {
	var err error
	if r.pinned != nil {
		err = r.pinned.Close(ctx)
	}
	return errors.Join(err, r.Pool.Close(ctx))
}
