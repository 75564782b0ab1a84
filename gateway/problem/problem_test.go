package problem

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/schema"
	"adgateway/ps"
)

func TestOfFindsTheProblem(t *testing.T) {
	own, cause := New(schema.Conflict, "It exists."), errors.New("no space left")
	assert.Nil(t, Of(nil))
	for name, err := range map[string]error{
		"itself":                   own,
		"wrapped":                  fmt.Errorf("reading: %w", own),
		"the reason of a run":      &ps.Error{Kind: ps.KindStopped, Cause: own},
		"the outer one of several": &Error{Code: schema.Conflict, Message: own.Message, Cause: Internal(cause)},
	} {
		found := Of(err)
		require.NotNil(t, found, name)
		assert.Equal(t, schema.Conflict, found.Code, name)
		assert.Equal(t, "It exists.", found.Message, name)
	}
	unknown := Of(cause)
	assert.Equal(t, schema.Internal, unknown.Code)
	assert.Equal(t, OurFault, unknown.Message, "only the log has the cause")
	assert.ErrorIs(t, unknown, cause)
}

func TestTheAuditMayHaveAnotherCode(t *testing.T) {
	hidden := &Error{Code: schema.NotFound, Message: "The user was not found.", Audited: schema.Limit,
		Cause: errors.New("outside")}
	assert.Equal(t, schema.Limit, hidden.AuditCode())
	assert.Equal(t, schema.NotFound, New(schema.NotFound, "").AuditCode())
	assert.Equal(t, "limit: The user was not found. (outside)", hidden.Error())
}

func TestInvalidJoinsTheFaults(t *testing.T) {
	field := func(name, message string, code schema.Code) schema.FieldError {
		return schema.FieldError{Field: name, Message: message, Code: code}
	}
	many := make([]schema.FieldError, MostShown+2)
	for i := range many {
		many[i] = field("City", "is too long", schema.Unprocessable)
	}
	for name, c := range map[string]struct {
		fields  []schema.FieldError
		code    schema.Code
		message string
		shown   int
		omitted int
	}{
		"one":        {many[:1], schema.Unprocessable, "City is too long.", 1, 0},
		"a question": {[]schema.FieldError{field("", "Is it a name?", schema.InvalidRequest)}, schema.InvalidRequest, "Is it a name?", 1, 0},
		"a malformed one decides": {append(many[:1:1], field("Count", "is no number", schema.InvalidRequest)), schema.InvalidRequest,
			"City is too long. The request has 2 problems in all; see details.", 2, 0},
		"too many to show": {many, schema.Unprocessable, "City is too long. The request has 102 problems in all; see details.", MostShown, 2},
	} {
		e := Invalid(c.fields)
		assert.Equal(t, c.code, e.Code, name)
		assert.Equal(t, c.message, e.Message, name)
		assert.Len(t, e.Details, c.shown, name)
		assert.Equal(t, c.omitted, e.Omitted, name)
	}
}
