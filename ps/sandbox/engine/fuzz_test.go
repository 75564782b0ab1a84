package engine

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"adgateway/ps/sandbox/engine/dotnet"

	"github.com/stretchr/testify/require"

	"adgateway/test/conformance"
)

// fuzzLimits keep the run of one input short.
var fuzzLimits = Limits{Steps: 20_000, CallDepth: 40, OutputBytes: 1 << 16, ValueBytes: 1 << 20,
	AllocBytes: 1 << 28, HeapBytes: 1 << 29, WallTime: 2 * time.Second}

// FuzzEvaluate runs any text. It must not panic, exceed the limits, or end in an error that
// Run does not document.
func FuzzEvaluate(f *testing.F) {
	var file struct{ Cases []languageCase }
	require.NoError(f, conformance.Read("language", &file))
	for _, c := range file.Cases {
		f.Add(c.Source)
	}
	for _, test := range hostile {
		f.Add(test.script)
	}
	e := NewEngine(Options{Limits: fuzzLimits})
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		var out, errOut bytes.Buffer
		s := e.NewSession(Console{Stdin: strings.NewReader("one\ntwo\n"), Stdout: &out, Stderr: &errOut})
		watch := time.AfterFunc(time.Minute, func() { panic("ran for too long: " + text) })
		defer watch.Stop()
		err := s.Run(t.Context(), "", text, Streams{
			Output: func(v any) error { _ = dotnet.ToText(v); return nil },
			Error:  func(rec *dotnet.ErrorRecord) { _ = rec.Error() },
		})
		var parse *ParseError
		var thrown *ThrownError
		var exit *ExitError
		var limit *LimitError
		if err != nil && !errors.As(err, &parse) && !errors.As(err, &thrown) && !errors.As(err, &exit) &&
			!errors.As(err, &limit) {
			t.Fatalf("%T %v", err, err)
		}
		if out.Len()+errOut.Len() > 1<<17 {
			t.Fatalf("%d bytes written", out.Len()+errOut.Len())
		}
	})
}

// FuzzArguments passes any text to a parameter. It must come back unchanged.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{"", "a'b", "“x”", "$(1)", "`n", "日本 😀", "\x00", "-x", "--", "@p"} {
		f.Add(seed)
	}
	s := NewEngine(Options{}).NewSession(Console{})
	const script = "function Get-Same { [CmdletBinding()] param([AllowEmptyString()][string]$Text) $Text }; " +
		"$p = @{ Text = $text }; (Get-Same -Text $text) -ceq $text; (Get-Same @p) -ceq $text; ('' + $text + " +
		"'').Equals(\"$text\")"
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		s.SetVariable("text", text)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var out []any
		if err := s.Run(ctx, "", script,
			Streams{Output: func(v any) error { out = append(out, v); return nil }}); err != nil {
			t.Fatal(err)
		}
		for i, v := range out {
			if v != true {
				t.Fatalf("%q is not the same (%d): %v", text, i, v)
			}
		}
		if len(out) != 3 {
			t.Fatalf("%d answers", len(out))
		}
	})
}
