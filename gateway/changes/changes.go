// Package changes keeps the history of the gateway's changes: one [Record] per change, sealed, in
// the order in which the changes began. It is the working copy, used to look up and undo changes;
// the audit is the evidence.
//
// A record is written before its change may begin, and completed with the outcome of the change. So
// a gateway that is killed leaves running records, which are settled when it starts again.
package changes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"adgateway/gateway/identity"
	"adgateway/gateway/journal"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// kind is the kind of changes in the store.
const kind store.Kind = "change"

// Log is the log of the store to which the id of each change is appended when it is completed, in the same
// decision. A reader sees every change that has ended exactly once, in the order in which the changes ended.
// The entries are kept as long as the records. A completed change that is changed later, for example by its
// undo, is not appended again.
const Log store.Log = "changes"

// Author is the caller that made a change.
type Author struct {
	Caller string      `json:"caller"`      // its name
	By     identity.ID `json:"by,omitzero"` // kind and account id; zero if stored by an earlier version
}

// AuthorOf returns the author for changes of a caller.
func AuthorOf(w identity.Who) Author {
	return Author{Caller: w.Name, By: identity.ID{Kind: w.Kind, ID: w.ID}}
}

// Who returns the caller.
func (a Author) Who() identity.Who {
	return identity.Who{Name: a.Caller, Kind: a.By.Kind, ID: a.By.ID}
}

// Record is a change that was made, or is being made.
type Record struct {
	store.Formatted
	ID        string    `json:"id"`
	RequestID string    `json:"requestId"`
	Time      time.Time `json:"time"` // time of its announcement
	Author
	Operation  string            `json:"operation"`
	Parameters map[string]string `json:"parameters,omitempty"` // as accepted, except secrets
	Intent     ps.Intent         `json:"intent"`               // with the ids of created objects
	Server     string            `json:"server,omitempty"`
	Zone       string            `json:"zone,omitempty"` // zone of the changed DNS records
	Secret     bool              `json:"secret,omitempty"`
	Running    bool              `json:"running,omitempty"`
	Outcome    ps.Outcome        `json:"outcome,omitempty"` // empty while it is running
	Failed     []string          `json:"failed,omitempty"`  // GUIDs of the objects that were not changed
	Rebuilt    bool              `json:"rebuilt,omitempty"` // from the audit log, without images

	Undoes   string    `json:"undoes,omitempty"` // id of the change that it undoes
	Fields   []string  `json:"fields,omitempty"` // fields that it undoes; empty for all
	UndoneBy []Undoing `json:"undoneBy,omitempty"`
	Plan     string    `json:"plan,omitempty"`
	Key      string    `json:"key,omitempty"`   // name of a running call's key in the store; empty if it has none
	Batch    string    `json:"batch,omitempty"` // id of the first change made by the same request

	Degraded bool `json:"degraded,omitempty"` // by an earlier version, without the shared store
	// when this history adopted the record; zero if it was not adopted
	Sent time.Time `json:"sent,omitzero"`

	// Process is the process that runs the script of a running change. The script may write for at most Limit.
	// Both are zero for a gateway without a cluster.
	Process journal.Process `json:"process,omitzero"`
	Limit   time.Duration   `json:"limit,omitempty"`

	// Raced is the outcome that a change's gateway reported after another gateway had closed the change with a
	// different one. It is empty if there is no such outcome.
	Raced ps.Outcome `json:"raced,omitempty"`

	Token string `json:"token,omitempty"` // of the decision that allowed it
	Spent *Spent `json:"spent,omitempty"` // reserved by a running change; nil if it has reserved nothing

	revision store.Revision
	expires  time.Time // in store time; zero until the first save, after which the history's lifetime applies
	put      *put      // the record as it was last put; nil if it was read
}

// put is a record as it was put, with its encoding. Its objects are shared with the record.
type put struct {
	record Record
	text   []byte
}

// RacedCode marks a change, in its answer and in the audit, that was made after another gateway had
// closed it.
const RacedCode = "raced"

// Spent is the part of the caller's hourly limits that a running change has reserved.
type Spent struct {
	Account string         `json:"account"` // id of the credential
	At      time.Time      `json:"at"`
	Impacts map[string]int `json:"impacts"`
}

