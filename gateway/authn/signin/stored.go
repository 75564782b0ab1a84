package signin

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"adgateway/gateway/identity"
	"adgateway/gateway/store"
)

// The state of a gate is in the store, so all gateways that share it know the same state, even
// after a restart. The store contains the hash of a cookie, but not the cookie. A token is sealed
// with a key derived from the cookie, so the store and its key are not enough to obtain it.

const (
	kind      store.Kind = "session"       // by the hash of the cookie
	ownerKind store.Kind = "session-owner" // the sessions of a person or a token
	stepKind  store.Kind = "session-step"  // data that the pages store for a session
	ownKind   store.Kind = "session-own"   // data that the pages store for a person or a token
	triesKind store.Kind = "tries"         // wrong passwords of an account
	useKind   store.Kind = "ticket"        // uses of tickets
)

// Kinds are the kinds of values of this package that outlast a key of the store.
var Kinds = []store.Kind{kind, ownerKind, stepKind, ownKind, triesKind, useKind}

// saveEvery is the minimum time between two saved uses of a session.
const saveEvery = time.Minute

// stored is the stored form of a session.
type stored struct {
	store.Formatted
	Name    string     `json:"name"`
	Kind    string     `json:"kind"`
	Account string     `json:"account,omitempty"` // id of the token; empty if it has none
	Person  *Person    `json:"person,omitempty"`
	Token   []byte     `json:"token,omitempty"` // sealed
	Client  netip.Addr `json:"client"`
	Started time.Time  `json:"started"`
	Used    time.Time  `json:"used"`
	Checked time.Time  `json:"checked"`
}

// owned lists the sessions of a person or a token, oldest first. Each new session rewrites the
// list, so there are never more sessions than the limit, wherever they start.
type owned struct {
	store.Formatted
	Sessions []string `json:"sessions"`
}

// sum is the hash of a session's id. The gate stores nothing else of the id.
type sum [32]byte

func sumOf(id string) sum { return sha256.Sum256([]byte(id)) }

func (s sum) String() string { return hex.EncodeToString(s[:]) }

// inMemory returns a store that ends with the process.
func inMemory(now func() time.Time) *store.Sealed {
	secret := make([]byte, store.KeyLength)
	_, _ = rand.Read(secret) // never fails
	key, err := store.NewKey(secret)
	if err == nil {
		var db *store.Sealed
		if db, err = store.Seal(store.NewMemory(now), key); err == nil {
			return db
		}
	}
	panic(err) // the key has the right length
}

// lost returns [ErrStore] if the store is shared and cannot be used.
func (g *Gate) lost() error {
	if !g.o.Store.Remote() {
		return nil
	}
	switch state := g.o.Store.State(); {
	case state.Rewound != nil:
		return fmt.Errorf("%w: %w: %w", ErrStore, ErrRewound, state.Rewound)
	case errors.Is(state.Failed, store.ErrUnreachable):
		return fmt.Errorf("%w: %w", ErrStore, state.Failed)
	}
	return nil
}

const (
	decisions  = 20               // number of attempts at a conflicting decision
	writeLimit = 20 * time.Second // time limit of a decision, longer than an election
)

// decide makes the changes that compose returns. compose reads the values on which they depend, and is called
// again if others change these values. If a store that is not shared fails, the changes are made in memory
// and end with the gate. If the store is shared, decide fails with [ErrStore].
func (g *Gate) decide(
	ctx context.Context, compose func(context.Context, *store.Sealed) ([]store.Change, error),
) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit) // the person may leave
	defer cancel()
	err := decideIn(ctx, g.o.Store, compose)
	switch {
	case err == nil, errors.Is(err, ErrTooMany):
		return err
	case g.o.Store.Remote():
		return fmt.Errorf("%w: %w", ErrStore, err)
	case g.o.Store == g.own:
		return err
	}
	g.o.Problem(fmt.Errorf("sessions cannot be stored, so they end with the gateway: %w", err))
	return decideIn(ctx, g.own, compose)
}

