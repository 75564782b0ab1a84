package authn

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/text/secure/precis"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

// Account is a token or a user as stored in the file: its secret and its rights. Its texts have the form in
// which an administrator wrote them. [Account.Check] finds all mistakes in them.
type Account struct {
	ID      string    `json:"id"` // never reused
	Name    string    `json:"name"`
	Created time.Time `json:"created"`

	Secrets  []Secret `json:"secrets,omitempty"`            // of a token; the current one is the last
	Subject  string   `json:"certificateSubject,omitempty"` // of a client certificate; see certificateKey
	Issuer   string   `json:"certificateIssuer,omitempty"`  // its issuer: a subject or sha256:; empty for any
	Password string   `json:"password,omitempty"`           // hash of a user's password; argon2id in PHC format

	Rights
}

// Rights are the rights of an account. The zero value of every field but Scopes means no limit.
type Rights struct {
	Scopes   []string         `json:"scopes"`
	Expires  *time.Time       `json:"expires,omitempty"`
	Networks []string         `json:"networks,omitempty"` // addresses from which it may be used
	Dialect  identity.Dialect `json:"dialect,omitempty"`
	InQuery  bool             `json:"secretsInQuery,omitempty"` // passwords may be sent in the query
	Guarded  []string         `json:"requireGuard,omitempty"`   // scopes whose changes must have a guard
	Limits   *identity.Limits `json:"limits,omitempty"`
	Quota    *identity.Quota  `json:"quota,omitempty"`
}

// Secret is one token of an account. After a rotation the previous token remains valid until its End.
type Secret struct {
	SHA256  string     `json:"sha256"`
	Created time.Time  `json:"created"`
	Until   *time.Time `json:"until,omitempty"`
}

// Kind returns KindToken, KindUser or KindCertificate.
func (a *Account) Kind() string {
	switch {
	case a.Password != "":
		return identity.KindUser
	case a.Subject != "":
		return identity.KindCertificate
	default:
		return identity.KindToken
	}
}

// NewAccount returns an account without a secret.
func NewAccount(name string, now time.Time, rights Rights) *Account {
	return &Account{ID: newID(), Name: name, Created: now.UTC().Truncate(time.Second), Rights: rights}
}

// AddToken adds a new token to the account and returns it; only its digest is kept. The previous tokens end
// at the time until.
func (a *Account) AddToken(now, until time.Time) string {
	now, until = now.UTC().Truncate(time.Second), until.UTC().Truncate(time.Second)
	var valid []Secret
	for _, s := range a.Secrets {
		if s.Until == nil || s.Until.After(until) {
			s.Until = &until
		}
		if s.Until.After(now) {
			valid = append(valid, s)
		}
	}
	token := NewToken()
	sum, _ := digestOf(token)
	a.Secrets = append(valid, Secret{SHA256: hex.EncodeToString(sum[:]), Created: now})
	return token
}

// nameLimit is the maximum length of an account's name.
const nameLimit = 64

// Check returns every mistake in the account, joined.
func (a *Account) Check() error {
	_, faults := a.compile()
	return errors.Join(faults...)
}

// compiled is an account in the form that requests are checked against.
type compiled struct {
	*Account
	principal *identity.Principal
	key       string // name in the form of nameKey
	subject   string // certificateKey of the certificate
	issuer    string // certificateKey of its issuer; empty for any
	secrets   []compiledSecret
	hash      *passwordHash
	networks  []netip.Prefix
	used      *atomic.Int64 // see Store.used
}

type compiledSecret struct {
	digest digest
	until  time.Time // zero if valid for as long as the account
}

func (a *Account) compile() (*compiled, []error) {
	c := &compiled{Account: a}
	p := &identity.Principal{ID: a.ID, Name: a.Name, Kind: a.Kind(), Dialect: a.Dialect,
		SecretsInQuery: a.InQuery, Quota: a.Quota}
	if a.Expires != nil {
		p.Expires = *a.Expires
	}
	c.principal = p
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	check := func(err error) {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			faults = append(faults, joined.Unwrap()...)
		} else if err != nil {
			faults = append(faults, err)
		}
	}

	var err error
	c.key, err = nameKey(a.Name)
	check(err)
	if a.ID == "" {
		fault("the id is missing")
	}
	check(c.compileProof())
	p.Scopes, err = identity.ParseScopes(a.Scopes)
	check(err)
	if len(a.Scopes) == 0 {
		fault("at least one scope is needed; known are %s", identity.JoinScopes(identity.Scopes()))
	}
	for _, network := range a.Networks {
		prefix, err := parseNetwork(network)
		check(err)
		c.networks = append(c.networks, prefix)
	}
	if len(a.Guarded) > 0 {
		p.RequireGuard, err = identity.ParseScopes(a.Guarded)
		check(err)
	}
	if a.Dialect != "" && a.Dialect != identity.Standard && a.Dialect != identity.Classic {
		fault("the dialect %q is neither standard nor classic", a.Dialect)
	}
	if a.Limits != nil {
		p.Limits = *a.Limits
		faults = append(faults, CheckLimits(a.Limits)...)
	}
	if a.Quota != nil {
		check(a.Quota.Check())
	}
	return c, faults
}

