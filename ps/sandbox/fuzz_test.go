package sandbox

import (
	"testing"
	"time"

	"adgateway/ps/sandbox/engine"
)

// FuzzHost feeds a process any input. It must exit without reporting a defect.
func FuzzHost(f *testing.F) {
	for _, c := range transcripts(f) {
		f.Add(c.Stdin)
	}
	f.Add("function f {\r\n\r\n'a'\r\n}\r\n \r\nf\r")
	f.Add("[pscustomobject]@{a=1;b=$null},[pscustomobject]@{a='xx';b=1,2}; @{k=@{l=1}}; " +
		"[pscustomobject]@{a=1;b=2;c=3;d=4;e=5}")
	f.Add("(\n1 +\n2)\n\n1 2\nGet-History | ForEach-Object { $_.CommandLine }\nRead-Host\nexit 300")
	starter := NewStarter(engine.NewEngine(engine.Options{
		Modules: []*engine.Module{HostModule()}, AutoLoad: true, Aliases: Aliases,
		Limits: engine.Limits{Steps: 20_000, OutputBytes: 1 << 20, ValueBytes: 1 << 20, AllocBytes: 8 << 20,
			WallTime: 2 * time.Second},
	}), nil)
	f.Fuzz(func(t *testing.T, input string) {
		_, _, code := playback(t, starter, sessionArgs, input)
		_ = code // any exit code is fine
	})
}
