package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/doctor/live"
	"adgateway/gateway/config"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/session"
)

var update = flag.Bool("update", false, "rewrite expected.json with the results of the sandbox")

// scratch is a sandbox prepared for a run.
type scratch struct {
	world   *sandbox.World
	runner  *app.Runner
	options live.Options
}

// shared returns the sandbox of all tests. Every test leaves it unchanged.
var shared = sync.OnceValues(func() (*scratch, error) { return open("en-US") })

func open(culture string) (*scratch, error) {
	world, err := sandbox.NewWorld(context.Background(), sandbox.Options{Culture: culture})
	if err != nil {
		return nil, err
	}
	runner, err := app.NewRunner(app.RunnerOptions{Settings: config.Default(), Starter: world.Starter(),
		Dial: world.Dial})
	if err != nil {
		return nil, err
	}
	pinned, err := runner.Pin()
	return &scratch{world: world, runner: runner, options: live.Options{
		OU: "OU=Scratch,DC=corp,DC=example", Zone: "scratch.corp.example", Engine: "sandbox",
		Runner: pinned, Open: runner.Open, Memory: runner.Memory,
		Sessions: config.Default().Pool.DirectorySessions, Crowd: runner.Crowd,
	}}, err
}

func TestMain(m *testing.M) {
	code := m.Run()
	if s, err := shared(); err == nil {
		if err := s.close(); err != nil {
			fmt.Fprintln(os.Stderr, "the sessions were not closed:", err)
			code = 1
		}
	}
	os.Exit(code)
}

func (s *scratch) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	return s.runner.Close(ctx)
}

// The results are the same in every language of Windows.
func TestResultsDoNotDependOnTheLanguage(t *testing.T) {
	s, err := open("de-DE")
	require.NoError(t, err)
	defer func() { assert.NoError(t, s.close()) }()
	report := run(t, t.Context(), s.options)
	var text strings.Builder
	require.NoError(t, report.Text(&text))
	assert.Zero(t, report.ExitCode(), "%s", &text)
	encoded, err := json.Marshal(report)
	require.NoError(t, err)
	assert.True(t, strings.Contains(string(encoded), "Zugriff verweigert"), "the messages are German")
}

func newScratch(t *testing.T) *scratch {
	t.Helper()
	s, err := shared()
	require.NoError(t, err)
	return s
}

// few returns options with only the probes that the tests of failures need.
func (s *scratch) few() live.Options {
	o := s.options
	for _, probe := range live.Probes() {
		if slices.Contains([]string{"protection", "enabling", "networks"}, probe.ID) {
			o.Probes = append(o.Probes, probe)
		}
	}
	return o
}

// contents returns the DNs and zones of a sandbox, which a run must not change.
func (s *scratch) contents(t *testing.T) []string {
	t.Helper()
	var all []string
	found, err := s.world.Directory.DCs()[0].Search(t.Context(),
		directory.SearchRequest{Filter: "(objectClass=*)", Scope: directory.ScopeSubtree})
	require.NoError(t, err)
	for _, object := range found {
		all = append(all, object.DN)
	}
	server, err := s.world.DNS.Server(s.world.Directory.DCs()[0].HostName())
	require.NoError(t, err)
	zones, err := server.Zones()
	require.NoError(t, err)
	for _, zone := range zones {
		all = append(all, zone.Name)
	}
	return all
}

func run(t *testing.T, ctx context.Context, o live.Options) *live.Report {
	t.Helper()
	report, err := live.Run(ctx, o)
	require.NoError(t, err)
	return report
}

