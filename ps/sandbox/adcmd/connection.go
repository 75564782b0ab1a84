package adcmd

import (
	"context"

	"adgateway/ps/sandbox/directory"
)

// connection takes one of the account's connections to a controller. A command holds a connection while the
// web service works for it. That is until the command writes its first object, because the answer is complete
// by then, or until the last page of an enumeration (see [call.search]). Commands in the same pipeline, and
// properties that are read from another object, take further connections. release may be called more than
// once.
func (h *host) connection(dc *directory.DC) (release func(), err error) {
	if h.Account == "" {
		return func() {}, nil
	}
	return dc.Connect(h.Account)
}

// reach waits while the controller is slow, and reports whether the caller reaches it.
func (h *host) reach(ctx context.Context, dc *directory.DC) bool {
	if h.Gate == nil {
		return true
	}
	_, reached := h.Gate(ctx, dc.HostName())
	return reached
}

// Write sends an object down the pipeline.
func (c *call) Write(v any) error {
	c.free()
	return c.Call.Write(v)
}
