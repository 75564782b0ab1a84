package call_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/call"
	"adgateway/gateway/ops"
)

func TestARowWithoutAScriptNeedsAnAnswer(t *testing.T) {
	shows := func(context.Context, call.Accepted) (call.Answer, error) { return call.Answer{}, nil }
	table := []*ops.Operation{
		{ID: "thing.show", Local: true}, {ID: "thing.list", Local: true}, {ID: "thing.get"},
	}
	local := call.Local{Handlers: map[string]call.Handler{"thing.show": shows}}
	faults := local.Check(table)
	require.Len(t, faults, 1)
	assert.ErrorContains(t, faults[0], "thing.list")
}
