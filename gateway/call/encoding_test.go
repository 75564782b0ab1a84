package call

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

func TestTheDetailsOfARefusalAreCut(t *testing.T) {
	wide := strings.Repeat("\u2028\"", 40_000)
	f := problem.New(schema.InvalidRequest, "%s", wide)
	for range 90 {
		f.Details = append(f.Details, problem.Detail{Field: "City", Message: wide[:3000]})
	}
	_, answer := Encode(nil, false, Answer{}, f, "test-1")
	assert.LessOrEqual(t, len(answer), 64<<10)
	assert.Contains(t, string(answer), "more problems are not shown.")
	done := problem.New(schema.Backend, "%s", wide)
	_, answer = Encode(nil, false, Answer{}, done, "test-1")
	assert.Greater(t, len(answer), 64<<10, "what was done is never cut")
}
