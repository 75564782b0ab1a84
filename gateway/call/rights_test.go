package call

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/scripts"
)

// TestARefusalIsPassedOn: a call is made in another role only if nothing was done in the first one.
func TestARefusalIsPassedOn(t *testing.T) {
	failed := func(code schema.Code, outcome ps.Outcome) error {
		f := problem.New(code, "refused")
		f.Outcome = outcome
		return f
	}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"a success":                       {nil, false},
		"no right":                        {failed(schema.Forbidden, ""), true},
		"outside the limits":              {failed(schema.Limit, ps.OutcomeNone), true},
		"not found":                       {failed(schema.NotFound, ""), true},
		"a limit that is reached":         {failed(schema.RateLimited, ""), true},
		"denied after a part was made":    {failed(schema.DirectoryDenied, ps.OutcomePartial), false},
		"denied, and nobody knows more":   {failed(schema.DirectoryDenied, ps.OutcomeUnknown), false},
		"an item that is made again":      {fmt.Errorf("%w (%w)", failed(schema.NotFound, ""), ErrAgain), false},
		"a conflict":                      {failed(schema.Conflict, ps.OutcomeNone), false},
		"an error of the gateway's own":   {errors.New("broken"), false},
		"a scope that is missing, unsure": {failed(schema.Forbidden, ps.OutcomeUnknown), false},
	} {
		assert.Equal(t, c.want, PassedOn(c.err), name)
	}
}

func TestRolesOfAListAreReadAsOne(t *testing.T) {
	table := NewTable(ops.Table(), scripts.Describe())
	role := func(limits identity.Limits, scopes ...identity.Scope) *identity.Principal {
		return &identity.Principal{ID: "S-1", Kind: identity.KindPerson, Scopes: scopes, Limits: limits}
	}
	ous := func(ous ...string) identity.Limits { return identity.Limits{OUs: ous} }
	read := []identity.Scope{identity.UserRead, identity.GroupRead, identity.ComputerRead}
	more := append([]identity.Scope{identity.UserWrite}, read...)
	for name, c := range map[string]struct {
		operation string
		roles     []*identity.Principal
		want      []identity.Limits
	}{
		"two OUs": {"user.listAll", []*identity.Principal{role(ous("a"), more...), role(ous("b"), read...), role(ous("a", "c"), read...)},
			[]identity.Limits{ous("a", "b", "c")}},
		"one without limits":           {"user.listAll", []*identity.Principal{role(ous("a"), read...), role(ous(), read...)}, []identity.Limits{{}}},
		"the same":                     {"user.listAll", []*identity.Principal{role(ous("a"), read...), role(ous("a"), read...)}, []identity.Limits{ous("a")}},
		"limits that do not count":     {"user.listAll", []*identity.Principal{role(identity.Limits{OUs: []string{"a"}, Zones: []string{"z"}}, read...), role(ous("b"), read...)}, []identity.Limits{ous("a", "b")}},
		"OUs and groups":               {"group.listAll", []*identity.Principal{role(ous("a"), read...), role(identity.Limits{Groups: []string{"g"}}, read...)}, []identity.Limits{ous("a"), {Groups: []string{"g"}}}},
		"a search":                     {"search.find", []*identity.Principal{role(ous("a"), more...), role(ous(), read...)}, []identity.Limits{{}}},
		"a search, of other types":     {"search.find", []*identity.Principal{role(ous("a"), identity.UserRead), role(ous(), identity.GroupRead)}, []identity.Limits{ous("a"), {}}},
		"the history, of other scopes": {"change.list", []*identity.Principal{role(ous("a"), identity.ChangeRead), role(ous("b"), more...)}, []identity.Limits{ous("a"), ous("b")}},
		"the history, of the same":     {"change.list", []*identity.Principal{role(ous("a"), identity.ChangeRead), role(ous("b"), identity.ChangeRead)}, []identity.Limits{ous("a", "b")}},
		"one record":                   {"user.get", []*identity.Principal{role(ous("a"), read...), role(ous("b"), read...)}, []identity.Limits{ous("a"), ous("b")}},
		"a change of many":             {"computer.deleteMany", []*identity.Principal{role(ous("a"), read...), role(ous("b"), read...)}, []identity.Limits{ous("a"), ous("b")}},
		"a role alone, as it is":       {"user.listAll", []*identity.Principal{role(ous("a"), more...)}, []identity.Limits{ous("a")}},
	} {
		t.Run(name, func(t *testing.T) {
			op := ops.Find(ops.Table(), c.operation)
			require.NotNil(t, op)
			var got []identity.Limits
			for _, p := range table.Together(op, c.roles) {
				got = append(got, p.Limits)
				assert.Equal(t, c.roles[0].Identity(), p.Identity())
			}
			assert.Equal(t, c.want, got)
			assert.NotContains(t, c.roles[0].Limits.OUs, "b", "the roles themselves stay")
		})
	}
}
