package idempotency

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// Claim is a key that a call holds until it is released. It is nil if the call has no key. It implements
// [write.Participant]. It is not safe for concurrent use.
type Claim struct {
	keys    *Keys
	key     Key
	entered string // name of the claimed key
	name    string // name of the key in the store
	call    kept   // stored state
	present bool   // whether the key is in the store
	checked bool   // whether the store was found not to have the key at the end of the call
	unsure  bool   // an earlier call with the key was cut off after its announcement
	open    bool   // whether the outcome of this or an earlier call's change is not known yet
	again   bool   // whether the call was cut off before it changed anything, and is made again
	lost    bool   // another gateway has taken over the call

	next kept // state put by Begin

	size    int64 // size of the last put state in bytes
	counted int64 // bytes that count towards the caller's limit
}

// Name identifies the key in the store. It is "" if the call has no key.
func (c *Claim) Name() string {
	if c == nil {
		return ""
	}
	return c.name
}

// Release releases the claim. After that another call can claim the key.
func (c *Claim) Release() { c.keys.leave(c.entered) }

// Progress returns the progress of the call, or of an earlier call with the key.
func (c *Claim) Progress() Progress {
	if c == nil {
		return Progress{}
	}
	return c.call.Progress
}

// Unsure reports whether an earlier call with the key was cut off after its announcement. The
// outcome of its change must be determined first.
func (c *Claim) Unsure() bool { return c != nil && c.unsure }

// Again reports whether the call should be made again, because it belongs to an item and was cut
// off before it changed anything.
func (c *Claim) Again() bool { return c != nil && c.again }

// LeaveOpen records that the outcome of a change by this call or an earlier one is not known yet. No answer
// is then stored.
func (c *Claim) LeaveOpen() { c.open = true }

// Answer returns the answer of an earlier call if another gateway has stored it since the key was claimed, or
// nil if there is none.
func (c *Claim) Answer() *Answer {
	if c.call.Status == 0 {
		return nil
	}
	return c.call.answer()
}

// Judge notes the outcome of an earlier call's change.
func (c *Claim) Judge(v write.Verdict) { c.call.Verdict = &v }

// Anew records that an earlier call has changed nothing, so that this one runs.
func (c *Claim) Anew() { c.call.Intent, c.call.Change, c.call.StartedAt = nil, "", time.Now() }

// Refresh reads the current state of the call from the store.
func (c *Claim) Refresh(ctx context.Context) error {
	now, err := c.keys.get(ctx, c.name)
	if errors.Is(err, store.ErrAbsent) {
		c.call, c.present = kept{}, false
		return nil
	}
	if err == nil {
		c.call = now
	}
	return err
}

// owns reports, within an update, whether the stored key is still in the state that this call last read or
// stored.
func (c *Claim) owns(tx *store.Tx) (bool, error) {
	now, err := store.Load[kept](tx, kind, c.name)
	if errors.Is(err, store.ErrAbsent) {
		return !c.present, nil
	}
	return c.present && now.Token == c.call.Token && now.Status == 0, err
}

// put stores the state of a call under the key, as part of an update.
func (c *Claim) put(tx *store.Tx, next kept) error {
	text, err := store.Encode(c.keys.store, next)
	if err != nil {
		return err
	}
	expires := tx.Now().Add(c.keys.life)
	if c.key.expires.After(expires) {
		expires = c.key.expires
	}
	tx.Put(kind, c.name, text, expires)
	c.size = int64(len(text))
	return nil
}

// keep records that the state of a call is stored under the key.
func (c *Claim) keep(now kept) {
	added := 0
	if !c.present {
		added = 1
	}
	c.keys.count.add(c.key.byID, added, c.size-c.counted)
	c.counted = c.size
	c.call, c.present = now, true
}

// forget records that nothing is stored under the key any longer.
func (c *Claim) forget() {
	if c.present {
		c.keys.count.add(c.key.byID, -1, -c.counted)
		c.counted, c.present = 0, false
	}
}

// Begin implements [write.Participant]. It stores the intent of the script, and the id of the
// change in the history. It refuses a call that another gateway has taken over.
func (c *Claim) Begin(tx *store.Tx, a *write.Attempt) error {
	owns, err := c.owns(tx)
	if err != nil {
		return err
	}
	if c.lost = !owns; c.lost {
		return write.TakenOver()
	}
	c.next = c.call
	c.next.Intent, c.next.Server = a.Intent, a.Intent.Server
	if a.Record != nil {
		c.next.Change, c.next.Batch = a.Record.ID, a.Record.Batch
	}
	c.next.Verdict, c.next.Token = nil, a.Token
	return c.put(tx, c.next)
}

// Begun implements [write.Participant].
func (c *Claim) Begun() { c.keep(c.next) }

