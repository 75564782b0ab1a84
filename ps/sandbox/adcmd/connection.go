package adcmd

import (
	"context"

	"adgateway/ps/sandbox/directory"
)

// connection takes one of the account's connections to a controller. A command holds
// one while the web service works for it: until it writes its first object, as the
// answer is complete by then, or to the last page of an enumeration (see
// [call.search]). Commands that run inside another's pipeline, and properties that are
// read from another object, take further ones. release may be called again.
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
