// Package migrate makes the files of a gateway of a cluster out of what the gateways of a
// cluster of earlier versions shared: the mirror of their store, and the changes that one of
// them made while it could not reach that store.
//
// Everything is made beside its place and renamed at the end, the folder by which the gateway
// is of a cluster last. So [Run] can be called again after it was interrupted at any moment. The
// files of the earlier version are not changed.
//
//	migrate.go  the steps, and what they need
//	mirror.go   values and logs of the mirror
//	settle.go   what the new cluster reads in another way
//	journal.go  changes that were made without the store
//	place.go    the files that take their places
package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/cluster/trust"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
)

// Options say what to take over, and where to put it. All fields except Journals and KeyFile are
// required.
type Options struct {
	Cluster string
	Gateway string       // this gateway, under the name that it had
	Mirror  string       // the file to read: the mirror that is furthest ahead of all gateways
	Store   string       // file of the new store
	Folder  trust.Folder // new folder

	// Create makes the cluster in a store, as 'adgateway cluster init' does, and the files of this
	// gateway in a folder. The key file of the cluster exists already.
	Create func(ctx context.Context, db *store.Sealed, folder trust.Folder) error

	Wrapper  keyring.Wrapper // wrapper of the key ring
	KeyFile  string          // file that the wrapper reads; empty: it reads none
	Journals []Journal       // changes that were made without the store

	Life time.Duration    // how long the history is kept
	Most int64            // maximum bytes of the history
	Now  func() time.Time // clock; values also expire by it

	step func(what string) // called before each change of a file; nil in the program
}

// Journal has changes that a gateway made while it could not reach the store.
type Journal struct {
	File string // may be missing
	Key  string // its key file
}

// Result says what was taken over.
type Result struct {
	Mirror   string    `json:"mirror"`
	Sequence uint64    `json:"sequence"` // last sequence of the store in the mirror
	At       time.Time `json:"at"`       // when the change with that sequence was made
	Values   int       `json:"values"`
	Entries  int       `json:"entries"`         // entries of logs
	Open     int       `json:"open"`            // changes that the first leader settles
	Added    int       `json:"added"`           // changes added from journals
	Aside    string    `json:"aside,omitempty"` // new name of a store that was in the place
	Done     bool      `json:"done"`            // an earlier call did it; nothing was changed
}

// taken is a value that says where the store comes from.
type taken struct {
	store.Formatted
	Mirror   string    `json:"mirror"`
	Creation string    `json:"creation"`
	Sequence uint64    `json:"sequence"`
	At       time.Time `json:"at"`
	Time     time.Time `json:"time"` // when it was taken over
}

// Where the value [taken] is stored.
const (
	takenKind = store.Kind("taken")
	takenKey  = "over"
)

// Run makes the store of a cluster, with this gateway as its first. No gateway of the cluster may
// be running. Its errors say what to do.
func Run(ctx context.Context, o Options) (Result, error) {
	if o.step == nil {
		o.step = func(string) {}
	}
	p := places{Options: o}
	done, err := p.done()
	if err != nil {
		return Result{}, err
	}
	if done {
		return p.result(ctx)
	}
	if err := p.clear(); err != nil {
		return Result{}, err
	}
	m := &migration{places: p, found: Result{Mirror: o.Mirror}}
	if err := m.copy(); err != nil {
		return Result{}, err
	}
	if err := m.complete(ctx); err != nil {
		return Result{}, err
	}
	m.found.Aside, err = p.take()
	return m.found, err
}

// migration is one call of Run.
type migration struct {
	places
	known    store.Known // what is known of the mirror
	creation string      // creation of the new store
	found    Result
}

// clock returns a clock for stores that are open during the migration.
func (o Options) clock() *store.Clock {
	return store.NewClock(time.Time{}, store.ClockSources{Wall: o.Now})
}

// complete opens the copy with the key of the cluster, and converts it for a gateway of the new
// cluster.
func (m *migration) complete(ctx context.Context) (err error) {
	if err := m.secret(); err != nil {
		return err
	}
	file, _, err := store.Open(store.Options{Path: m.newStore(), Clock: m.clock()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	ring, err := keyring.Open(ctx, file, m.Wrapper, store.Newest)
	if err != nil {
		return unopened(m.Mirror, err)
	}
	db := ring.Sealed()
	if err := m.settle(ctx, db); err != nil {
		return err
	}
	history := changes.New(db, m.Life, m.Most)
	for _, j := range m.Journals {
		if err := m.addJournal(ctx, j, history); err != nil {
			return err
		}
	}
	if err := m.note(ctx, db); err != nil {
		return err
	}
	m.step("trust")
	return m.Create(ctx, db, m.newFolder())
}

// unopened explains what to do about a key ring that cannot be opened.
func unopened(mirror string, err error) error {
	switch {
	case errors.Is(err, keyring.ErrNone):
		return fmt.Errorf("%s has no key ring: it is the mirror of a store that no gateway has used yet; "+
			"take the one of another gateway (--from)", mirror)
	case errors.Is(err, keyring.ErrLocked), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", mirror, err)
	}
	return fmt.Errorf("the key ring in %s: %w", mirror, err)
}

// note writes where the store comes from.
func (m *migration) note(ctx context.Context, db *store.Sealed) error {
	value, err := store.Encode(db, taken{
		Mirror: m.Mirror, Creation: m.known.Creation, Sequence: m.known.Sequence, At: m.known.At.UTC(),
		Time: m.Now().UTC(),
	})
	if err == nil {
		m.step("note")
		_, err = db.Apply(ctx, store.Change{Kind: takenKind, Key: takenKey, Value: value})
	}
	return err
}

// result returns the result of an earlier call, as its store has it.
func (p *places) result(ctx context.Context) (Result, error) {
	copied, err := copyOf(ctx, p.Store, p.newStore()+".read")
	if err != nil {
		return Result{}, err
	}
	file, _, err := store.Open(store.Options{Path: copied, Clock: p.clock(), Follows: true})
	if err != nil {
		return Result{}, errors.Join(err, os.Remove(copied))
	}
	found := Result{Done: true}
	ring, err := keyring.Open(ctx, file, p.Wrapper, store.Newest)
	if err == nil {
		var e store.Entry
		var said taken
		if e, err = ring.Sealed().Get(ctx, takenKind, takenKey); err == nil {
			err = json.Unmarshal(e.Value, &said)
		}
		found.Mirror, found.Sequence, found.At = said.Mirror, said.Sequence, said.At
	}
	return found, errors.Join(err, file.Close(), os.Remove(copied))
}
