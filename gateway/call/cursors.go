package call

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strconv"

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
	sum, rest := raw[:cursorSumLength], raw[cursorSumLength:]
	for _, last := range []string{string(rest), string(c.cover(sum, rest))} {
		if slices.Equal(c.sum(a, last), sum) {
			return last, nil
		}
	}
	return "", OtherQuestion()
}

// SealHidden returns the cursor of the page that follows what last identifies, which the caller must
// not learn.
func (c Cursors) SealHidden(a Accepted, last string) string {
	sum := c.sum(a, last)
	return base64.RawURLEncoding.EncodeToString(append(sum, c.cover(sum, []byte(last))...))
}

// cover covers a text of a cursor with the sum, and uncovers it.
func (c Cursors) cover(sum, text []byte) []byte {
	covered, over := make([]byte, len(text)), []byte(nil)
	for i := range text {
		if len(over) == 0 {
			over = c.Sum("cover of a cursor", string(sum), strconv.Itoa(i))
		}
		covered[i], over = text[i]^over[0], over[1:]
	}
	return covered
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
