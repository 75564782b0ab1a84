// Package migrate creates the files of a gateway in a cluster from the data that gateways of an earlier
// version shared. These are the mirror of their store, and the changes that a gateway made while it could not
// reach that store.
//
// All files are created under temporary names and renamed at the end. The folder that makes the
// gateway a member of a cluster is renamed last. So [Run] can be called again after an interruption
// at any point. The files of the earlier version are not changed.
//
//	migrate.go  the steps, and their options
//	mirror.go   values and logs in the mirror
//	settle.go   values that the new cluster reads differently
//	journal.go  changes that were made without the store
//	place.go    the files, and their final names
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

// Options configure a migration. All fields except Journals and KeyFile are required.
type Options struct {
	Cluster string
	Gateway string       // this gateway, under its former name
	Mirror  string       // file to read; the mirror that is furthest ahead among those of all gateways
	Store   string       // file of the new store
	Folder  trust.Folder // new folder

	// Create creates the cluster in a store, as 'adgateway cluster init' does, and the files of this
	// gateway in a folder. The cluster's key file already exists.
	Create func(ctx context.Context, db *store.Sealed, folder trust.Folder) error

	Wrapper  keyring.Wrapper // wrapper of the key ring
	KeyFile  string          // file that the wrapper reads; empty if it reads none
	Journals []Journal       // changes made without the store

	Life time.Duration    // how long changes are kept
	Most int64            // size limit of the history in bytes
	Now  func() time.Time // clock, by which values also expire

	step func(what string) // called before each change of a file; only set in tests
}

// Journal holds changes that a gateway made while it could not reach the store.
type Journal struct {
	File string // may be missing
	Key  string // its key file
}

// Result describes the migrated data.
type Result struct {
	Mirror   string    `json:"mirror"`
	Sequence uint64    `json:"sequence"` // last sequence of the store in the mirror
	At       time.Time `json:"at"`       // time of the change with that sequence
	Values   int       `json:"values"`
	Entries  int       `json:"entries"`         // number of log entries
	Open     int       `json:"open"`            // number of changes that the first leader must settle
	Added    int       `json:"added"`           // number of changes added from journals
	Aside    string    `json:"aside,omitempty"` // new name of a store that had the final name before
	Done     bool      `json:"done"`            // an earlier call has completed it; nothing was changed
}

// taken is a value that records the origin of the store.
type taken struct {
	store.Formatted
	Mirror   string    `json:"mirror"`
	Creation string    `json:"creation"`
	Sequence uint64    `json:"sequence"`
	At       time.Time `json:"at"`
	Time     time.Time `json:"time"` // time of the migration
}

// Where the value [taken] is stored.
const (
	takenKind = store.Kind("taken")
	takenKey  = "over"
)

// Run creates the store of a cluster with this gateway as its first. No gateway of the cluster may
// be running. Its errors explain what to do.
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

// migration is the state of one call of Run.
type migration struct {
	places
	known    store.Known // known facts about the mirror
	creation string      // creation of the new store
	found    Result
}

// clock returns a clock for the stores that are opened during the migration.
func (o Options) clock() *store.Clock {
	return store.NewClock(time.Time{}, store.ClockSources{Wall: o.Now})
}

// complete opens the copy with the cluster's key, and converts it for a gateway of the new cluster.
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

// note records the origin of the store in it.
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

// result returns the result of an earlier call, as recorded in its store.
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
