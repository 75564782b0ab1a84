package adcmd

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/ps/interp"
	"adgateway/ps/sim/directory"
)

// session10k is a session over a domain with 10,000 generated users, and the
// name of one of them.
func session10k(b *testing.B) (*interp.Session, string) {
	d, err := directory.New("corp.example", "", directory.Options{Seed: 1})
	require.NoError(b, err)
	require.NoError(b, d.Generate(10_000, 1))
	dc, err := d.DC("")
	require.NoError(b, err)
	found, err := dc.Search(context.Background(), directory.SearchRequest{
		Filter: "(&(objectCategory=person)(objectClass=user)(mail=*))", Attributes: []string{"sAMAccountName"},
	})
	require.NoError(b, err)
	require.NotEmpty(b, found)
	s := interp.NewEngine(interp.Options{Modules: []*interp.Module{Module(Options{Domain: d, Location: time.UTC})}}).NewSession(interp.Console{})
	require.NoError(b, s.Run(context.Background(), "", "Import-Module ActiveDirectory", interp.Streams{}))
	return s, found[len(found)/2].String("sAMAccountName")
}

func benchmarkScript(b *testing.B, script string, want int) {
	s, name := session10k(b)
	s.SetVariable("name", name)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n = 0
		err := s.Run(context.Background(), "bench.ps1", script, interp.Streams{Output: func(any) error { n++; return nil }})
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
