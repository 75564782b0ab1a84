// Package keyring manages the key with which several gateways seal their store.
//
// The [Ring] is a single value in the store. It contains the versions of the key, and the secret of sums,
// which never changes, because a name must always have the same sum. A [Wrapper] protects the ring with
// something that no node of the store has: a key file of which every gateway has a copy, or a domain group of
// which the gateways' accounts are members.
//
// [Ring.Rotate] adds a version. The version becomes current when all live gateways have it. Then
// lasting values are sealed again with it, while the entries of logs expire under their version. No
// version is ever removed, so everything remains readable.
package keyring

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"adgateway/gateway/store"
)

// Key and log of the ring in the store.
const (
	kind store.Kind = "keyring"
	key             = "ring"
	bell store.Log  = "keyring" // gets an empty entry with each change
)

// When a version should be replaced.
const (
	MostAge   = 90 * 24 * time.Hour
	MostSeals = 1 << 30
)

// The errors of rings.
var (
	ErrNone   = errors.New("the cluster has no key ring yet: run 'adgateway cluster init' once")
	ErrThere  = errors.New("the cluster has a key ring already")
	ErrLocked = errors.New("the key ring of the cluster cannot be unwrapped")
)

// Wrapper protects a ring with something that is not in the store. It must be safe for concurrent
// use.
type Wrapper interface {
	Wrap(plain []byte) ([]byte, error)
	Unwrap(wrapped []byte) ([]byte, error)
	// Remedy describes what protects the ring, and what to do if it cannot be unwrapped.
	Remedy() string
}

// stored is the stored form of a ring.
type stored struct {
	store.Formatted
	Wrapped []byte `json:"wrapped"`
}

// content is the plain text of a wrapped ring.
type content struct {
	Sums     []byte    `json:"sums"`
	Current  uint32    `json:"current"`
	Since    time.Time `json:"since"`    // when it became current
	Resealed uint32    `json:"resealed"` // version with which lasting values are sealed
	Versions []version `json:"versions"` // ordered by number, from 1
}

type version struct {
	Number uint32    `json:"number"`
	Secret []byte    `json:"secret"`
	Made   time.Time `json:"made"`
}

// newest returns the highest version.
func (c *content) newest() uint32 { return c.Versions[len(c.Versions)-1].Number }

func secret() []byte {
	bits := make([]byte, store.KeyLength)
	_, _ = rand.Read(bits) // never fails
	return bits
}

// Create puts a ring with one version into a store. It fails with [ErrThere] if there already is a
// ring. All gateways that open it must run this version of the program, or a later one.
func Create(ctx context.Context, db store.Store, w Wrapper) error {
	return create(ctx, db, w, secret())
}

// Adopt puts a ring with one version into a store whose values are sealed with a secret. The values
// remain readable, and names keep their sums. It fails with [ErrThere] if there already is a ring,
// and with [store.ErrOtherKey] if the secret opens none of the store's values. kinds are some of
// the kinds in the store.
func Adopt(ctx context.Context, db store.Store, w Wrapper, secret []byte, kinds ...store.Kind) error {
	key, err := store.NewKey(secret)
	if err != nil {
		return err
	}
	sealed, err := store.Seal(db, key)
	if err == nil {
		err = sealed.CheckKey(ctx, kinds...)
	}
	if err != nil {
		return err
	}
	return create(ctx, db, w, secret)
}

// create puts a ring with one version and a given secret of sums into a store.
func create(ctx context.Context, db store.Store, w Wrapper, sums []byte) error {
	now := time.Now().UTC()
	first := &content{Sums: sums, Current: 1, Since: now, Resealed: 1, Versions: []version{{1, secret(), now}}}
	value, err := wrap(w, store.Newest, first)
	if err != nil {
		return err
	}
	_, err = db.Apply(ctx, store.Change{Kind: kind, Key: key, Value: value})
	switch found, unread := db.Get(ctx, kind, key); {
	case unread == nil && bytes.Equal(found.Value, value):
		return nil // the ring was stored, although the answer may have been lost (facts J11)
	case errors.Is(err, store.ErrConflict):
		return ErrThere
	}
	return err
}

