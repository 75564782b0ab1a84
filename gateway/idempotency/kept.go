package idempotency

import (
	"encoding/json"

	"adgateway/gateway/schema"
	"adgateway/ps"
)

// An Answer is the stored answer to an earlier call with a key.
type Answer struct {
	RequestID string // id of that request
	Status    int
	Body      []byte
	Within    string       // identifies the caller's limits when it got the answer; empty if unknown
	Warnings  []ps.Warning // about parts that are not stored, see [WithWarning]
	Tag       string       // entity tag of its record; empty if none
	Change    string       // id of the change that it names; empty if none
	Server    string       // server that was used; empty if none
}

// keptEnvelope is an envelope whose members stay encoded as they were sent.
type keptEnvelope struct {
	Output   json.RawMessage `json:"output"`
	Result   json.RawMessage `json:"result"`
	Warnings []ps.Warning    `json:"warnings,omitempty"`
	Error    json.RawMessage `json:"error,omitempty"`
}

// WithWarning returns the body of a stored answer with one more warning.
func WithWarning(body []byte, warning ps.Warning) []byte {
	var e keptEnvelope
	if err := json.Unmarshal(body, &e); err != nil {
		return body // it was encoded here
	}
	e.Warnings = append(e.Warnings, warning)
	return schema.JSON(e)
}

// withoutRecords returns the envelope of an answer with its list of records emptied.
func withoutRecords(body []byte) []byte {
	var e keptEnvelope
	if err := json.Unmarshal(body, &e); err != nil {
		return schema.JSON(keptEnvelope{Output: schema.JSON("The call was made."), Result: json.RawMessage("[]")})
	}
	e.Result, e.Warnings = json.RawMessage("[]"), e.Warnings[:min(len(e.Warnings), 100)]
	return schema.JSON(e)
}
