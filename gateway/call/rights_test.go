package call

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// TestARefusalIsPassedOn: a call is made in another role only if nothing was done in the first one.
func TestARefusalIsPassedOn(t *testing.T) {
	failed := func(code schema.Code, outcome ps.Outcome) error {
		f := problem.New(code, "refused")
		f.Outcome = outcome
		return f
	}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"a success":                       {nil, false},
		"no right":                        {failed(schema.Forbidden, ""), true},
		"outside the limits":              {failed(schema.Limit, ps.OutcomeNone), true},
		"not found":                       {failed(schema.NotFound, ""), true},
		"a limit that is reached":         {failed(schema.RateLimited, ""), true},
		"denied after a part was made":    {failed(schema.DirectoryDenied, ps.OutcomePartial), false},
		"denied, and nobody knows more":   {failed(schema.DirectoryDenied, ps.OutcomeUnknown), false},
		"an item that is made again":      {fmt.Errorf("%w (%w)", failed(schema.NotFound, ""), ErrAgain), false},
		"a conflict":                      {failed(schema.Conflict, ps.OutcomeNone), false},
		"an error of the gateway's own":   {errors.New("broken"), false},
		"a scope that is missing, unsure": {failed(schema.Forbidden, ps.OutcomeUnknown), false},
	} {
		assert.Equal(t, c.want, PassedOn(c.err), name)
	}
}
