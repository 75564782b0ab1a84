package openapi_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/openapi"
	"adgateway/gateway/ops"
	"adgateway/test/prose"
)

var (
	// Names of attributes and members begin with a small letter.
	descriptionStart = regexp.MustCompile(`^(?:[A-Z0-9*` + "`" + `]|objectGUID|sAMAccountName|operationId)`)
	summaryStart     = regexp.MustCompile(`^[A-Z][a-z]+s[ ,]`)
	article          = regexp.MustCompile(`^(?:The|A|An) `)
)

// texts calls see with each summary and description of a part of a document, and its path.
func texts(path string, part any, see func(path, text string)) {
	switch part := part.(type) {
	case map[string]any:
		for name, value := range part {
			text, is := value.(string)
			if is && (name == "description" || name == "summary") {
				see(path+"/"+name, text)
				continue
			}
			texts(path+"/"+name, value, see)
		}
	case []any:
		for _, value := range part {
			texts(path, value, see)
		}
	}
}

// TestDescriptionsHaveOneForm: a description is one or more sentences. Descriptions of fields, parameters and
// headers begin with a noun without an article, and summaries with a verb in the third person. All are in
// plain American English.
func TestDescriptionsHaveOneForm(t *testing.T) {
	for _, o := range []openapi.Options{{}, {Classic: true, Tickets: true, Sandbox: true}} {
		text, err := openapi.Document(ops.Table(), o)
		require.NoError(t, err)
		var document any
		require.NoError(t, json.Unmarshal(text, &document))
		seen := 0
		texts("", document, func(path, text string) {
			if strings.HasPrefix(path, "/tags") || strings.HasPrefix(path, "/servers") ||
				text == "OK" || text == "Service Unavailable" {
				return
			}
			seen++
			assert.True(t, strings.HasSuffix(text, "."), "%s has no period: %s", path, text)
			assert.Empty(t, prose.Text(text), "%s: %s", path, text)
			switch {
			case strings.HasSuffix(path, "/summary"):
				assert.Regexp(t, summaryStart, text, path)
			case strings.Contains(path, "/parameters/") || strings.Contains(path, "/schemas/") ||
				strings.Contains(path, "/properties/") || strings.Contains(path, "/headers/"):
				assert.NotRegexp(t, article, text, path)
				fallthrough
			default:
				assert.Regexp(t, descriptionStart, text, path)
			}
		})
		assert.Greater(t, seen, 1000)
	}
}
