package dnscmd_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/dnscmd"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/zones"
)

func benchSession(b *testing.B, n int) *engine.Session {
	b.Helper()
	var text strings.Builder
	text.WriteString("$TTL 3600\n@ SOA a b 1 2 3 4 5\n@ NS a\n")
	for i := range n {
		fmt.Fprintf(&text, "c%06d CNAME web%d\n", i, i%10)
	}
	st := zones.New(zones.Config{})
	require.NoError(b, st.Load(zones.Source{Name: "big.example.zone", Text: []byte(text.String())}))
	eng := engine.NewEngine(engine.Options{Modules: []*engine.Module{dnscmd.Module(dnscmd.Options{Store: st})}})
	s := eng.NewSession(engine.Console{})
	require.NoError(b, s.Run(context.Background(), "", "Import-Module DnsServer", engine.Streams{}))
	return s
}

func bench(b *testing.B, n, want int, script string) {
	s := benchSession(b, n)
	b.ReportAllocs()
	for b.Loop() {
		got := 0
		err := s.Run(context.Background(), "", script,
			engine.Streams{Output: func(any) error { got++; return nil }})
		if err != nil || got != want {
			b.Fatal(got, err)
		}
	}
}

func BenchmarkGetOneRecord(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			bench(b, n, 1, "(Get-DnsServerResourceRecord -ZoneName big.example -Name c000007 -Node -RRType "+
				"CName).RecordData.HostNameAlias")
		})
	}
}

func BenchmarkListCNames(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			bench(b, n, n, "foreach ($r in @(Get-DnsServerResourceRecord -ZoneName big.example -RRType CName)) { "+
				"[string]$r.RecordData.HostNameAlias }")
		})
	}
}
