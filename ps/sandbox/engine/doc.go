// Package engine runs the strict PowerShell subset of package ps/syntax.
//
// An [Engine] contains the state that sessions share: the [Module]s that can be imported, the
// limits, and compiled texts. [Engine.NewSession] opens a [Session], which has the state of one
// PowerShell process: variables, functions, imported modules, $Error and a console. [Session.Run]
// parses, compiles and runs one text in the session's global scope; results leave through [Streams].
//
// A text goes through three steps. Package syntax parses it into a tree or refuses it; compile*.go
// turns the tree into closures with names, types and constants resolved once; the closures run on a
// frame (scope, streams, limits). Pipelines are chains of Go calls: each stage pushes into the next,
// and no stage has a goroutine. One binder (binder*.go, signature.go) binds functions, built-in
// commands (builtin*.go) and the [Command]s of modules. Values are defined by package dotnet.
//
// The subset is what the gateway's own scripts use. Everything else is refused by name, never
// skipped: by the parser, or at run time by a dotnet.Refused, which ends the run and which no script
// can catch (see [ThrownError]). Package scripts finds most of it earlier: it checks every script
// against the tables of package cmdlets.
package engine
