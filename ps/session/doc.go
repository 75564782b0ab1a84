// Package session runs scripts in one PowerShell process that stays.
//
// The process is started by go-powershell, through a [backend.Starter]: the
// real one is [Local], the sandbox brings its own. Around it stands this
// package's own Starter (starter.go), because the library's Shell knows neither
// arguments nor kill, and its reader is quadratic: stdout is split (split.go),
// so that frames and noise come to us and the Shell sees only its two markers.
//
// One Execute of the Shell lasts as long as the session. Its command is the
// boot line (boot.go): it defines the prelude and the scripts, and calls the
// prelude's Start-GatewaySession, which imports the module, answers a ready
// frame and enters the request loop. From then on every request is one data
// line, and every answer is a row of frames (frame.go, answer.go).
//
// Whatever is not as agreed (deadline, death, broken frame, wrong id, too much
// output) ends the process and with it the session; a session is never used
// again after a surprise. Nothing is left behind: [Session.Dead] tells of the
// end, and Close and Kill return when the process and all goroutines are gone.
package session

import (
	"time"

	"adgateway/ps"

	"github.com/bhendo/go-powershell/backend"
)

// Defaults of a [Config].
const (
	DefaultStartTimeout = 60 * time.Second
	DefaultLimit        = 60 * time.Second
	DefaultMaxOutput    = 256 << 20
	DefaultMaxList      = 4 << 30
)

// Boot says what a session loads before it takes requests.
type Boot struct {
	Prelude ps.Source   // run first, at the top level of the session
	Scripts []ps.Source // each becomes a function of its name
	Module  string      // "ActiveDirectory" or "DnsServer"
}

// Config says how to start a session. Starter and Boot are required.
type Config struct {
	// Starter starts the process. Its Waiter must also have Kill() error, which
	// ends the process and all it started, and may be called at any time and
	// more than once. Wait is called at once and must not close the streams.
	// The writer must be an io.Closer. A Waiter may have Memory() (int64, error),
	// the private bytes of its process.
	Starter Starter
	Boot    Boot

	StartTimeout time.Duration // until ready and proven; zero: [DefaultStartTimeout]
	Limit        time.Duration // of a request that names none; zero: [DefaultLimit]
	MaxOutput    int64         // bytes of a frame, of noise, and of all a request may answer with; zero: [DefaultMaxOutput]
	MaxList      int64         // and of all a list may, which is handed on frame by frame; zero: [DefaultMaxList]

	// Meter, when set, counts; sessions may share one.
	Meter *Meter

	// Log, when set, is told of what did not belong to an answer: noise on
	// stdout, text on stderr, the reason of an end. Values of secrets are
	// masked. It is called from several goroutines.
	Log func(message string, fields map[string]any)
}

// Ready is what a session says of itself when it has started: the payload of
// its ready frame.
type Ready struct {
	PowerShell    string `json:"powershell"` // "7.4.0"
	Edition       string `json:"edition"`    // "Core", "Desktop"
	CLR           string `json:"clr"`
	Module        string `json:"module"`
	ModuleVersion string `json:"moduleVersion"`
	LanguageMode  string `json:"languageMode"` // always "FullLanguage"
	Proxied       bool   `json:"proxied"`      // always false: the module runs in this process
	PID           int    `json:"pid"`
	Culture       string `json:"culture"`
}

// Starter and Waiter are go-powershell's seam between a Shell and its process.
type (
	Starter = backend.Starter
	Waiter  = backend.Waiter
)

// killer is what a Starter's Waiter must offer besides Wait.
type killer interface {
	Waiter
	Kill() error
}

// memoryMeter is what a Waiter may offer: the private bytes of its process.
type memoryMeter interface {
	Memory() (int64, error)
}
