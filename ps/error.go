package ps

import (
	"errors"
	"fmt"
	"time"
)

// Kind says which room an error comes from.
type Kind string

// The kinds of errors.
const (
	KindScript      Kind = "script"      // the script ended with an error record: see Type, ID, Code
	KindTimeout     Kind = "timeout"     // the limit passed while the script ran; the session was killed
	KindCancelled   Kind = "cancelled"   // the caller left before or while a read ran
	KindOverloaded  Kind = "overloaded"  // no session became free in time, or the queue was full
	KindUnavailable Kind = "unavailable" // no session can be started, or no server answers
	KindDied        Kind = "died"        // the session ended, or broke the protocol, during the run
	KindInternal    Kind = "internal"    // our own defect
)

// Outcome says what a failed run left behind.
type Outcome string

// The outcomes.
const (
	OutcomeNone    Outcome = "none"    // nothing was changed, or all was undone
	OutcomePartial Outcome = "partial" // see Remains
	OutcomeDone    Outcome = "done"    // the change was made, only its report failed
	OutcomeUnknown Outcome = "unknown" // could not be settled
)

// ErrClosing is the cause of the error of a request that a runner did not begin
// with because the gateway is being stopped.
var ErrClosing = errors.New("the gateway is shutting down")

// Error is the only error a [Runner] returns. Callers decide by Kind, then
// Gateway, Code, Type and Category, in this order; Message is localised by
// Windows and only for people and logs (facts D3, D7).
type Error struct {
	Kind Kind `json:"-"`

	// Of an error record, as the prelude selects them (facts D5).
	Step     string `json:"step"`     // label of the step that failed
	Type     string `json:"type"`     // full name of the exception's type
	ID       string `json:"id"`       // FullyQualifiedErrorId
	Category string `json:"category"` // CategoryInfo.Category
	Code     string `json:"code"`     // ErrorCode of the exception, a Win32 code in decimal
	Native   string `json:"native"`   // MessageId, "WIN32 9711"
	Message  string `json:"message"`
	Detail   string `json:"server"` // ServerErrorMessage, raw text of the DC
	Line     int    `json:"line"`   // in the script's own text

	// Of an error the scripts raise themselves (Stop-Gateway in the prelude):
	// one of the API's error codes and the argument it is about.
	Gateway string `json:"gateway"`
	Arg     string `json:"arg"`

	Outcome Outcome  `json:"outcome"`
	Remains []Object `json:"remains"`
	Notes   []string `json:"-"` // what else is known of what was left behind, for people

	Steps      []Step        `json:"-"`
	Intent     *Intent       `json:"-"` // what the script had announced; nil: nothing, so it has changed nothing
	Server     string        `json:"-"` // the server that was asked, when one was
	RetryAfter time.Duration `json:"-"` // how long to wait before another try; zero: not said
	Cause      error         `json:"-"`
}

// Error tells the error for a log. It holds neither arguments nor commands.
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

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// AsError returns err as an [*Error]; what is none becomes one of [KindInternal].
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: KindInternal, Cause: err}
}
