package adcmd

import (
	"context"
	"errors"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

// noon is the fixed time of the tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// lab is a small domain and an engine session with the module imported.
type lab struct {
	t       *testing.T
	domain  *directory.Domain
	dc      *directory.DC
	session *engine.Session
}

// newDomain returns the domain corp.example with its standard objects.
func newDomain(o directory.Options) (*directory.Domain, error) {
	records, err := directory.StandardRecords()
	if err != nil {
		return nil, err
	}
	return directory.Open(o, records)
}

const goodPassword = "Correct-Horse-7"

func newLab(t *testing.T, culture string) *lab {
	t.Helper()
	d, err := newDomain(directory.Options{Seed: 1, Clock: func() time.Time { return noon }, RecycleBin: true})
	require.NoError(t, err)
	dc, err := d.DC("")
	require.NoError(t, err)
	l := &lab{t: t, domain: d, dc: dc}
	l.fill()
	l.connect(Options{Domain: d, Culture: culture, Location: time.UTC})
	return l
}

// connect opens a session with the module.
func (l *lab) connect(o Options) {
	eng := engine.NewEngine(engine.Options{Modules: []*engine.Module{Module(o)}})
	l.session = eng.NewSession(engine.Console{})
	_, thrown := l.try("Import-Module ActiveDirectory")
	require.Nil(l.t, thrown)
}

func (l *lab) fill() {
	add := func(dn, class string, attrs ...directory.Values) *directory.Object {
		o, err := l.dc.Add(context.Background(), dn,
			append([]directory.Values{directory.Attr("objectClass", class)}, attrs...)...)
		require.NoError(l.t, err, dn)
		return o
	}
	a := directory.Attr
	add("OU=Staff,DC=corp,DC=example", "organizationalUnit", a("description", "everyone"))
	add("OU=Sales,OU=Staff,DC=corp,DC=example", "organizationalUnit")
	add("OU=Empty,DC=corp,DC=example", "organizationalUnit")
	add("CN=Boss,OU=Staff,DC=corp,DC=example", "user", a("sAMAccountName", "boss"), a("userAccountControl", 514))
	add("CN=alice,OU=Staff,DC=corp,DC=example", "user",
		a("sAMAccountName", "alice"), a("userAccountControl", 514), a("userPrincipalName", "alice@corp.example"),
		a("givenName", "Alice"), a("sn", "O'Brien"), a("displayName", "Alice O'Brien"),
		a("mail", "alice@corp.example"),
		a("l", "Köln"), a("manager", "CN=Boss,OU=Staff,DC=corp,DC=example"), a("otherMobile", "1", "2"))
	add("CN=bob,OU=Sales,OU=Staff,DC=corp,DC=example", "user", a("sAMAccountName", "bob"),
		a("userAccountControl", 514))
	add("CN=Contact,OU=Staff,DC=corp,DC=example", "contact")
	add("CN=Readers,OU=Staff,DC=corp,DC=example", "group", a("sAMAccountName", "Readers"),
		a("groupType", -2147483646), a("member", "CN=alice,OU=Staff,DC=corp,DC=example"))
	add("CN=Local,OU=Staff,DC=corp,DC=example", "group", a("sAMAccountName", "Local"),
		a("groupType", -2147483644))
	add("CN=PC1,CN=Computers,DC=corp,DC=example", "computer", a("sAMAccountName", "PC1$"),
		a("userAccountControl", 4098),
		a("dNSHostName", "pc1.corp.example"))
	require.NoError(l.t, l.dc.ResetPassword(context.Background(), "CN=alice,OU=Staff,DC=corp,DC=example",
		goodPassword))
	const pc = "CN=PC1,CN=Computers,DC=corp,DC=example"
	require.NoError(l.t, l.dc.ResetPassword(context.Background(), pc, goodPassword))
	require.NoError(l.t, l.dc.Modify(context.Background(), pc, []directory.Change{
		{Op: directory.OpReplace, Name: "userAccountControl", Values: []any{4096}},
	}, directory.ModifyOptions{}))
}

// try runs a script and returns its output and the error that ended it. Non-
// terminating errors appear in the output as "error: id".
func (l *lab) try(text string) ([]any, *dotnet.ErrorRecord) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out []any
	err := l.session.Run(ctx, "test.ps1", text, engine.Streams{
		Output: func(v any) error { out = append(out, v); return nil },
		Error:  func(rec *dotnet.ErrorRecord) { out = append(out, "error: "+rec.ErrorID) },
	})
	var thrown *engine.ThrownError
	if errors.As(err, &thrown) {
		return out, thrown.Record
	}
	require.NoError(l.t, err, text)
	return out, nil
}

// run is like try, for scripts that must succeed. It returns one line per value.
func (l *lab) run(text string) string {
	l.t.Helper()
	out, thrown := l.try("$ErrorActionPreference = 'Stop'\n" + text)
	if thrown != nil {
		require.FailNow(l.t, "thrown: "+thrown.ErrorID+": "+thrown.Error(), text)
	}
	return lines(out)
}

func lines(out []any) string {
	texts := make([]string, len(out))
	for i, v := range out {
		texts[i] = dotnet.ToText(v)
	}
	return strings.Join(texts, "\n")
}

// fails runs a script that must throw.
func (l *lab) fails(text string) *dotnet.ErrorRecord {
	l.t.Helper()
	_, thrown := l.try("$ErrorActionPreference = 'Stop'\n" + text)
	require.NotNil(l.t, thrown, "nothing was thrown by: %s", text)
	return thrown
}

// changed lists the effects of f: "+DN" added, "-DN" removed, "DN -> DN" renamed, "DN: attributes" modified.
func (l *lab) changed(f func()) []string {
	l.t.Helper()
	before, err := l.dc.Snapshot()
	require.NoError(l.t, err)
	f()
	after, err := l.dc.Snapshot()
	require.NoError(l.t, err)
	out := []string{}
	for _, d := range before.Compare(after) {
		switch {
		case d.DN == "":
			out = append(out, "+"+d.NewDN)
		case d.NewDN == "":
			out = append(out, "-"+d.DN)
		case d.DN != d.NewDN:
			out = append(out, d.DN+" -> "+d.NewDN)
		default:
			names := []string{}
			for _, c := range d.Changes {
				names = append(names, c.Name)
			}
			sort.Strings(names)
			out = append(out, d.DN+": "+strings.Join(names, " "))
		}
	}
	return out
}

// wantError is the expected error of a case.
type wantError struct {
	id       string // before the comma
	typ      string // short or full name
	category dotnet.Category
}

func assertError(t *testing.T, want wantError, command string, rec *dotnet.ErrorRecord) {
	t.Helper()
	full := want.typ
	if !strings.Contains(full, ".") {
		full = namespace + full
	}
	assert.Equal(t, want.id+",Microsoft.ActiveDirectory.Management.Commands."+
		strings.ReplaceAll(command, "-", ""), rec.ErrorID)
	assert.Equal(t, full, rec.Exception.Type.Name)
	assert.Equal(t, want.category, rec.Category)
}

// journal returns the write operations of a script that must succeed, including writes that
// a snapshot does not show, such as passwords.
func (l *lab) journal(text string) []string {
	l.t.Helper()
	var seq int64
	for _, e := range l.domain.Journal(0) {
		seq = e.Seq
	}
	l.run(text)
	out := []string{}
	for _, e := range l.domain.Journal(seq) {
		out = append(out, e.Op)
	}
	return out
}
