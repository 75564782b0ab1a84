package engine

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/ps"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
	"adgateway/scripts"
)

// requestSession is a session of the prototype that has one user, outside its
// request loop.
func requestSession(b testing.TB) *Session {
	s := NewEngine(Options{Modules: []*Module{stubModule()}}).NewSession(Console{Stdin: strings.NewReader("#\n"), Stdout: io.Discard})
	require.NoError(b, s.Run(b.Context(), "", bootLine(b), Streams{}))
	require.NoError(b, s.Run(b.Context(), "", "$null = New-ADUser -Name nopass -SamAccountName nopass -DisplayName Nopass", Streams{}))
	return s
}

func detailsLine(b testing.TB) string {
	var exchanges []exchange
	readJSON(b, "testdata/exchange.json", &exchanges)
	return exchanges[len(exchanges)-1].Line
}

// BenchmarkDetailsRequest is one details request: the prelude's request, the
// script, one cmdlet, the answer.
func BenchmarkDetailsRequest(b *testing.B) {
	s := requestSession(b)
	line := detailsLine(b)
	failed := func(rec *dotnet.ErrorRecord) { b.Error(rec) }
	b.ReportAllocs()
	for b.Loop() {
		s.SetVariable("GatewayLine", line)
		if err := s.Run(b.Context(), "", "Invoke-GatewayRequest", Streams{Error: failed}); err != nil {
			b.Fatal(err)
		}
	}
}

func prelude(b testing.TB) string {
	text, err := os.ReadFile("testdata/prototype/prelude.ps1")
	require.NoError(b, err)
	return string(text)
}

func BenchmarkCompilePrelude(b *testing.B) {
	text := prelude(b)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := compileText("prelude.ps1", text, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// largest are the texts that the largest script of the product is: the prelude
// of its lane and the script itself.
func largest() (prelude, script ps.Source) {
	source := func(s ps.Source) ps.Source { return ps.Source{Name: s.Name + ".ps1", Text: s.Text} }
	all := scripts.Sources(ps.Directory)
	return source(scripts.Prelude(ps.Directory)),
		source(slices.MaxFunc(all, func(a, b ps.Source) int { return len(a.Text) - len(b.Text) }))
}

func BenchmarkParseLargest(b *testing.B) {
	prelude, script := largest()
	b.SetBytes(int64(len(prelude.Text) + len(script.Text)))
	for b.Loop() {
		for _, source := range []ps.Source{prelude, script} {
			if _, errs := syntax.Parse(source.Name, source.Text); len(errs) > 0 {
				b.Fatal(errs[0])
			}
		}
	}
}

// BenchmarkLoadLargest loads both: parsed and compiled anew. What it costs to run
// is BenchmarkRequest.
func BenchmarkLoadLargest(b *testing.B) {
	prelude, script := largest()
	b.SetBytes(int64(len(prelude.Text) + len(script.Text)))
	for b.Loop() {
		for _, source := range []ps.Source{prelude, script} {
			if _, err := compileText(source.Name, source.Text, nil); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkNewSession is what a session costs before it runs anything.
func BenchmarkNewSession(b *testing.B) {
	e := NewEngine(Options{})
	b.ReportAllocs()
	for b.Loop() {
		e.NewSession(Console{})
	}
}

// Sources that must cost time in proportion to $n.
var linearSources = map[string]string{
	"list":          "$l = New-Object -TypeName 'System.Collections.Generic.List[object]'; for ($i = 0; $i -lt $n; $i++) { $l.Add($i) }; $l.Count",
	"stringbuilder": "$b = New-Object -TypeName System.Text.StringBuilder; for ($i = 0; $i -lt $n; $i++) { [void]$b.Append('x') }; $b.ToString().Length",
	"foreach":       "$a = foreach ($i in 1..$n) { $i * 2 }; $a.Count",
	"pipeline":      "$a = 1..$n | Where-Object { $_ % 2 -eq 0 } | ForEach-Object { $_ + 1 }; $a.Count",
	"records":       "$a = foreach ($i in 1..$n) { [ordered]@{ id = $i; name = [string]$i; even = ($i % 2 -eq 0) } }; $a.Count",
	"json":          "$a = foreach ($i in 1..$n) { [ordered]@{ id = $i; name = [string]$i } }; (ConvertTo-Json -InputObject $a -Compress).Length",
	"hashtable":     "$h = @{}; foreach ($i in 1..$n) { $h[[string]$i] = $i }; $h.Count",
	"sort":          "(1..$n | Sort-Object -Descending).Count",
	"join":          "((1..$n) -join ',').Length",
	"calls":         "function Get-One { param($x) $x }; $t = 0; for ($i = 0; $i -lt $n; $i++) { $t += Get-One -x 1 }; $t",
}

func BenchmarkLinear(b *testing.B) {
	for name, source := range linearSources {
		for _, n := range []int{1_000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				s := NewEngine(Options{}).NewSession(Console{})
				s.SetVariable("n", int32(n))
				for b.Loop() {
					if err := s.Run(b.Context(), "", source, Streams{}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/item")
			})
		}
	}
}
