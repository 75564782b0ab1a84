package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCaughtBefore refuses a text in which a catch clause can never run, as the
// parser of PowerShell does.
func TestCaughtBefore(t *testing.T) {
	s := NewEngine(Options{}).NewSession(Console{})
	for text, ok := range map[string]bool{
		"try { 1 } catch [Exception] { 2 } catch [ArgumentException] { 3 }":                       false,
		"function Get-It { & { try { 1 } catch [Exception] { 2 } catch [exception] { 3 } } }":     false,
		"try { 1 } catch [ArgumentException], [FormatException] { 2 } catch [FormatException] {}": false,
		"try { 1 } catch [ArgumentException] { 2 } catch [Exception] { 3 } catch { 4 }":           true,
		"try { 1 } catch [No.Such] { 2 } catch [No.Such] { 3 }":                                   true,
	} {
		err := s.Run(t.Context(), "", text, Streams{})
		if ok {
			require.NoError(t, err, text)
			continue
		}
		var parse *ParseError
		require.ErrorAs(t, err, &parse, text)
		assert.Equal(t, "ExceptionTypeAlreadyCaught", parse.Errors[0].ID)
		assert.False(t, parse.Incomplete())
	}
}
