package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"adgateway/ps"
)

// measureStart returns how long the sessions of this run took to start.
func measureStart(ctx context.Context, r *run) ([]Observation, error) {
	var all []Observation
	for _, lane := range []ps.Lane{ps.Directory, ps.DNS} {
		ready, took, err := r.o.Open(ctx, lane)
		if err != nil {
			return all, err
		}
		all = append(all, Observation{Fact: string(lane), Found: fmt.Sprintf("%d ms, PowerShell %s %s, %s %s",
			took.Milliseconds(), ready.PowerShell, ready.Edition, ready.Module, ready.ModuleVersion)})
	}
	return all, nil
}

// measureExtension checks for the library that exposes userParameters to ADSI.
func measureExtension(context.Context, *run) ([]Observation, error) {
	const name = "tsuserex.dll"
	root := os.Getenv("SystemRoot")
	if root == "" {
		return []Observation{{Fact: name, Found: "this is not Windows"}}, nil
	}
	if _, err := os.Stat(filepath.Join(root, "System32", name)); err != nil {
		return []Observation{{Fact: name, Found: "not there: " + err.Error()}}, nil
	}
	return []Observation{{Fact: name, Found: "there"}}, nil
}

// measuredRequests is the number of requests over which the memory growth of a session is measured.
const measuredRequests = 200

// measureMemory returns by how many private bytes a session grows per request.
func measureMemory(ctx context.Context, r *run) ([]Observation, error) {
	const fact = "200 small requests"
	request := func() error {
		_, err := r.records(ctx, ps.Request{Script: "Get-GatewayClock", Lane: ps.Directory, Args: ps.Args{}})
		return err
	}
	if err := request(); err != nil { // the first request loads code that is loaded only once
		return nil, err
	}
	before, err := r.o.Memory(ps.Directory)
	startedAt := time.Now()
	for range measuredRequests {
		if err := request(); err != nil {
			return nil, err
		}
	}
	each := time.Since(startedAt) / measuredRequests
	after, afterErr := r.o.Memory(ps.Directory)
	if err != nil || afterErr != nil {
		return []Observation{{Fact: fact,
				Found: fmt.Sprintf("%d us each; this engine has no process of its own to measure", each.Microseconds())}},
			nil
	}
	return []Observation{{Fact: fact,
		Found: fmt.Sprintf("%d us each; %d KiB private before, %d KiB after, %d bytes a request",
			each.Microseconds(), before>>10, after>>10, (after-before)/measuredRequests)}}, nil
}

// callsMeasured is the number of timed reads and of timed writes.
const callsMeasured = 20

// measureCalls times complete reads and writes of a user through a session, without the gateway's own share.
func measureCalls(ctx context.Context, r *run) ([]Observation, error) {
	var user struct{ GUID string }
	err := r.one(ctx, ps.Request{Script: "New-GatewayScratchUser", Lane: ps.Directory, Write: true,
		Args: ps.Args{
			"Base": ps.Text(r.target.base), "Prefix": ps.Text(Prefix),
		}}, &user)
	if err != nil {
		return nil, err
	}
	fields := ps.List([]string{"firstName", "lastName", "displayName", "description", "emailAddress",
		"lockedOut", "rdsProfilePath", "accountExpires"})
	read := func(int) error {
		_, err := r.records(ctx, ps.Request{Script: "Get-GatewayUser", Lane: ps.Directory,
			Args: ps.Args{"UserName": ps.Text(user.GUID), "Field": fields}})
		return err
	}
	write := func(i int) error {
		_, err := r.records(ctx, ps.Request{Script: "Set-GatewayUser", Lane: ps.Directory, Write: true,
			Args: ps.Args{
				"UserName": ps.Text(user.GUID), "Field": fields, "Description": ps.Text(fmt.Sprint("measured ", i)),
			}})
		return err
	}
	var all []Observation
	for _, c := range []struct {
		fact string
		call func(int) error
	}{{"one read of a user", read}, {"one write of a user", write}} {
		o, err := timed(c.fact, c.call)
		if err != nil {
			return all, err
		}
		all = append(all, o)
	}
	return all, nil
}

