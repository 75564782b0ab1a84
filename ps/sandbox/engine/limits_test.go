package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// hostile are scripts that would run endlessly or exhaust the memory.
var hostile = map[string]struct{ script, limit string }{
	"while true":                  {"while ($true) { }", "Steps"},
	"for ever":                    {"for (;;) { $i++ }", "Steps"},
	"do until":                    {"do { } until ($false)", "Steps"},
	"endless within catch":        {"while ($true) { try { throw 'x' } catch { } }", "Steps"},
	"no finally block goes on":    {"try { while ($true) { } } finally { while ($true) { } }", "Steps"},
	"no catch clause sees limits": {"while ($true) { try { while ($true) { } } catch { } }", "Steps"},
	"recursion":                   {"function Get-Deep { Get-Deep }; Get-Deep", "CallDepth"},
	"recursion of blocks":         {"$b = { & $b }; & $b", "CallDepth"},
	"recursion in a pipeline":     {"$b = { 1 | ForEach-Object -Process $b }; & $b", "CallDepth"},
	"recursion of a default":      {"function Get-Deep { param($a = (Get-Deep)) 1 }; Get-Deep", "CallDepth"},
	"string doubling":             {"$s = 'xxxxxxxx'; while ($true) { $s += $s }", "ValueBytes"},
	"string interpolation":        {"$s = 'xxxxxxxx'; while ($true) { $s = \"$s$s\" }", "ValueBytes"},
	"string builder":              {"$b = New-Object -TypeName System.Text.StringBuilder; $s = ''.PadRight(1000000); while ($true) { [void]$b.Append($s) }", "ValueBytes"},
	"replace":                     {"$s = ''.PadRight(1000000); $s -replace ' ', $s", "ValueBytes"},
	"replace method":              {"$s = ''.PadRight(1000000); $s.Replace(' ', $s)", "ValueBytes"},
	"join":                        {"$s = ''.PadRight(1000000); @(for ($i = 0; $i -lt 10000; $i++) { 1 }) -join $s", "ValueBytes"},
	"array doubling":              {"$a = @(1); while ($true) { $a += $a }", "ValueBytes"},
	"list of strings":             {"$l = New-Object -TypeName 'System.Collections.Generic.List[object]'; while ($true) { $l.Add(''.PadRight(1000000)) }", "HeapBytes"},
	"list":                        {"$l = New-Object -TypeName 'System.Collections.Generic.List[object]'; $i = 0; while ($true) { $l.Add($i); $i++ }", "ValueBytes"},
	"dictionary":                  {"$h = @{}; $i = 0; while ($true) { $h[$i] = $i; $i++ }", "HeapBytes"},
	"output collected":            {"$a = while ($true) { 'x' }", "HeapBytes"},
	"functions made":              {"$i = 0; while ($true) { Set-Item -LiteralPath \"function:Get-X$i\" -Value { 1 }; $i++ }", "HeapBytes"},
	"console output":              {"while ($true) { [Console]::Error.WriteLine('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx') }", "OutputBytes"},
	"console bytes":               {"$s = [Console]::OpenStandardOutput(); $b = (New-Object -TypeName System.Text.UTF8Encoding -ArgumentList $false).GetBytes(''.PadRight(200)); while ($true) { $s.Write($b, 0, 200) }", "OutputBytes"},
	"pipeline":                    {"1" + strings.Repeat(" | ForEach-Object { $_ }", 100), "PipelineDepth"},
	"regular expression":          {"while ($true) { try { (''.PadRight(40) + '!') -match '^( +)+$' } catch { } }", "WallTime"},
}

func hostileLimits() Limits {
	return Limits{Steps: 300_000, CallDepth: 100, OutputBytes: 1 << 20, ValueBytes: 32 << 20,
		HeapBytes: 512 << 20, WallTime: time.Hour}
}

