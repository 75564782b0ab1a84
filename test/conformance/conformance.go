// Package conformance contains recordings of a real PowerShell, with which tests compare the engine of the
// sandbox. The test of the package is the recorder. It repeats the recordings on another PowerShell with
// "make conformance POWERSHELL=...".
//
//   - language.json: sources with their output objects, errors and parse errors
//   - session.json: input and output of whole processes
//   - binding.json: calls of cmdlets with the parameter set and names that were
//     bound, or the error id
//   - members.json: command lines, mostly members, conversions and operators,
//     with what they write to stdout
//
// They were recorded on PowerShell 7.6.5 (Linux, invariant culture). The inputs were written for this
// project, and the outputs are unedited.
package conformance

import (
	"embed"
	"encoding/json"
)

//go:embed language.json session.json binding.json members.json
var files embed.FS

// Read decodes the recording with the given name ("language", "session", "binding" or
// "members") into a value.
func Read(name string, into any) error {
	text, err := files.ReadFile(name + ".json")
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