// timed calls a function several times and times all calls but the first.
func timed(fact string, call func(i int) error) (Observation, error) {
	var took []time.Duration
	for i := range callsMeasured + 1 {
		startedAt := time.Now()
		if err := call(i); err != nil {
			return Observation{}, err
		}
		took = append(took, time.Since(startedAt))
	}
	took = took[1:]
	slices.Sort(took)
	return Observation{Fact: fact, Found: fmt.Sprintf("%.1f ms (median of %d), at most %.1f ms",
		milliseconds(took[len(took)/2]), len(took), milliseconds(took[len(took)-1]))}, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// longList is the length of a list that the web service cannot return in one page, which has 256 objects.
const longList = 1000

// pages is the number of objects above which a list has several pages.
const pages = 256

// extraSessions is the number of sessions by which the last attempt exceeds the pool.
const extraSessions = 2

// answered is the result of a session's list, see Get-GatewayLongList.
type answered struct {
	Base    string
	Count   int
	MS      int64
	Failure string
	Message string
}

// tryConnections lists many objects in several sessions at the same time. It first does so as the gateway
// does, in as many sessions as the pool has. Then it opens a second connection in each session, in as many
// sessions and in more.
func tryConnections(ctx context.Context, r *run) ([]Observation, error) {
	n := r.o.Sessions
	facts := []struct {
		fact     string
		sessions int
		nested   bool
	}{
		{"long lists in all sessions of the pool at once", n, false},
		{"the same with nested reads", n, true},
		{fmt.Sprintf("nested reads in %d sessions more", extraSessions), n + extraSessions, true},
	}
	var sample answered
	if err := r.one(ctx, ps.Request{Script: "Get-GatewayLongList", Lane: ps.Directory, List: true,
		Args: ps.Args{"Limit": ps.Int(longList)}}, &sample); err != nil {
		return nil, err
	}
	var all []Observation
	if sample.Count <= pages {
		why := fmt.Sprintf("%s %s has only %d objects, which are no more than one page", notTried, sample.Base,
			sample.Count)
		if sample.Failure != "" {
			why = fmt.Sprintf("%s %s cannot be listed: %s", notTried, sample.Base, sample.Failure)
		}
		for _, f := range facts {
			all = append(all, Observation{Fact: f.fact, Found: why})
		}
		return all, nil
	}
	r.o.Progress(fmt.Sprintf("starting %d sessions", n+extraSessions))
	sessions, end, err := r.o.Crowd(ctx, n+extraSessions)
	if err != nil {
		return nil, fmt.Errorf("%d sessions at once: %w", n+extraSessions, err)
	}
	for _, f := range facts {
		all = append(all, r.list(ctx, f.fact, sessions[:f.sessions], sample.Base, f.nested))
	}
	return all, end(context.WithoutCancel(ctx))
}

// list lists objects in all sessions at the same time.
func (r *run) list(
	ctx context.Context, fact string, sessions []ps.Runner, base string, nested bool,
) Observation {
	lists := make([]answered, len(sessions))
	var running sync.WaitGroup
	for i, session := range sessions {
		running.Go(func() {
			err := one(ctx, session, ps.Request{Script: "Get-GatewayLongList", Lane: ps.Directory, List: true,
				Args: ps.Args{
					"Base": ps.Text(base), "Limit": ps.Int(longList), "Nested": ps.Bool(nested),
					"Server": ps.Text(r.report.Controller),
				}}, &lists[i])
			if err != nil {
				lists[i].Failure = "error " + err.Error()
			}
		})
	}
	running.Wait()
	o := Observation{Fact: fact, Found: "all answered"}
	var failed int
	var slowest int64
	for _, l := range lists {
		slowest = max(slowest, l.MS)
		if l.Failure != "" {
			failed++
			o.Message = l.Message
			o.Found = l.Failure
		}
	}
	if failed > 0 {
		o.Found = fmt.Sprintf("%d of %d failed: %s", failed, len(lists), o.Found)
	}
	if nested {
		o.Status = Measured
		o.Found += fmt.Sprintf("; the slowest took %d ms", slowest)
	}
	return o
}