// TestHostileScripts: every hostile script is ended by the intended limit and by no other, no matter how fast
// the machine is. A case limits either time or steps.
func TestHostileScripts(t *testing.T) {
	for name, test := range hostile {
		t.Run(name, func(t *testing.T) {
			limits := hostileLimits()
			if test.limit == "HeapBytes" || name == "list" {
				limits.Steps, limits.HeapBytes = math.MaxInt64, 8<<20
			}
			if name == "list" { // only the length limit may end it
				limits.HeapBytes, limits.ValueBytes = 1<<30, 1<<20
			}
			if test.limit == "WallTime" {
				limits.Steps, limits.WallTime = math.MaxInt64, 200*time.Millisecond
			}
			s := NewEngine(Options{Limits: limits}).NewSession(Console{Stdout: io.Discard})
			err := s.Run(t.Context(), "hostile.ps1", test.script, Streams{})
			var limit *LimitError
			require.ErrorAs(t, err, &limit)
			assert.Equal(t, test.limit, limit.Limit)
			var after runtime.MemStats
			runtime.ReadMemStats(&after)
			assert.Less(t, after.HeapAlloc, uint64(1<<30))
		})
	}
	runtime.GC()
}

// TestDeepNesting: scripts that are nested too deeply are refused, and deeply nested values cause no crash.
func TestDeepNesting(t *testing.T) {
	for name, text := range map[string]string{
		"parentheses": strings.Repeat("(", 100_000) + "1" + strings.Repeat(")", 100_000),
		"blocks":      strings.Repeat("& {", 100_000) + "1" + strings.Repeat("}", 100_000),
		"open blocks": strings.Repeat("{", 100_000),
		"arrays":      strings.Repeat("@(", 100_000) + strings.Repeat(")", 100_000),
		"strings":     strings.Repeat("\"$(", 10_000) + strings.Repeat(")\"", 10_000),
		"ifs":         strings.Repeat("if (1) { ", 50_000) + strings.Repeat("}", 50_000),
		"operators":   strings.Repeat("-not ", 100_000) + "1",
		"sums":        "1" + strings.Repeat("+1", 100_000),
		"types":       "[" + strings.Repeat("List[", 50_000) + "int" + strings.Repeat("]", 50_000) + "]",
	} {
		t.Run(name, func(t *testing.T) {
			err := NewEngine(Options{Limits: hostileLimits()}).NewSession(Console{}).Run(t.Context(), "", text,
				Streams{})
			if name != "sums" {
				require.Error(t, err)
			}
		})
	}
	s := NewEngine(Options{Limits: hostileLimits()}).NewSession(Console{})
	for name, text := range map[string]string{
		"nested arrays":   "$x = 1; for ($i = 0; $i -lt 200000; $i++) { $x = , $x }; \"$x\".Length; if ($x) { 1 }; $x -eq 1; ($x -join ',').Length; $x.Nope; [string]$x; $x | Out-Null",
		"nested tables":   "$x = @{}; for ($i = 0; $i -lt 100000; $i++) { $x = @{ x = $x } }; ConvertTo-Json -InputObject $x -Depth 100 -Compress -WarningAction SilentlyContinue",
		"list in itself":  "$l = [System.Collections.Generic.List[object]]::new(); $l.Add($l); \"$l\"; $l -join ','; $l.Nope; if ($l) { 1 }; [string]$l; $l -contains 5; $l -eq 5; ConvertTo-Json -InputObject $l -Depth 3 -WarningAction SilentlyContinue",
		"table in itself": "$h = @{}; $h['h'] = $h; \"$h\"; ConvertTo-Json -InputObject $h -Depth 50 -Compress -WarningAction SilentlyContinue",
		"array in itself": "$a = @(1); $a[0] = $a; \"$a\"; if ($a) { 1 }; $a -join ','; $a.Nope; $a -eq 1; [string[]]$a; [bool]$a",
	} {
		t.Run(name, func(t *testing.T) {
			err := s.Run(t.Context(), "", text, Streams{})
			var thrown *ThrownError
			var limit *LimitError
			if err != nil {
				require.True(t, errors.As(err, &thrown) || errors.As(err, &limit), "%v", err)
			}
		})
	}
}

// TestCancel: a run ends soon after its context is done, no matter which code is running.
func TestCancel(t *testing.T) {
	for name, script := range map[string]string{
		"loop":       "while ($true) { }",
		"pipeline":   "& { while ($true) { 1 } } | ForEach-Object { $_; $null = $_ * 2 }",
		"regex":      "while ($true) { try { (''.PadRight(28) + '!') -match '^( +)+$' } catch { } }",
		"functions":  "function Get-One { 1 }; while ($true) { $null = Get-One }",
		"try":        "while ($true) { try { throw 'x' } catch { } finally { } }",
		"conversion": "while ($true) { $s = ''.PadRight(10000); $b = $s.Split(' ') }",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			timer := time.AfterFunc(30*time.Millisecond, cancel)
			defer timer.Stop()
			ended := make(chan error, 1)
			go func() { ended <- NewEngine(Options{}).NewSession(Console{}).Run(ctx, "", script, Streams{}) }()
			var err error
			select {
			case err = <-ended:
			case <-time.After(3 * time.Minute):
				require.FailNow(t, "the script goes on")
			}
			var limit *LimitError
			require.ErrorAs(t, err, &limit)
			assert.Equal(t, "context", limit.Limit)
			require.ErrorIs(t, err, context.Canceled)
		})
	}
}