// expected.json contains the current results of the sandbox.
func TestSandboxResultsAreExpected(t *testing.T) {
	s := newScratch(t)
	before := s.contents(t)
	report := run(t, t.Context(), s.options)
	if *update {
		expected := live.Expected{}
		for _, finding := range report.Findings {
			for _, o := range finding.Observations {
				if o.Status != live.Measured && o.Status != live.Skipped && o.Found != "not tried" {
					if expected[finding.Probe] == nil {
						expected[finding.Probe] = map[string]string{}
					}
					expected[finding.Probe][o.Fact] = o.Found
				}
			}
		}
		text, err := json.MarshalIndent(expected, "", "  ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile("expected.json", append(text, '\n'), 0o644))
		return
	}
	var text strings.Builder
	require.NoError(t, report.Text(&text))
	assert.Zero(t, report.ExitCode(), "%s", &text)
	assert.Equal(t, before, s.contents(t), "nothing is left")
	assert.Len(t, report.Findings, len(live.Probes()))
}

// hook is a runner that calls a function before it runs a certain script.
type hook struct {
	ps.Runner
	before func(request ps.Request) error
}

func (h hook) Run(ctx context.Context, request ps.Request) (*ps.Result, error) {
	if err := h.before(request); err != nil {
		return nil, err
	}
	return h.Runner.Run(ctx, request)
}

// TestRunCleansUp: no matter which step fails, all created objects are removed, and the report describes the
// fault.
func TestRunCleansUp(t *testing.T) {
	s := newScratch(t)
	before := s.contents(t)
	failures := map[string]func(cancel func(), request ps.Request) error{
		"interrupted": func(cancel func(), request ps.Request) error {
			if request.Script == "Test-GatewayProtection" {
				cancel()
			}
			return nil
		},
		"a probe fails": func(_ func(), request ps.Request) error {
			if request.Script == "Test-GatewayEnabling" {
				return &ps.Error{Kind: ps.KindDied, Message: "PowerShell ended"}
			}
			return nil
		},
		"the first sweep fails": func() func(func(), ps.Request) error {
			failed := false
			return func(_ func(), request ps.Request) error {
				if request.Script == "Remove-GatewayScratch" && !failed {
					failed = true
					return &ps.Error{Kind: ps.KindTimeout}
				}
				return nil
			}
		}(),
		"the zone cannot be made": func(_ func(), request ps.Request) error {
			if request.Script == "New-GatewayScratchZone" {
				return &ps.Error{Kind: ps.KindScript, Code: "5", Message: "Access is denied"}
			}
			return nil
		},
	}
	want := map[string]struct {
		code int
		says string
	}{
		"interrupted":             {2, "cut short: it was interrupted"},
		"a probe fails":           {2, "PowerShell ended"},
		"the first sweep fails":   {0, "Everything that was created has been removed"},
		"the zone cannot be made": {2, "cut short: the scratch OU and zone could not be created: script: Access is denied"},
	}
	for name, fail := range failures {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o := s.few()
			o.Runner = hook{s.options.Runner, func(request ps.Request) error { return fail(cancel, request) }}
			report := run(t, ctx, o)
			var text strings.Builder
			require.NoError(t, report.Text(&text))
			assert.Equal(t, want[name].code, report.ExitCode(), "%s", &text)
			assert.Contains(t, text.String(), want[name].says)
			assert.Equal(t, before, s.contents(t))
		})
	}
}

func TestRemnantsAreReported(t *testing.T) {
	s := newScratch(t)
	o := s.few()
	o.Runner = hook{s.options.Runner, func(request ps.Request) error {
		if request.Script == "Remove-GatewayScratch" {
			return &ps.Error{Kind: ps.KindTimeout, Message: "too slow"}
		}
		return nil
	}}
	report := run(t, t.Context(), o)
	require.Len(t, report.Remains, 1)
	assert.Equal(t, o.OU, report.Remains[0].DN)
	assert.Equal(t, 2, report.ExitCode())
	// The next run finds the marked OU, uses it and removes it.
	report = run(t, t.Context(), s.few())
	assert.Zero(t, report.ExitCode())
	for _, dn := range s.contents(t) {
		assert.NotContains(t, dn, "OU=Scratch,")
	}
}

