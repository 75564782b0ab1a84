package winsvc

import (
	"fmt"
	"strings"
)

// AccountKind determines how Windows logs on an account.
type AccountKind string

// The kinds of accounts. Only a [UserAccount] needs a password.
const (
	VirtualAccount AccountKind = "virtual account"
	ManagedAccount AccountKind = "group managed service account"
	BuiltInAccount AccountKind = "built-in account"
	UserAccount    AccountKind = "user"
)

var builtIn = map[string]string{
	"localsystem": "LocalSystem", `nt authority\system`: "LocalSystem",
	`nt authority\networkservice`: `NT AUTHORITY\NetworkService`, `nt authority\network service`: `NT AUTHORITY\NetworkService`,
	`nt authority\localservice`: `NT AUTHORITY\LocalService`, `nt authority\local service`: `NT AUTHORITY\LocalService`,
}

// forms describes the possible forms of an account.
const forms = `write DOMAIN\name$ (group managed service account), NT SERVICE\{name}` +
	` (virtual account), DOMAIN\user, .\user or user@domain (user)`

// ParseAccount returns the kind of an account, which it derives from the form of the name, and the canonical
// spelling of the name. Empty text means [Service.Account].
func (s Service) ParseAccount(text string) (account string, kind AccountKind, err error) {
	if text == "" {
		return s.Account(), VirtualAccount, nil
	}
	if name, ok := builtIn[strings.ToLower(text)]; ok {
		return name, BuiltInAccount, nil
	}
	domain, name, qualified := strings.Cut(text, `\`)
	user, realm, isUPN := strings.Cut(text, "@")
	switch {
	case strings.HasPrefix(text, "'"):
		err = fmt.Errorf("%s starts with a quotation mark: omit it, or use double quotation marks; only "+
			"PowerShell supports single ones", text)
	case strings.ContainsAny(text, "/\"[]:;|=,+*?<>") || strings.Count(text, `\`) > 1:
		err = fmt.Errorf("%q is not an account: %s", text, s.filled(forms))
	case qualified && strings.EqualFold(domain, "NT SERVICE"):
		if !strings.EqualFold(name, s.Name) {
			err = fmt.Errorf("%q is the virtual account of another service: the service's own is %s", text,
				s.Account())
		}
		return s.Account(), VirtualAccount, err
	case qualified && strings.HasSuffix(name, "$"):
		if domain == "" || domain == "." || name == "$" {
			err = fmt.Errorf("%q has no domain: write a group managed service account as DOMAIN\\name$", text)
		}
		return text, ManagedAccount, err
	case isUPN && strings.HasSuffix(user, "$"):
		err = fmt.Errorf("%q: write a group managed service account as DOMAIN\\name$", text)
	case strings.HasSuffix(text, "$"):
		err = fmt.Errorf("%q has no domain: write a group managed service account as DOMAIN\\name$", text)
	case qualified && domain != "" && name != "", !qualified && isUPN && user != "" && realm != "":
		return text, UserAccount, nil
	default:
		err = fmt.Errorf("%q has no domain or computer: %s", text, s.filled(forms))
	}
	return "", "", err
}
