package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/engine/dotnet"
)

// evaluate runs a text and returns its single output.
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

// What compares with times of the directory has them from the same clock.
func TestEveryTimeIsTheEnginesOwn(t *testing.T) {
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	s := NewEngine(Options{Now: func() time.Time { return at }}).NewSession(Console{})
	for text, want := range map[string]string{
		"[datetime]::UtcNow.ToString('o')":                "2031-05-06T07:08:09.0000000Z",
		"[datetime]::Now.ToUniversalTime().ToString('o')": "2031-05-06T07:08:09.0000000Z",
	} {
		assert.Equal(t, want, evaluate(t, s, text), text)
	}
}

func TestTheCultureIsTheEnginesOwn(t *testing.T) {
	for given, want := range map[string]string{"": "en-US", "de-DE": "de-DE"} {
		s := NewEngine(Options{Culture: given}).NewSession(Console{})
		for _, text := range []string{
			"[Globalization.CultureInfo]::CurrentUICulture.Name", "[cultureinfo]::CurrentCulture.Name",
		} {
			assert.Equal(t, want, evaluate(t, s, text), text)
		}
	}
}
