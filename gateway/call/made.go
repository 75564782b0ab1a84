package call

import (
	"context"

	"adgateway/gateway/change"
	"adgateway/gateway/changes"
	"adgateway/gateway/ops"
)

// Made returns the change with the given id from a history, with its row. It returns false if there is no
// such change, it cannot be read, or its row no longer exists. h may be nil.
func Made(
	ctx context.Context, h *changes.History, operations []*ops.Operation, id string,
) (change.Made, bool) {
	if h == nil {
		return change.Made{}, false
	}
	c, err := h.Get(ctx, id)
	if err != nil {
		return change.Made{}, false
	}
	return MadeOf(operations, c)
}

// MadeOf returns a recorded change with its row, or false if the row no longer exists.
func MadeOf(operations []*ops.Operation, c *changes.Record) (change.Made, bool) {
	op := ops.Find(operations, c.Operation)
	if op == nil {
		return change.Made{}, false
	}
	if c.Rebuilt {
		const why = "it was read back from the audit log, which has no image of what was there before"
		known := *op
		known.Undo = ops.Undo{Never: why}
		op = &known
	}
	done := ops.Done{Op: op, Texts: c.Parameters, Secret: c.Secret, Intent: &c.Intent}
	return change.MadeBy(operations, done, c.Zone), true
}
