// Package credentials stores tokens and users in the store of a cluster, so all gateways know each
// account at once, and refuse it at once when it is revoked.
//
// [Credentials] replaces the credential file in [authn.Store]. Every change is a single decision that
// rewrites the head of the list and appends to [Log], which wakes all gateways. Each gateway holds the
// accounts in memory, and in a sealed file of its own. While the store cannot be reached, the accounts remain
// valid for a time. After that all callers are refused until the store can be reached again.
package credentials

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adgateway/gateway/atomicfile"
	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/store"
)

// Kind is the kind of accounts in the store. They are keyed by id.
const Kind store.Kind = "cred"

// The head of the list is a single value that every change rewrites. So two concurrent changes conflict, and
// the list stays consistent.
const headKind store.Kind = "auth"

const headKey = "credentials"

// Log gets an entry with each change. The entries name the accounts, but do not contain them.
const Log store.Log = "auth"

const (
	logLife  = 24 * time.Hour
	mostEdit = store.MostChanges - 2 // accounts in one change, in addition to the head and the log
)

// ErrUnreached means that the store could not be reached for too long.
var ErrUnreached = errors.New("the store of the credentials cannot be reached")

// account is the stored form of a token or a user.
type account struct {
	store.Formatted
	Kind    string         `json:"kind"` // [identity.KindToken] or [identity.KindUser]
	Account *authn.Account `json:"account"`
}

type head struct {
	store.Formatted
	Edition uint64 `json:"edition"`
}

