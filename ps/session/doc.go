// Package session runs scripts in one long-lived PowerShell process.
//
// go-powershell starts the process through a [backend.Starter], which is [Local] for a real process. The
// sandbox has its own Starter. This package wraps the Starter (link.go), because the library's Shell can
// neither pass arguments nor kill the process, and takes quadratic time to read its output. The wrapper
// splits stdout (split.go): this package handles frames and noise, and the Shell sees only its two markers.
//
// The session calls Execute of the Shell only once, and the call lasts as long as the session. Its command is
// the boot line (boot.go), which defines the prelude and the scripts and calls the prelude's
// Start-GatewaySession. This function imports the module, sends a ready frame and enters the request loop.
// Each request is then one data line, and each answer is a sequence of frames (frame.go, answer.go).
//
// Anything unexpected (deadline, exit, malformed frame, wrong id, too much output) kills the process
// and ends the session; a session is never reused after that. [Session.Dead] signals the end. Close
// and Kill return when the process and all goroutines are gone.
package session

import (
	"time"

	"adgateway/ps"
	"adgateway/ps/sorted"

	"github.com/bhendo/go-powershell/backend"
)

// Defaults of a [Config].
const (
	DefaultStartTimeout = 60 * time.Second
	DefaultLimit        = 60 * time.Second
	DefaultMaxOutput    = 256 << 20
	DefaultMaxList      = 4 << 30
)

// Boot is loaded by a session before it accepts requests.
type Boot struct {
	Prelude ps.Source   // runs first, at the top level of the session
	Scripts []ps.Source // each becomes a function with its name
	Module  string      // "ActiveDirectory" or "DnsServer"
}

// Config configures a session. Starter and Boot are required.
type Config struct {
	// Starter starts the process. Its Waiter must also implement Kill() error, which ends the process and
	// everything that the process started. Kill may be called at any time and more than once. Wait is called
	// immediately and must not close the streams. The writer must be an io.Closer. The Waiter may implement
	// Memory() (int64, error), which returns the private bytes of its process.
	Starter Starter
	Boot    Boot

	// limit of a start, until the session is ready and checked; zero means [DefaultStartTimeout]
	StartTimeout time.Duration
	Limit        time.Duration // limit of requests without one; zero means [DefaultLimit]
	// limit in bytes for a frame, the noise, and the whole answer to a request; zero means [DefaultMaxOutput]
	MaxOutput int64
	// limit in bytes for the whole answer to a list, which is passed on frame by frame; zero means
	// [DefaultMaxList]
	MaxList int64

	// Rehearsal is a function without parameters that the session runs before it is ready, up to
	// 40 times within 3 s, because a new PowerShell is several times slower until it has compiled
	// the code that it runs. If it is empty, there is no rehearsal. A failure is only logged.
	Rehearsal string

	// Spill returns a file for the records of a long list that must be sorted. If Spill is nil or the file has
	// no room, the records are kept in memory.
	Spill func() sorted.File

	// Meter collects statistics. Sessions may share a Meter. It may be nil.
	Meter *Meter

	// Log receives output that is not part of an answer (noise on stdout and text on stderr) and the reason for
	// an unexpected end. Secrets are masked. Log must be safe for concurrent use. It may be nil.
	Log func(message string, fields map[string]any)
}

// list returns an empty list for records that have keys.
func (c *Config) list() *sorted.Records {
	if c.Spill == nil {
		return sorted.New(nil, 0)
	}
	return sorted.New(c.Spill(), 0)
}

// Ready describes a started session: the payload of its ready frame.
type Ready struct {
	PowerShell    string `json:"powershell"` // such as "7.4.0"
	Edition       string `json:"edition"`    // "Core" or "Desktop"
	CLR           string `json:"clr"`
	Module        string `json:"module"`
	ModuleVersion string `json:"moduleVersion"`
	LanguageMode  string `json:"languageMode"` // always "FullLanguage"
	Proxied       bool   `json:"proxied"`      // always false: the module is loaded in this process
	PID           int    `json:"pid"`
	Culture       string `json:"culture"`
}

// Starter and Waiter are go-powershell's interfaces between a Shell and its
// process.
type (
	Starter = backend.Starter
	Waiter  = backend.Waiter
)

// killer is the interface that the Waiter of a Starter must implement.
type killer interface {
	Waiter
	Kill() error
}

// memoryMeter is an optional interface of a Waiter. Memory returns the private bytes of its process.
type memoryMeter interface {
	Memory() (int64, error)
}
