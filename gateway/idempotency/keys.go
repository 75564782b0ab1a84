// Package idempotency keeps the keys of calls. A change with an Idempotency-Key runs at most once
// within the time that keys are kept, even if the gateway is killed in between: the key is on the
// disk before the run, the intent of the script before it may begin, and the answer before it is
// sent. A call that repeats a key gets the answer of the first one. If that call was cut off, the
// outcome of its change is found out first.
//
// [Keys.Take] gives a call its key, a [Claim], or the answer of an earlier call. The claim takes
// part in the beginning of the change ([Claim.Begin]) and in the end of the call ([Claim.End]).
package idempotency

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"adgateway/gateway/bounds"
	"adgateway/gateway/change"
	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// kind is the kind of keys in the store.
const kind store.Kind = "key"

// kept is what is kept of a call with a key.
type kept struct {
	store.Formatted
	Progress
	Account     string `json:"account,omitempty"`  // of the caller; empty: not known, or that of an item
	Fingerprint []byte `json:"fingerprint"`        // of the operation and its arguments
	Attempts    int    `json:"attempts,omitempty"` // that were cut off
	Tag         string `json:"tag,omitempty"`      // of the record in the answer
	Token       string `json:"token,omitempty"`    // of the decision that allowed its change

	Status int             `json:"status,omitempty"` // of the answer; 0: there is none
	Body   json.RawMessage `json:"body,omitempty"`
	Secret string          `json:"secret,omitempty"` // member of the record that is not kept
	Cut    bool            `json:"cut,omitempty"`    // the answer was too long to keep its records
	// Within identifies the limits of the caller that was answered. It is empty for the key of a
	// job's item and for an answer that an earlier version has kept.
	Within string `json:"within,omitempty"`
}

// Progress is how far the call of a key has come.
type Progress struct {
	RequestID string         `json:"requestId"`
	StartedAt time.Time      `json:"startedAt"`
	Intent    *ps.Intent     `json:"intent,omitempty"` // nil: nothing has been changed yet
	Server    string         `json:"server,omitempty"`
	Change    string         `json:"change,omitempty"`  // that the call made, or is about to make
	Verdict   *write.Verdict `json:"verdict,omitempty"` // about the change that was cut off; nil: none yet

	// Batch is the first of the changes that the call made before that one; empty: there was none.
	Batch string `json:"batch,omitempty"`
}

// Keys are the calls with keys. They are safe for concurrent use.
type Keys struct {
	store   *store.Sealed
	life    time.Duration
	history *changes.History // nil: there is none

	count *keyCount

	mu     sync.Mutex
	active map[string]bool // keys of calls that are running
}

// New returns the keys in a store, which are kept for some time. history has the changes of their
// calls; nil: there is none.
func New(db *store.Sealed, life time.Duration, history *changes.History, limits Limits) *Keys {
	return &Keys{
		store: db, life: life, history: history, count: newKeyCount(db, limits), active: map[string]bool{},
	}
}

// Key names a call.
type Key struct {
	account string // of the caller; empty for the key of a job's item
	// Prefixes of the names of its caller's keys: by its id, and by its name. Those by the name are
	// what all versions find. They are the same of an item.
	byID, byName string
	rest         string
	within       string    // identifies the limits of the caller; empty for the key of a job's item
	expires      time.Time // of the key of an item; zero: as long as all keys are kept
}

// Of returns the key that a caller has given to a call of an operation.
func (k *Keys) Of(caller *identity.Principal, operation, given string) Key {
	id := caller.Identity()
	return Key{
		account: id.String(), rest: k.sum("key", operation, given), within: change.BoundsOf(caller.Limits).Digest(),
		byID: k.prefix("account", id.Kind, id.ID), byName: k.prefix("caller", caller.Kind, caller.Name),
	}
}

// OfItem returns the key of an item of a job, from the key that the job gives it, and until when it is
// kept. Keys of items are kept with the job, and do not count among the caller's.
func (k *Keys) OfItem(given string, expires time.Time) Key {
	prefix := k.prefix("job")
	return Key{byID: prefix, byName: prefix, rest: k.sum("item", given), expires: expires}
}

// forgottenAtOnce is how many keys one update removes.
const forgottenAtOnce = 100

// ForgetItems removes what is kept of the calls of items of jobs, from the keys that the jobs gave
// them. None of them may be running.
func (k *Keys) ForgetItems(ctx context.Context, given []string) error {
	for part := range slices.Chunk(given, forgottenAtOnce) {
		err := k.store.Update(ctx, func(tx *store.Tx) error {
			for _, item := range part {
				key := k.OfItem(item, time.Time{})
				name := key.byID + key.rest
				if _, err := tx.Get(kind, name); err == nil || !errors.Is(err, store.ErrAbsent) {
					tx.Delete(kind, name)
				}
			}
			return nil
		})
		if err != nil {
			return Unavailable(err)
		}
	}
	return nil
}

