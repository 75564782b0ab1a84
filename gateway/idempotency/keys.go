// Package idempotency stores the keys of calls. A change with an Idempotency-Key is made at most once while
// its key is stored, even if the gateway is killed. The key and the intent of the script are on disk before
// the change begins, and the answer is on disk before it is sent. A call that repeats a key gets the answer
// of the first call. If that call was cut off, the outcome of its change is determined first.
//
// [Keys.Take] returns either a [Claim] on the key or the answer of an earlier call. The claim takes
// part in the beginning of the change ([Claim.Begin]) and in the end of the call ([Claim.End]).
package idempotency

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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

// kept is the stored state of a call with a key.
type kept struct {
	store.Formatted
	Progress
	Account     string `json:"account,omitempty"`  // account of the caller; empty if unknown, or an item's key
	Fingerprint []byte `json:"fingerprint"`        // of the operation and its arguments
	Attempts    int    `json:"attempts,omitempty"` // number of attempts that were cut off
	Tag         string `json:"tag,omitempty"`      // entity tag of the record in the answer
	Token       string `json:"token,omitempty"`    // token of the decision that allowed its change

	Status int             `json:"status,omitempty"` // status of the answer; 0 if there is none
	Body   json.RawMessage `json:"body,omitempty"`
	Secret string          `json:"secret,omitempty"` // member of the record that is not stored
	// whether the answer was too long, so that its records are not stored
	Cut bool `json:"cut,omitempty"`
	// Within identifies the caller's limits when it got the answer. It is empty for the key of a job's
	// item, and for an answer from an earlier version.
	Within string `json:"within,omitempty"`
}

// Progress is the progress of the call with a key.
type Progress struct {
	RequestID string         `json:"requestId"`
	StartedAt time.Time      `json:"startedAt"`
	Intent    *ps.Intent     `json:"intent,omitempty"` // nil if nothing has been changed yet
	Server    string         `json:"server,omitempty"`
	Change    string         `json:"change,omitempty"`  // id of the change that the call made or will make
	Verdict   *write.Verdict `json:"verdict,omitempty"` // verdict about an interrupted change; nil if none yet

	// Batch is the id of the first earlier change by the call, or "" if there is none.
	Batch string `json:"batch,omitempty"`
}

// Keys are the stored keys of calls. They are safe for concurrent use.
type Keys struct {
	store   *store.Sealed
	life    time.Duration
	history *changes.History // nil if there is none

	count *keyCount

	mu     sync.Mutex
	active map[string]bool // keys of running calls
}

// New returns the keys in a store. Each key is stored for life. history holds the changes of their
// calls; it may be nil.
func New(db *store.Sealed, life time.Duration, history *changes.History, limits Limits) *Keys {
	return &Keys{
		store: db, life: life, history: history, count: newKeyCount(db, limits), active: map[string]bool{},
	}
}

// Key identifies a call.
type Key struct {
	account string // account of the caller; empty for the key of a job's item
	// Prefixes of the names of the caller's keys: by its id, and by its name. All versions find keys
	// by name. For an item both prefixes are equal.
	byID, byName string
	rest         string
	within       string    // identifies the caller's limits; empty for the key of a job's item
	expires      time.Time // when an item's key expires; zero for other keys
	counted      bool      // whether the key is stored before the call runs, so that the attempt counts
}

// Of returns the key that a caller has sent with a call of an operation.
func (k *Keys) Of(caller *identity.Principal, operation, given string) Key {
	id := caller.Identity()
	return Key{
		account: id.String(), rest: k.sum("key", operation, given), within: change.BoundsOf(caller.Limits).Digest(),
		byID: k.prefix("account", id.Kind, id.ID), byName: k.prefix("caller", caller.Kind, caller.Name),
	}
}

// OfItem returns the key of a job's item. It is stored until expires, like the job, and does not count
// towards the caller's limit. If counted is true, an attempt during which the process ends counts as cut off.
func (k *Keys) OfItem(given string, expires time.Time, counted bool) Key {
	prefix := k.prefix("job")
	return Key{byID: prefix, byName: prefix, rest: k.sum("item", given), expires: expires, counted: counted}
}

// ForgetItems returns the changes that remove the stored calls of items, given the keys from their
// jobs. It returns none for a key that is not stored. None of the calls may be running.
func (k *Keys) ForgetItems(ctx context.Context, given []string) (changes []store.Change, err error) {
	for _, item := range given {
		key := k.OfItem(item, time.Time{}, false)
		name := key.byID + key.rest
		found, err := k.store.Store.Get(ctx, kind, name) // the value need not be decrypted
		if errors.Is(err, store.ErrAbsent) {
			continue
		}
		if err != nil {
			return nil, Unavailable(err)
		}
		changes = append(changes, store.Change{Kind: kind, Key: name, Expect: found.Revision})
	}
	return changes, nil
}

// find returns the stored state of the key, and the name under which it is or will be stored. It uses the
// caller's name, unless the key under that name belongs to another credential.
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

// mayOwn reports whether a key found under the caller's name belongs to the caller. Earlier
// versions stored only the name.
func (k Key) mayOwn(found kept) bool { return found.Account == "" || found.Account == k.account }