// Exists reports whether a store has a ring.
func Exists(ctx context.Context, db store.Store) (bool, error) {
	_, err := db.Get(ctx, kind, key)
	if errors.Is(err, store.ErrAbsent) {
		return false, nil
	}
	return err == nil, err
}

func wrap(w Wrapper, format int, c *content) ([]byte, error) {
	plain, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	wrapped, err := w.Wrap(plain)
	if err != nil {
		return nil, err
	}
	return json.Marshal(stored{store.Formatted{V: format}, wrapped})
}

func unwrap(w Wrapper, newest int, value []byte) (*content, error) {
	var s stored
	if err := json.Unmarshal(value, &s); err != nil {
		return nil, err
	}
	if err := store.CheckFormat(s.V, newest); err != nil {
		return nil, fmt.Errorf("the key ring of the cluster: %w", err)
	}
	plain, err := w.Unwrap(s.Wrapped)
	if err != nil {
		return nil, fmt.Errorf("%w with %s: %w", ErrLocked, w.Remedy(), err)
	}
	c := &content{}
	if err := json.Unmarshal(plain, c); err != nil {
		return nil, err
	}
	if len(c.Versions) == 0 {
		return nil, errors.New("the key ring of the cluster has no key")
	}
	return c, nil
}

// Ring is the ring of a store, as known to one gateway. It is safe for concurrent use.
type Ring struct {
	raw    store.Store
	w      Wrapper
	newest int // newest format that can be read
	sealed *store.Sealed

	mu       sync.Mutex // guards the fields below
	content  *content
	revision store.Revision
	learned  time.Time // when an unknown version was last looked up
	sealing  uint64    // approximate number of values that all gateways have sealed with the current version

	counting counting // used by Run, which never runs twice at the same time
}

// Open reads the ring of a store, in formats up to newest. It fails with [ErrNone], or with
// [ErrLocked] and a remedy.
func Open(ctx context.Context, db store.Store, w Wrapper, newest int) (*Ring, error) {
	r := &Ring{raw: db, w: w, newest: newest}
	c, revision, err := r.read(ctx)
	if err != nil {
		return nil, err
	}
	sums, err := store.NewKey(c.Sums)
	if err != nil {
		return nil, err
	}
	if r.sealed, err = store.Seal(db, sums); err != nil {
		return nil, err
	}
	r.sealed.SetNewest(newest)
	if err := r.use(c, revision); err != nil {
		return nil, err
	}
	r.sealed.Learn(r.learn)
	return r, nil
}

// Sealed returns the store, sealed with the ring.
func (r *Ring) Sealed() *store.Sealed { return r.sealed }

func (r *Ring) read(ctx context.Context) (*content, store.Revision, error) {
	found, err := r.raw.Get(ctx, kind, key)
	if errors.Is(err, store.ErrAbsent) {
		return nil, 0, ErrNone
	}
	if err != nil {
		return nil, 0, err
	}
	c, err := unwrap(r.w, r.newest, found.Value)
	return c, found.Revision, err
}

// Opens returns an error if a gateway that starts now with a wrapper could not open the ring.
func (r *Ring) Opens(ctx context.Context, w Wrapper) error {
	found, err := r.raw.Get(ctx, kind, key)
	if err == nil {
		_, err = unwrap(w, r.newest, found.Value)
	}
	return err
}

// use adopts a ring that was read, unless a newer one is already known.
func (r *Ring) use(c *content, revision store.Revision) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.content != nil && (revision <= r.revision || c.newest() < r.content.newest()) {
		return nil
	}
	secrets := make(map[uint32][]byte, len(c.Versions))
	for _, v := range c.Versions {
		secrets[v.Number] = v.Secret
	}
	if err := r.sealed.UseVersions(c.Current, secrets); err != nil {
		return err
	}
	r.content, r.revision = c, revision
	return nil
}

// Version returns the newest version that this gateway has. The other gateways need this
// information.
func (r *Ring) Version() uint32 { return r.known().Newest }

