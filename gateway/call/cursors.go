package call

import (
	"encoding/base64"
	"regexp"
	"slices"

	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// Cursors say where the next page of a list begins that the gateway keeps itself. One is for the
// caller and the filters of a call only.
type Cursors struct {
	Sum func(parts ...string) []byte // a digest under a key of the gateway
}

const cursorSumLength = 16

// Seal returns the cursor of the page that follows what last identifies.
func (c Cursors) Seal(a Accepted, last string) string {
	return base64.RawURLEncoding.EncodeToString(append(c.sum(a, last), last...))
}

// keptID is what identities of changes, jobs and plans look like. Some can be read as the text
// of a cursor.
var keptID = regexp.MustCompile(`^[a-z]{2}_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// Open returns what the page before has ended with; empty: the call has no cursor.
func (c Cursors) Open(a Accepted) (last string, err error) {
	cursor := a.Bound.Text(ops.AfterName)
	if cursor == "" {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) <= cursorSumLength || keptID.MatchString(cursor) {
		return "", problem.Invalid([]schema.FieldError{{
			Field: ops.AfterName, Code: schema.InvalidRequest, Message: "must be the next of an answer",
		}})
	}
	last = string(raw[cursorSumLength:])
	if !slices.Equal(c.sum(a, last), raw[:cursorSumLength]) {
		return "", OtherQuestion()
	}
	return last, nil
}

func (c Cursors) sum(a Accepted, last string) []byte {
	caller := a.Principal.Identity()
	parts := []string{"cursor", caller.Kind, caller.ID, last}
	for i := range a.Op.Params {
		if name := a.Op.Params[i].Name; name != ops.AfterName && name != ops.LimitName && name != ops.WaitName {
			parts = append(parts, a.Bound.Text(name))
		}
	}
	return c.Sum(parts...)[:cursorSumLength]
}

// OtherQuestion returns the refusal of a cursor of another question.
func OtherQuestion() error {
	const message = "is the next of an answer to another question: with it, send the same parameters again, " +
		"Limit, Count and ShowFields excepted"
	f := problem.New(schema.TokenMismatch, "%s %s.", ops.AfterName, message)
	f.Details = []problem.Detail{{Field: ops.AfterName, Message: message}}
	return f
}