// find returns what is kept under the key, and the name that it is kept under, or is to be. It is
// kept by the name of its caller, unless another credential of that name has such a key.
func (k Key) find(load func(name string) (kept, error)) (name string, found kept, err error) {
	name = k.byID + k.rest
	if found, err = load(name); k.byID == k.byName || !errors.Is(err, store.ErrAbsent) {
		return name, found, err
	}
	found, err = load(k.byName + k.rest)
	if err == nil && !k.mayOwn(found) {
		return name, kept{}, store.ErrAbsent
	}
	return k.byName + k.rest, found, err
}

// mayOwn reports whether a key that is kept by the name of the caller is the caller's. An earlier
// version has kept the name only.
func (k Key) mayOwn(found kept) bool { return found.Account == "" || found.Account == k.account }

// prefix returns the prefix of the names of some keys.
func (k *Keys) prefix(parts ...string) string { return k.sum(parts...)[:32] + "/" }

// sum returns the digest of some texts.
func (k *Keys) sum(parts ...string) string {
	raw := make([][]byte, len(parts))
	for i, part := range parts {
		raw[i] = []byte(part)
	}
	return hex.EncodeToString(k.store.Sum(raw...))
}

// Fingerprint returns what identifies a call: its operation, its arguments, what it demands of the
// state of its object, and its document.
func (k *Keys) Fingerprint(operation, arguments, guard string, document []byte) []byte {
	return k.store.Sum([]byte("call"), []byte(operation), []byte(arguments), []byte(guard), document)
}

// ErrRunning is in the chain of the refusal of a call whose key another one has.
var ErrRunning = errors.New("a call with the key is running")

// Take takes a key for a call with a request id and a fingerprint. If an earlier call with the key
// was answered, there is its answer, and no claim. [Claim.Release] must follow, if there is a claim.
func (k *Keys) Take(
	ctx context.Context, key Key, requestID string, fingerprint []byte,
) (c *Claim, earlier *Answer, err error) {
	entered := key.byName + key.rest
	if !k.enter(entered) {
		failed := problem.New(schema.InProgress,
			"A call with this %s is running. Repeat it later to get its answer.", ops.KeyHeader)
		failed.RetryAfter = time.Second
		return nil, nil, fmt.Errorf("%w (%w)", failed, ErrRunning)
	}
	c = &Claim{keys: k, key: key, entered: entered}
	if earlier, err = k.decide(ctx, c, requestID, fingerprint); err == nil && earlier == nil {
		return c, nil, nil
	}
	k.leave(entered)
	if err != nil && !problem.Is(err) {
		err = Unavailable(err)
	}
	return nil, earlier, err
}

// mostAttempts is how often the call of an item may be cut off, by the end of its gateway or in its
// session, and be made again.
const mostAttempts = 3

// decide keeps the key for a call, or returns what is kept, in one update.
func (k *Keys) decide(
	ctx context.Context, c *Claim, requestID string, fingerprint []byte,
) (earlier *Answer, err error) {
	if err = k.mayHave(ctx, c.key); err != nil {
		return nil, err
	}
	var now kept
	var present, unsure bool
	err = k.store.Update(ctx, func(tx *store.Tx) error {
		fresh := kept{
			Account: c.key.account, Fingerprint: fingerprint,
			Progress: Progress{RequestID: requestID, StartedAt: time.Now()},
		}
		present, unsure = true, false
		c.name, now, err = c.key.find(func(name string) (kept, error) { return store.Load[kept](tx, kind, name) })
		switch {
		case errors.Is(err, store.ErrAbsent):
			present, now = false, fresh
		case err != nil:
			return fmt.Errorf("a kept call: %w", err)
		case !bytes.Equal(now.Fingerprint, fingerprint):
			return reused()
		default:
			if err := k.reopen(tx, &now); err != nil || now.Status != 0 {
				return err
			}
			if unsure = now.Intent != nil || now.Verdict != nil || now.Batch != ""; unsure {
				break // the outcome is looked up, which is no other attempt
			}
			fresh.Attempts = now.Attempts + 1
			if fresh.Attempts > mostAttempts && c.key.ofItem() {
				return poison(fresh.Attempts)
			}
			now = fresh // the earlier call changed nothing
		}
		now.Token = uuid.NewString()
		return c.put(tx, now)
	})
	switch {
	case err != nil:
		return nil, err
	case now.Status != 0:
		return now.answer(), nil
	}
	c.present, c.unsure = present, unsure
	c.keep(now)
	return nil, nil
}

