package adcmd

import (
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

// Declaration returns the module without a directory: the commands that the binder needs, with a nil
// Process, and the types of values. It omits the DirectoryEntry types, because they need a directory.
func Declaration() *engine.Module {
	m := &engine.Module{Name: ModuleName, Version: ModuleVersion, GUID: moduleGUID,
		Types: append([]*dotnet.Type{tSID}, order...)}
	for _, row := range allCommands() {
		c := row.command(nil)
		c.Process = nil
		m.Commands = append(m.Commands, c)
	}
	return m
}
