package adcmd

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

// hostile are strings that careless code would interpret.
var hostile = []string{
	"plain", "O'Brien", "‘quoted’ “twice”", "a;b|c&d", "$(Get-Date) `n $x", "*", "(a)(b)", `back\slash`, `\2a`, "a,b+c\"d<e>f;g=h",
	" leading", "trailing ", "#hash", "/slash/", "tab\tand\nline", "日本語", "😀", "e\u0301", "CN=x,DC=y", "%00", "-Identity", "\u202eright to left",
}

// FuzzStoredText writes a string as a description and as a name. Either it is read back
// unchanged, or there is a typed error and nothing has changed.
func FuzzStoredText(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	d, err := newDomain(directory.Options{Seed: 1, Clock: func() time.Time { return noon }, JournalLimit: 100})
	if err != nil {
		f.Fatal(err)
	}
	s := engine.NewEngine(engine.Options{Modules: []*engine.Module{Module(Options{Domain: d})}}).NewSession(
		engine.Console{})
	run := func(script string) (string, *dotnet.ErrorRecord, error) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		var out []any
		err := s.Run(ctx, "test.ps1", "$ErrorActionPreference = 'Stop'\n"+script,
			engine.Streams{Output: func(v any) error { out = append(out, v); return nil }})
		var thrown *engine.ThrownError
		if errors.As(err, &thrown) {
			return "", thrown.Record, nil
		}
		return lines(out), nil, err
	}
	if _, _, err := run("Import-Module ActiveDirectory; New-ADUser dora"); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s.SetVariable("text", text)
		for _, c := range []struct{ act, read string }{
			{`Set-ADUser dora -Description $text`, `(Get-ADUser dora -Properties Description).Description`},
			{`New-ADUser -Name $text -SamAccountName erna`, `$u = Get-ADUser erna; (Get-ADUser -Identity $u.DistinguishedName).Name; Remove-ADUser erna -Confirm:$false`},
		} {
			before, err := d.DCs()[0].Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			_, rec, err := run(c.act)
			if err != nil {
				t.Fatalf("%s of %q: %v", c.act, text, err)
			}
			if rec != nil {
				after, err := d.DCs()[0].Snapshot()
				if err != nil {
					t.Fatal(err)
				}
				if diff := before.Compare(after); len(diff) > 0 {
					t.Fatalf("%s of %q failed with %s, but changed %v", c.act, text, rec.ErrorID, diff)
				}
				if !strings.HasPrefix(rec.ErrorID, "ActiveDirectory") && !strings.HasPrefix(rec.ErrorID, "Parameter") {
					t.Fatalf("%s of %q: %s: %v", c.act, text, rec.ErrorID, rec)
				}
				continue
			}
			got, rec, err := run(c.read)
			if err != nil || rec != nil || got != text {
				t.Fatalf("%s of %q gave %q, %v %v", c.act, text, got, rec, err)
			}
		}
	})
}

// Every hostile string is a valid description. It is also a valid name unless it contains control characters.
func TestHostileTextsAreStored(t *testing.T) {
	l := newLab(t, "")
	for _, text := range hostile {
		l.session.SetVariable("text", text)
		assert.Equal(t, text, l.run(`Set-ADUser alice -Description $text; (Get-ADUser alice -Properties Description).Description`), "%q", text)
		if strings.ContainsAny(text, "\t\n") {
			assert.Equal(t, "ActiveDirectoryServer:8242,"+commandClass+"NewADUser", l.fails(`New-ADUser -Name $text -SamAccountName x`).ErrorID)
			continue
		}
		assert.Equal(t, text, l.run(`New-ADUser -Name $text -SamAccountName x; (Get-ADUser x).Name; Remove-ADUser x -Confirm:$false`), "%q", text)
	}
}
