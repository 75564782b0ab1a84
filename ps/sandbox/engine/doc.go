// Package engine runs the strict PowerShell subset of package ps/syntax.
//
// An [Engine] holds what sessions share: the [Module]s that can be imported,
// the limits, compiled texts. [Engine.NewSession] opens a [Session], which is
// what one PowerShell process is: variables, functions, imported modules,
// $Error and a console. [Session.Run] parses, compiles and runs one text in
// the session's global scope; results leave through [Streams].
//
// A text goes through three steps. ps/syntax makes a tree or refuses the text;
// compile_*.go turns the tree into closures with names, types and constants
// resolved once; the closures run on a frame (scope, streams, limits). Pipelines
// are chains of Go calls: each stage pushes into the next, no stage has a
// goroutine. One binder (binder*.go) binds functions, built-in commands and the
// [Command]s of modules. builtin_*.go are the built-in commands, as tables.
//
// What the engine does not know it refuses, at parse time or as a typed error
// when it runs; nothing is skipped. Package scripts finds most of it before: it
// checks every script against the tables of package ps/cmdlets. Values are those of
// package ps/sandbox/engine/dotnet.
package engine