type logged struct {
	store.Formatted
	Set     []string `json:"set,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// list is the contents of the store, with revisions.
type list struct {
	document *authn.Document
	head     head
	revision store.Revision // revision of the head
	raw      map[string]string
	formats  map[string]store.Formatted
	at       map[string]store.Revision
}

// read returns the accounts in a store, oldest first.
func read(ctx context.Context, db *store.Sealed) (*list, error) {
	l := &list{document: &authn.Document{Version: 1}, raw: map[string]string{},
		formats: map[string]store.Formatted{}, at: map[string]store.Revision{}}
	found, err := db.Get(ctx, headKind, headKey)
	switch {
	case errors.Is(err, store.ErrAbsent):
	case err != nil:
		return nil, err
	default:
		if err = store.Decode(db, found.Value, &l.head); err != nil {
			return nil, fmt.Errorf("the shared credentials: %w", err)
		}
		l.revision = found.Revision
	}
	var wrong error
	err = db.Range(ctx, Kind, "", func(e store.Entry) bool {
		var a account
		if wrong = store.Decode(db, e.Value, &a); wrong == nil && a.Account == nil {
			wrong = errors.New("it is none")
		}
		if wrong != nil {
			wrong = fmt.Errorf("the shared account %s: %w", e.Key, wrong)
			return false
		}
		l.raw[e.Key], l.formats[e.Key], l.at[e.Key] = string(e.Value), a.Formatted, e.Revision
		if a.Kind == identity.KindUser {
			l.document.Users = append(l.document.Users, a.Account)
		} else {
			l.document.Tokens = append(l.document.Tokens, a.Account)
		}
		return true
	})
	if err = errors.Join(err, wrong); err != nil {
		return nil, err
	}
	for _, all := range [][]*authn.Account{l.document.Tokens, l.document.Users} {
		slices.SortStableFunc(all, func(a, b *authn.Account) int {
			return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID))
		})
	}
	return l, nil
}

// Read returns the accounts in a store.
func Read(ctx context.Context, db *store.Sealed) (*authn.Document, error) {
	found, err := read(ctx, db)
	if err != nil {
		return nil, err
	}
	return found.document, nil
}

// tries is the number of attempts at a change that conflicts with other changes of the list.
const tries = 50

// Edit changes the accounts in a store, as described in [authn.Holder].
func Edit(ctx context.Context, db *store.Sealed, change func(*authn.Document) error) error {
	for range tries {
		before, err := read(ctx, db)
		if err != nil {
			return err
		}
		if err = change(before.document); err != nil {
			return err
		}
		if err = before.document.Check(); err != nil {
			return err
		}
		changes, err := before.changes(db)
		if err != nil || len(changes) == 0 {
			return err
		}
		if _, err = db.Apply(ctx, changes...); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
	return errors.New("others go on changing the credentials at the same time: try again")
}

// changes returns the changes that turn the stored list into the edited document.
func (l *list) changes(db *store.Sealed) (all []store.Change, err error) {
	entry := logged{}
	left := map[string]bool{}
	for kind, accounts := range map[string][]*authn.Account{identity.KindToken: l.document.Tokens,
		identity.KindUser: l.document.Users} {
		for _, a := range accounts {
			left[a.ID] = true
			same, err := json.Marshal(account{l.formats[a.ID], kind, a})
			if err != nil {
				return nil, err
			}
			if string(same) == l.raw[a.ID] {
				continue
			}
			value, err := store.Encode(db, account{Kind: kind, Account: a})
			if err != nil {
				return nil, err
			}
			entry.Set = append(entry.Set, a.ID)
			all = append(all, store.Change{Kind: Kind, Key: a.ID, Expect: l.at[a.ID], Value: value})
		}
	}
	for id, revision := range l.at {
		if !left[id] {
			entry.Removed = append(entry.Removed, id)
			all = append(all, store.Change{Kind: Kind, Key: id, Expect: revision})
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	if len(all) > mostEdit {
		return nil, fmt.Errorf("%d accounts would be changed at once, at most %d can be", len(all), mostEdit)
	}
	slices.Sort(entry.Set)
	slices.Sort(entry.Removed)
	top, _ := store.Encode(db, head{Edition: l.head.Edition + 1}) // numbers always encode
	note, _ := store.Encode(db, entry)
	return append(all, store.Change{Kind: headKind, Key: headKey, Expect: l.revision, Value: top},
		store.Change{Log: Log, Value: note, Expires: db.Now().Add(logLife)}), nil
}

// Move adds the accounts of a document to a store, and returns their number. It skips accounts that are
// already in the store, so an interrupted move can be repeated. If other accounts in the store have the same
// names, certificates or tokens as accounts of the document, Move changes nothing, and the error names them.
func Move(ctx context.Context, db *store.Sealed, from *authn.Document) (moved int, err error) {
	missing := func(list []*authn.Account, known []*authn.Account) (left []*authn.Account) {
		for _, a := range list {
			if !slices.ContainsFunc(known, func(k *authn.Account) bool { return k.ID == a.ID && equal(a, k) }) {
				left = append(left, a)
			}
		}
		return left
	}
	there, err := read(ctx, db)
	if err != nil {
		return 0, err
	}
	tokens, users := missing(from.Tokens, there.document.Tokens), missing(from.Users, there.document.Users)
	there.document.Tokens = append(there.document.Tokens, tokens...)
	there.document.Users = append(there.document.Users, users...)
	if err := there.document.Check(); err != nil {
		return 0, fmt.Errorf("nothing was moved, because the cluster has such accounts already: rename or "+
			"remove one of each two:\n%w", err)
	}
	for len(tokens)+len(users) > 0 {
		tokenCount := min(len(tokens), mostEdit/2)
		userCount := min(len(users), mostEdit/2)
		err := Edit(ctx, db, func(d *authn.Document) error {
			d.Tokens = append(d.Tokens, tokens[:tokenCount]...)
			d.Users = append(d.Users, users[:userCount]...)
			return nil
		})
		if err != nil {
			return moved, err
		}
		moved += tokenCount + userCount
		tokens, users = tokens[tokenCount:], users[userCount:]
	}
	return moved, nil
}

func equal(a, b *authn.Account) bool {
	left, err := json.Marshal(a)
	right, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(left) == string(right)
}

// Options configure [Credentials].
type Options struct {
	Copy     string        // sealed file with the accounts; empty if none
	StaleMax time.Duration // how long accounts stay valid while the store cannot be reached
	Reread   time.Duration // interval at which all accounts are read; zero means a minute
	Probe    time.Duration // interval at which the connection to the store is checked; zero means 5 seconds
	Now      func() time.Time
	// Problem receives messages for operators. If nil, they are discarded.
	Problem func(message string, err error)
}

// Credentials holds the accounts as known to one gateway. There are none before [Credentials.Attach]. It is
// safe for concurrent use.
type Credentials struct {
	o        Options
	attached chan struct{} // closed by Attach
	store    *store.Sealed // set by Attach

	document atomic.Pointer[authn.Document]
	contact  atomic.Pointer[time.Time] // when the store was last reached; zero if never
	mu       sync.Mutex                // held while reading; guards the fields below
	text     string                    // JSON of the document
	failed   bool                      // the last attempt to reach the store failed
	reached  bool                      // the store has been reached since the start
}

var _ authn.Shared = (*Credentials)(nil)

// New returns credentials without a store.
func New(o Options) *Credentials {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Problem == nil {
		o.Problem = func(string, error) {}
	}
	o.Reread, o.Probe = cmp.Or(o.Reread, time.Minute), cmp.Or(o.Probe, 5*time.Second)
	c := &Credentials{o: o, attached: make(chan struct{})}
	c.document.Store(&authn.Document{Version: 1})
	c.contact.Store(new(time.Time))
	return c
}

// Attach reads the accounts in a store for the first time. It may only be called once. If the store cannot be
// reached, the accounts come from the copy, no matter how old it is.
func (c *Credentials) Attach(ctx context.Context, db *store.Sealed) error {
	c.store = db
	if err := c.refresh(ctx, func() {}); err != nil {
		if errors.Is(err, store.ErrNewer) {
			return err
		}
		if copied := c.readCopy(); copied != nil {
			return errors.Join(fmt.Errorf("%w: %w", ErrUnreached, err), copied)
		}
	}
	close(c.attached)
	return nil
}

// Read implements [authn.Holder].
func (c *Credentials) Read() (*authn.Document, string, error) { return c.document.Load(), "", nil }

// Edit implements [authn.Holder].
func (c *Credentials) Edit(ctx context.Context, change func(*authn.Document) error) error {
	select {
	case <-c.attached:
		return Edit(ctx, c.store, change)
	default:
		return ErrUnreached
	}
}

// State implements [authn.Shared].
func (c *Credentials) State() error {
	if age := c.Age(); age > c.o.StaleMax {
		return fmt.Errorf("%w, and the accounts that this gateway knows are older than auth.staleMax (%s)",
			ErrUnreached, c.o.StaleMax)
	}
	return nil
}

// Age returns the maximum age of the accounts, which is the time since the store was last reached.
func (c *Credentials) Age() time.Duration {
	return max(0, c.o.Now().Sub(*c.contact.Load()))
}

// Follow implements [authn.Shared].
func (c *Credentials) Follow(ctx context.Context, changed func()) {
	select {
	case <-ctx.Done():
		return
	case <-c.attached:
	}
	changed() // for the accounts read by Attach
	probe := time.NewTicker(c.o.Probe)
	defer probe.Stop()
	var last time.Time
	for ctx.Err() == nil {
		bell := c.store.Appends(Log)
		err := c.refresh(ctx, changed)
		if last = c.o.Now(); err != nil && (!c.known() || errors.Is(err, store.ErrClosed)) {
			bell = nil // prefer the ticker
		}
		for again := false; !again && ctx.Err() == nil; {
			select {
			case <-ctx.Done():
			case <-bell:
				again = true
			case <-probe.C:
				again = err != nil || c.o.Now().Sub(last) >= c.o.Reread || c.reach(ctx) != nil
			}
		}
	}
}

// known reports whether the store has been reached since the start. After that the local replica is read even
// while the other gateways cannot be asked, because the replica may contain a revocation.
func (c *Credentials) known() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reached
}

// reach notes that the store can be reached.
func (c *Credentials) reach(ctx context.Context) error {
	asked := c.o.Now()
	if err := c.store.Reach(ctx); err != nil {
		return err
	}
	c.contact.Store(&asked)
	return nil
}

// refresh reads the accounts, and calls changed if they differ.
func (c *Credentials) refresh(ctx context.Context, changed func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.reach(ctx)
	c.reached = c.reached || err == nil
	var found *list
	if c.reached { // the local replica is at least as new as the accounts in memory
		var unread error
		if found, unread = read(ctx, c.store); unread != nil {
			err = errors.Join(err, unread)
		}
	}
	if failed := err != nil; failed != c.failed && ctx.Err() == nil {
		c.failed = failed
		if failed {
			c.o.Problem(fmt.Sprintf("the store of the credentials cannot be read; those from before remain valid "+
				"for %s", c.o.StaleMax), err)
		} else {
			c.o.Problem("the store of the credentials can be read again", nil)
		}
	}
	if found != nil {
		text, wrong := json.Marshal(found.document)
		if wrong != nil {
			return wrong
		}
		if string(text) != c.text {
			c.text = string(text)
			c.document.Store(found.document)
			changed()
		}
	}
	if err != nil {
		return err
	}
	if err := c.writeCopy(); err != nil {
		c.o.Problem("the copy of the credentials cannot be written, so the gateway cannot start without "+
			"the store of the cluster", err)
	}
	return nil
}

// copied is the content of the copy.
type copied struct {
	store.Formatted
	Contact  time.Time       `json:"contact"`
	Document *authn.Document `json:"document"`
}

const purpose = "copy of the credentials"

func (c *Credentials) writeCopy() error {
	if c.o.Copy == "" {
		return nil
	}
	text, err := store.Encode(c.store, copied{Contact: c.contact.Load().UTC(), Document: c.document.Load()})
	if err != nil {
		return err
	}
	return atomicfile.Write(c.o.Copy, c.store.SealFor(purpose, text), nil)
}

// readCopy loads the accounts in the copy, if there is one.
func (c *Credentials) readCopy() error {
	if c.o.Copy == "" {
		return nil
	}
	sealed, err := os.ReadFile(c.o.Copy)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := c.store.OpenFor(purpose, sealed)
	if err != nil {
		return fmt.Errorf("%s: %w", c.o.Copy, err)
	}
	var found copied
	if err := store.Decode(c.store, text, &found); err != nil {
		return fmt.Errorf("%s: %w", c.o.Copy, err)
	}
	if found.Document == nil {
		return fmt.Errorf("%s is no copy of the credentials", c.o.Copy)
	}
	c.document.Store(found.Document)
	now := c.o.Now()
	contact := now.Add(-now.Sub(found.Contact)) // uses the monotonic clock from now on
	c.contact.Store(&contact)
	return nil
}

// Kinds are the kinds of stored values of this package that survive a change of the store's key.
var Kinds = []store.Kind{Kind, headKind}