// TestHeapOfOthers: next to a session that occupies much memory, only a session that has
// allocated much itself is ended.
func TestHeapOfOthers(t *testing.T) {
	limits := Limits{HeapBytes: 32 << 20, WallTime: time.Hour}
	small, large := NewEngine(Options{Limits: limits}), NewEngine(Options{})
	const keep = "$x = 'x'; for ($i = 0; $i -lt 20; $i++) { $x = $x + $x }; $l = " +
		"[System.Collections.Generic.List[object]]::new(); " +
		"for ($i = 0; $i -lt 200; $i++) { $l.Add($x + $i) }; 'full'; $l.Count"
	full, finish, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	run := func() error {
		first := true
		return large.NewSession(Console{}).Run(t.Context(), "", keep, Streams{Output: func(any) error {
			if first {
				close(full)
				<-finish
			}
			first = false
			return nil
		}})
	}
	started := make(chan struct{})
	var count any
	err := small.NewSession(Console{}).Run(t.Context(), "",
		"'begun'; $n = 0; for ($i = 1; $i -le 200000; $i++) { $n += \"$i\".Length }; $n",
		Streams{Output: func(v any) error {
			if v == "begun" { // measures the heap before and after the other session fills it
				go func() { close(started); ended <- run() }()
				<-started
				select {
				case <-full:
				case err := <-ended:
					return fmt.Errorf("the other session ended: %w", err)
				}
			}
			count = v
			return nil
		}})
	require.NoError(t, err)
	assert.Equal(t, int32(1088895), count)
	var limit *LimitError
	require.ErrorAs(t, small.NewSession(Console{}).Run(t.Context(), "", keep, Streams{}), &limit)
	assert.Equal(t, "HeapBytes", limit.Limit)
	close(finish)
	require.NoError(t, <-ended)
}

// TestNoGoroutineIsLeft: no kind of run leaves a goroutine behind.
func TestNoGoroutineIsLeft(t *testing.T) {
	known := goleak.IgnoreCurrent()
	for _, script := range []string{"1, 2 | ForEach-Object { $_ }", "throw 'x'", "'aa' -match 'a'",
		"while ($true) { }"} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_ = NewEngine(Options{}).NewSession(Console{}).Run(ctx, "", script, Streams{})
		cancel()
	}
	goleak.VerifyNone(t, known)
}

func TestEachLineHasTheFullLimits(t *testing.T) {
	in := strings.Repeat("x\n", 50)
	var out bytes.Buffer
	s := NewEngine(Options{Limits: Limits{Steps: 3000}}).NewSession(Console{Stdin: strings.NewReader(in),
		Stdout: &out})
	require.NoError(t, s.Run(t.Context(), "", `
while ($null -ne ($line = [Console]::In.ReadLine())) {
    for ($i = 0; $i -lt 500; $i++) { $null = $i }
    $text = [System.Text.Encoding]::UTF8.GetBytes($line)
    [Console]::OpenStandardOutput().Write($text, 0, $text.Length)
}`, Streams{}))
	assert.Equal(t, strings.Repeat("x", 50), out.String())
}

// BenchmarkCancel measures how long a run continues after its context is done.
func BenchmarkCancel(b *testing.B) {
	e := NewEngine(Options{})
	for b.Loop() {
		b.StopTimer()
		ctx, cancel := context.WithCancel(b.Context())
		ended := make(chan struct{})
		started := make(chan struct{})
		go func() {
			defer close(ended)
			_ = e.NewSession(Console{}).Run(ctx, "", "'started'; while ($true) { $i++ }",
				Streams{Output: func(any) error { close(started); return nil }})
		}()
		<-started
		b.StartTimer()
		cancel()
		<-ended
	}
}
