package adcmd

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

// module10k returns the module over a domain with 10,000 generated users, and
// their account names.
func module10k(b *testing.B) (*engine.Module, []string) {
	d, err := newDomain(directory.Options{Seed: 1})
	require.NoError(b, err)
	require.NoError(b, d.Generate(10_000, 1))
	dc, err := d.DC("")
	require.NoError(b, err)
	found, err := dc.Search(context.Background(), directory.SearchRequest{
		Filter: "(&(objectCategory=person)(objectClass=user)(mail=*))", Attributes: []string{"sAMAccountName"},
	})
	require.NoError(b, err)
	names := make([]string, len(found))
	for i, o := range found {
		names[i] = o.String("sAMAccountName")
	}
	return Module(Options{Domain: d, Location: time.UTC}), names
}

func benchmarkScript(b *testing.B, script string, want int) {
	m, names := module10k(b)
	s := engine.NewEngine(engine.Options{Modules: []*engine.Module{m}}).NewSession(engine.Console{})
	require.NoError(b, s.Run(context.Background(), "", "Import-Module ActiveDirectory", engine.Streams{}))
	s.SetVariable("name", names[len(names)/2])
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n = 0
		err := s.Run(context.Background(), "bench.ps1", script,
			engine.Streams{Output: func(any) error { n++; return nil }})
		if err != nil || n < want {
			b.Fatalf("%d objects, %v", n, err)
		}
	}
	b.ReportMetric(float64(n), "objects")
}

const details = `-Properties displayName, mail, department, title, l, st, postalCode, c, manager, whenCreated, whenChanged, pwdLastSet, accountExpires, userAccountControl, LockedOut, userParameters`

func BenchmarkGetUserByFilter(b *testing.B) {
	benchmarkScript(b, `Get-ADUser -LDAPFilter "(&(objectCategory=person)(objectClass=user)(sAMAccountName=$name))" `+details, 1)
}

// benchHost calls one command and collects its output.
type benchHost struct {
	engine.Host // nil because the command must not call the other methods
	bound       map[string]any
	names       []string
	written     []any
}

func (h *benchHost) Context() context.Context           { return context.Background() }
func (h *benchHost) Bound(name string) (any, bool)      { v, ok := h.bound[name]; return v, ok }
func (h *benchHost) BoundNames() []string               { return h.names }
func (h *benchHost) FromPipeline(string) bool           { return false }
func (h *benchHost) Write(v any) error                  { h.written = append(h.written, v); return nil }
func (h *benchHost) ShouldProcess(string) (bool, error) { return true, nil }
func (h *benchHost) Throw(*dotnet.ErrorRecord) error    { return errors.New("the command failed") }

// benchmarkCommand runs the body of a command without an engine. next sets the parameters of the i-th run.
func benchmarkCommand(
	b *testing.B, name string, next func(i int, names []string, bound map[string]any), want int,
) {
	m, names := module10k(b)
	at := slices.IndexFunc(m.Commands, func(c *engine.Command) bool { return c.Decl.Name == name })
	require.GreaterOrEqual(b, at, 0)
	h := &benchHost{bound: map[string]any{}}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		next(i, names, h.bound)
		i++
		if len(h.names) == 0 {
			h.names = slices.Sorted(maps.Keys(h.bound))
		}
		h.written = h.written[:0]
		if err := m.Commands[at].ProcessOn(h); err != nil || len(h.written) != want {
			b.Fatalf("%d objects, %v", len(h.written), err)
		}
	}
}

// BenchmarkDetails looks up a different user each time, with all properties of a details request.
func BenchmarkDetails(b *testing.B) {
	properties := dotnet.NewArray()
	for _, name := range strings.Fields(`accountExpires c company department description displayName givenName homeDirectory
		homeDrive homePhone initials l LockedOut mail manager mobile physicalDeliveryOfficeName postalCode postOfficeBox
		profilePath pwdLastSet scriptPath sn st streetAddress telephoneNumber title userAccountControl userParameters
		whenChanged whenCreated`) {
		properties.Items = append(properties.Items, name)
	}
	benchmarkCommand(b, "Get-ADUser", func(i int, names []string, bound map[string]any) {
		bound["LDAPFilter"] = "(&(objectCategory=person)(objectClass=user)(sAMAccountName=" +
			names[i*7919%len(names)] + "))"
		bound["Properties"], bound["SearchBase"], bound["SearchScope"] = properties, "DC=corp,DC=example", "Subtree"
		bound["ResultSetSize"], bound["Server"] = nil, "dc1.corp.example"
	}, 1)
}

// BenchmarkSetDetails changes two properties of a user by its GUID.
func BenchmarkSetDetails(b *testing.B) {
	benchmarkCommand(b, "Set-ADUser", func(i int, names []string, bound map[string]any) {
		bound["Identity"], bound["Server"] = names[i*7919%len(names)], "dc1.corp.example"
		bound["Title"], bound["Office"] = "Title "+itoa(i), "Room "+itoa(i)
	}, 0)
}

func BenchmarkGetUserByIdentity(b *testing.B) {
	benchmarkScript(b, `Get-ADUser -Identity $name `+details, 1)
}

func BenchmarkGetUserAll(b *testing.B) {
	benchmarkScript(b, `Get-ADUser -Identity $name -Properties *`, 1)
}

func BenchmarkListUsers(b *testing.B) {
	benchmarkScript(b, `Get-ADUser -LDAPFilter '(objectClass=user)' `+details, 10_000)
}

func BenchmarkSetUser(b *testing.B) {
	benchmarkScript(b, `$script:i++; Set-ADUser -Identity $name -Title "t$script:i" -PassThru`, 1)
}
