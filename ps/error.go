package ps

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind classifies the origin of an error.
type Kind string

// The kinds of errors.
const (
	KindScript      Kind = "script"      // the script failed with an error record: see Type, ID, Code
	KindTimeout     Kind = "timeout"     // the time limit expired while the script ran; the session was killed
	KindCancelled   Kind = "cancelled"   // the caller disconnected before the script started, or during a read
	KindOverloaded  Kind = "overloaded"  // no session became free in time, or the queue was full
	KindUnavailable Kind = "unavailable" // no session can be started, or no server responds
	KindStopped     Kind = "stopped"     // the script announced a change that was refused, and changed nothing
	KindDied        Kind = "died"        // the session ended or violated the protocol during the run
	KindInternal    Kind = "internal"    // a defect of the gateway
)

// Outcome describes what a failed run has changed.
type Outcome string

// The outcomes.
const (
	OutcomeNone    Outcome = "none"    // nothing was changed, or everything was undone
	OutcomePartial Outcome = "partial" // part of the change remains; see Remains
	OutcomeDone    Outcome = "done"    // the change was made; only reporting it failed
	OutcomeUnknown Outcome = "unknown" // the outcome could not be determined
)

// ErrClosing is the Cause of the [Error] for a request that was not started
// because the gateway is shutting down.
var ErrClosing = errors.New("the gateway is shutting down")

// ErrStarting is the Cause of the [Error] for a request that was not started in
// time because the first session is still starting.
var ErrStarting = errors.New("the first session is starting")

// Error is the only error type a [Runner] returns. Callers must decide by Kind, then by Gateway, Code, Type
// and Category. Message is localized by Windows and is only for people and logs (facts D3, D7).
type Error struct {
	Kind Kind `json:"-"`

	// Members of the error record, as selected by the prelude (facts D5).
	Step     string `json:"step"`     // label of the step that failed
	Type     string `json:"type"`     // full type name of the exception
	ID       string `json:"id"`       // FullyQualifiedErrorId
	Category string `json:"category"` // CategoryInfo.Category
	Code     string `json:"code"`     // ErrorCode of the exception: a Win32 code in decimal
	Inner    string `json:"inner"`    // type name of the inner exception; empty if there is none
	Fault    string `json:"fault"`    // name of the web service's fault, such as "EndpointUnavailable" (facts D14)
	Native   string `json:"native"`   // MessageId, such as "WIN32 9711"
	Message  string `json:"message"`
	Detail   string `json:"server"` // ServerErrorMessage: raw text of the domain controller
	Line     int    `json:"line"`   // in the script's text

	// Set if the script itself raised the error (Stop-Gateway in the prelude): the API's error
	// code and the argument concerned.
	Gateway string `json:"gateway"`
	Arg     string `json:"arg"`
	// Details are additional sentences for people, such as the objects that match.
	Details []string `json:"details"`

	// Outside reports whether the object exists outside the caller's limits, which the
	// caller must not learn.
	Outside bool `json:"outside"`

	Outcome Outcome  `json:"outcome"`
	Remains []Object `json:"remains"`
	Notes   []string `json:"-"` // additional findings about the remains, for people

	Steps []Step `json:"-"`
	// announced by the script; nil if it announced and so changed nothing
	Intent     *Intent       `json:"-"`
	Server     string        `json:"-"` // the server used, if any
	RetryAfter time.Duration `json:"-"` // how long to wait before a retry; zero if unspecified
	Cause      error         `json:"-"`
}

// Error formats the error for a log, without arguments and commands.
func (e *Error) Error() string {
	text := string(e.Kind)
	for _, part := range []string{e.Step, e.ID, e.Message} {
		if part != "" {
			text += ": " + part
		}
	}
	if e.Cause != nil {
		text = fmt.Sprintf("%s: %v", text, e.Cause)
	}
	return text
}

// Blocked reports whether endpoint protection or a policy kept PowerShell from running the gateway's text, or
// from starting at all. In every language of Windows, PowerShell uses one error id if antivirus software
// blocks a text through AMSI, and another one for a policy (facts-5.1 I42).
func (e *Error) Blocked() bool {
	id, _, _ := strings.Cut(e.ID, ",")
	return id == BlockedByProtection || id == BlockedByPolicy || e.Step == "start" &&
		slices.Contains(refusedStarts, e.Code)
}

// refusedStarts are the Win32 codes of a program that could not be started: a virus was found
// in it (225, 226), or a policy forbids it (1260 from AppLocker, 4551 from App Control).
var refusedStarts = []string{"225", "226", "1260", "4551"}

// The ids that [Error.Blocked] recognizes.
const (
	BlockedByProtection = "ScriptContainedMaliciousContent"
	BlockedByPolicy     = "ScriptHasAdminBlockedContent"
)

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// AsError returns the [*Error] in err's chain, or wraps err in an [*Error] of [KindInternal].
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: KindInternal, Cause: err}
}