// Identify adds the ids of created objects to the announcement, and marks objects that were not changed.
func (r *Record) Identify(result *ps.Result) {
	for _, failed := range result.Failures {
		r.Failed = append(r.Failed, failed.GUID)
	}
	if len(r.Intent.Objects) == 0 || len(result.Changes) == 0 {
		return
	}
	object := &r.Intent.Objects[0]
	if r.Intent.Effect != ps.EffectCreated || object.GUID != "" {
		return
	}
	done := &result.Changes[0]
	if object.GUID = done.GUID; object.DN == "" {
		object.DN = done.DN
	}
	if len(result.Created) > 0 {
		object.Names, object.Made = result.Created[0].Names, result.Created[0].Image
	} else { // the change was settled
		object.Names = NamesIn(done.After)
	}
	if done.DN != "" && done.DN != object.DN { // DN of a DNS record, which is announced under its full name
		object.Names = append(object.Names, done.DN)
	}
}

// NamesIn returns the names in an object's record, other than its distinguished name.
func NamesIn(record map[string]json.RawMessage) (names []string) {
	for _, member := range []string{"username", "samName", "userPrincipalName", "sid", "name", "computerName",
		"fqdn", "zoneName"} {
		text, has := record[member]
		if !has {
			continue
		}
		var name string
		if _ = json.Unmarshal(text, &name); name != "" { // stays empty unless it is a string
			names = append(names, name)
		}
	}
	return names
}

// Bytes returns the size of the record when it was last stored.
func (r *Record) Bytes() int64 {
	if r.put == nil {
		return 0
	}
	return int64(len(r.put.text))
}

// Revision returns the revision of the record when it was last read or saved.
func (r *Record) Revision() store.Revision { return r.revision }

// Undoing describes a change that undid this one.
type Undoing struct {
	ID     string   `json:"id"`
	Fields []string `json:"fields,omitempty"` // fields that it undid; empty for all
}

// Pattern matches the ids of changes.
const Pattern = `ch_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`

var pattern = regexp.MustCompile("^" + Pattern + "$")

// NewID returns an id for a change. Ids are in the order of their creation.
func NewID() string { return prefix + uuid.Must(uuid.NewV7()).String() }

const prefix = "ch_"

// Time returns the time when an id was created, or false if the text is not an id.
func Time(id string) (time.Time, bool) {
	if !pattern.MatchString(id) {
		return time.Time{}, false
	}
	parsed, err := uuid.Parse(id[len(prefix):])
	if err != nil {
		return time.Time{}, false
	}
	return time.Unix(parsed.Time().UnixTime()), true
}

// first returns a key that is less than the keys of all changes at or after a time, and not less
// than the keys of earlier changes.
func first(t time.Time) string {
	var id uuid.UUID
	millis := t.UnixMilli()
	for i := range 6 {
		id[i] = byte(millis >> (40 - 8*i))
	}
	return prefix + id.String()
}

// ErrAbsent means that the change never existed or is no longer kept.
var ErrAbsent = store.ErrAbsent

// History is the history of changes in a store. It is safe for concurrent use.
type History struct {
	store *store.Sealed
	life  time.Duration
	most  int64 // bytes

	full chan struct{} // signals that the history may be too large
	seen atomic.Pointer[func(*Record)]

	mu   sync.Mutex
	size int64 // upper bound of the total size of the records; trimming reduces it
}

// New returns the history in a store. It keeps records for life. While [History.RunTrimming] runs,
// the oldest records are removed once the total size exceeds most bytes.
func New(db *store.Sealed, life time.Duration, most int64) *History {
	return &History{store: db, life: life, most: most, full: make(chan struct{}, 1)}
}

// Life returns how long records are kept.
func (h *History) Life() time.Duration { return h.life }

// Most returns the total size of the records, in bytes, above which the oldest are removed.
func (h *History) Most() int64 { return h.most }

// Save creates a record, or replaces it if it is still in the state that this process last read or saved. It
// fails with [store.ErrConflict] if others have changed it since.
func (h *History) Save(ctx context.Context, r *Record) error {
	return h.replace(ctx, r, h.Put)
}

// Store returns the store that contains the history.
func (h *History) Store() *store.Sealed { return h.store }

