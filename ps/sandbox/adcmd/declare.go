package adcmd

import (
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

// Declaration is the module as a process knows it that has no directory: what
// the binder must know of the commands, which have no bodies, and the types of
// values. The types of directory entries, which need a directory, are left out.
func Declaration() *engine.Module {
	m := &engine.Module{Name: ModuleName, Version: ModuleVersion, GUID: moduleGUID, Types: append([]*dotnet.Type{tSID}, order...)}
	for _, row := range allCommands() {
		c := row.command(nil)
		c.Process = nil
		m.Commands = append(m.Commands, c)
	}
	return m
}