func TestOnlyScratchPlacesAreAccepted(t *testing.T) {
	s := newScratch(t)
	before := s.contents(t)
	for _, c := range []struct{ ou, zone, says string }{
		{"", "scratch.corp.example", "use the DN of an OU"},
		{"DC=corp,DC=example", "scratch.corp.example", "use the DN of an OU"},
		{"CN=Users,DC=corp,DC=example", "scratch.corp.example", "use the DN of an OU"},
		{`OU=a\,b,DC=corp,DC=example`, "scratch.corp.example", "plain name"},
		{"OU=Scratch,OU=Nowhere,DC=corp,DC=example", "scratch.corp.example", "neither it nor its parent"},
		{"OU=Domain Controllers,DC=corp,DC=example", "scratch.corp.example", "is not empty: it contains CN=DC1"},
		{"OU=Scratch,DC=corp,DC=example", "", "use the name of a forward zone"},
		{"OU=Scratch,DC=corp,DC=example", "10.in-addr.arpa", "use the name of a forward zone"},
		{"OU=Scratch,DC=corp,DC=example", "corp.example", "is not empty"},
		{"OU=Scratch,DC=corp,DC=example", "partner.example", "not a writable primary zone"},
	} {
		o := s.options
		o.OU, o.Zone = c.ou, c.zone
		_, err := live.Run(t.Context(), o)
		require.ErrorIs(t, err, live.ErrRefused, c.says)
		assert.ErrorContains(t, err, c.says)
	}
	o := s.options
	o.Open = func(context.Context, ps.Lane) (session.Ready, time.Duration, error) {
		return session.Ready{}, 0, errors.New("no PowerShell")
	}
	_, err := live.Run(t.Context(), o)
	require.ErrorIs(t, err, live.ErrRefused)
	assert.ErrorContains(t, err, "no PowerShell")
	assert.Equal(t, before, s.contents(t))
}

// An empty zone and an empty OU that existed before the run still exist afterwards and are empty.
func TestExistingPlacesRemain(t *testing.T) {
	s := newScratch(t)
	o := s.few()
	o.OU, o.Zone = "OU=Kept,DC=corp,DC=example", "kept.corp.example"
	do := func(script string, lane ps.Lane, args ps.Args) {
		_, err := s.options.Runner.Run(t.Context(), ps.Request{Script: script, Lane: lane, Args: args, Write: true})
		require.NoError(t, err)
	}
	before := s.contents(t)
	do("New-GatewayOU", ps.Directory,
		ps.Args{"OUName": ps.Text("Kept"), "OUDestinationPath": ps.Text("DC=corp,DC=example"),
			"IsProtected": ps.Bool(false)})
	do("New-GatewayScratchZone", ps.DNS, ps.Args{"ZoneName": ps.Text(o.Zone)})
	do("New-GatewayZone", ps.DNS,
		ps.Args{"Form": ps.Text("Reverse"), "ZoneName": ps.Text("2.0.192.in-addr.arpa")})
	with := s.contents(t)
	require.Len(t, with, len(before)+3)
	report := run(t, t.Context(), o)
	assert.Equal(t, with, s.contents(t))
	assert.Equal(t, 1, report.Counts[live.Skipped], "the network has a zone already")
	assert.Zero(t, report.ExitCode(), "%v", report.Counts)

	do("Remove-GatewayOU", ps.Directory, ps.Args{"OUPath": ps.Text(o.OU), "BulkLimit": ps.Int(1)})
	for _, zone := range []string{o.Zone, "2.0.192.in-addr.arpa"} {
		do("Remove-GatewayScratchZone", ps.DNS,
			ps.Args{"ZoneName": ps.Text(zone), "Prefix": ps.Text(live.Prefix), "Zone": ps.List([]string{zone})})
	}
	assert.Equal(t, before, s.contents(t))
}

// A difference is reported with the expected and the actual result.
func TestDifferencesAreReported(t *testing.T) {
	o := newScratch(t).few()
	o.Probes = []live.Probe{{ID: "targets", Script: "Test-GatewayDataLine", Lane: ps.Directory,
		Args: o.Probes[0].Args}}
	report := run(t, t.Context(), o)
	assert.Equal(t, 2, report.ExitCode(),
		"the script does not take these arguments: what was expected was not tried")

	report = &live.Report{Findings: []live.Finding{{Probe: "targets", Observations: []live.Observation{
		{Fact: "target without dot", Status: live.Differs, Expected: "target.", Found: "target.<zone>.", Message: "a\nb"},
	}}}, Counts: map[live.Status]int{live.Differs: 1}}
	assert.Equal(t, 1, report.ExitCode())
	var text strings.Builder
	require.NoError(t, report.Text(&text))
	assert.Contains(t, text.String(),
		"differs  target without dot\n             expected target.\n             found    target.<zone>.\n"+
			"             message  a b\n")
}

