package call

import (
	"bytes"
	"encoding/json"

	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
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

// Records returns the records of an answer that was kept. One that has none, or of another form, has
// none.
func (k *Kept) Records() (records []map[string]json.RawMessage) {
	var e keptEnvelope
	if json.Unmarshal(k.Body, &e) != nil {
		return nil
	}
	if json.Unmarshal(e.Result, &records) == nil {
		return records
	}
	var single map[string]json.RawMessage
	if json.Unmarshal(e.Result, &single) != nil {
		return nil
	}
	return []map[string]json.RawMessage{single}
}

// Reduced returns the answer with other records: what reduce makes of each.
func (k *Kept) Reduced(reduce func(record map[string]json.RawMessage) json.RawMessage) *Kept {
	var e keptEnvelope
	if json.Unmarshal(k.Body, &e) != nil {
		return &Kept{Status: k.Status, Body: WithoutRecords(k.Body), Within: k.Within}
	}
	reduced := []json.RawMessage{}
	for _, record := range k.Records() {
		reduced = append(reduced, reduce(record))
	}
	isList := bytes.HasPrefix(bytes.TrimSpace(e.Result), []byte("["))
	switch {
	case isList || len(reduced) == 0:
		e.Result = JSON(reduced)
	default:
		e.Result = reduced[0]
	}
	return &Kept{Status: k.Status, Body: JSON(e), Within: k.Within}
}

// Settled returns an answer without Kept, and with what was done although there is an error.
func Settled(answer Answer, err error) (Answer, error) {
	if part := PartOf(err); part != nil {
		answer.Records, answer.Warnings = withoutBrackets(part.Records), part.Warnings
		if part.AsSuccess {
			answer.Output, err = problem.Of(err).Message, nil
		}
		return answer, err
	}
	if answer.Kept == nil {
		return answer, err
	}
	var kept errorEnvelope
	if err := json.Unmarshal(answer.Kept.Body, &kept); err != nil {
		return answer, &problem.Error{Code: schema.Internal, Outcome: ps.OutcomeUnknown, Cause: err,
			Message: "The answer to the first call could not be read."}
	}
	answer.Kept, answer.Output, answer.Records = nil, kept.Output, withoutBrackets(kept.Result)
	answer.Warnings = append(kept.Warnings, answer.Warnings...)
	if e := kept.Error; e != nil {
		return answer, &problem.Error{Code: e.Code, Message: e.Message, Outcome: e.Outcome, DirectoryCode: e.DirectoryCode, Details: e.Details}
	}
	return answer, nil
}

// withoutBrackets returns the records of a list in JSON, separated by commas.
func withoutBrackets(list []byte) []byte {
	list = bytes.TrimSpace(list)
	if inner, isList := bytes.CutPrefix(list, []byte("[")); isList {
		return bytes.TrimSuffix(inner, []byte("]"))
	}
	return list
}
