package syntax

import (
	"testing"

	"adgateway/test/conformance"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// languageCase is a case of the language recording, with the behavior of a real engine (PowerShell 7.6.5).
type languageCase struct {
	Group, Name, Source string
	ParseErrors         []struct {
		ID, Message  string
		Line, Column int
		Incomplete   bool
	}
}

func languageCases(t testing.TB) []languageCase {
	var file struct{ Cases []languageCase }
	require.NoError(t, conformance.Read("language", &file))
	require.NotEmpty(t, file.Cases)
	return file.Cases
}

// TestLanguageCases: in every recorded case the parser reports the errors of the real
// engine, or refuses the text as outside the subset.
func TestLanguageCases(t *testing.T) {
	refused := 0
	for _, c := range languageCases(t) {
		t.Run(c.Group+"/"+c.Name, func(t *testing.T) {
			script, errs := Parse("case", c.Source)
			if len(errs) > 0 && errs[0].Outside {
				refused++
				return
			}
			require.Len(t, errs, len(c.ParseErrors))
			for i, want := range c.ParseErrors {
				got := errs[i]
				assert.Equal(t, want.ID, got.ID)
				assert.Equal(t, want.Message, got.Message)
				assert.Equal(t, [2]int{want.Line, want.Column}, [2]int{got.Pos.Line, got.Pos.Column})
				assert.Equal(t, want.Incomplete, got.Incomplete)
			}
			if script != nil {
				checkRoundTrip(t, script)
			}
		})
	}
	t.Logf("%d of %d cases are outside the subset", refused, len(languageCases(t)))
}
