package syntax

import (
	"testing"

	"adgateway/test/conformance"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// languageCase is one case of the recording of the language: what a real engine did
// (recorded on PowerShell 7.6.5).
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

// outsideLanguage are the cases of the file that the subset leaves out.
var outsideLanguage = map[string]string{
	"ternary is 7 only":         "the operator ?",
	"null coalescing is 7 only": "the operator ??",
	"pipeline chain is 7 only":  "the operator &&",
}

func TestLanguageCases(t *testing.T) {
	refused := 0
	for _, c := range languageCases(t) {
		t.Run(c.Group+"/"+c.Name, func(t *testing.T) {
			script, errs := Parse("case", c.Source)
			if what, ok := outsideLanguage[c.Name]; ok {
				refused++
				require.NotEmpty(t, errs)
				assert.True(t, errs[0].Outside)
				assert.Contains(t, errs[0].Message, what)
				return
			}
			require.Len(t, errs, len(c.ParseErrors))
			for i, want := range c.ParseErrors {
				got := errs[i]
				assert.Equal(t, want.ID, got.ID)
				assert.Equal(t, want.Message, got.Message)
				assert.Equal(t, [2]int{want.Line, want.Column}, [2]int{got.Pos.Line, got.Pos.Column})
				assert.Equal(t, want.Incomplete, got.Incomplete)
				assert.False(t, got.Outside)
			}
			if script != nil {
				checkRoundTrip(t, script)
			}
		})
	}
	assert.Equal(t, len(outsideLanguage), refused)
}
