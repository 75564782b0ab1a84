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

// RunnerOptions say what a [Runner] is made of. Settings and Starter must be given.
type RunnerOptions struct {
	Settings *config.Settings
	Starter  session.Starter
	Dial     servers.Dial                 // probes servers; nil: the network
	Log      func(string, map[string]any) // nil: nothing is logged
}

// Runner runs the scripts of the doctor as a gateway runs its own: in a session
// of each lane, and behind the servers that it pins. It is safe for concurrent
// use. Close ends it.
type Runner struct {
	Pool *pool.Pool // runs a script with the servers that its arguments name

	options  RunnerOptions
	sessions map[ps.Lane]*firstSession
	pinned   *servers.Servers // nil until Pin
}

// firstSession is what came of the first start of a lane.
type firstSession struct {
	done    chan struct{}
	once    sync.Once
	session *session.Session
	took    time.Duration
	err     error
}

// NewRunner starts a session of each lane; [Runner.Open] tells what came of it.
func NewRunner(o RunnerOptions) (*Runner, error) {
	r := &Runner{options: o, sessions: map[ps.Lane]*firstSession{}}
	lanes := map[ps.Lane]pool.Lane{}
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		first := &firstSession{done: make(chan struct{})}
		r.sessions[lane] = first
		cfg := session.Config{
			Starter: o.Starter, StartTimeout: o.Settings.Pool.StartTimeout, Log: o.Log,
			Boot: session.Boot{Prelude: scripts.DoctorPrelude(lane), Scripts: scripts.DoctorSources(lane), Module: scripts.Modules[lane]},
		}
		lanes[lane] = pool.Lane{Size: 1, Start: func(ctx context.Context) (pool.Session, error) {
			began := time.Now()
			s, err := session.Start(ctx, cfg)
			first.once.Do(func() {
				first.session, first.took, first.err = s, time.Since(began), err
				close(first.done)
			})
			return started(s, err)
		}}
	}
	var err error
	r.Pool, err = pool.New(pool.Config{Lanes: lanes, MaxWait: o.Settings.Pool.StartTimeout, Log: o.Log})
	return r, err
}

// Open waits for the first session of a lane. The error says why it did not start.
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

// Memory is how many private bytes the first session of a lane has now.
func (r *Runner) Memory(lane ps.Lane) (int64, error) {
	if first := r.sessions[lane]; first.session != nil {
		return first.session.Memory()
	}
	return 0, errors.ErrUnsupported
}

// Pin is a runner that finds and pins a domain controller and a DNS server, and
// names them to the scripts. It is called once.
func (r *Runner) Pin() (*servers.Servers, error) {
	described, err := scripts.DescribeDoctor()
	if err != nil {
		return nil, err
	}
	r.pinned, err = servers.New(servers.Config{
		Runner: r.Pool, Script: lookup(described), Dial: r.options.Dial, Log: r.options.Log,
		Directory: r.options.Settings.Servers.Controllers, DNS: one(r.options.Settings.Servers.DNSServer),
	})
	return r.pinned, err
}

// Close ends the sessions; it waits for what runs as long as ctx allows.
func (r *Runner) Close(ctx context.Context) error {
	var err error
	if r.pinned != nil {
		err = r.pinned.Close(ctx)
	}
	return errors.Join(err, r.Pool.Close(ctx))
}
