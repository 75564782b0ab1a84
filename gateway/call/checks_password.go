package call

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"adgateway/gateway/change"
)

// policyFact is the password policy of an account.
type policyFact struct {
	Source      string `json:"source"`
	MinLength   int    `json:"minLength"`
	Complexity  bool   `json:"complexity"`
	Account     string `json:"account"`     // "" for a new user
	DisplayName string `json:"displayName"` // "" for a new user
	Exempt      bool   `json:"exempt"`      // no policy applies to the account
}

// passwordPolicy checks the length and the complexity of a password. It cannot check the history and the
// password filters, which only a domain controller knows.
func (f forecast) passwordPolicy(t *Trial) change.Check {
	const name = "password_policy"
	found := f.about("policy")
	if len(found) == 0 || found[0].Source == "unknown" {
		return notChecked(name, "The password policy could not be read.")
	}
	policy := found[0]
	if object := &t.Announced.Objects[0]; object.GUID == "" {
		policy.Account, policy.DisplayName = object.Account, object.Also["displayName"]
	}
	if policy.Exempt {
		return checkPassed(name, "The account is not bound to a password policy.")
	}
	password, _ := t.call.Bound.Secret(t.call.Op)
	why := policy.violatedBy(password.Reveal())
	for try := 1; why != "" && try < mostPasswords && t.call.Bound.Regenerate(); try++ { // as the change would
		password, _ = t.call.Bound.Secret(t.call.Op)
		why = policy.violatedBy(password.Reveal())
	}
	if why != "" {
		return checkFailed(name,
			fmt.Sprintf("The password policy '%s' refuses the password: it %s.", policy.Name, why))
	}
	return checkPassed(name, fmt.Sprintf("The password meets the length and complexity of the policy '%s'. "+
		"Only the domain controller knows its history and password filters.", policy.Name))
}

// displayNameDelimiters separate the words of a display name that a password must not contain.
const displayNameDelimiters = ",.-_#\t "

// violatedBy describes how a password violates the policy, or returns "" if it does not (facts
// H26).
func (p *policyFact) violatedBy(password string) string {
	const shortest = 3 // shorter names and words are ignored
	length := func(s string) int { return len(utf16.Encode([]rune(s))) }
	if length(password) < p.MinLength {
		return fmt.Sprintf("has fewer than %d characters", p.MinLength)
	}
	if !p.Complexity {
		return ""
	}
	if kindsOfCharacters(password) < 3 {
		return "needs three of these: capital letters, small letters, digits, symbols, other letters"
	}
	folded := strings.ToLower(password)
	if account := strings.ToLower(p.Account); length(account) >= shortest && strings.Contains(folded, account) {
		return "contains the account name"
	}
	isDelimiter := func(c rune) bool { return strings.ContainsRune(displayNameDelimiters, c) }
	for _, word := range strings.FieldsFunc(strings.ToLower(p.DisplayName), isDelimiter) {
		if length(word) >= shortest && strings.Contains(folded, word) {
			return "contains a word of the display name"
		}
	}
	return ""
}

// kindsOfCharacters counts the kinds of characters that the complexity rule distinguishes.
func kindsOfCharacters(password string) int {
	const symbols = "~!@#$%^&*_-+=`|\\(){}[]:;\"'<>,.?/"
	kinds := []func(rune) bool{
		unicode.IsUpper, unicode.IsLower,
		func(c rune) bool { return c >= '0' && c <= '9' },
		func(c rune) bool { return strings.ContainsRune(symbols, c) },
		func(c rune) bool { return unicode.IsLetter(c) && !unicode.IsUpper(c) && !unicode.IsLower(c) },
	}
	count := 0
	for _, is := range kinds {
		if strings.ContainsFunc(password, is) {
			count++
		}
	}
	return count
}