// Every result that can differ has advice for that case.
func TestEveryDifferenceHasAdvice(t *testing.T) {
	s := newScratch(t)
	o := s.options
	o.Runner = runnerFunc(func(ctx context.Context, request ps.Request) (*ps.Result, error) {
		if records := request.Records; records != nil {
			request.Records = func(batch json.RawMessage) error {
				return records(json.RawMessage(strings.ReplaceAll(string(batch), `"found":"`, `"found":"not so: `)))
			}
		}
		return s.options.Runner.Run(ctx, request)
	})
	o.Sessions = 1
	report := run(t, t.Context(), o)
	differ := 0
	facts := map[string]bool{}
	for _, finding := range report.Findings {
		for _, observed := range finding.Observations {
			facts[observed.Fact] = true
			if observed.Status == live.Differs {
				differ++
				assert.NotEmpty(t, observed.IfDiffers, "%s: %s", finding.Probe, observed.Fact)
			}
		}
	}
	assert.Greater(t, differ, 90)
	for _, probe := range live.Probes() {
		for fact := range probe.IfFactDiffers {
			assert.True(t, facts[fact], "%s has no fact %q", probe.ID, fact)
		}
	}
	var text strings.Builder
	require.NoError(t, report.Text(&text))
	assert.Contains(t, text.String(), "             to do    Grant the right to change access lists (WD)")
}

type runnerFunc func(ctx context.Context, request ps.Request) (*ps.Result, error)

func (f runnerFunc) Run(ctx context.Context, request ps.Request) (*ps.Result, error) {
	return f(ctx, request)
}

// An observation that a script could not make here is skipped. So is the test of several connections if the
// list is too short.
func TestWhatCannotBeTriedIsSkipped(t *testing.T) {
	s := newScratch(t)
	o := s.options
	o.Runner = runnerFunc(func(ctx context.Context, request ps.Request) (*ps.Result, error) {
		if request.Script == "Get-GatewayLongList" {
			return &ps.Result{}, request.Records(json.RawMessage(`[{"base":"DC=young,DC=example","count":200,"ms":1}]`))
		}
		return s.options.Runner.Run(ctx, request)
	})
	for _, probe := range live.Probes() {
		if probe.ID == "connections" {
			o.Probes = append(o.Probes, probe)
		}
	}
	report := run(t, t.Context(), o)
	assert.Equal(t, 3, report.Counts[live.Skipped])
	assert.Zero(t, report.ExitCode())
	assert.Contains(t, report.Findings[0].Observations[0].Found, "DC=young,DC=example has only 200 objects")
}

// Leftovers of an interrupted run are removed even if a run set only one of the two halves of a protection.
func TestHalfAProtectionIsRemoved(t *testing.T) {
	s := newScratch(t)
	before := s.contents(t)
	o := s.few()
	o.Probes = o.Probes[:1]
	o.Runner = runnerFunc(func(ctx context.Context, request ps.Request) (*ps.Result, error) {
		if request.Script != "Remove-GatewayScratch" {
			return s.options.Runner.Run(ctx, request)
		}
		return nil, &ps.Error{Kind: ps.KindTimeout}
	})
	run(t, t.Context(), o)
	place := "OU=" + live.Prefix + "probes," + o.OU
	half := "OU=" + live.Prefix + "half," + place
	for _, c := range [][2]string{{"half", place}, {"inner", half}} {
		name, at := c[0], c[1]
		_, err := s.options.Runner.Run(t.Context(),
			ps.Request{Script: "New-GatewayOU", Lane: ps.Directory, Write: true, Args: ps.Args{
				"OUName": ps.Text(live.Prefix + name), "OUDestinationPath": ps.Text(at), "IsProtected": ps.Bool(false),
			}})
		require.NoError(t, err)
	}
	deny := directory.ACE{Trustee: directory.Everyone, Rights: directory.RightDelete | directory.RightDeleteTree}
	require.NoError(t, s.world.Directory.DCs()[0].SetACL(t.Context(), half, []directory.ACE{deny}))
	report := run(t, t.Context(), s.few())
	assert.Empty(t, report.Remains)
	assert.Equal(t, before, s.contents(t))
}
