package ops

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/ps"
)

func TestSentencesWithCountsAndChanges(t *testing.T) {
	op := Find(Table(), "computer.delete")
	bound, problems := op.Bind(Given{"ADComputerName": "PRINT1"})
	require.Empty(t, problems)
	changes := func(n int) *ps.Result {
		result := &ps.Result{}
		for i := range n {
			result.Changes = append(result.Changes, ps.Change{DN: fmt.Sprintf("CN=%d", i)})
		}
		return result
	}
	for n, want := range map[int]string{
		0: "The computer 'PRINT1' was removed.",
		1: "The computer 'PRINT1' was removed.",
		2: "The computer 'PRINT1' was removed together with 'CN=1'.",
		3: "The computer 'PRINT1' was removed together with 'CN=1', 'CN=2'.",
	} {
		assert.Equal(t, want, op.Sentence(op.Success, bound, 1, changes(n)))
	}
	assert.True(t, strings.HasSuffix(op.Sentence(op.Success, bound, 1, changes(51)), ", 'CN=50'."))
	assert.True(t, strings.HasSuffix(op.Sentence(op.Success, bound, 1, changes(54)), ", 'CN=50' and 3 more."))
	assert.Equal(t, "The computer 'PRINT1' was removed.", op.Sentence(op.Success, bound, 1, nil))

	op = Find(Table(), "ou.delete")
	bound, _ = op.Bind(Given{"OUPath": "OU=a,DC=b"})
	result := &ps.Result{Counts: map[string]int{"user": 2, "organizationalUnit": 1, "computer": 10}}
	assert.Equal(t, "The OU 'OU=a,DC=b' was removed: 10 computers, 1 organizationalUnit, 2 users.",
		op.Sentence(op.Success, bound, 1, result))
}

func TestAFlagRequiresItsScopeOnlyIfTrue(t *testing.T) {
	op := Find(Table(), "ou.delete")
	for value, want := range map[any][]identity.Scope{
		"true": {identity.OUDeleteTree}, "TRUE": {identity.OUDeleteTree}, true: {identity.OUDeleteTree}, "false": nil, false: nil,
	} {
		bound, problems := op.Bind(Given{"OUPath": "OU=a,DC=b", "Recursive": value})
		require.Empty(t, problems)
		assert.Equal(t, want, bound.Scopes, "%v", value)
	}
	bound, _ := op.Bind(Given{"OUPath": "OU=a,DC=b"})
	assert.Empty(t, bound.Scopes)
}

// TestOnlyAFlagIsUnsetByTheWordFalse: the word false means that a parameter is not set only if
// the parameter is a flag. An account name or a password can be "false".
func TestOnlyAFlagIsUnsetByTheWordFalse(t *testing.T) {
	for _, c := range []struct {
		id    string
		given Given
		want  identity.Scope
	}{
		{"membership.copy", Given{"Username": "a", "From": "b"}, identity.MemberRead},
		{"membership.copy", Given{"Username": "a", "From": "false"}, identity.MemberRead},
		{
			"user.create",
			Given{"Username": "a", "FirstName": "A", "LastName": "B", "Password": "false"}, identity.UserPassword,
		},
	} {
		bound, _ := Find(Table(), c.id).Bind(c.given)
		assert.Contains(t, bound.Scopes, c.want, "%s", c.given)
	}
}

func TestRulesOfOUsAndComputers(t *testing.T) {
	for _, c := range []struct {
		id    string
		given Given
		want  string
	}{
		{"ou.update", Given{"OUPath": "OU=a,DC=b"}, ""},
		{"ou.update", Given{"OUPath": "OU=a,DC=b", "OUDescription": ""}, ""},
		{"ou.update", Given{"OUPath": "OU=a,DC=b", "IsProtected": false}, ""},
		{"ou.update", Given{"OUPath": "OU=a,DC=b", "IsProtected": ""}, ""},
		{"computer.update", Given{"ADComputerName": "a"}, ""},
		{"computer.update", Given{"ADComputerName": "a", "ComputerDescription": ""}, ""},
		{"computer.deleteMany", Given{}, "WildCard must say more than * where no OUPath below the domain root is given"},
		{"computer.deleteMany", Given{"WildCard": "**"}, "WildCard must say more than * where no OUPath below the domain root is given"},
		{"computer.deleteMany", Given{"WildCard": "*", "OUPath": "OU=a,DC=b"}, ""},
		{"computer.deleteMany", Given{"WildCard": "a*"}, ""},
		{"computer.deleteMany", Given{"WildCard": "", "OUPath": "OU=a,DC=b"}, "WildCard must not be empty: leave it out or fill it in"},
		{"computer.register", Given{"ADComputerName": "a", "OUPath": ""}, ""},
	} {
		_, problems := Find(Table(), c.id).Bind(c.given)
		if c.want == "" {
			assert.Empty(t, problems, "%s %v", c.id, c.given)
			continue
		}
		require.Len(t, problems, 1, "%s %v", c.id, c.given)
		assert.Equal(t, c.want, problems[0].Field+" "+problems[0].Message)
	}
}
