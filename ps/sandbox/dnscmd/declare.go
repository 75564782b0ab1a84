package dnscmd

import "adgateway/ps/sandbox/engine"

// Declaration returns the module without a DNS service: the commands that the binder needs,
// with a nil Process, and the types.
func Declaration() *engine.Module {
	m := Module(Options{})
	for _, c := range m.Commands {
		c.Process = nil
	}
	return m
}