func decideIn(
	ctx context.Context, in *store.Sealed, compose func(context.Context, *store.Sealed) ([]store.Change, error),
) (err error) {
	for range decisions {
		var changes []store.Change
		if changes, err = compose(ctx, in); err != nil || len(changes) == 0 {
			return err
		}
		if _, err = in.Apply(ctx, changes...); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
	return err
}

// read reads a value as known to this gateway. Unlike Get, it does not ask the other gateways about a missing
// value. The revision is [store.Absent] if there is no value.
func read[T any, P store.Value[T]](
	ctx context.Context, in *store.Sealed, kind store.Kind, key string,
) (value T, revision store.Revision, err error) {
	var wrong error
	err = in.Range(ctx, kind, key, func(e store.Entry) bool {
		if e.Key == key {
			revision, wrong = e.Revision, store.Decode(in, e.Value, P(&value))
		}
		return false
	})
	return value, revision, errors.Join(err, wrong)
}

// lookUp returns the session with the given id that has not ended, or nil. If the session is unknown to this
// gateway, lookUp asks the others, because one of them may just have created it. The error means that they
// could not be asked.
func (g *Gate) lookUp(ctx context.Context, id string) (*Session, error) {
	if id == "" {
		return nil, nil
	}
	key := sumOf(id)
	g.mu.Lock()
	ended, last := g.ended[key] != nil, time.Time{}
	if used, known := g.uses.Peek(key); known {
		last = used.at
	}
	g.mu.Unlock()
	if ended {
		return nil, nil
	}
	s := g.known(ctx, key)
	var err error
	if s == nil && g.o.Store.Remote() {
		if err = g.asking.ask(ctx, g.o.Store); err == nil {
			s = g.known(ctx, key)
		}
	}
	if s == nil {
		return nil, err
	}
	if s.kept.Used.After(last) {
		last = s.kept.Used
	}
	if g.over(&s.kept, last, g.o.Now()) {
		return nil, nil
	}
	return s, nil
}

// known returns a session as known here, or nil.
func (g *Gate) known(ctx context.Context, key sum) *Session {
	for _, in := range []*store.Sealed{g.o.Store, g.own} {
		session, revision, err := read[stored](ctx, in, kind, key.String())
		if err != nil {
			if ctx.Err() == nil {
				g.o.Problem(fmt.Errorf("a session cannot be read: %w", err))
			}
			continue
		}
		if revision != store.Absent {
			return &Session{Name: session.Name, Kind: session.Kind, Identity: session.identity(), gate: g, key: key,
				in: in, revision: revision, kept: session}
		}
	}
	return nil
}

// asking holds the time when the other gateways were last asked. A goroutine may ask only after it has
// received the time from the channel.
type asking chan time.Time

// askEvery is the minimum time between two queries for all callers together, because anybody can
// send unknown cookies.
const askEvery = 50 * time.Millisecond

// askLimit is how long a gateway waits for an answer.
const askLimit = 2 * time.Second

// ask returns once this gateway's view of a shared store has everything that the other gateways had when ask
// was called.
func (a asking) ask(ctx context.Context, db *store.Sealed) error {
	called := time.Now()
	select {
	case last := <-a:
		defer func() { a <- last }()
		if last.After(called) { // the last answer is recent enough
			return nil
		}
		select {
		case <-time.After(askEvery - time.Since(last)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		ctx, cancel := context.WithTimeout(ctx, askLimit)
		defer cancel()
		last = time.Now()
		return db.Reach(ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// change returns the change that saves a session.
func (g *Gate) change(in *store.Sealed, key sum, expect store.Revision, s *stored) (store.Change, error) {
	value, err := store.Encode(in, *s)
	expires := s.Used.Add(g.o.Idle + saveEvery) // it may be used meanwhile without being saved
	if most := s.Started.Add(g.o.Max); most.Before(expires) {
		expires = most
	}
	return store.Change{Kind: kind, Key: key.String(), Expect: expect, Value: value, Expires: expires}, err
}

// saveLimit is how long a request waits for its session to be saved.
const saveLimit = 2 * time.Second

// save saves a session, unless it has been changed or has ended.
func (g *Gate) save(ctx context.Context, s *Session) error {
	set, err := g.change(s.in, s.key, s.revision, &s.kept)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveLimit)
	defer cancel()
	_, err = s.in.Apply(ctx, set)
	return err
}

// identity returns the owner of the session.
func (s *stored) identity() identity.ID {
	if s.Person != nil {
		return identity.ID{Kind: s.Kind, ID: s.Person.SID}
	}
	return identity.ID{Kind: s.Kind, ID: cmp.Or(s.Account, s.Name)}
}

// ownerKey returns the key of the data of a person or a token.
func ownerKey(in *store.Sealed, who identity.ID) string {
	return hex.EncodeToString(in.Sum([]byte("owner of sessions"), []byte(who.Kind), []byte(who.ID)))
}

// joinOthers returns the changes that add a session to its owner's sessions and end the oldest
// beyond the limit.
func (g *Gate) joinOthers(
	ctx context.Context, in *store.Sealed, session *stored, key sum,
) (all []store.Change, err error) {
	owner := ownerKey(in, session.identity())
	others, at, err := read[owned](ctx, in, ownerKind, owner)
	if err != nil {
		return nil, err
	}
	revisions := map[string]store.Revision{}
	others.Sessions = slices.DeleteFunc(others.Sessions, func(other string) bool {
		var found store.Revision
		if err == nil {
			_, found, err = read[stored](ctx, in, kind, other)
		}
		revisions[other] = found
		return found == store.Absent
	})
	if err != nil {
		return nil, err
	}
	for len(others.Sessions) >= sessionsEach {
		oldest := others.Sessions[0]
		others.Sessions = others.Sessions[1:]
		all = append(all, store.Change{Kind: kind, Key: oldest, Expect: revisions[oldest]})
	}
	others.Sessions = append(others.Sessions, key.String())
	value, err := store.Encode(in, others)
	expires := session.Started.Add(g.o.Max)
	return append(all, store.Change{Kind: ownerKind, Key: owner, Expect: at, Value: value, Expires: expires}),
		err
}

// remove removes a session from its store.
func (g *Gate) remove(ctx context.Context, s *Session) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	err := decideIn(ctx, s.in, func(ctx context.Context, in *store.Sealed) ([]store.Change, error) {
		e, err := in.Get(ctx, kind, s.key.String())
		switch {
		case errors.Is(err, store.ErrAbsent), errors.Is(err, store.ErrUnreadable): // the session is unusable anyway
			return nil, nil
		}
		return []store.Change{{Kind: kind, Key: s.key.String(), Expect: e.Revision}}, err
	})
	if err != nil && s.in.Remote() {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	return err
}

// sealer returns the cipher that seals a text with a key derived from a cookie.
func sealer(id, what string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(id), nil, what, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Purposes for which a key is derived from a session's cookie.
const (
	tokenOfSession  = "token of a session"
	secretOfSession = "secret of a session"
)

// SealSecret encrypts a page's secret for the cookie of its session. A reader of the store cannot
// decrypt it without the cookie.
func SealSecret(id, text string) ([]byte, error) {
	aead, err := sealer(id, secretOfSession)
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, []byte(text), nil), nil
}

// OpenSecret decrypts the result of [SealSecret] for the same cookie.
func OpenSecret(id string, sealed []byte) (string, error) {
	aead, err := sealer(id, secretOfSession)
	if err != nil {
		return "", err
	}
	text, err := aead.Open(nil, nil, sealed, nil)
	return string(text), err
}

// sealToken encrypts a session's token for its cookie.
func sealToken(id, token string) ([]byte, error) {
	aead, err := sealer(id, tokenOfSession)
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, []byte(token), nil), nil
}

// openToken decrypts the token of a session, and reports whether the session has one or needs none.
func (s *Session) openToken(id string) bool {
	if s.kept.Person != nil {
		return true
	}
	aead, err := sealer(id, tokenOfSession)
	if err != nil {
		return false
	}
	token, err := aead.Open(nil, nil, s.kept.Token, nil)
	s.token = string(token)
	return err == nil
}
