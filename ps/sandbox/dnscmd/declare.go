package dnscmd

import "adgateway/ps/sandbox/engine"

// Declaration is the module as a process knows it that has no DNS service: what
// the binder must know of the commands, which have no bodies, and the types.
func Declaration() *engine.Module {
	m := Module(Options{})
	for _, c := range m.Commands {
		c.Process = nil
	}
	return m
}
