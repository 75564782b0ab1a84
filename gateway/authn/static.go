package authn

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"iter"
	"strings"

	"adgateway/gateway/identity"
)

// Static is a fixed set of tokens and users in memory, as digests with a random key. It must be
// filled before use. After that it is safe for concurrent use.
type Static struct {
	Header Header

	key    [32]byte
	tokens map[[32]byte]*identity.Principal
	users  map[string]staticUser // keyed by name in lower case

	certificates map[string]*identity.Principal // keyed by certificateKey
}

type staticUser struct {
	digest    [32]byte
	principal *identity.Principal
}

// NewStatic returns an empty set.
func NewStatic(header Header) *Static {
	s := &Static{Header: header, tokens: map[[32]byte]*identity.Principal{}, users: map[string]staticUser{},
		certificates: map[string]*identity.Principal{}}
	_, _ = rand.Read(s.key[:]) // never fails
	return s
}

// AddToken adds a token. Duplicates are an error.
func (s *Static) AddToken(token string, p *identity.Principal) error {
	digest := s.digest(token)
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return fmt.Errorf("the token of %s is empty or contains white space", p.Name)
	}
	if _, taken := s.tokens[digest]; taken {
		return fmt.Errorf("the token of %s is given twice", p.Name)
	}
	p.Kind = identity.KindToken
	s.tokens[digest] = p
	return nil
}

// AddUser adds a user by p.Name. Names are case-insensitive; duplicates are an
// error.
func (s *Static) AddUser(password string, p *identity.Principal) error {
	name := strings.ToLower(p.Name)
	if name == "" || strings.Contains(name, ":") || password == "" {
		return fmt.Errorf("user %q needs a name without colon and a password", p.Name)
	}
	if _, taken := s.users[name]; taken {
		return fmt.Errorf("user %q is given twice", p.Name)
	}
	p.Kind = identity.KindUser
	s.users[name] = staticUser{digest: s.digest(password), principal: p}
	return nil
}

// Authenticate implements [Authenticator].
func (s *Static) Authenticate(_ context.Context, c Credential) (*identity.Principal, error) {
	if c.certified() {
		return s.byCertificate(c.Chains)
	}
	given, err := s.Header.read(c)
	if err != nil {
		return nil, err
	}
	if !given.basic {
		// The map is keyed by keyed digests, so the duration of the look-up reveals nothing about the
		// tokens.
		if p, ok := s.tokens[s.digest(given.token)]; ok {
			return p, nil
		}
		return nil, unauthenticated("the token is unknown")
	}
	user, known := s.users[strings.ToLower(given.user)]
	digest := s.digest(given.password)
	if !hmac.Equal(digest[:], user.digest[:]) || !known {
		return nil, unauthenticated(wrongPassword)
	}
	return user.principal, nil
}

// AddCertificate adds a client certificate, named as in an [Account]. Duplicates are an error.
func (s *Static) AddCertificate(name string, p *identity.Principal) error {
	key, err := certificateKey(name)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	if _, taken := s.certificates[key]; taken {
		return fmt.Errorf("the certificate %q is given twice", name)
	}
	s.certificates[key] = p
	return nil
}

// byCertificate returns the principal that a client certificate stands for.
func (s *Static) byCertificate(chains [][]*x509.Certificate) (*identity.Principal, error) {
	var found *identity.Principal
	for _, key := range certificateKeys(chains[0][0]) {
		if p := s.certificates[key]; p != nil && found != nil && p != found {
			return nil, unauthenticated(fmt.Sprintf("the certificate of %q stands for both '%s' and '%s'",
				chains[0][0].Subject, found.Name, p.Name))
		} else if p != nil {
			found = p
		}
	}
	if found == nil {
		return nil, unauthenticated(unknownCertificate(chains[0][0]))
	}
	return found, nil
}

// Now implements [Source].
func (s *Static) Now(id identity.ID) *identity.Principal {
	for p := range s.all() {
		if p.Identity() == id {
			return p
		}
	}
	return nil
}

// all yields every principal, some of them twice.
func (s *Static) all() iter.Seq[*identity.Principal] {
	return func(yield func(*identity.Principal) bool) {
		for _, p := range s.tokens {
			if !yield(p) {
				return
			}
		}
		for _, user := range s.users {
			if !yield(user.principal) {
				return
			}
		}
		for _, p := range s.certificates {
			if !yield(p) {
				return
			}
		}
	}
}

// digest returns a keyed digest. Digests must stay in the process, because the receiver of a digest
// could extend it.
func (s *Static) digest(secret string) [32]byte {
	var room [256]byte
	return sha256.Sum256(append(append(room[:0], s.key[:]...), secret...))
}
