package call

import (
	"bytes"
	"encoding/json"

	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

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