// Ended describes the end of a call with a key.
type Ended struct {
	Outcome   ps.Outcome     // outcome of the whole call
	Failure   *problem.Error // nil on success
	DryRun    bool
	Overtaken bool // whether the call failed because other changes of the object took precedence

	// The answer as it was sent.
	Status int
	Body   []byte
	Tag    string         // entity tag of its record; empty if none
	Change string         // id of the change that the answer names; empty if none
	Secret *ops.Generated // secret that it shows; nil if none
}

// End returns what to store for a call that has ended: its answer, or the fact that it may be retried.
// It returns nil if the key must not change, so that a repetition determines the outcome of the change.
func (c *Claim) End(e Ended) *write.EndPart {
	if c == nil || c.call.Status != 0 || c.lost {
		return nil
	}
	// An outcome that will stay unknown is the verdict.
	open := c.open || e.Outcome == ps.OutcomeUnknown && e.Failure.Code != schema.OutcomeUnknown
	untouched := !open && e.Outcome == ps.OutcomeNone && e.Failure != nil
	next := c.call
	switch {
	case untouched && c.counts(e): // store the number of attempts
		c.again = true
		next = kept{
			Account: next.Account, Fingerprint: next.Fingerprint, Attempts: next.Attempts,
			Progress: Progress{RequestID: next.RequestID, StartedAt: next.StartedAt},
		}
	case e.DryRun, untouched: // the call may be retried
		return c.endWith(nil)
	case open: // the next call determines the outcome
		return nil
	case asksAgain(e.Status):
		next.Verdict, next.Token = &write.Verdict{Outcome: e.Outcome}, ""
		if e.Failure != nil {
			next.Verdict.Notes = problem.Messages(e.Failure.Details)
		}
	default:
		next.answered(e)
		next.Within = c.key.within
		if c.key.ofItem() { // the job shows the identity of the object and none of its other values
			next.Body = next.answer().reduced(schema.KeysOf)
		}
	}
	return c.endWith(&next)
}

// endWith returns the part of an update that stores the last state of a call, or removes the key if next is
// nil. It has no effect if another call has claimed the key.
func (c *Claim) endWith(next *kept) *write.EndPart {
	put := func(tx *store.Tx) error {
		owns, err := c.owns(tx)
		c.lost = !owns
		switch {
		case err != nil || !owns:
			return err
		case next != nil:
			return c.put(tx, *next)
		case c.present:
			tx.Delete(kind, c.name)
		}
		return nil
	}
	stored := func() {
		switch {
		case c.lost:
		case next == nil:
			c.forget()
			c.checked = true
		default:
			c.keep(*next)
		}
	}
	return &write.EndPart{Put: put, Stored: stored}
}

// asksAgain reports whether an answer with a status asks the client to retry. Such answers are not stored.
func asksAgain(status int) bool { return status >= http.StatusInternalServerError }

// counts reports whether a call belongs to an item, was cut off before it changed anything, and will be made
// again. The cause of such a failure, for example an overloaded host, a lost connection or an election, is
// temporary.
func (c *Claim) counts(e Ended) bool {
	return c.key.ofItem() && e.Failure.Code == schema.Timeout && !e.Overtaken && c.call.Attempts < mostAttempts
}

const maxKeptBody = 256 << 10

// answered records the answer of a call.
func (k *kept) answered(e Ended) {
	k.Status, k.Body, k.Intent, k.Verdict, k.Token = e.Status, e.Body, nil, nil, ""
	k.Change, k.Tag = e.Change, e.Tag
	if e.Failure != nil {
		k.Tag = e.Failure.Tag
	}
	if secret := e.Secret; secret != nil {
		name := string(schema.JSON(secret.Member)) + ":"
		shown, hidden := name+string(schema.JSON(secret.Reveal())), name+"null"
		k.Body, k.Secret = bytes.Replace(e.Body, []byte(shown), []byte(hidden), 1), secret.Member
	}
	if len(k.Body) > maxKeptBody {
		k.Body, k.Cut = withoutRecords(k.Body), true
	}
}

// Unchecked reports whether the end of a call that has begun no change was not stored, so another
// call with the key may have been made. The call must not be answered as if it were the first.
func (c *Claim) Unchecked() bool { return c != nil && !c.present && !c.checked }

// Record returns a record for an earlier call's change that the history lacks, with its caller and
// parameters.
func (c *Claim) Record(operation string, caller identity.Who, parameters map[string]string) *changes.Record {
	return &changes.Record{
		ID: c.call.Change, RequestID: c.call.RequestID, Time: c.call.StartedAt, Operation: operation,
		Author: changes.AuthorOf(caller), Parameters: parameters, Intent: *c.call.Intent, Server: c.call.Server,
		Key: c.name, Running: true,
	}
}
