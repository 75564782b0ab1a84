package idempotency

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// keyPattern matches a key, with or without the quotation marks of a structured field.
var keyPattern = regexp.MustCompile(`^(?:"(` + ops.KeyPattern + `)"|(` + ops.KeyPattern + `))$`)

// Parse returns the key in the header's lines. There must be at least one line.
func Parse(lines []string) (string, error) {
	if len(lines) > 1 {
		return "", Invalid("is given %d times", len(lines))
	}
	match := keyPattern.FindStringSubmatch(lines[0])
	if match == nil {
		const most = 100
		return "", Invalid(
			"must have 8 to 128 letters, digits, dots, colons, hyphens or underscores, such as a UUID; '%s' was sent",
			problem.Printable(lines[0], most))
	}
	return cmp.Or(match[1], match[2]), nil
}

// Invalid refuses a call because of its header. The answer describes the header's fault.
func Invalid(format string, args ...any) error {
	failed := problem.New(schema.InvalidRequest, ops.KeyHeader+" "+format+".", args...)
	failed.Details = []problem.Detail{{
		Field: ops.KeyHeader, Message: strings.TrimPrefix(failed.Message, ops.KeyHeader+" "),
	}}
	return failed
}

// Unavailable returns the refusal of a call whose key cannot be stored.
func Unavailable(err error) error {
	return problem.StoreFault(err, "Keys cannot be stored now, so the call was not run. "+
		"Try again later, or without %s.", ops.KeyHeader)
}

// Unchecked returns the error of a call that changed nothing, and for which [Claim.Unchecked] holds.
func Unchecked() error {
	failed := problem.New(schema.Unavailable, "The answer could not be kept under the %s, or another gateway "+
		"has made the call meanwhile. This gateway has changed nothing. Send it again, with its %[1]s.",
		ops.KeyHeader)
	failed.RetryAfter = time.Second
	return failed
}

func reused() error {
	return problem.New(schema.KeyReused, "This %s belongs to another call: of another operation, or with "+
		"other parameters. Use a new key for each call, and the same for its repetitions.", ops.KeyHeader)
}

func poison(attempts int) error {
	return problem.New(schema.Poison, "This call was cut off %d times, by the end of a gateway or in its "+
		"session, so it is not made again.", attempts)
}

// Undecided returns the error of a repeated call while the outcome of the earlier call is unknown.
func (c *Claim) Undecided() error {
	failed := problem.New(schema.InProgress, "The outcome is being determined of an earlier call with "+
		"this %s. Repeat it later to get its answer.", ops.KeyHeader)
	failed.RetryAfter, failed.Outcome, failed.Server = problem.StoreRetry, ps.OutcomeUnknown, c.call.Server
	return failed
}

// Unknown returns the error of a repeated call if the outcome of the earlier call will stay
// unknown.
func (c *Claim) Unknown() error {
	failed := problem.New(schema.OutcomeUnknown, "The outcome of the change '%s' could not be determined, "+
		"which an earlier call has begun. Compare the object with what you asked for, and use a new %s.",
		c.call.Change, ops.KeyHeader)
	if c.call.Change == "" {
		failed.Message = "The outcome of the change that an earlier call has begun could not be determined. " +
			"Compare the object with what you asked for, and use a new " + ops.KeyHeader + "."
	}
	failed.Outcome, failed.Server = ps.OutcomeUnknown, c.call.Server
	return failed
}

// Partly returns the error of a repeated call if, according to its verdict, the change of the
// earlier call was made only in part.
func (c *Claim) Partly() error {
	failed := problem.New(schema.Partial, "The change was cut off, and made in part; see details.")
	failed.Outcome, failed.Server = ps.OutcomePartial, c.call.Server
	for _, left := range c.call.Verdict.Remains {
		failed.Details = append(failed.Details, problem.Remaining(left))
	}
	for _, note := range c.call.Verdict.Notes {
		failed.Details = append(failed.Details, problem.Detail{Field: "", Message: note})
	}
	return failed
}