// ofItem reports whether the key belongs to an item of a job.
func (k Key) ofItem() bool { return !k.expires.IsZero() }

// mayHave refuses a new key of a caller that has too many.
func (k *Keys) mayHave(ctx context.Context, key Key) error {
	if key.ofItem() {
		return nil
	}
	_, _, err := key.find(func(name string) (kept, error) { return k.get(ctx, name) })
	if !errors.Is(err, store.ErrAbsent) {
		return err
	}
	refused, err := k.count.full(ctx, key)
	if err != nil || refused == nil {
		return err
	}
	failed := problem.New(schema.RateLimited,
		"The credential has %d keys, which is the limit. The oldest ends in %s.",
		bounds.Keys.Own, refused.wait.Round(time.Second))
	if refused.full != nil {
		failed.Message = refused.full.Sentences()
	}
	failed.RetryAfter = refused.wait
	return failed
}

// get returns what is kept under a name.
func (k *Keys) get(ctx context.Context, name string) (now kept, err error) {
	found, err := k.store.Get(ctx, kind, name)
	if err == nil {
		err = store.Decode(k.store, found.Value, &now)
	}
	return now, err
}

// reopen replaces an answer that an earlier version has kept although it asks to come again by what
// it says of the change.
func (k *Keys) reopen(tx *store.Tx, of *kept) error {
	if !asksAgain(of.Status) {
		return nil
	}
	var answer struct {
		Error struct {
			Outcome ps.Outcome
			Details []problem.Detail
		}
	}
	if err := json.Unmarshal(of.Body, &answer); err != nil || answer.Error.Outcome == "" {
		answer.Error.Outcome = ps.OutcomeUnknown
	}
	of.Status, of.Body = 0, nil
	of.Verdict = &write.Verdict{
		Outcome: answer.Error.Outcome, Notes: problem.Messages(answer.Error.Details),
	}
	if k.history == nil || of.Change == "" {
		return nil
	}
	past, err := k.history.Find(tx, of.Change)
	if err == nil {
		of.Intent, of.Verdict.Failed = &past.Intent, past.Failed
	}
	if errors.Is(err, changes.ErrAbsent) {
		return nil
	}
	return err
}

// answer returns the answer of an earlier call.
func (k *kept) answer() *Answer {
	answer := Answer{
		RequestID: k.RequestID, Server: k.Server, Tag: k.Tag, Change: k.Change,
		Status: k.Status, Body: k.Body, Within: k.Within,
	}
	switch {
	case k.Secret != "":
		answer.Warnings = []ps.Warning{SecretNotReplayed(k.Secret)}
	case k.Cut:
		answer.Warnings = []ps.Warning{{
			Code:    "records_not_replayed",
			Message: "The first answer was too long to be kept: its records are left out.",
		}}
	}
	return &answer
}

// SecretNotReplayed says that a member of the record, a generated secret, is not shown again.
func SecretNotReplayed(member string) ps.Warning {
	return ps.Warning{
		Code: "secret_not_replayed", Target: member,
		Message: "The generated secret was shown in the first answer only. If it is lost, set another one.",
	}
}

// End implements [write.Kind]. It notes in the key of a change how the change has ended. If nothing
// was changed, a repetition of the call runs again.
func (*Keys) End(tx *store.Tx, c *changes.Record, e *write.End) error {
	if c.Key == "" || e.Answered {
		return nil
	}
	found, err := tx.Get(kind, c.Key)
	if errors.Is(err, store.ErrAbsent) {
		return nil // it is no longer kept
	}
	if err != nil {
		return err
	}
	of, err := store.Load[kept](tx, kind, c.Key)
	if err != nil || of.Change != c.ID || of.Status != 0 || of.Verdict != nil {
		return err
	}
	of.Verdict, of.Token = &e.Verdict, ""
	if e.Verdict.Outcome == ps.OutcomeNone {
		of.Verdict, of.Intent, of.Change = nil, nil, ""
	}
	return store.Save(tx, kind, c.Key, of, found.Expires)
}

// Forget forgets how many keys callers have, as another gateway may have kept some.
func (k *Keys) Forget() { k.count.forget() }

// Most returns the number of keys of the caller that has most, of those that used one since the
// start. Those that expired since they were counted are among them.
func (k *Keys) Most() int { return k.count.most() }

// Refused returns how many calls were refused because their credential has as many keys as it may.
func (k *Keys) Refused() int64 { return k.count.refused.Load() }

// enter reports whether no other call with the key is running.
func (k *Keys) enter(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.active[name] {
		return false
	}
	k.active[name] = true
	return true
}

func (k *Keys) leave(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.active, name)
}
