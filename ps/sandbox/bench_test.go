package sandbox

import (
	"testing"
	"time"
)

// BenchmarkLine measures a line of input and its output.
func BenchmarkLine(b *testing.B) {
	p := start(b, hostStarter())
	for b.Loop() {
		p.say(b, "echo x")
		p.hear(b)
	}
	p.kill(b)
	_ = p.wait(b)
}

// BenchmarkStart measures a process from start to exit.
func BenchmarkStart(b *testing.B) {
	s := hostStarter()
	for b.Loop() {
		p := start(b, s)
		if err := p.stdin.Close(); err != nil {
			b.Fatal(err)
		}
		_ = p.wait(b)
	}
}

// BenchmarkKill measures how long a busy process continues to run after Kill.
func BenchmarkKill(b *testing.B) {
	s := hostStarter()
	var longest, sum time.Duration
	n := 0
	for b.Loop() {
		p := start(b, s)
		p.say(b, "'ready'; while ($true) { $x = 1 }")
		p.hear(b)
		from := time.Now()
		p.kill(b)
		_ = p.wait(b)
		took := time.Since(from)
		longest, sum, n = max(longest, took), sum+took, n+1
	}
	b.ReportMetric(float64(sum.Microseconds())/float64(n), "µs/kill")
	b.ReportMetric(float64(longest.Microseconds()), "µs-longest")
}

// BenchmarkWorld measures loading the built-in domain.
func BenchmarkWorld(b *testing.B) {
	for b.Loop() {
		newWorld(b, Options{})
	}
}
