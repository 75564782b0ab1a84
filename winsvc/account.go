package winsvc

import (
	"fmt"
	"strings"
)

// An AccountKind says how Windows logs an account on.
type AccountKind string

// The kinds. Only [UserAccount] has a password to give.
const (
	VirtualAccount AccountKind = "virtual account"
	ManagedAccount AccountKind = "group managed service account"
	BuiltInAccount AccountKind = "built-in account"
	UserAccount    AccountKind = "user"
)

// DefaultAccount needs no password; in the network it is the computer's account.
const DefaultAccount = `NT SERVICE\` + Name

var builtIn = map[string]string{
	"localsystem": "LocalSystem", `nt authority\system`: "LocalSystem",
	`nt authority\networkservice`: `NT AUTHORITY\NetworkService`, `nt authority\network service`: `NT AUTHORITY\NetworkService`,
	`nt authority\localservice`: `NT AUTHORITY\LocalService`, `nt authority\local service`: `NT AUTHORITY\LocalService`,
}

// forms is what an account can look like.
const forms = `write DOMAIN\name$ (group managed service account), ` + DefaultAccount +
	` (virtual account), DOMAIN\user, .\user or user@domain (user)`

// ParseAccount tells the kind of an account by its form and gives its usual
// spelling. Empty is [DefaultAccount].
func ParseAccount(text string) (account string, kind AccountKind, err error) {
	if text == "" {
		return DefaultAccount, VirtualAccount, nil
	}
	if name, ok := builtIn[strings.ToLower(text)]; ok {
		return name, BuiltInAccount, nil
	}
	domain, name, qualified := strings.Cut(text, `\`)
	user, realm, isUPN := strings.Cut(text, "@")
	switch {
	case strings.HasPrefix(text, "'"):
		err = fmt.Errorf("%s begins with a quotation mark: leave it out, or take double ones; only PowerShell knows single ones", text)
	case strings.ContainsAny(text, "/\"[]:;|=,+*?<>") || strings.Count(text, `\`) > 1:
		err = fmt.Errorf("%q is not an account: %s", text, forms)
	case qualified && strings.EqualFold(domain, "NT SERVICE"):
		if !strings.EqualFold(name, Name) {
			err = fmt.Errorf("%q is the virtual account of another service: the service's own is %s", text, DefaultAccount)
		}
		return DefaultAccount, VirtualAccount, err
	case qualified && strings.HasSuffix(name, "$"):
		if domain == "" || domain == "." || name == "$" {
			err = fmt.Errorf("%q lacks the domain: a group managed service account is written DOMAIN\\name$", text)
		}
		return text, ManagedAccount, err
	case isUPN && strings.HasSuffix(user, "$"):
		err = fmt.Errorf("%q: a group managed service account is written DOMAIN\\name$", text)
	case strings.HasSuffix(text, "$"):
		err = fmt.Errorf("%q lacks the domain: a group managed service account is written DOMAIN\\name$", text)
	case qualified && domain != "" && name != "", !qualified && isUPN && user != "" && realm != "":
		return text, UserAccount, nil
	default:
		err = fmt.Errorf("%q does not say whose account it is: %s", text, forms)
	}
	return "", "", err
}
