package ops

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/schema"
)

func TestGeneratedPasswordsHaveEveryClassAtRandomPositions(t *testing.T) {
	first := map[int]bool{} // classes that have occurred at the first position
	seen := map[string]bool{}
	for range 500 {
		password := randomPassword()
		require.Len(t, password, passwordLength)
		require.False(t, seen[password])
		seen[password] = true
		for i, class := range passwordClasses {
			require.True(t, strings.ContainsAny(password, class), "class %d", i)
			if strings.ContainsRune(class, rune(password[0])) {
				first[i] = true
			}
		}
		require.Empty(t, strings.Trim(password, strings.Join(passwordClasses[:], "")))
	}
	assert.Len(t, first, len(passwordClasses))
}

func TestAGeneratedSecretIsNotPrinted(t *testing.T) {
	bound, problems := Find(Table(), "user.resetPassword").Bind(Given{"Username": "jdoe"})
	require.Empty(t, problems)
	require.NotNil(t, bound.Generated)
	assert.Equal(t, "password", bound.Generated.Member)
	assert.True(t, bound.Args["Password"].IsSecret())
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		assert.NotContains(t, fmt.Sprintf(verb, bound.Generated), bound.Generated.Reveal())
	}
	bound, problems = Find(Table(), "user.resetPassword").Bind(Given{"Username": "jdoe", "newPassword": "given"})
	require.Empty(t, problems)
	assert.Nil(t, bound.Generated)
}

func TestCheckFindsFaultsOfGeneratedSecrets(t *testing.T) {
	for want, spoil := range map[string]func(*Operation){
		"is not an optional secret": func(op *Operation) { op.Params[0].Generated = "thing" },
		"is a field of the record": func(op *Operation) {
			op.Params = append(op.Params, Param{Name: "x", Kind: schema.Password, Generated: "guid"})
		},
		"of an operation with one re": func(op *Operation) {
			op.Params = append(op.Params, Param{Name: "x", Kind: schema.Password, Generated: "y"})
		},
	} {
		op := good()
		op.Reply.Mark = Exists
		spoil(op)
		var faults []string
		for _, fault := range Check([]*Operation{op}, nil) {
			faults = append(faults, fault.Error())
		}
		assert.Contains(t, strings.Join(faults, "\n"), want)
	}
}

// TestAPasswordOfWordsCanBeReadOut: it has three character classes, no characters that look alike,
// and at least 60 bits.
func TestAPasswordOfWordsCanBeReadOut(t *testing.T) {
	known := map[string]bool{}
	for _, word := range words {
		assert.Regexp(t, `^[a-z]{3,9}$`, word)
		assert.False(t, known[word], word)
		known[word] = true
	}
	bits := wordCount*math.Log2(float64(len(words))) + math.Log2(wordCount) + digitCount*math.Log2(10)
	assert.GreaterOrEqual(t, bits, 60.0)
	op := Find(Table(), "user.resetPassword")
	seen := map[string]bool{}
	for range 200 {
		bound, problems := op.Bind(Given{"Username": "jdoe", GenerateName: inWords})
		require.Empty(t, problems)
		password := bound.Generated.Reveal()
		require.False(t, seen[password])
		seen[password] = true
		assert.Regexp(t, `^(?:[A-Za-z][a-z]+-){5}[0-9]{4}$`, password)
		assert.Regexp(t, `[A-Z]`, password)
	}
	bound, problems := op.Bind(Given{"Username": "jdoe", GenerateName: inCharacters})
	require.Empty(t, problems)
	assert.Len(t, bound.Generated.Reveal(), passwordLength)
	_, problems = op.Bind(Given{"Username": "jdoe", GenerateName: "poem"})
	assert.Len(t, problems, 1)
}
