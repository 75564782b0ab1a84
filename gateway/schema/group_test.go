package schema

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGroupKinds(t *testing.T) {
	const (
		notName  = `invalid_request: must be a group name without any of " / \ [ ] : ; | = , + * ? < >, not blank, and without a trailing dot`
		notScope = "invalid_request: must be Domain_Local, Global or Universal"
	)
	for _, c := range []struct {
		kind Kind
		raw  any
		want string
	}{
		{GroupName, "Sales Team", `"Sales Team"`}, {GroupName, "O'Reilly & Co. (1) $x #", `"O'Reilly & Co. (1) $x #"`}, {GroupName, "読者", `"読者"`},
		{GroupName, strings.Repeat("a", 64), `"` + strings.Repeat("a", 64) + `"`}, {GroupName, strings.Repeat("a", 65), "invalid_request: must be at most 64 characters long"},
		{GroupName, "a,b", notName}, {GroupName, `a\b`, `invalid_request: must be the account name alone, "b", without the domain before it`}, {GroupName, "a*", notName}, {GroupName, "a.", notName}, {GroupName, "   ", notName}, {GroupName, "a\nb", "invalid_request: must not contain control characters"},

		{GroupScope, "Global", `"Global"`}, {GroupScope, "GLOBAL", `"Global"`}, {GroupScope, "universal", `"Universal"`},
		{GroupScope, "Domain_Local", `"DomainLocal"`}, {GroupScope, "DomainLocal", `"DomainLocal"`}, {GroupScope, "domain_local", `"DomainLocal"`}, {GroupScope, "DOMAINLOCAL", `"DomainLocal"`},
		{GroupScope, "Local", notScope}, {GroupScope, "Domain Local", notScope}, {GroupScope, " Global", notScope}, {GroupScope, "2", notScope}, {GroupScope, "", notScope},
		{GroupScope, "Globaſ", notScope}, {GroupScope, true, "invalid_request: must be text, not a boolean"},
	} {
		assert.Equal(t, c.want, show(t, c.kind, c.raw), "%q", c.raw)
	}
}

func TestAScopeIsShownAsInRecords(t *testing.T) {
	decoded, problem := GroupScope.Decode("domainlocal")
	require.Nil(t, problem)
	assert.Equal(t, "Domain_Local", decoded.Text)
	assert.Equal(t, []string{"Domain_Local", "Global", "Universal"}, GroupScope.Doc().Enum)
}