// reload adopts changes made by others.
func (r *Ring) reload(ctx context.Context) error {
	c, revision, err := r.read(ctx)
	if err != nil {
		return err
	}
	return r.use(c, revision)
}

// learn looks for an unknown version that a value names, at most once a second.
func (r *Ring) learn() {
	r.mu.Lock()
	early := time.Since(r.learned) < time.Second
	if !early {
		r.learned = time.Now()
	}
	r.mu.Unlock()
	if early {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = r.reload(ctx) // on failure the value remains unreadable
}

// errAsItIs means that the ring needs no change.
var errAsItIs = errors.New("the ring is as it should be")

// change changes the ring in a single decision.
func (r *Ring) change(ctx context.Context, change func(*content) error) error {
	const tries = 20
	var err error
	for range tries {
		c, revision, err := r.read(ctx)
		if err != nil {
			return err
		}
		if err = change(c); err != nil {
			if errors.Is(err, errAsItIs) {
				return r.use(c, revision)
			}
			return err
		}
		value, err := wrap(r.w, r.sealed.Format(), c)
		if err != nil {
			return err
		}
		now, err := r.raw.Apply(ctx, store.Change{Kind: kind, Key: key, Expect: revision, Value: value},
			store.Change{Log: bell, Value: []byte("{}"), Expires: r.raw.Now().Add(time.Hour)})
		if err != nil {
			found, unread := r.raw.Get(ctx, kind, key)
			if unread == nil && bytes.Equal(found.Value, value) { // the answer was lost (facts J11)
				now, err = found.Revision, nil
			}
		}
		if !errors.Is(err, store.ErrConflict) {
			return errors.Join(err, r.taken(err, c, now))
		}
	}
	return err
}

func (r *Ring) taken(err error, c *content, revision store.Revision) error {
	if err != nil {
		return nil
	}
	return r.use(c, revision)
}

// Rotate adds a version and returns its number. If the newest version is not current yet, Rotate returns the
// number of that version instead. Gateways adopt the version in [Ring.Run].
func (r *Ring) Rotate(ctx context.Context) (number uint32, err error) {
	err = r.change(ctx, func(c *content) error {
		number = c.newest()
		if number > c.Current {
			return errAsItIs
		}
		number++
		c.Versions = append(c.Versions, version{number, secret(), time.Now().UTC()})
		return nil
	})
	return number, err
}

// Status is the state of a ring.
type Status struct {
	Current  uint32    `json:"current"`
	Since    time.Time `json:"since"`    // when it became current
	Newest   uint32    `json:"newest"`   // if higher than Current, not all gateways have it yet
	Resealed uint32    `json:"resealed"` // if lower than Current, lasting values are being sealed again
	Seals    uint64    `json:"seals"`    // values sealed with the current version by all gateways
	Warning  string    `json:"warning,omitempty"`
}

// Status reads the state of the ring.
func (r *Ring) Status(ctx context.Context) (Status, error) {
	if err := r.reload(ctx); err != nil {
		return Status{}, err
	}
	s := r.known()
	var err error
	s.Seals, err = r.seals(ctx, s.Current)
	s.warn(time.Now())
	return s, err
}

// known returns the state known to this gateway, without Seals.
func (r *Ring) known() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.content
	return Status{Current: c.Current, Since: c.Since, Newest: c.newest(), Resealed: c.Resealed}
}

// Warning returns a text if the version should be replaced, or "". It does not read the store.
func (r *Ring) Warning() string {
	s := r.known()
	r.mu.Lock()
	s.Seals = r.sealing
	r.mu.Unlock()
	s.warn(time.Now())
	return s.Warning
}

// warn adds a warning if the version should be replaced.
func (s *Status) warn(now time.Time) {
	const remedy = "run 'adgateway cluster rotate-key'"
	switch age := now.Sub(s.Since); {
	case age >= MostAge:
		s.Warning = fmt.Sprintf("version %d of the cluster's key is %d days old: %s", s.Current,
			int(age/(24*time.Hour)), remedy)
	case s.Seals >= MostSeals:
		s.Warning = fmt.Sprintf("version %d of the cluster's key has sealed %d values: %s", s.Current, s.Seals,
			remedy)
	}
}
