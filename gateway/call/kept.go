package call

import (
	"bytes"
	"encoding/json"

	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Settled decodes the stored answer of a call. It returns a partial answer as a success if the dialect of the
// call does so.
func Settled(c Call, answer Answer, err error) (Answer, error) {
	if answer.Partly != nil && partsAreWarnings(c.Op, c.Classic) {
		answer.Output, answer.Partly = answer.Partly.Message, nil
	}
	if answer.Kept == nil {
		return answer, err
	}
	var first errorEnvelope
	if err := json.Unmarshal(answer.Kept.Body, &first); err != nil {
		return answer, &problem.Error{Code: schema.Internal, Outcome: ps.OutcomeUnknown, Cause: err,
			Message: "The answer to the first call could not be read."}
	}
	answer.Kept, answer.Output, answer.Records = nil, first.Output, withoutBrackets(first.Result)
	answer.Warnings = append(first.Warnings, answer.Warnings...)
	if first.Error == nil {
		return answer, nil
	}
	e := first.Error
	failed := &problem.Error{
		Code: e.Code, Message: e.Message, Outcome: e.Outcome, DirectoryCode: e.DirectoryCode, Details: e.Details,
	}
	if len(answer.Records) > 0 {
		answer.Partly = failed
		return answer, nil
	}
	return answer, failed
}

// withoutBrackets returns the records of a list in JSON, separated by commas.
func withoutBrackets(list []byte) []byte {
	list = bytes.TrimSpace(list)
	if inner, isList := bytes.CutPrefix(list, []byte("[")); isList {
		return bytes.TrimSuffix(inner, []byte("]"))
	}
	return list
}
