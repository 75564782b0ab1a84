package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/engine/dotnet"
)

// evaluate runs a text and returns its only output.
func evaluate(t testing.TB, s *Session, text string) any {
	var out []any
	err := s.Run(t.Context(), "", text, Streams{
		Output: func(v any) error { out = append(out, v); return nil },
		Error:  func(rec *dotnet.ErrorRecord) { assert.NoError(t, rec) },
	})
	require.NoError(t, err)
	require.Len(t, out, 1)
	return out[0]
}

func TestTheCultureIsTheEnginesOwn(t *testing.T) {
	for given, want := range map[string]string{"": "en-US", "de-DE": "de-DE"} {
		s := NewEngine(Options{Culture: given}).NewSession(Console{})
		assert.Equal(t, want, evaluate(t, s, "[Globalization.CultureInfo]::CurrentUICulture.Name"))
	}
}
