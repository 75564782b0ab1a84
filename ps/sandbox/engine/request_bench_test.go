package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/session"
	"adgateway/scripts"
)

// benchUsers is the number of users in the domain of a benchmark, in addition to the built-in ones.
const benchUsers = 10_000

// benchWorld returns a sandbox with 10,000 users, the name of its domain controller and the account
// names of the users.
func benchWorld(b *testing.B) (world *sandbox.World, server string, users []string) {
	world, err := sandbox.NewWorld(b.Context(), sandbox.Options{Seed: 1, Users: benchUsers})
	require.NoError(b, err)
	dc, err := world.Directory.DC("")
	require.NoError(b, err)
	_, err = startSession(b, world).Run(b.Context(), ps.Request{
		Script: "Get-GatewayUserList", Limit: time.Minute,
		Args: ps.Args{"OUPath": ps.Text("OU=Generated,DC=corp,DC=example"), "Field": ps.List([]string{"username"}),
			"Recursive": ps.Bool(true), "Server": ps.Text(dc.HostName())},
		Records: func(batch json.RawMessage) error {
			var records []struct{ Username string }
			err := json.Unmarshal(batch, &records)
			for _, r := range records {
				users = append(users, r.Username)
			}
			return err
		},
	})
	require.NoError(b, err)
	require.Len(b, users, benchUsers)
	return world, dc.HostName(), users
}

// startSession returns a session of the directory lane, started in the same way as by the gateway.
func startSession(b *testing.B, world *sandbox.World) *session.Session {
	s, err := session.Start(b.Context(), session.Config{
		Starter: world.Starter(), StartTimeout: time.Minute,
		Boot: session.Boot{
			Prelude: scripts.Prelude(ps.Directory), Scripts: scripts.Sources(ps.Directory),
			Module: scripts.Modules[ps.Directory],
		},
	})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close(context.Background())) })
	return s
}

// benchRequests returns the measured requests by script. i is the number of the request.
// Get-GatewayUser shows all fields of one of 500 users, and reads what the entity tag covers.
// Set-GatewayUser, the largest script, changes two fields and shows all. 1,000 requests in a row may be
// repeated as a whole, and each of them makes a change even then.
func benchRequests(server string, users []string) map[string]func(i int) ps.Args {
	fields := schema.User.All().ReadingAll().Read()
	common := func(i int) ps.Args {
		user := users[i%500*7919%len(users)]
		return ps.Args{"UserName": ps.Text(user), "Field": fields, "Server": ps.Text(server)}
	}
	return map[string]func(i int) ps.Args{
		"Get-GatewayUser": common,
		largestScript(): func(i int) ps.Args {
			args := common(i)
			args["JobTitle"], args["Office"] = ps.Text(fmt.Sprint("Title ", i)), ps.Text(fmt.Sprint("Room ", i))
			return args
		},
	}
}

// BenchmarkRequest measures a request through a session, which works in parallel with the
// engine. The result is the time for which a caller of the session waits.
func BenchmarkRequest(b *testing.B) {
	world, server, users := benchWorld(b)
	s := startSession(b, world)
	for name, args := range benchRequests(server, users) {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			records := 0
			count := func(json.RawMessage) error { records++; return nil }
			b.ReportAllocs()
			for b.Loop() {
				request := ps.Request{Script: name, Args: args(len(took)), Records: count}
				began := time.Now()
				_, err := s.Run(b.Context(), request)
				took = append(took, time.Since(began))
				require.NoError(b, err)
			}
			require.Equal(b, len(took), records)
			b.ReportMetric(median(took), "p50-µs")
		})
	}
}

// BenchmarkEngine measures the engine's time for a request, from one data line until it
// reads the next: the prelude, the script, the cmdlets and the frames. Nothing else runs.
func BenchmarkEngine(b *testing.B) {
	world, server, users := benchWorld(b)
	modules, culture := world.Modules()
	eng := engine.NewEngine(engine.Options{Modules: append([]*engine.Module{sandbox.HostModule()}, modules...),
		Aliases: sandbox.Aliases, Culture: culture})
	largest := largestScript()
	for name, args := range benchRequests(server, users) {
		b.Run(name, func(b *testing.B) {
			lines := make([]string, 1000) // in advance, because encoding them is the session's work
			for i := range lines {
				lines[i] = ps.EncodeRequest("1", name, args(i)) + "\n"
				if name == largest {
					lines[i] += "+\n" // the answer that allows a change
				}
			}
			in, out := &requestLines{lines: lines, more: b.Loop}, &frameCount{}
			s := eng.NewSession(engine.Console{Stdin: in, Stdout: out})
			prelude := scripts.Prelude(ps.Directory)
			require.NoError(b, s.Run(b.Context(), prelude.Name, prelude.Text, engine.Streams{}))
			for _, script := range scripts.Sources(ps.Directory) {
				require.NoError(b, s.SetFunction(script.Name, script.Text))
			}
			b.ReportAllocs()
			require.NoError(b, s.Run(b.Context(), "", "Start-GatewaySession -Module "+scripts.Modules[ps.Directory],
				engine.Streams{}))
			require.Equal(b, []int{len(in.took), len(in.took), 0}, []int{out.records, out.ends, out.errors})
			b.ReportMetric(median(in.took), "p50-µs")
		})
	}
}

// requestLines is an engine's input that measures the time between returning one line and
// the request for the next.
type requestLines struct {
	lines []string
	more  func() bool // reports whether there is another line; if not, the request loop is told to end
	rest  string      // the rest of the line being read
	ended bool
	began time.Time
	took  []time.Duration
}

func (r *requestLines) Read(p []byte) (int, error) {
	if r.rest == "" {
		if !r.began.IsZero() {
			r.took = append(r.took, time.Since(r.began))
		}
		switch {
		case r.ended:
			return 0, io.EOF
		case r.more():
			r.rest = r.lines[len(r.took)%len(r.lines)]
			r.began = time.Now()
		default:
			r.rest, r.ended, r.began = "#\n", true, time.Time{}
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// frameCount counts the frames in an engine's output by kind.
type frameCount struct{ records, ends, errors int }

func (c *frameCount) Write(p []byte) (int, error) {
	c.records += bytes.Count(p, []byte("\x1e1 records "))
	c.ends += bytes.Count(p, []byte("\x1e1 end "))
	c.errors += bytes.Count(p, []byte("\x1e1 error "))
	return len(p), nil
}

// median returns the median of times, in microseconds.
func median(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2].Nanoseconds()) / 1e3
}

// largestScript returns the name of the largest script of the directory.
func largestScript() string {
	return slices.MaxFunc(scripts.Sources(ps.Directory),
		func(a, b ps.Source) int { return len(a.Text) - len(b.Text) }).Name
}
