package call

import (
	"crypto/rand"
	"encoding/base64"
	"regexp"
	"slices"
	"strconv"

	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// Cursors identify the next page of a list that the gateway stores. A cursor is valid only for the
// caller and the filters of its call.
type Cursors struct {
	Sum func(parts ...string) []byte // keyed digest; the key belongs to the gateway
}

const cursorSumLength = 16

// Seal returns the cursor of the page that follows last.
func (c Cursors) Seal(a Accepted, last string) string {
	return base64.RawURLEncoding.EncodeToString(append(c.sum(a, last), last...))
}

// keptID matches ids of changes, jobs and plans, some of which could also be parsed as cursors.
var keptID = regexp.MustCompile(`^[a-z]{2}_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// Open returns the last entry of the preceding page, or "" if the call has no cursor.
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
	covered := string(c.cover(sum, rest))
	if len(covered) > nonceLength && slices.Equal(c.sum(a, hiddenMark+covered), sum) {
		return covered[nonceLength:], nil
	}
	for _, last := range []string{string(rest), covered} { // earlier versions encrypted it without a nonce
		if slices.Equal(c.sum(a, last), sum) {
			return last, nil
		}
	}
	return "", OtherQuestion()
}

// The prefix of a cursor, and the additional bytes that the sum of a cursor covers.
const (
	nonceLength = 8
	hiddenMark  = "hidden "
)

// SealHidden returns the cursor of the page that follows last. The caller can learn from it neither
// last nor whether last has changed.
func (c Cursors) SealHidden(a Accepted, last string) string {
	text := make([]byte, nonceLength, nonceLength+len(last))
	_, _ = rand.Read(text) // never fails
	text = append(text, last...)
	sum := c.sum(a, hiddenMark+string(text))
	return base64.RawURLEncoding.EncodeToString(append(sum, c.cover(sum, text)...))
}

// cover encrypts or decrypts the text of a cursor with its sum.
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

// OtherQuestion returns the refusal of a cursor that was issued for another query.
func OtherQuestion() error {
	const message = "belongs to a different query: send it with the same parameters as before, except " +
		"Limit, Count and ShowFields"
	f := problem.New(schema.TokenMismatch, "%s %s.", ops.AfterName, message)
	f.Details = []problem.Detail{{Field: ops.AfterName, Message: message}}
	return f
}
