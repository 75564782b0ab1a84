package signin

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"adgateway/gateway/keep"
)

// Sessions that are kept in a store go on after a restart of the gateway (many W18). The
// store knows the hash of a cookie, not the cookie; a token is sealed with a key made of
// the cookie, so that nobody who has the store and its key has it.

// kind is the kind of sessions in the store.
const kind keep.Kind = "session"

// saveEvery is how often the last use of a session is kept at most.
const saveEvery = time.Minute

// stored is what is kept of a session.
type stored struct {
	keep.Formatted
	Name    string     `json:"name"`
	Kind    string     `json:"kind"`
	Person  *Person    `json:"person,omitempty"`
	Token   []byte     `json:"token,omitempty"` // sealed
	Client  netip.Addr `json:"client"`
	Started time.Time  `json:"started"`
	Used    time.Time  `json:"used"`
	Checked time.Time  `json:"checked"`
}

// sum is what the gate knows of the id of a session.
type sum [32]byte

func sumOf(id string) sum { return sha256.Sum256([]byte(id)) }

// Restore continues the sessions of the gateway before, if they are kept. Whether their
// people may still log on is asked at their next request.
func (g *Gate) Restore(ctx context.Context) error {
	if g.o.Store == nil {
		return nil
	}
	now := g.o.Now()
	var wrong error
	err := g.o.Store.Range(ctx, kind, "", func(e keep.Entry) bool {
		var key sum
		var kept stored
		if raw, err := hex.DecodeString(e.Key); err != nil || copy(key[:], raw) != len(key) {
			wrong = fmt.Errorf("a session has the name %q", e.Key)
			return true
		}
		if err := keep.Decode(g.o.Store, e.Value, &kept); err != nil {
			wrong = fmt.Errorf("a session: %w", err)
			return true
		}
		s := &Session{
			Name: kept.Name, Kind: kept.Kind, person: kept.Person, sealed: kept.Token, gate: g, client: kept.Client,
			startedAt: kept.Started, usedAt: kept.Used, savedAt: kept.Used, checkedAt: kept.Checked, revision: e.Revision,
		}
		if asked := now.Add(-g.o.Recheck); s.checkedAt.After(asked) {
			s.checkedAt = asked
		}
		if s.person != nil {
			s.groups, s.principals = s.person.Groups, principals(s.person, g.o.Roles)
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.sessions[key] == nil && !g.over(s, now) {
			g.sessions[key] = s
		}
		return true
	})
	return errors.Join(err, wrong)
}

// save keeps a session as it is now, unless it has ended. g.mu is not held.
func (g *Gate) save(key sum, s *Session) {
	if g.o.Store == nil {
		return
	}
	s.keeping.Lock()
	defer s.keeping.Unlock()
	if s.ended {
		return
	}
	g.mu.Lock()
	kept := stored{
		Name: s.Name, Kind: s.Kind, Token: s.sealed, Client: s.client,
		Started: s.startedAt, Used: s.usedAt, Checked: s.checkedAt,
	}
	if s.person != nil {
		kept.Person = &Person{SID: s.person.SID, Name: s.person.Name, Groups: s.groups}
	}
	g.mu.Unlock()
	value, err := keep.Encode(g.o.Store, kept)
	if err == nil {
		change := keep.Change{Kind: kind, Key: hex.EncodeToString(key[:]), Expect: s.revision, Value: value, Expires: kept.Started.Add(g.o.Max)}
		var revision keep.Revision
		if revision, err = g.o.Store.Apply(context.Background(), change); err == nil { // the person may leave, the session stays
			s.revision = revision
		}
	}
	if err != nil {
		g.o.Problem(fmt.Errorf("a session could not be kept, so that it ends with the gateway: %w", err))
	}
}

// forget removes the sessions that have ended from the store. g.mu is not held.
func (g *Gate) forget() {
	g.mu.Lock()
	ended := g.ended
	g.ended = nil
	g.mu.Unlock()
	for key, s := range ended {
		s.keeping.Lock()
		s.ended = true
		var err error
		if s.revision != keep.Absent {
			_, err = g.o.Store.Apply(context.Background(), keep.Change{Kind: kind, Key: hex.EncodeToString(key[:]), Expect: s.revision})
		}
		s.keeping.Unlock()
		if err != nil && !errors.Is(err, keep.ErrConflict) { // it has expired
			g.o.Problem(fmt.Errorf("a session that has ended could not be removed from the store: %w", err))
		}
	}
}

// drop ends a session. g.mu is held; forget must follow.
func (g *Gate) drop(key sum) {
	s := g.sessions[key]
	delete(g.sessions, key)
	if s == nil || g.o.Store == nil {
		return
	}
	if g.ended == nil {
		g.ended = map[sum]*Session{}
	}
	g.ended[key] = s
}

// sealer encrypts the token of a session for its cookie.
func sealer(id string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(id), nil, "token of a session", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// sealToken encrypts the token of a new session.
func (s *Session) sealToken(id string) error {
	aead, err := sealer(id)
	if err == nil {
		s.sealed = aead.Seal(nil, nil, []byte(s.token), nil)
	}
	return err
}

// openToken decrypts the token of a session that was restored, and reports whether the
// session has one or needs none.
func (s *Session) openToken(id string) bool {
	if s.person != nil || s.token != "" {
		return true
	}
	aead, err := sealer(id)
	if err != nil {
		return false
	}
	token, err := aead.Open(nil, nil, s.sealed, nil)
	s.token = string(token)
	return err == nil
}

// Kinds are the kinds of values of this package that outlast a key of the store.
var Kinds = []keep.Kind{kind}
