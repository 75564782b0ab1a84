package idempotency

import (
	"encoding/json"

	"adgateway/gateway/schema"
	"adgateway/ps"
)

// An Answer is the stored answer to an earlier call with a key.
type Answer struct {
	RequestID string // of that call
	Status    int
	Body      []byte
	Within    string       // identifies the limits of the caller that got the answer; empty: not known
	Warnings  []ps.Warning // about parts that are not stored, see [WithWarning]
	Tag       string       // of its record; empty: none
	Change    string       // that it names; empty: none
	Server    string       // that was used; empty: none
}

// keptEnvelope is an envelope with its members as sent.
type keptEnvelope struct {
	Output   json.RawMessage `json:"output"`
	Result   json.RawMessage `json:"result"`
	Warnings []ps.Warning    `json:"warnings,omitempty"`
	Error    json.RawMessage `json:"error,omitempty"`
}

// WithWarning returns the body of a kept answer with one more warning.
func WithWarning(body []byte, warning ps.Warning) []byte {
	var e keptEnvelope
	if err := json.Unmarshal(body, &e); err != nil {
		return body // it was written here
	}
	e.Warnings = append(e.Warnings, warning)
	return schema.JSON(e)
}

// withoutRecords returns the envelope of an answer whose list of records is empty.
func withoutRecords(body []byte) []byte {
	var e keptEnvelope
	if err := json.Unmarshal(body, &e); err != nil {
		return schema.JSON(keptEnvelope{Output: schema.JSON("The call was made."), Result: json.RawMessage("[]")})
	}
	e.Result, e.Warnings = json.RawMessage("[]"), e.Warnings[:min(len(e.Warnings), 100)]
	return schema.JSON(e)
}
