package engine

import (
	"fmt"
	"io"
	"time"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/engine/dotnet"
)

// Options configure an [Engine]. The zero value is usable: no modules, default limits, no
// input, and output is discarded.
type Options struct {
	Modules []*Module // found by Import-Module
	Limits  Limits    // zero fields take the values of [DefaultLimits]

	// AutoLoad means that a call of a module's command imports the module.
	AutoLoad bool

	// Aliases, in lower case, apply only to the text of lines passed to [Session.RunLine],
	// never to scripts: {"echo": "Write-Output"}.
	Aliases map[string]string

	Env map[string]string // $env:NAME, case-insensitive
	// name of the current culture; "en-US" if empty; values are always formatted invariantly
	Culture string
	Version string  // $PSVersionTable.PSVersion; "7.4.0" if empty
	PID     int     // $PID
	Account Account // the account of the processes; zero means SANDBOX\sandbox on SANDBOX

	// Checked reports whether a text is known to be valid. [scriptblock]::Create then does not parse it: it and
	// its functions are compiled when they are first called. Nil means that no text is.
	Checked func(text string) bool
}

// Account is the account of a process, as shown by [Environment].
type Account struct{ Domain, User, Machine string }

// Console contains the process's standard streams as scripts see them. A nil Stdin is an
// empty input; a nil Stdout or Stderr discards output.
type Console struct {
	Stdin  io.Reader // read by [Console]::In.ReadLine and [Session.ReadLine], one reader for both
	Stdout io.Writer // [Console]::Out, [Console]::OpenStandardOutput
	Stderr io.Writer // [Console]::Error
}

// Limits bound one request of a script. They apply from the start of Run, and start again with each line
// that [Console]::In.ReadLine returns. So in a session whose Run serves requests in a loop, they apply
// to each request. A zero field gets its value from [DefaultLimits].
//
// AllocBytes limits the allocations of one request. The live memory of one request cannot be measured, so
// HeapBytes is the last resort. A request ends once it has allocated that much itself and the live heap of
// the process has grown by that much. So no request ends because of the memory of another session.
type Limits struct {
	Steps         int64 // statements, calls and loop iterations
	CallDepth     int   // nesting of functions and script blocks
	PipelineDepth int   // number of commands in one pipeline
	OutputBytes   int64 // written to the console
	// longest string, and largest collection in bytes (16 per element); at most dotnet.MaxStringLength
	ValueBytes int64
	AllocBytes int64 // total size of all values that the request creates, live or not
	// growth of the process's live heap, for a request that has allocated as much itself
	HeapBytes int64
	WallTime  time.Duration // time spent, excluding waits for input
}

// DefaultLimits are generous enough for a list of 100,000 records, and stop a hostile script within seconds.
var DefaultLimits = Limits{
	Steps:         200_000_000,
	CallDepth:     1000,
	PipelineDepth: 64,
	OutputBytes:   1 << 30,
	ValueBytes:    int64(dotnet.MaxStringLength),
	AllocBytes:    64 << 30,
	HeapBytes:     2 << 30,
	WallTime:      5 * time.Minute,
}

// Module is a set of commands that Import-Module NAME adds to a session.
type Module struct {
	Name     string // "ActiveDirectory"
	Version  string // "1.0.1.0"
	GUID     string
	Script   string // text of the module, which defines its commands; if empty, Commands defines them
	Commands []*Command
	Types    []*dotnet.Type // available to scripts after the import
}

// Command is one cmdlet: declared parameters and a body.
type Command struct {
	Decl *cmdlets.Cmdlet

	// Class is the part of FullyQualifiedErrorId after the comma:
	// "Microsoft.ActiveDirectory.Management.Commands.GetADUser" or "Get-DnsServerZone".
	Class string

	// Process runs the command with all parameters bound. An error that does not come from a
	// method of Call ends the run as a defect of the command.
	Process func(c *Call) error
}

// LimitError ends a run. No script can catch it.
type LimitError struct {
	Limit string // field of [Limits], or "context"
	Line  int    // 1-based line of the running text; 0 if unknown
	Cause error  // of "context": the context's error
}

func (e *LimitError) Error() string {
	text := fmt.Sprintf("script stopped at line %d: limit %s", e.Line, e.Limit)
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *LimitError) Unwrap() error { return e.Cause }

// ExitError is the error of a run that an exit statement has ended.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit %d", e.Code) }

// ThrownError is an uncaught error record: from throw, from an error under the preference
// Stop, or from a refusal.
type ThrownError struct {
	Record  *dotnet.ErrorRecord
	Thrown  bool // by a throw statement
	Refused bool // outside the subset; no catch clause sees such an error
}

func (e *ThrownError) Error() string { return e.Record.Error() }

// DefectError is an error that the body of a command returned and that is not a PowerShell error.
type DefectError struct {
	Command string
	Cause   error
}

func (e *DefectError) Error() string { return e.Command + ": " + e.Cause.Error() }

// Unwrap returns the cause.
func (e *DefectError) Unwrap() error { return e.Cause }

// Streams receive the output of a run as it is emitted, on the goroutine that called Run. A
// nil function discards. An error from Output ends the run and is returned.
type Streams struct {
	Output  func(v any) error
	Error   func(rec *dotnet.ErrorRecord) // non-terminating and statement-terminating
	Warning func(text string)
	Host    func(text string) // text that is printed and goes to no stream, such as the line of -WhatIf
	Verbose func(text string)
}
