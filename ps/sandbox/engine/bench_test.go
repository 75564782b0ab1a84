package engine

import (
	"fmt"
	"slices"
	"testing"

	"adgateway/ps"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
	"adgateway/scripts"
)

// largest returns the texts of the product's largest script: the prelude of its lane and the script itself.
func largest() []ps.Source {
	all := scripts.Sources(ps.Directory)
	return []ps.Source{scripts.Prelude(ps.Directory),
		slices.MaxFunc(all, func(a, b ps.Source) int { return len(a.Text) - len(b.Text) })}
}

func benchmarkLargest(b *testing.B, work func(ps.Source) error) {
	texts := largest()
	b.SetBytes(int64(len(texts[0].Text) + len(texts[1].Text)))
	for b.Loop() {
		for _, text := range texts {
			if err := work(text); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkParseLargest(b *testing.B) {
	benchmarkLargest(b, func(s ps.Source) error {
		if _, errs := syntax.Parse(s.Name, s.Text); len(errs) > 0 {
			return errs[0]
		}
		return nil
	})
}

// BenchmarkLoadLargest measures parsing and compiling the texts without the cache. BenchmarkRequest measures
// running them.
func BenchmarkLoadLargest(b *testing.B) {
	benchmarkLargest(b, func(s ps.Source) error {
		_, err := compileText(s.Name, s.Text, nil)
		return err
	})
}

// BenchmarkNewSession measures a session that runs nothing.
func BenchmarkNewSession(b *testing.B) {
	e := NewEngine(Options{})
	b.ReportAllocs()
	for b.Loop() {
		e.NewSession(Console{})
	}
}

// Sources whose run time must be proportional to $n.
var linearSources = map[string]string{
	"list":      "$l = New-Object -TypeName 'System.Collections.Generic.List[object]'; for ($i = 0; $i -lt $n; $i++) { $l.Add($i) }; $l.Count",
	"foreach":   "$a = foreach ($i in $all) { $i }; $a.Count",
	"pipeline":  "$a = $all | ForEach-Object { $_ + 1 }; $a.Count",
	"records":   "$a = foreach ($i in $all) { [ordered]@{ id = $i; name = [string]$i; even = ($i % 2 -eq 0) } }; $a.Count",
	"json":      "$a = foreach ($i in $all) { [ordered]@{ id = $i; name = [string]$i } }; (ConvertTo-Json -InputObject $a -Compress).Length",
	"hashtable": "$h = @{}; foreach ($i in $all) { $h[[string]$i] = $i }; $h.Count",
	"join":      "($all -join ',').Length",
	"calls":     "function Get-One { param($x) $x }; $t = 0; for ($i = 0; $i -lt $n; $i++) { $t += Get-One -x 1 }; $t",
}

func BenchmarkLinear(b *testing.B) {
	for name, source := range linearSources {
		for _, n := range []int{1_000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				s := NewEngine(Options{}).NewSession(Console{})
				all := make([]any, n)
				for i := range all {
					all[i] = int32(i)
				}
				s.SetVariable("all", dotnet.NewArray(all...))
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