// compileProof compiles the account's secret. There must be exactly one kind of secret.
func (c *compiled) compileProof() error {
	var faults []error
	kinds := 0
	for _, given := range []bool{len(c.Secrets) > 0, c.Subject != "", c.Password != ""} {
		if given {
			kinds++
		}
	}
	if kinds != 1 {
		return errors.New("exactly one of secrets, certificateSubject and password is required")
	}
	for _, s := range c.Secrets {
		raw, err := hex.DecodeString(s.SHA256)
		if err != nil || len(raw) != len(digest{}) {
			faults = append(faults, errors.New("sha256 is not the digest of a token, which has 64 hexadecimal digits"))
			continue
		}
		secret := compiledSecret{digest: digest(raw)}
		if s.Until != nil {
			secret.until = *s.Until
		}
		c.secrets = append(c.secrets, secret)
	}
	if c.Subject != "" {
		var err error
		c.subject, err = certificateKey(c.Subject)
		faults = append(faults, err)
	}
	if c.Issuer != "" {
		var err error
		c.issuer, err = certificateKey(c.Issuer)
		if err == nil && !strings.HasPrefix(c.issuer, formDN) && !strings.HasPrefix(c.issuer, formDER) &&
			!strings.HasPrefix(c.issuer, formSHA256) {
			err = fmt.Errorf("%q is not an issuer: write its subject, or sha256: and its digest", c.Issuer)
		}
		if err == nil && c.Subject == "" {
			err = errors.New("an issuer is given, but no certificate")
		}
		faults = append(faults, err)
	}
	if c.Password != "" {
		var err error
		c.hash, err = parseHash(c.Password)
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// nameKey checks a name and returns the form in which names are compared,
// regardless of case, width and composition (RFC 8265).
func nameKey(name string) (string, error) {
	if len(name) > 4*nameLimit {
		return "", fmt.Errorf("the name is longer than %d characters", nameLimit)
	}
	key, err := precis.UsernameCaseMapped.CompareKey(name)
	if err != nil || strings.Contains(name, ":") {
		return "", fmt.Errorf("%q is not a valid name: use letters, digits and punctuation other than a colon, "+
			"without spaces", name)
	}
	if len([]rune(name)) > nameLimit {
		return "", fmt.Errorf("the name is longer than %d characters", nameLimit)
	}
	return key, nil
}

// parseNetwork parses an address or a network.
func parseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		address = address.Unmap()
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return netip.Prefix{}, fmt.Errorf("%q is not a network: write an address or a network such as 10.0.0.0/8",
			text)
	case prefix.Addr().Is4In6():
		return netip.Prefix{}, fmt.Errorf("%q is an IPv4 network written as IPv6: write it as IPv4", text)
	case prefix != prefix.Masked():
		return netip.Prefix{}, fmt.Errorf("%q has bits set beyond its prefix: did you mean %s?", text,
			prefix.Masked())
	}
	return prefix, nil
}

// allows reports whether the account may be used from the address.
func (c *compiled) allows(client netip.Addr) bool {
	return len(c.networks) == 0 ||
		slices.ContainsFunc(c.networks, func(n netip.Prefix) bool { return n.Contains(client) })
}

// expired reports whether the account has expired.
func (c *compiled) expired(now time.Time) bool {
	return c.Expires != nil && !now.Before(*c.Expires)
}

// CheckLimits returns every mistake in limits.
func CheckLimits(l *identity.Limits) []error {
	var faults []error
	for _, c := range []struct {
		what  string
		kind  schema.Kind
		items []string
	}{{"OU", schema.DN, l.OUs}, {"zone", schema.Zone, l.Zones}, {"group", schema.Identity, l.Groups},
		{"name", schema.Zone, l.Names}} {
		for _, item := range c.items {
			problem := cmp.Or(emptyProblem(item), problemOf(c.kind, item))
			if problem == nil && c.what == "group" && strings.Contains(item, "=") {
				problem = problemOf(schema.DN, item)
			}
			if problem != nil {
				faults = append(faults, fmt.Errorf("the %s %q %s", c.what, item, problem.Message))
			}
		}
	}
	return faults
}

func problemOf(kind schema.Kind, item string) *schema.FieldError {
	_, problem := kind.Decode(item)
	return problem
}

func emptyProblem(item string) *schema.FieldError {
	if item == "" {
		return &schema.FieldError{Message: "is empty"}
	}
	return nil
}
