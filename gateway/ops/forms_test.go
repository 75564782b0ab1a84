package ops_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/ops"
)

// TestListsHaveForms: each list that is read has one shape, whose fields are its columns, and no
// secret. Changes and other protocols have no forms.
func TestListsHaveForms(t *testing.T) {
	lists := 0
	for _, op := range ops.Table() {
		if op.Forms() == nil {
			assert.False(t, op.Protocol == nil && op.Effect == ops.Read && op.Reply.Mark == ops.List, op.ID)
			continue
		}
		lists++
		assert.Equal(t, []string{ops.MediaJSON, ops.MediaCSV, ops.MediaNDJSON}, op.Forms(), op.ID)
		assert.False(t, op.Effect.Writes() || op.Reveals || op.Protocol != nil || op.Answers != nil, op.ID)
		assert.Nil(t, op.Reply.Shape.Variants, "%s: the records of a list must have the same columns", op.ID)
		for _, field := range op.Reply.Shape.Fields {
			assert.False(t, field.Secret || field.Sealed, "%s: %s", op.ID, field.Name)
		}
	}
	assert.NotZero(t, lists)
}
