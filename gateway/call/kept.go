package call

import (
	"encoding/json"

	"adgateway/ps"
)

// keptEnvelope is an envelope of which the members are as they were sent.
type keptEnvelope struct {
	Output   json.RawMessage `json:"output"`
	Result   json.RawMessage `json:"result"`
	Warnings []ps.Warning    `json:"warnings,omitempty"`
	Error    json.RawMessage `json:"error,omitempty"`
}

// withWarning adds a warning to an answer.
func withWarning(body []byte, warning ps.Warning) []byte {
	var e keptEnvelope
	if err := json.Unmarshal(body, &e); err != nil {
		return body // it was written here
	}
	e.Warnings = append(e.Warnings, warning)
	return JSON(e)
}

// WithoutRecords returns the envelope of an answer whose list of records is empty.
func WithoutRecords(body []byte) []byte {
	var e keptEnvelope
	if err := json.Unmarshal(body, &e); err != nil {
		return JSON(keptEnvelope{Output: JSON("The call was made."), Result: json.RawMessage("[]")})
	}
	e.Result, e.Warnings = json.RawMessage("[]"), e.Warnings[:min(len(e.Warnings), 100)]
	return JSON(e)
}
