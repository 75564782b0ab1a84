package ui

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/ops"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// TestWhatTakesAChangeBackInstead: an operation with such a word exists, and its changes are never undone.
func TestWhatTakesAChangeBackInstead(t *testing.T) {
	assert.Equal(t, "This cannot be undone.", say.UndoWord("user.resetPassword", "none").Text.In(texts.English))
	instead := 0
	for _, op := range ops.Table() {
		if said := say.UndoWord(op.ID, "none").Text.In(texts.English); said != "This cannot be undone." {
			instead++
			assert.NotEmpty(t, op.Undo.Never, op.ID)
			assert.Equal(t, "This can be undone.", say.UndoWord(op.ID, "full").Text.In(texts.English), op.ID)
		}
	}
	assert.Equal(t, 1, instead)
}
