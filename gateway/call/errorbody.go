package call

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// errorBody is the member "error" of an envelope.
type errorBody struct {
	Code          schema.Code      `json:"code"`
	Message       string           `json:"message"`
	Outcome       ps.Outcome       `json:"outcome,omitempty"`
	DirectoryCode string           `json:"directoryCode,omitempty"`
	Details       []problem.Detail `json:"details"`
	RequestID     string           `json:"requestId"`
}

// errorEnvelope is the body of the answer to a request that did not succeed.
type errorEnvelope struct {
	Output   string          `json:"output"`
	Result   json.RawMessage `json:"result"`
	Warnings []ps.Warning    `json:"warnings,omitempty"`
	Error    *errorBody      `json:"error,omitempty"`
}

// statusOf returns the HTTP status of the answer to a request that failed with err.
func statusOf(err error) int {
	return problem.Of(err).Code.Status()
}

// envelopeOf returns the body of the answer to a request that failed with err.
func envelopeOf(err error, requestID string) errorEnvelope {
	e := problem.Of(err)
	body := errorEnvelope{Output: e.Message, Result: json.RawMessage("[]"), Warnings: e.Warnings}
	details := e.Details
	if details == nil {
		details = []problem.Detail{}
	}
	if e.Omitted > 0 {
		more := fmt.Sprintf("%d more problems are not shown.", e.Omitted)
		details = append(slices.Clip(details), problem.Detail{Message: more})
	}
	body.Error = &errorBody{e.Code, e.Message, e.Outcome, e.DirectoryCode, details, requestID}
	return body
}

// maxRefusal is the limit on the size of the answer to a refused request, in bytes.
const maxRefusal = 64 << 10

// encodeError returns the body of the answer to a request that failed with err. If the request was
// refused and nothing was done, the body is cut to maxRefusal.
func encodeError(err error, requestID string) []byte {
	answer := schema.JSON(envelopeOf(err, requestID))
	e := problem.Of(err)
	if len(answer) <= maxRefusal || e.Code.Status() >= http.StatusInternalServerError {
		return answer
	}
	cut := *e
	const longest = maxRefusal / 32 // the message is in the answer twice, and any character may be escaped
	cut.Message = problem.Printable(cut.Message, longest)
	for {
		answer = schema.JSON(envelopeOf(&cut, requestID))
		if len(answer) <= maxRefusal || len(cut.Details) == 0 {
			return answer
		}
		half := len(cut.Details) / 2
		cut.Omitted += len(cut.Details) - half
		cut.Details = cut.Details[:half]
	}
}
