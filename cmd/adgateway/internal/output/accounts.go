package output

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"adgateway/gateway/authn"
	"adgateway/gateway/config"
)

// Account is an account without its secrets.
type Account struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	Kind    string     `json:"kind"`
	Subject string     `json:"certificateSubject,omitempty"`
	Issuer  string     `json:"certificateIssuer,omitempty"`
	Created time.Time  `json:"created"`
	LastUse *time.Time `json:"lastUse"`
	Tokens  []Token    `json:"tokens,omitempty"` // several during the grace period of a rotation
	authn.Rights
}

// Token is the lifetime of one token.
type Token struct {
	Created time.Time  `json:"created"`
	Until   *time.Time `json:"until,omitempty"`
}

// IssuedToken is an account with its token, which is shown only once.
type IssuedToken struct {
	Account
	Token string `json:"token,omitempty"` // empty if the account has a client certificate instead
}

// NewAccount returns an account for output. lastUse maps account IDs to times.
func NewAccount(a *authn.Account, lastUse map[string]time.Time) Account {
	shown := Account{ID: a.ID, Name: a.Name, Kind: a.Kind(), Subject: a.Subject, Issuer: a.Issuer,
		Created: a.Created, Rights: a.Rights}
	if at, ok := lastUse[a.ID]; ok {
		shown.LastUse = &at
	}
	for _, secret := range a.Secrets {
		shown.Tokens = append(shown.Tokens, Token{secret.Created, secret.Until})
	}
	return shown
}

// NewAccounts returns accounts for output, never nil.
func NewAccounts(all []*authn.Account, lastUse map[string]time.Time) []Account {
	shown := make([]Account, 0, len(all))
	for _, a := range all {
		shown = append(shown, NewAccount(a, lastUse))
	}
	return shown
}

func accepted(yes bool) string {
	if yes {
		return "accepted"
	}
	return ""
}

// Accounts writes a table of accounts.
func Accounts(w io.Writer, all []Account, now time.Time) error {
	table := newTable(w)
	table.row("NAME", "SCOPES", "LIMITS", "EXPIRES", "LAST USE")
	for _, a := range all {
		limits := []string{}
		for _, line := range a.limits() {
			limits = append(limits, line[1])
		}
		table.row(a.Name, shorten(strings.Join(a.Scopes, ",")), shorten(dash(strings.Join(limits, "; "))),
			expiry(a.Expires, now), lastUse(a.LastUse))
	}
	return table.Flush()
}

// Text writes all properties of the account, one per line.
func (a Account) Text(w io.Writer, now time.Time) error {
	table := newTable(w)
	lines := [][2]string{
		{"name", a.Name}, {"kind", a.Kind}, {"id", a.ID}, {"certificate", a.Subject}, {"issuer", a.Issuer}, {"scopes", strings.Join(a.Scopes, " ")},
		{"expires", expiry(a.Expires, now)}, {"dialect", string(a.Dialect)}, {"passwords in the query", accepted(a.InQuery)},
	}
	lines = append(append(lines, a.limits()...), [2]string{"created", a.Created.Format(time.RFC3339)})
	for i, token := range a.Tokens {
		until := ""
		if token.Until != nil {
			until = ", ends " + expiry(token.Until, now)
		}
		lines = append(lines, [2]string{"token " + strconv.Itoa(i+1),
			"created " + token.Created.Format(time.RFC3339) + until})
	}
	for _, line := range append(lines, [2]string{"last use", lastUse(a.LastUse)}) {
		if line[1] != "" {
			table.row(line[0], line[1])
		}
	}
	return table.Flush()
}

// limits returns the account's limits as pairs of name and text.
func (a *Account) limits() [][2]string {
	var lines [][2]string
	add := func(name, text string) {
		if text != "" {
			lines = append(lines, [2]string{name, text})
		}
	}
	add("networks", strings.Join(a.Networks, " "))
	add("guard required", strings.Join(a.Guarded, " "))
	if l := a.Limits; l != nil {
		add("OUs", strings.Join(l.OUs, " | "))
		add("zones", strings.Join(l.Zones, " "))
		add("groups", strings.Join(l.Groups, " | "))
		add("names", strings.Join(l.Names, " "))
	}
	if q := a.Quota; q != nil {
		add("rate", string(q.Rate))
		for _, n := range []struct {
			name, one, many string
			number          *int
		}{
			{"concurrency", "at once", "at once", q.Concurrency}, {"deletions", "deletion/h", "deletions/h", q.DeletionsPerHour},
			{"password resets", "password reset/h", "password resets/h", q.PasswordResetsPerHour}, {"changes", "change/h", "changes/h", q.ChangesPerHour},
			{"reveals", "reveal/h", "reveals/h", q.RevealsPerHour},
		} {
			switch {
			case n.number == nil:
			case *n.number == 1:
				add(n.name, "1 "+n.one)
			default:
				add(n.name, fmt.Sprintf("%d %s", *n.number, n.many))
			}
		}
	}
	return lines
}

func expiry(at *time.Time, now time.Time) string {
	switch {
	case at == nil:
		return "never"
	case !at.After(now):
		return at.Format(time.RFC3339) + " (expired)"
	case at.Sub(now) < config.ExpiryNotice:
		return at.Format(time.RFC3339) + " (soon)"
	}
	return at.Format(time.RFC3339)
}

func lastUse(at *time.Time) string {
	if at == nil {
		return "never, or within the last minute"
	}
	return at.Format(time.RFC3339)
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// shorten limits the width of a table's column. 'show' prints the full text.
func shorten(text string) string {
	const width = 60
	if runes := []rune(text); len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return text
}
