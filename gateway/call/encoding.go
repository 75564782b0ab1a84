package call

import (
	"bytes"
	"errors"
	"net/http"
	"slices"

	"adgateway/gateway/idempotency"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// This file writes answers and errors of calls. It alone decides the status and the body, whether
// an answer is sent, stored for a repetition, or recorded in the audit.

// Status returns the HTTP status of an answer, or of err if err is not nil. op may be nil together with an
// error if the request was not for an operation.
func Status(op *ops.Operation, classic bool, answer Answer, err error) int {
	if err != nil {
		status, _ := refusalOf(op, err)
		return status
	}
	switch {
	case answer.Kept != nil:
		return answer.Kept.Status
	case answer.Partly != nil && partsAreWarnings(op, classic):
		return http.StatusOK
	case answer.Partly != nil:
		status, _ := refusalOf(op, answer.Partly)
		return status
	case answer.Same:
		return http.StatusNotModified
	case answer.Plan != nil, answer.Document != nil:
		return http.StatusOK
	case op.Protocol != nil:
		return op.Protocol.Status
	case op.Accepted:
		return http.StatusAccepted
	case answer.Effect == ps.EffectCreated && op.Creates() && !classic:
		return http.StatusCreated
	}
	return http.StatusOK
}

// Encode returns the status (see [Status]) and the body, which may be empty. id identifies the
// request and appears in the body of an error or of a partial answer.
func Encode(op *ops.Operation, classic bool, answer Answer, err error, id string) (status int, body []byte) {
	if err == nil {
		return Status(op, classic, answer, nil), encodeAnswer(op, classic, answer, id)
	}
	status, form := refusalOf(op, err)
	if form != nil {
		return status, schema.JSON(form)
	}
	return status, encodeError(err, id)
}

// EncodeTail returns what follows the array of records in the envelope of a list whose records a
// [Sink] has taken.
func EncodeTail(answer Answer) []byte {
	tail := append([]byte(`,"output":`), schema.JSON(answer.Output)...)
	return append(append(tail, membersOf(answer)...), '}')
}

// encodeAnswer returns the body of an answer to a call of a row. It may be empty.
func encodeAnswer(op *ops.Operation, classic bool, answer Answer, id string) []byte {
	switch {
	case answer.Kept != nil:
		body := answer.Kept.Body
		for _, warning := range answer.Warnings {
			body = idempotency.WithWarning(body, warning)
		}
		return body
	case answer.Partly != nil:
		return encodePartly(op, classic, answer, id)
	case answer.Same:
		return nil
	case op.Protocol != nil && answer.Foreign == nil:
		return nil
	case op.Protocol != nil:
		return schema.JSON(answer.Foreign)
	case op.Local:
		return encodeLocal(op, classic, answer)
	}
	output, tail := schema.JSON(answer.Output), membersOf(answer)
	answer.Records = withSecret(answer.Records, answer.Secret)
	var body bytes.Buffer
	body.Grow(len(answer.Records) + len(output) + len(tail) + 32)
	body.WriteString(`{"output":`)
	body.Write(output)
	body.WriteString(`,"result":`)
	writeResult(&body, op, classic, answer)
	body.Write(tail)
	body.WriteByte('}')
	return body.Bytes()
}

// partsAreWarnings reports whether a partial change is answered as a success with warnings about
// the rest, because the classic dialect has no other status with records.
func partsAreWarnings(op *ops.Operation, classic bool) bool { return classic && !op.Local }

// encodePartly returns the body of the answer to a partial change.
func encodePartly(op *ops.Operation, classic bool, answer Answer, id string) []byte {
	if _, form := refusalOf(op, answer.Partly); form != nil {
		return schema.JSON(form)
	}
	body := envelopeOf(answer.Partly, id)
	body.Result, body.Warnings = slices.Concat([]byte("["), answer.Records, []byte("]")), answer.Warnings
	if partsAreWarnings(op, classic) {
		body.Error = nil
	}
	return schema.JSON(body)
}

// encodeLocal returns the body of an answer of a row without a script.
func encodeLocal(op *ops.Operation, classic bool, answer Answer) []byte {
	var body bytes.Buffer
	body.WriteByte('{')
	if answer.Next != "" {
		body.WriteString(`"next":`)
		body.Write(schema.JSON(answer.Next))
		body.WriteByte(',')
	}
	body.WriteString(`"output":`)
	body.Write(schema.JSON(answer.Output))
	if answer.Plan != nil {
		body.WriteString(`,"plan":`)
		body.Write(answer.Plan)
	}
	body.WriteString(`,"result":`)
	if classic && op.Reply.Mark == ops.Single {
		body.Write(answer.Records)
	} else {
		writeList(&body, answer.Records)
	}
	if len(answer.Warnings) > 0 {
		body.WriteString(`,"warnings":`)
		body.Write(schema.JSON(answer.Warnings))
	}
	body.WriteByte('}')
	return body.Bytes()
}

// membersOf returns the members of an answer that follow its records.
func membersOf(answer Answer) []byte {
	tail := []byte{}
	if len(answer.Warnings) > 0 {
		tail = append(append(tail, `,"warnings":`...), schema.JSON(answer.Warnings)...)
	}
	if answer.Next != "" {
		tail = append(append(tail, `,"next":`...), schema.JSON(answer.Next)...)
	}
	if answer.Total != nil {
		tail = append(append(tail, `,"total":`...), schema.JSON(*answer.Total)...)
	}
	if answer.Plan != nil {
		tail = append(append(tail, `,"plan":`...), answer.Plan...)
	}
	return tail
}

// writeResult writes the records as an array, or in the form of the classic dialect.
func writeResult(body *bytes.Buffer, op *ops.Operation, classic bool, answer Answer) {
	switch {
	case !classic:
	case answer.Plan != nil:
		body.WriteString("null")
		return
	case op.Reply.Mark == ops.Single:
		body.Write(answer.Records)
		return
	case op.Reply.Mark == ops.Exists:
		body.Write(schema.Member(answer.Records, "exists"))
		return
	case op.Reply.Mark == ops.Moment:
		body.Write(schema.Member(answer.Records, "lastLogon"))
		return
	}
	writeList(body, answer.Records)
}

func writeList(body *bytes.Buffer, records []byte) {
	body.WriteByte('[')
	body.Write(records)
	body.WriteByte(']')
}

// refusalOf returns the status of a refusal, and the body that the row's protocol defines for it. A nil body
// means that an envelope is used.
func refusalOf(op *ops.Operation, err error) (status int, form any) {
	if op == nil || op.Protocol == nil || op.Protocol.Refusal == nil {
		return statusOf(err), nil
	}
	f, field := problem.Of(err), ""
	if len(f.Details) > 0 {
		field = f.Details[0].Field
	}
	code := f.Code
	each := (*eachRefused)(nil)
	if op.Protocol.PerSet && errors.As(err, &each) { // the failure of one set does not fail the call
		code = schema.Partial
	}
	return op.Protocol.Refusal(code, field)
}

// withSecret adds the generated secret to a record, even if its field was not selected. Without a secret, or
// without a record, it returns the record unchanged.
func withSecret(record []byte, secret *ops.Generated) []byte {
	if secret == nil || len(record) == 0 {
		return record
	}
	extended := bytes.Clone(record[:len(record)-1])
	if len(extended) > 1 {
		extended = append(extended, ',')
	}
	extended = append(append(extended, schema.JSON(secret.Member)...), ':')
	return append(append(extended, schema.JSON(secret.Reveal())...), '}')
}
