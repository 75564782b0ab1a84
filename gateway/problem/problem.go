// Package problem has the single error type of the API.
package problem

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Error is the reason why a request did not succeed, in the terms of the API. Functions return it as an error
// and never as *Error, because an error that holds a nil *Error is not nil. [Of] finds it in an error.
type Error struct {
	Code          schema.Code
	Message       string     // one or more sentences for people
	Outcome       ps.Outcome // outcome of a change; empty for reads
	DirectoryCode string     // such as "AD:8305"; empty if the directory has not reported one
	Details       []Detail
	Warnings      []ps.Warning  // warnings in the answer, in addition to the error
	Omitted       int           // number of further details that are not shown
	RetryAfter    time.Duration // zero if the answer does not say when to try again
	Tag           string        // tag of the current state, if a guard failed
	Challenge     string        // value of WWW-Authenticate
	Reason        Reason        // empty unless the request was refused because of its sender
	Server        string        // domain controller or DNS server that was used
	Audited       schema.Code   // code for log and audit, if the answer must not show it; empty means Code
	Cause         error         // for the log only
}

// Detail is a single finding. Its message continues the name of the field, if there is one.
type Detail struct {
	Field   string `json:"field"`
	Message string `json:"message"`

	// Expected and Found are values whose difference is the failure.
	Expected json.RawMessage `json:"expected,omitempty"`
	Found    json.RawMessage `json:"found,omitempty"`
}

// Messages returns the messages of details.
func Messages(details []Detail) (all []string) {
	for _, d := range details {
		all = append(all, d.Message)
	}
	return all
}

// Remaining names an object left behind by an incomplete change.
func Remaining(left ps.Object) Detail {
	return Detail{Message: "This remains: " + cmp.Or(left.DN, left.GUID)}
}

// Reason is the reason for refusing a request because of its sender.
type Reason string

// The reasons.
const (
	ReasonMalformed       Reason = "malformed"       // contradictory or misplaced credentials
	ReasonUnauthenticated Reason = "unauthenticated" // no valid credential
	ReasonRate            Reason = "rate_limited"
	ReasonBusy            Reason = "busy"        // too many credentials are being checked
	ReasonStore           Reason = "unavailable" // credentials cannot be read
	ReasonScope           Reason = "scope"
	ReasonOtherSites      Reason = "cross_site"
)

// OurFault is the message of an error with the code Internal.
const OurFault = "The gateway failed. Its log contains the details under the request ID."

// New returns an error with a formatted message.
func New(code schema.Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Internal returns the error for a defect of the gateway. Only the log shows cause.
func Internal(cause error) *Error {
	return &Error{Code: schema.Internal, Message: OurFault, Cause: cause}
}

// Of returns the first *Error in err's chain. Any other error is a defect of the gateway, and
// becomes the cause of an internal error. Of returns nil for nil.
func Of(err error) *Error {
	if err == nil {
		return nil
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		return e
	}
	return Internal(err)
}

// Is reports whether there is an *Error in err's chain.
func Is(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e)
}

// MostShown is the maximum number of fields shown by an error from [Invalid].
const MostShown = 100

// Invalid joins the faults of a request's fields. There must be at least one. If any value is
// malformed, the request as a whole is invalid.
func Invalid(fields []schema.FieldError) *Error {
	code := fields[0].Code
	details := make([]Detail, len(fields))
	for i, field := range fields {
		if field.Code == schema.InvalidRequest {
			code = schema.InvalidRequest
		}
		details[i] = Detail{Field: field.Field, Message: field.Message}
	}
	first := details[0].sentence()
	e := &Error{Code: code, Message: first, Details: details}
	if len(fields) > MostShown {
		e.Details, e.Omitted = details[:MostShown], len(fields)-MostShown
	}
	if len(fields) > 1 {
		e.Message = fmt.Sprintf("%s The request has %d problems in all; see details.", first, len(fields))
	}
	return e
}

// sentence returns a detail as a sentence.
func (d Detail) sentence() string {
	text := d.Message
	if d.Field != "" {
		text = d.Field + " " + text
	}
	if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "?") {
		text += "."
	}
	return text
}

// Error formats the error for a log.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %s", e.AuditCode(), e.Message)
	if e.Cause != nil {
		text = fmt.Sprintf("%s (%v)", text, e.Cause)
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// AuditCode returns the code for log and audit. For callers, objects outside their limits do not seem to
// exist; log and audit distinguish the two cases.
func (e *Error) AuditCode() schema.Code {
	if e.Audited != "" {
		return e.Audited
	}
	return e.Code
}
