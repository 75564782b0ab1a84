package ops

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

// TestARowThatRevealsIsRefusedWithoutItsCare: the check refuses a row that reveals a secret without one of
// the required precautions, and a secret in the record of any other row.
func TestARowThatRevealsIsRefusedWithoutItsCare(t *testing.T) {
	tagged := &schema.Shape{Name: "X", Tag: &schema.Tagging{}, Fields: schema.RecoveryKeySecret.Fields}
	for name, c := range map[string]struct {
		spoil func(op *Operation)
		want  string // empty if there is no fault
	}{
		"none":               {func(*Operation) {}, ""},
		"not said":           {func(op *Operation) { op.Reveals = false }, "does not say that it reveals one"},
		"nothing to reveal":  {func(op *Operation) { op.Reply.Shape = schema.RecoveryKey }, "has no secret"},
		"a list":             {func(op *Operation) { op.Reply.Mark = List }, "more than one record"},
		"a tag":              {func(op *Operation) { op.Reply.Shape = tagged }, "entity tag"},
		"with GET":           {func(op *Operation) { op.Method = "GET" }, "sent with POST alone"},
		"with PUT, too":      {func(op *Operation) { op.Also = "PUT" }, "sent with POST alone"},
		"a change":           {func(op *Operation) { op.Effect = Update }, "sent with POST alone"},
		"a common scope":     {func(op *Operation) { op.Scope = identity.ComputerRead }, "given by its name"},
		"another scope does": {func(op *Operation) { op.Or = []identity.Scope{identity.ComputerRead} }, "given by its name"},
		"no reason":          {func(op *Operation) { op.Params = op.Params[:2] }, "asks for no Reason"},
		"a voluntary reason": {func(op *Operation) { op.Params[2].Required = false }, "asks for no Reason"},
	} {
		t.Run(name, func(t *testing.T) {
			row := *Find(Table(), "computer.revealRecoveryKey")
			row.Params = append([]Param(nil), row.Params...)
			c.spoil(&row)
			var faults []string
			reveals(&row, func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) })
			if c.want == "" {
				assert.Empty(t, faults)
				return
			}
			require.NotEmpty(t, faults)
			assert.Contains(t, faults[0], c.want)
		})
	}
	stolen := *Find(Table(), "computer.get")
	stolen.Scope = identity.LapsReveal
	fault := ""
	reveals(&stolen, func(format string, _ ...any) { fault = format })
	assert.Contains(t, fault, "reveals nothing")
}

// TestWhatRevealsRunsOnTheLeader: reveals run on the leader, which counts them for all gateways.
func TestWhatRevealsRunsOnTheLeader(t *testing.T) {
	found := 0
	for _, op := range Table() {
		if op.Reveals {
			found++
			assert.Equal(t, Leader, op.Where(""), op.ID)
			assert.Equal(t, []Impact{{Kind: identity.Reveal}}, (&Bound{Op: op}).Impacts(), op.ID)
		}
	}
	assert.Equal(t, 2, found)
}
