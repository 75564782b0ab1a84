package app

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"adgateway/cmd/adgateway/internal/doctor"
	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
	"adgateway/ps"
	"adgateway/winsvc"
	"adgateway/winsvc/host"
)

// SelfFiles returns the paths to which a gateway with these settings writes its self-view. They are next to
// its credential file, or next to its settings file if it has no credential file or is a sandbox. ok is false
// if it has neither file.
func SelfFiles(cfg *config.Settings, settingsFile string, sandbox bool) (files doctor.SelfFiles, ok bool) {
	path := settingsFile
	if cfg.Auth.Store != "" && !sandbox {
		path = program.CredentialFile(cfg.Auth, settingsFile).Path
	}
	files = doctor.SelfFiles{Folder: filepath.Dir(path), Name: "adgateway-as-service",
		Restrict: host.Files{Service: winsvc.Gateway.Name}.Restrict}
	if sandbox {
		files.Name = "adgateway-as-sandbox"
	}
	return files, path != ""
}

// Time limits and intervals of a self-view.
const (
	selfLimit = 2 * time.Minute // in addition to the start of sessions
	selfCheck = 100 * time.Millisecond
)

// serveSelf writes the gateway's self-view when its sessions have started, and whenever one is requested.
// When they have started, it also returns the memory that only the start has needed to the system, because
// the next collection may be far off.
func (s *Server) serveSelf(ctx context.Context) {
	ready := make(chan struct{})
	go func() {
		defer close(ready)
		s.awaitSessions(ctx)
		debug.FreeOSMemory()
	}()
	if files, ok := SelfFiles(s.live.Now(), s.options.Flags.Path(), s.backend.sandbox); ok {
		files.Serve(ctx, ready, s.takeView, func(err error) {
			s.log.WithError(err).Warn("how the gateway sees its sessions cannot be left for the doctor")
		})
	}
	<-ready
}

// awaitSessions returns when every lane has a session, or when the time limit for a start has passed. Until
// then, the sessions of a view would compete with those of requests.
func (s *Server) awaitSessions(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.live.Now().Pool.StartTimeout)
	defer cancel()
	ticker := time.NewTicker(selfCheck)
	defer ticker.Stop()
	for {
		waiting := false
		for _, stats := range s.stack.Pool.Stats() {
			ok, _ := stats.Ready()
			waiting = waiting || !ok
		}
		if !waiting {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// takeView starts and uses one session of each lane, in the same way as the pool.
func (s *Server) takeView(ctx context.Context) doctor.SelfView {
	cfg := s.live.Now()
	ctx, cancel := context.WithTimeout(ctx, cfg.Pool.StartTimeout+selfLimit)
	defer cancel()
	v := doctor.SelfView{Version: s.options.Version, PID: os.Getpid(), Console: host.HasConsole(),
		Sessions: []doctor.SelfSession{}, Servers: []doctor.SelfServer{}}
	if account, err := host.ReadAccount(); err == nil {
		v.Account, v.AccountID = account.Name, account.ID
	}
	v.Folders = s.folders()
	runner, err := NewRunner(RunnerOptions{Settings: cfg, Starter: s.backend.starter, Dial: s.backend.dial})
	if err != nil {
		v.Sessions = append(v.Sessions, doctor.SelfSession{Lane: ps.Directory, Error: program.OneLine(err)})
		v.Taken = time.Now()
		return v
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), CloseWait)
		defer cancel()
		_ = runner.Close(closing) // an error only means that a session had to be killed
	}()
	opened := true
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		ready, took, err := runner.Open(ctx, lane)
		session := doctor.SelfSession{
			Lane: lane, PowerShell: ready.PowerShell, Edition: ready.Edition, Module: ready.Module,
			ModuleVersion: ready.ModuleVersion,
			LanguageMode:  ready.LanguageMode, Milliseconds: took.Milliseconds(),
		}
		if err != nil {
			opened = false
			session.Error, session.Blocked = program.OneLine(err), ps.AsError(err).Blocked()
		}
		v.Sessions = append(v.Sessions, session)
	}
	if opened {
		s.useServers(ctx, runner, &v)
	}
	v.Taken = time.Now()
	return v
}

// folders returns the state of the folders that PowerShell needs.
func (s *Server) folders() []doctor.SelfFolder {
	all := []doctor.SelfFolder{{Use: "temporary files", Path: cmp.Or(s.backend.folder.Name(), os.TempDir())}}
	profile, err := os.UserHomeDir()
	all = append(all, doctor.SelfFolder{Use: "profile of the account", Path: profile})
	for i := range all {
		if all[i].Path != "" {
			if _, err = os.Stat(all[i].Path); err == nil {
				err = host.Writable(filepath.Join(all[i].Path, "adgateway-self"))
			}
		}
		if err != nil {
			all[i].Error = program.OneLine(err)
		}
	}
	return all
}

// useServers discovers the servers and reads from each of them.
func (s *Server) useServers(ctx context.Context, runner *Runner, v *doctor.SelfView) {
	pinned, err := runner.Pin()
	if err != nil {
		v.Servers = append(v.Servers, doctor.SelfServer{Lane: ps.Directory, Error: program.OneLine(err)})
		return
	}
	run := func(lane ps.Lane, script string, records func(json.RawMessage) error) (server string,
		took time.Duration, err error) {
		startedAt := time.Now()
		result, err := pinned.Run(ctx,
			ps.Request{ID: "self", Script: script, Lane: lane, Args: ps.Args{}, Limit: selfLimit, Records: records})
		if err != nil {
			return "", 0, err
		}
		return result.Server, time.Since(startedAt), nil
	}
	directory, dns := doctor.SelfServer{Lane: ps.Directory}, doctor.SelfServer{Lane: ps.DNS}
	var clock []struct{ Time time.Time }
	var self []struct{ Account string }
	asked := time.Now()
	directory.Name, _, err = run(ps.Directory, "Get-GatewayClock", ps.Collect(&clock))
	if err == nil && len(clock) == 1 {
		v.SkewMilliseconds = asked.Sub(clock[0].Time).Milliseconds()
		var took time.Duration
		_, took, err = run(ps.Directory, "Get-GatewaySelf", ps.Collect(&self))
		v.ReadMilliseconds = took.Milliseconds()
	}
	if len(self) == 1 {
		v.Self = self[0].Account
	}
	if err != nil {
		directory.Error = program.OneLine(err)
	}
	if dns.Name, _, err = run(ps.DNS, "Get-GatewayDnsAccess", nil); err != nil {
		dns.Error = program.OneLine(err)
	}
	v.Servers = append(v.Servers, directory, dns)
}
