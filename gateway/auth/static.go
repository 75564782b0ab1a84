package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Static holds a fixed set of tokens and users in memory, as digests under a
// key made at start. Fill it before use; afterwards it is safe for concurrent use.
type Static struct {
	Header Header

	key    [32]byte
	tokens map[[32]byte]*Principal
	users  map[string]staticUser // by name in lower case

	subjects map[string]*Principal // of client certificates, as foldSubject has them
}

type staticUser struct {
	digest    [32]byte
	principal *Principal
}

// NewStatic makes an empty set.
func NewStatic(header Header) *Static {
	s := &Static{Header: header, tokens: map[[32]byte]*Principal{}, users: map[string]staticUser{}, subjects: map[string]*Principal{}}
	_, _ = rand.Read(s.key[:]) // never fails (crypto/rand)
	return s
}

// AddToken makes the token known. Two equal tokens are an error.
func (s *Static) AddToken(token string, p *Principal) error {
	digest := s.digest(token)
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return fmt.Errorf("the token of %s is empty or holds white space", p.Name)
	}
	if _, taken := s.tokens[digest]; taken {
		return fmt.Errorf("the token of %s is given twice", p.Name)
	}
	p.Kind = KindToken
	s.tokens[digest] = p
	return nil
}

// AddUser makes a user known, by p.Name. Names differ by more than case.
func (s *Static) AddUser(password string, p *Principal) error {
	name := strings.ToLower(p.Name)
	if name == "" || strings.Contains(name, ":") || password == "" {
		return fmt.Errorf("user %q needs a name without colon and a password", p.Name)
	}
	if _, taken := s.users[name]; taken {
		return fmt.Errorf("user %q is given twice", p.Name)
	}
	p.Kind = KindUser
	s.users[name] = staticUser{digest: s.digest(password), principal: p}
	return nil
}

// Authenticate implements [Authenticator].
func (s *Static) Authenticate(r *http.Request, _ netip.Addr) (*Principal, error) {
	credential, err := s.Header.Read(r)
	if err != nil {
		return nil, err
	}
	if !credential.Basic {
		// The key of the map is a keyed digest: how long the look-up takes
		// says nothing about the tokens in it.
		if p, ok := s.tokens[s.digest(credential.Token)]; ok {
			return p, nil
		}
		return nil, unauthenticated("the token is unknown")
	}
	user, known := s.users[strings.ToLower(credential.User)]
	digest := s.digest(credential.Password)
	if !hmac.Equal(digest[:], user.digest[:]) || !known {
		return nil, unauthenticated(wrongPassword)
	}
	return user.principal, nil
}

// AddSubject makes the holder of a client certificate known, by the subject as
// "CN=portal,O=Example". Two equal subjects are an error.
func (s *Static) AddSubject(subject string, p *Principal) error {
	key := foldSubject(subject)
	if !strings.Contains(key, "=") {
		return fmt.Errorf("the certificate subject %q of %s is none, such as CN=portal,O=Example", subject, p.Name)
	}
	if _, taken := s.subjects[key]; taken {
		return fmt.Errorf("the certificate subject %q is given twice", subject)
	}
	s.subjects[key] = p
	return nil
}

// BySubject finds the principal of a verified client certificate. The error is
// a [*Refusal].
func (s *Static) BySubject(subject string, _ netip.Addr) (*Principal, error) {
	if p, ok := s.subjects[foldSubject(subject)]; ok {
		return p, nil
	}
	return nil, unauthenticated(noSubject(subject))
}

func (s *Static) digest(secret string) (sum [32]byte) {
	mac := hmac.New(sha256.New, s.key[:])
	mac.Write([]byte(secret))
	mac.Sum(sum[:0])
	return sum
}
