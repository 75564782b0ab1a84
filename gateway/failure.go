package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// failure is an answer that is not a success.
type failure struct {
	code          schema.Code
	message       string
	outcome       ps.Outcome // of a changing call; empty: it is not one
	directoryCode string
	details       []detail
	retryAfter    time.Duration
	challenge     string          // value of WWW-Authenticate
	refused       refusalReason   // of a request that is refused for who sent it
	server        string          // the directory or DNS server that was asked
	result        json.RawMessage // the records of what was done all the same; nil: none
	warnings      []ps.Warning
	cause         error // for the log only
}

type detail struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

func fail(code schema.Code, format string, args ...any) *failure {
	return &failure{code: code, message: fmt.Sprintf(format, args...)}
}

// forOperation completes what depends on the operation: a call that could have
// changed something says what it left behind.
func (f *failure) forOperation(op *ops.Operation) *failure {
	if op.Effect.Writes() && f.outcome == "" {
		f.outcome = ps.OutcomeNone
	}
	if !op.Effect.Writes() {
		f.outcome = ""
	}
	return f
}

// refusal makes one failure of all problems of a request. A malformed request
// comes before one that only cannot be carried out.
func refusal(problems []schema.Problem) *failure {
	code := problems[0].Code
	details := make([]detail, len(problems))
	for i, problem := range problems {
		if problem.Code == schema.InvalidRequest {
			code = schema.InvalidRequest
		}
		details[i] = detail{problem.Field, problem.Message}
	}
	first := sentence(details[0])
	f := &failure{code: code, message: first, details: details}
	if more := len(problems) - 1; more > 0 {
		f.message = fmt.Sprintf("%s The request has %d problems in all; see details.", first, len(problems))
	}
	return f
}

// sentence is a detail as a sentence: a message with a field continues its name.
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
