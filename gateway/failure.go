package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// failure is the answer to a request that did not succeed.
type failure struct {
	code          schema.Code
	message       string
	outcome       ps.Outcome // of a change; empty for reads
	directoryCode string
	details       []detail
	unshown       int // further details
	retryAfter    time.Duration
	tag           string          // of the present state, if a guard did not hold
	challenge     string          // value of WWW-Authenticate
	refused       refusalReason   // empty unless the request was refused because of its sender
	server        string          // domain controller or DNS server that was asked
	result        json.RawMessage // records of the part that was done; nil: none
	warnings      []ps.Warning
	unrecorded    bool  // because the audit cannot record it
	outside       bool  // the object exists outside the caller's limits; for log and audit only
	cause         error // for the log only
	ofSets        bool  // each set that was refused is in the details
	asSuccess     bool  // is answered as a success, which only clients of the classic dialect need
}

// recorded returns the code for log and audit. The answer does not tell what lies
// outside the limits of the caller from what does not exist; these do.
func (f *failure) recorded() schema.Code {
	if f.outside {
		return schema.Limit
	}
	return f.code
}

// errorBody is the member "error" of an envelope.
type errorBody struct {
	Code          schema.Code `json:"code"`
	Message       string      `json:"message"`
	Outcome       ps.Outcome  `json:"outcome,omitempty"`
	DirectoryCode string      `json:"directoryCode,omitempty"`
	Details       []detail    `json:"details"`
	RequestID     string      `json:"requestId"`
}

type detail struct {
	Field   string `json:"field"`
	Message string `json:"message"`

	// Expected and Found are values, if the failure is that they differ.
	Expected json.RawMessage `json:"expected,omitempty"`
	Found    json.RawMessage `json:"found,omitempty"`
}

// internalError returns the answer to a defect of our own; only the log has cause.
func internalError(cause error) *failure {
	return &failure{code: ourFault.code, message: ourFault.sentence, cause: cause}
}

func fail(code schema.Code, format string, args ...any) *failure {
	return &failure{code: code, message: fmt.Sprintf(format, args...)}
}

// forOperation sets the outcome, which only changes have.
func (f *failure) forOperation(op *ops.Operation) *failure {
	if op.Effect.Writes() && f.outcome == "" {
		f.outcome = ps.OutcomeNone
	}
	if !op.Effect.Writes() {
		f.outcome = ""
	}
	return f
}

// status returns the HTTP status of the answer.
func (f *failure) status() int {
	if f.asSuccess {
		return http.StatusOK
	}
	return f.code.Status()
}

// envelope returns the body of the answer.
func (f *failure) envelope(requestID string) any {
	body := struct {
		Output   string          `json:"output"`
		Result   json.RawMessage `json:"result"`
		Warnings []ps.Warning    `json:"warnings,omitempty"`
		Error    *errorBody      `json:"error,omitempty"`
	}{f.message, f.result, f.warnings, &errorBody{f.code, f.message, f.outcome, f.directoryCode, f.details, requestID}}
	if body.Result == nil {
		body.Result = json.RawMessage("[]")
	}
	if body.Error.Details == nil {
		body.Error.Details = []detail{}
	}
	if f.asSuccess {
		body.Error = nil
		return body
	}
	if f.unshown > 0 {
		body.Error.Details = append(slices.Clip(body.Error.Details), detail{Field: "", Message: fmt.Sprintf("%d more problems are not shown.", f.unshown)})
	}
	return body
}

// refusal joins all problems of a request into one failure. If any value is
// malformed, the request as a whole is invalid.
func refusal(problems []schema.Problem) *failure {
	code := problems[0].Code
	details := make([]detail, len(problems))
	for i, problem := range problems {
		if problem.Code == schema.InvalidRequest {
			code = schema.InvalidRequest
		}
		details[i] = detail{Field: problem.Field, Message: problem.Message}
	}
	first := sentence(details[0])
	f := &failure{code: code, message: first, details: details}
	if len(problems) > maxProblems {
		f.details = details[:maxProblems]
		f.unshown = len(problems) - maxProblems
	}
	if len(problems) > 1 {
		f.message = fmt.Sprintf("%s The request has %d problems in all; see details.", first, len(problems))
	}
	return f
}

// maxProblems is the limit on the problems that a refusal shows.
const maxProblems = 100

// maxRefusal is the limit on the size of the answer to a refused request, in bytes.
const maxRefusal = 64 << 10

// encode returns the answer. That to a refused request, of which nothing was done,
// is cut to maxRefusal.
func (f *failure) encode(requestID string) []byte {
	answer := encode(f.envelope(requestID))
	if len(answer) <= maxRefusal || f.result != nil || f.code.Status() >= http.StatusInternalServerError {
		return answer
	}
	cut := *f
	const longest = maxRefusal / 32 // the message is in the answer twice, and any character may be escaped
	cut.message = printable(cut.message, longest)
	for {
		if answer = encode(cut.envelope(requestID)); len(answer) <= maxRefusal || len(cut.details) == 0 {
			return answer
		}
		half := len(cut.details) / 2
		cut.unshown += len(cut.details) - half
		cut.details = cut.details[:half]
	}
}

// sentence returns a detail as a sentence: a message with a field continues its name.
func sentence(d detail) string {
	text := d.Message
	if d.Field != "" {
		text = d.Field + " " + text
	}
	if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "?") {
		text += "."
	}
	return text
}

// refusals are the labels in the metrics of what package authn refuses.
var refusals = map[schema.Code]refusalReason{
	schema.Unauthenticated: refusedUnknown, schema.InvalidRequest: refusedMalformed,
	schema.RateLimited: refusedRate, schema.Overloaded: refusedBusy, schema.Unavailable: refusedStore,
}

// refusedBy returns the answer to a caller that is not known, an [*authn.Refusal], or that does
// too much, an [*identity.Exceeded].
func refusedBy(err error) *failure {
	var refused *authn.Refusal
	var exceeded *identity.Exceeded
	switch {
	case errors.As(err, &exceeded):
		refused = &authn.Refusal{Code: schema.RateLimited, Message: exceeded.Message, RetryAfter: exceeded.RetryAfter}
	case !errors.As(err, &refused):
		return internalError(err)
	}
	failed := fail(refused.Code, "%s", refused.Message)
	failed.refused = refusals[refused.Code]
	if refused.Reason != "" {
		failed.cause = errors.New(refused.Reason)
	}
	switch refused.Code {
	case schema.Unauthenticated:
		failed.challenge = authn.Challenge
	case schema.RateLimited, schema.Overloaded, schema.Unavailable:
		failed.retryAfter = max(refused.RetryAfter, time.Second)
	}
	return failed
}
