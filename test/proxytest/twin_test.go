package proxytest_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/sandbox/proxies"
	"adgateway/ps/sandbox/remote"
	"adgateway/scripts"
	"adgateway/test/proxytest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const patience = 3 * time.Minute

func newWorld(t *testing.T) *sandbox.World {
	world, err := sandbox.NewWorld(t.Context(),
		sandbox.Options{Seed: 1, Clock: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }})
	require.NoError(t, err)
	return world
}

func modules(t *testing.T) []proxies.Module {
	all, err := proxies.Modules(scripts.Describe())
	require.NoError(t, err)
	return all
}

// calls returns the lines of testdata/calls.txt.
func calls(t *testing.T) []string {
	f, err := os.Open(filepath.Join("testdata", "calls.txt"))
	require.NoError(t, err)
	defer f.Close()
	var out []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	require.NotEmpty(t, out)
	return out
}

// direct returns a session that runs its cmdlets on a world. It calls called with every
// command and its parameter set.
func direct(t *testing.T, world *sandbox.World, called func(name, set string)) *engine.Session {
	own, culture := world.Modules()
	watched := []*engine.Module{sandbox.HostModule()}
	for _, m := range own {
		copied := *m
		copied.Commands = nil
		for _, c := range m.Commands {
			w := *c
			w.Process = func(call *engine.Call) error {
				called(c.Decl.Name, call.Set())
				return c.Process(call)
			}
			copied.Commands = append(copied.Commands, &w)
		}
		watched = append(watched, &copied)
	}
	session := engine.NewEngine(engine.Options{Modules: watched, AutoLoad: true, Aliases: sandbox.Aliases,
		Culture: culture, PID: os.Getpid()}).NewSession(engine.Console{})
	require.NoError(t, session.Run(t.Context(), "", setup, engine.Streams{}))
	return session
}

// setup runs before all calls.
const setup = "Import-Module -Name ActiveDirectory, DnsServer\n" +
	"$secret = [System.Net.NetworkCredential]::new('', 'Pa$$w0rd-1234567').SecurePassword\n" +
	"$credential = [pscredential]::new('CORP\\aschmidt', $secret)\n"

// said returns all output of a call as text.
func said(t *testing.T, session *engine.Session, call string) string {
	var out strings.Builder
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := session.Run(ctx, "", call, engine.Streams{
		Output:  func(v any) error { describe(&out, "", v); return nil },
		Error:   func(rec *dotnet.ErrorRecord) { out.WriteString("error " + failure(rec)) },
		Warning: func(text string) { out.WriteString("warning " + text + "\n") },
		Verbose: func(text string) { out.WriteString("verbose " + text + "\n") },
	})
	switch thrown := err.(type) {
	case nil:
	case *engine.ThrownError:
		out.WriteString("thrown " + failure(thrown.Record))
	default:
		out.WriteString("ended " + err.Error() + "\n")
	}
	return out.String()
}

// refusals are the ids of the binder's errors for values of a wrong type or outside of a
// list. Functions and cmdlets have different ids.
var refusals = map[string]bool{
	"CannotConvertArgumentNoMessage": true, "ParameterArgumentTransformationError": true,
	"ParameterArgumentValidationError": true, "ParameterArgumentValidationErrorEmptyStringNotAllowed": true,
}

// failure describes an error record by its id up to the comma. The rest is the class of a
// cmdlet or the name of a function.
func failure(rec *dotnet.ErrorRecord) string {
	id, _, _ := strings.Cut(rec.ErrorID, ",")
	if refusals[id] {
		return "refused by the binder\n"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s %s: %s (%s)", id, rec.Category, rec.Exception.Type.Name, rec.Exception.Message,
		dotnet.ToText(rec.Target))
	for i := range rec.Exception.Props.Len() {
		name, value := rec.Exception.Props.At(i)
		fmt.Fprintf(&out, " %s=%s", name, dotnet.ToText(value))
	}
	return out.String() + "\n"
}

// describe writes the type, the text and the properties of a value, by name.
func describe(out *strings.Builder, indent string, v any) {
	typeName := "null"
	if v != nil {
		typeName = dotnet.TypeOf(v).Name
	}
	o, ok := v.(*dotnet.Instance)
	if !ok {
		items, many := dotnet.Enumerate(v)
		if !many {
			fmt.Fprintf(out, "%s %s\n", typeName, dotnet.ToText(v))
			return
		}
		fmt.Fprintf(out, "%s of %d\n", typeName, len(items))
		for _, item := range items {
			out.WriteString(indent + "  - ")
			describe(out, indent+"  ", item)
		}
		return
	}
	fmt.Fprintf(out, "%s %s\n", typeName, o.Text)
	var names []string
	for i := range o.Props.Len() {
		name, _ := o.Props.At(i)
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		value, _ := o.Props.Get(name)
		out.WriteString(indent + "  " + name + ": ")
		describe(out, indent+"  ", value)
	}
}

// served are the only parameter sets of these commands that the sandbox supports.
var served = map[string][]string{"Get-LapsADPassword": {"DomainControllerMode"},
	"Get-WinEvent": {"GetLogSet"}}

// In every parameter set, a function returns the same output as the cmdlet and ends with the same errors.
func TestFunctionsAnswerAsCmdlets(t *testing.T) {
	server, err := remote.NewServer(newWorld(t))
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Close()) }()
	all := modules(t)
	starter := &proxytest.Starter{Server: server, Modules: all}
	session, end, err := starter.NewSession()
	require.NoError(t, err)
	defer func() { require.NoError(t, end()) }()
	require.NoError(t, session.Run(t.Context(), "", setup, engine.Streams{}))
	sets := map[string]bool{}
	own := direct(t, newWorld(t), func(name, set string) { sets[name+" "+set] = true })
	for _, call := range calls(t) {
		t.Run(call[:min(len(call), 80)], func(t *testing.T) {
			want := said(t, own, call)
			assert.Equal(t, want, said(t, session, call))
			assert.NotContains(t, want, "CommandNotFound")
		})
	}
	for _, m := range all {
		for _, name := range m.Commands() {
			decl, ok := cmdlets.Lookup(name)
			require.True(t, ok, name)
			wanted := decl.Sets
			if known, some := served[name]; some {
				wanted = known
			}
			for _, set := range wanted {
				assert.Contains(t, sets, name+" "+set, "never called")
			}
		}
	}
	functions := 0
	for _, m := range all {
		functions += len(m.Commands())
	}
	t.Logf("%d calls, %d parameter sets of %d functions", len(calls(t)), len(sets), functions)
}