// Complete saves a record with the outcome of its change, and appends it to [Log]. If the change undoes
// another one whose record is still stored, that record gets the id of the undo. Complete fails like
// [History.Save].
func (h *History) Complete(ctx context.Context, r *Record, outcome ps.Outcome) error {
	r.End(outcome)
	return h.replace(ctx, r, h.PutEnded)
}

// replace stores a record if the stored record is still in the last known state.
func (h *History) replace(ctx context.Context, r *Record, put func(*store.Tx, *Record) error) error {
	err := h.store.Update(ctx, func(tx *store.Tx) error {
		present, err := tx.Get(kind, r.ID)
		if err != nil && !errors.Is(err, ErrAbsent) {
			return err
		}
		if present.Revision != r.revision {
			return fmt.Errorf("%w: the change %s", store.ErrConflict, r.ID)
		}
		return put(tx, r)
	})
	if err != nil {
		return err
	}
	saved, err := h.store.Store.Get(ctx, kind, r.ID)
	r.revision = saved.Revision
	h.Saved(r)
	return err
}

// Adopt adds a completed record of another history, at the time now, and appends it to [Log]. It
// does nothing if this history already has the record.
func (h *History) Adopt(ctx context.Context, r *Record, now time.Time) error {
	_, err := h.adopt(ctx, r, now)
	return err
}

// adopt is like Adopt, and reports whether the record was added.
func (h *History) adopt(ctx context.Context, r *Record, now time.Time) (added bool, err error) {
	adopted := *r
	adopted.revision, adopted.expires, adopted.Sent = store.Absent, r.Time.Add(h.life), now.UTC()
	err = h.Complete(ctx, &adopted, r.Outcome)
	if errors.Is(err, store.ErrConflict) {
		_, err = h.Get(ctx, r.ID)
		return false, err
	}
	return err == nil, err
}

// End sets the outcome of a change in its record, and clears the fields that only running changes
// have.
func (r *Record) End(outcome ps.Outcome) {
	r.Running, r.Outcome = false, outcome
	r.Token, r.Spent = "", nil
	r.Process, r.Limit = journal.Process{}, 0
}

// Put saves a record as part of an update. The caller should call [History.Saved] once the update is stored.
func (h *History) Put(tx *store.Tx, r *Record) error {
	if r.expires.IsZero() {
		r.expires = tx.Now().Add(h.life)
	}
	text, err := store.Encode(h.store, *r)
	if err != nil {
		return err
	}
	tx.Put(kind, r.ID, text, r.expires)
	r.put = nil
	r.put = &put{*r, text}
	return nil
}

// PutEnded is [History.Put] for a record that has ended. It also appends the record to [Log], and records its
// id in the change that it undoes.
func (h *History) PutEnded(tx *store.Tx, r *Record) error {
	if err := h.Put(tx, r); err != nil {
		return err
	}
	tx.Append(Log, []byte(r.ID), r.expires)
	if r.Undoes == "" {
		return nil
	}
	undone, err := h.Find(tx, r.Undoes)
	if errors.Is(err, ErrAbsent) {
		return nil // the undone change is no longer stored
	}
	if err != nil || slices.ContainsFunc(undone.UndoneBy, func(u Undoing) bool { return u.ID == r.ID }) {
		return err
	}
	undone.UndoneBy = append(undone.UndoneBy, Undoing{ID: r.ID, Fields: r.Fields})
	return h.Put(tx, undone)
}

// Drop removes a record as part of an update, because its change was not made.
func (h *History) Drop(tx *store.Tx, id string) { tx.Delete(kind, id) }

// Find is [History.Get] within an update.
func (h *History) Find(tx *store.Tx, id string) (*Record, error) {
	e, err := tx.Get(kind, id)
	if err != nil {
		return nil, err
	}
	return h.decode(e)
}

// FindLast does the work of [History.Find] for the change with record r. It does not decode the stored record
// if that is r as it was last put. The result then shares its objects with r, which may have been identified
// since.
func FindLast(h *History, tx *store.Tx, r *Record) (*Record, error) {
	e, err := tx.Get(kind, r.ID)
	if err != nil {
		return nil, err
	}
	if last := r.put; last != nil && bytes.Equal(e.Value, last.text) {
		found := last.record
		return &found, nil
	}
	return h.decode(e)
}