// prefix returns a prefix for the names of keys.
func (k *Keys) prefix(parts ...string) string { return k.sum(parts...)[:32] + "/" }

// sum returns a digest of some texts.
func (k *Keys) sum(parts ...string) string {
	raw := make([][]byte, len(parts))
	for i, part := range parts {
		raw[i] = []byte(part)
	}
	return hex.EncodeToString(k.store.Sum(raw...))
}

// Fingerprint identifies a call: its operation, its arguments, its conditions and its document.
func (k *Keys) Fingerprint(operation, arguments, guard string, document []byte) []byte {
	return k.store.Sum([]byte("call"), []byte(operation), []byte(arguments), []byte(guard), document)
}

// ErrRunning is in the chain of a refusal if another call holds the key.
var ErrRunning = errors.New("a call with the key is running")

// Take claims a key for a call with a request id and a fingerprint. If an earlier call with the key
// was answered, Take returns that answer and no claim. If it returns a claim, the caller must call
// [Claim.Release].
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

// mostAttempts limits how often an item's call is made again after it was cut off by the end of its gateway
// or session.
const mostAttempts = 3

// decide returns the answer of an earlier call, or completes the claim. A new key is not stored before the
// change begins or the call ends, unless attempts are counted.
func (k *Keys) decide(
	ctx context.Context, c *Claim, requestID string, fingerprint []byte,
) (earlier *Answer, err error) {
	fresh := kept{
		Account: c.key.account, Fingerprint: fingerprint,
		Progress: Progress{RequestID: requestID, StartedAt: time.Now()}, Token: uuid.NewString(),
	}
	if !c.key.counted {
		c.name, _, err = c.key.find(func(name string) (kept, error) { return k.get(ctx, name) })
		switch {
		case errors.Is(err, store.ErrAbsent):
			c.call = fresh
			return nil, k.mayHave(ctx, c.key)
		case err != nil:
			return nil, err
		}
	}
	return k.again(ctx, c, fresh)
}

// again returns the answer of an earlier call, or stores the key for this one, in a single update.
func (k *Keys) again(ctx context.Context, c *Claim, fresh kept) (earlier *Answer, err error) {
	var now kept
	var present, unsure bool
	err = k.store.Update(ctx, func(tx *store.Tx) error {
		present, unsure = true, false
		c.name, now, err = c.key.find(func(name string) (kept, error) { return store.Load[kept](tx, kind, name) })
		switch {
		case errors.Is(err, store.ErrAbsent):
			present, now = false, fresh
		case err != nil:
			return fmt.Errorf("a kept call: %w", err)
		case !bytes.Equal(now.Fingerprint, fresh.Fingerprint):
			return reused()
		default:
			if err := k.reopen(tx, &now); err != nil || now.Status != 0 {
				return err
			}
			if unsure = now.Intent != nil || now.Verdict != nil || now.Batch != ""; unsure {
				break // determining the outcome is not another attempt
			}
			attempts := now.Attempts + 1
			if attempts > mostAttempts && c.key.ofItem() {
				return poison(attempts)
			}
			now = fresh // the earlier call changed nothing
			now.Attempts = attempts
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

// ofItem reports whether the key belongs to a job's item.
func (k Key) ofItem() bool { return !k.expires.IsZero() }

// mayHave refuses a new key if its caller has too many keys.
func (k *Keys) mayHave(ctx context.Context, key Key) error {
	if key.ofItem() {
		return nil
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

// get returns the state stored under a name.
func (k *Keys) get(ctx context.Context, name string) (now kept, err error) {
	found, err := k.store.Get(ctx, kind, name)
	if err == nil {
		err = store.Decode(k.store, found.Value, &now)
	}
	return now, err
}

// reopen removes an answer that asks the client to retry, as stored by an earlier version. The key
// then has the outcome that the answer states.
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

// answer returns the stored answer.
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

// SecretNotReplayed warns that a member of the record, a generated secret, is not shown again.
func SecretNotReplayed(member string) ps.Warning {
	return ps.Warning{
		Code: "secret_not_replayed", Target: member,
		Message: "The generated secret was shown in the first answer only. If it is lost, set another one.",
	}
}

// End implements [write.Kind]. It stores the outcome of a change in its key. If nothing was
// changed, a repetition of the call runs again.
func (*Keys) End(tx *store.Tx, c *changes.Record, e *write.End) error {
	if c.Key == "" || e.Answered {
		return nil
	}
	found, err := tx.Get(kind, c.Key)
	if errors.Is(err, store.ErrAbsent) {
		return nil // the key has expired
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

// Forget drops the counts of keys, because another gateway may have stored keys.
func (k *Keys) Forget() { k.count.forget() }

// Most returns the number of keys of the caller with the most. It only counts callers that have used a key
// since the start. It includes keys that have expired since they were counted.
func (k *Keys) Most() int { return k.count.most() }

// Refused returns the number of calls that were refused because the caller had too many keys.
func (k *Keys) Refused() int64 { return k.count.refused.Load() }

// enter claims the key within this process, and reports whether no other call holds it.
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