// Saved counts the size of a record that was put. If the total size of the records now exceeds the limit,
// [History.RunTrimming] removes the oldest.
func (h *History) Saved(r *Record) {
	if seen := h.seen.Load(); seen != nil {
		(*seen)(r)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.size += r.Bytes()
	if h.size > h.most {
		select {
		case h.full <- struct{}{}:
		default: // a signal is already pending
		}
	}
}

// OnSaved sets the function that is called with each record that is put from now on, in place of the previous
// function. The function must not keep the record.
func (h *History) OnSaved(seen func(*Record)) { h.seen.Store(&seen) }

// Oldest returns the id of the oldest record, or "" if there is none.
func (h *History) Oldest(ctx context.Context) (id string, err error) {
	err = h.store.Store.Range(ctx, kind, "", func(e store.Entry) bool {
		id = e.Key
		return false
	})
	return id, err
}

// Get returns a record, or [ErrAbsent].
func (h *History) Get(ctx context.Context, id string) (*Record, error) {
	e, err := h.store.Get(ctx, kind, id)
	if err != nil {
		return nil, err
	}
	return h.decode(e)
}

// Update changes the current state of a record. change must be quick, and may be called again.
func (h *History) Update(ctx context.Context, id string, change func(*Record)) error {
	var r *Record
	err := h.store.Update(ctx, func(tx *store.Tx) (err error) {
		if r, err = h.Find(tx, id); err != nil {
			return err
		}
		change(r)
		return h.Put(tx, r)
	})
	if err != nil {
		return err
	}
	h.Saved(r)
	return nil
}

// Newest calls visit with the records before a time and before an id, newest first, until visit
// returns false. The zero time and the empty id mean no bound. An id contains its creation time to
// the millisecond, and is created before its change is announced. Records for which skip returns true, given
// their ids and revisions, are neither decoded nor visited; a nil skip skips none.
func (h *History) Newest(
	ctx context.Context, until time.Time, before string, skip func(string, store.Revision) bool,
	visit func(*Record) bool,
) error {
	before = Before(until, before)
	var wrong error
	err := h.store.RangeBack(ctx, kind, before, func(e store.Entry) bool {
		if skip != nil && skip(e.Key, e.Revision) {
			return true
		}
		var r *Record
		if r, wrong = h.decode(e); wrong != nil {
			return false
		}
		return !until.IsZero() && !r.Time.Before(until) || visit(r)
	})
	return errors.Join(err, wrong)
}

// Before returns a bound for ids that includes the changes before a time and before an id. The zero
// time and the empty id mean no bound.
func Before(until time.Time, id string) string {
	if until.IsZero() {
		return id
	}
	if bound := first(until.Add(time.Millisecond)); id == "" || bound < id {
		return bound
	}
	return id
}

// Running returns the changes that were running when the gateway last stopped.
func (h *History) Running(ctx context.Context) (running []*Record, err error) {
	var wrong error
	err = h.store.RangeBack(ctx, kind, "", func(e store.Entry) bool {
		if !bytes.Contains(e.Value, isRunning) { // decoding takes ten times as long
			return true
		}
		var r *Record
		if r, wrong = h.decode(e); wrong == nil && r.Running {
			running = append(running, r)
		}
		return wrong == nil
	})
	return running, errors.Join(err, wrong)
}

// isRunning is part of the text of every running change, and perhaps of others.
var isRunning = []byte(`"running":true`)

// Sum returns a keyed sum of some texts, with which the history recognizes its own cursors.
func (h *History) Sum(parts ...string) []byte {
	raw := make([][]byte, len(parts))
	for i, part := range parts {
		raw[i] = []byte(part)
	}
	return h.store.Sum(raw...)
}

func (h *History) decode(e store.Entry) (*Record, error) {
	r := &Record{}
	if err := store.Decode(h.store, e.Value, r); err != nil {
		return nil, fmt.Errorf("the change %s: %w", e.Key, err)
	}
	r.revision, r.expires = e.Revision, e.Expires
	return r, nil
}

// Kinds are the kinds of stored values of this package that survive a change of the store's key.
var Kinds = []store.Kind{kind}
