package gateway

import (
	"adgateway/gateway/call"
	"adgateway/gateway/write"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// A change with an Idempotency-Key runs at most once within the time that keys are
// kept, even if the gateway is killed meanwhile: the key is on the disk before the run,
// what the script is about to change before it may begin, and the answer before it is
// sent. A call that repeats a key gets the answer of the first one. If that call was cut
// off, what became of its change is found out first.

const (
	keyHeader = ops.KeyHeader
)

// keptKind is the kind of kept calls in the store.
const keptKind store.Kind = "key"

const maxKeptBody = 256 << 10

// keyPattern is a key, with or without the quotation marks of a structured field.
var keyPattern = regexp.MustCompile(`^(?:"(` + ops.KeyPattern + `)"|(` + ops.KeyPattern + `))$`)

// keptCall is what is kept of a call with a key.
type keptCall struct {
	store.Formatted
	Fingerprint []byte         `json:"fingerprint"` // of the operation and its arguments
	RequestID   string         `json:"requestId"`
	StartedAt   time.Time      `json:"startedAt"`
	Intent      *ps.Intent     `json:"intent,omitempty"` // nil: nothing has been changed yet
	Server      string         `json:"server,omitempty"`
	Attempts    int            `json:"attempts,omitempty"` // that were cut off
	Change      string         `json:"change,omitempty"`   // that the call made, or is about to make
	Verdict     *write.Verdict `json:"verdict,omitempty"`  // about the change that was cut off; nil: there is none yet
	Batch       string         `json:"batch,omitempty"`    // the first of the changes that the call made before that one; empty: there was none
	Tag         string         `json:"tag,omitempty"`      // of the record in the answer
	Token       string         `json:"token,omitempty"`    // of the decision that allowed its change

	Status int             `json:"status,omitempty"` // of the answer; 0: there is none
	Body   json.RawMessage `json:"body,omitempty"`
	Secret string          `json:"secret,omitempty"` // member of the record that is not kept
	Cut    bool            `json:"cut,omitempty"`    // the answer was too long to keep its records
}

// keys are the calls with keys.
type keys struct {
	store *store.Sealed
	life  time.Duration

	count *keyCount

	mu     sync.Mutex
	active map[string]bool // keys of calls that are running
}

func newKeys(db *store.Sealed, life time.Duration) *keys {
	return &keys{store: db, life: life, count: newKeyCount(db.Store), active: map[string]bool{}}
}

// claim is a key that a request has, until it is released.
type claim struct {
	keys    *keys
	caller  string // prefix of the names of its keys
	name    string
	call    keptCall  // as the store has it
	present bool      // the store has it
	unsure  bool      // an earlier call with the key was cut off after its announcement
	open    bool      // it is not known yet what became of a change of the call, or of an earlier one
	expires time.Time // zero: as long as all keys
	left    bool      // the call has ended
	again   bool      // the call was cut off before it changed anything, and is made again
	lost    bool      // another gateway has taken the call over
}

// claimed returns the key that the change of a request is made under, which is that of the whole
// call; nil: there is none.
func (r *request) claimed() *claim { return r.whole().key }

// mostAttempts is how often the call of an item may be cut off, by the end of its gateway or
// in its session, and be made again.
const mostAttempts = 3

// counts reports whether a call that changed nothing is that of an item which was cut off,
// and is made again: a full host, a lost connection or an election of the engine passes.
func (c *claim) counts(r *request) bool {
	return r.call.Item != nil && r.failure != nil && r.failure.Code == schema.Timeout &&
		!errors.Is(r.failure, errOvertaken) && c.call.Attempts < mostAttempts
}

// claim takes the key of a request for it. earlier is the answer of an earlier call
// with the key; nil: there is none.
func (s *Server) claim(r *request) (earlier *call.Answer, failed error) {
	if item := r.call.Item; item != nil {
		return s.claimItem(r, item)
	}
	given := r.call.Keys
	if scope := r.demands(r.policy.RequireKey); scope != "" && len(given) == 0 {
		return nil, invalidKey("is required for changes with the scope '%s'", scope)
	}
	if len(given) == 0 || r.op.Protocol != nil { // protocols of others have no such header
		return nil, nil
	}
	key, failed := keyOf(given)
	switch {
	case !r.op.Effect.Writes():
		return nil, problem.New(schema.NotSupported, "This call changes nothing, so that it takes no %s: leave it out.", keyHeader)
	case s.keys == nil:
		return nil, problem.New(schema.NotSupported, "This gateway keeps no keys (store.file is off), so that it cannot promise to run a call once.")
	case failed != nil:
		return nil, failed
	}
	caller := s.keys.sum("caller", r.principal.Kind, r.principal.Name)[:32] + "/"
	return s.take(r, &claim{keys: s.keys, caller: caller, name: caller + s.keys.sum("key", r.op.ID, key)})
}

// claimItem takes the key of an item of a job for its call. The keys of items are those of
// the job, so that they do not count among the caller's, and are kept as long as it is.
func (s *Server) claimItem(r *request, item *call.Item) (earlier *call.Answer, failed error) {
	if r.dryRun() {
		return nil, nil
	}
	caller := s.keys.sum("job")[:32] + "/"
	return s.take(r, &claim{keys: s.keys, caller: caller, name: caller + s.keys.sum("item", item.Key), expires: item.Expires})
}

// sum returns the digest of some texts.
func (k *keys) sum(parts ...string) string {
	raw := make([][]byte, len(parts))
	for i, part := range parts {
		raw[i] = []byte(part)
	}
	return hex.EncodeToString(k.store.Sum(raw...))
}

// take takes a key for a request, unless another one has it.
func (s *Server) take(r *request, c *claim) (earlier *call.Answer, failed error) {
	fingerprint := s.keys.store.Sum([]byte("call"), []byte(r.op.ID), []byte(r.bound.Canonical()), []byte(r.guard.text()), r.given.Document)
	if !s.keys.enter(c.name) && (s.storeEnds(r.ctx) != nil || !s.keys.enter(c.name)) {
		failed := problem.New(schema.InProgress, "A call with this %s is running. Repeat it later to get its answer.", keyHeader)
		failed.RetryAfter = time.Second
		return nil, failed
	}
	earlier, err := s.decide(r, c, fingerprint)
	switch {
	case err == nil && earlier == nil:
		r.key = c
		return nil, nil
	case err != nil && !problem.Is(err):
		err = keysUnavailable(err)
	}
	s.keys.leave(c.name)
	return earlier, err
}

// decide keeps the key for a call, or returns what is kept, in one update.
func (s *Server) decide(r *request, c *claim, fingerprint []byte) (earlier *call.Answer, err error) {
	if err = s.mayHaveKey(r.ctx, c); err != nil {
		return nil, err
	}
	var now keptCall
	var present, unsure bool
	err = s.keys.store.Update(r.ctx, func(tx *store.Tx) error {
		fresh := keptCall{Fingerprint: fingerprint, RequestID: r.id, StartedAt: time.Now()}
		present, unsure = true, false
		now, err = store.Load[keptCall](tx, keptKind, c.name)
		switch {
		case errors.Is(err, store.ErrAbsent):
			present, now = false, fresh
		case err != nil:
			return fmt.Errorf("a kept call: %w", err)
		case !bytes.Equal(now.Fingerprint, fingerprint):
			return problem.New(schema.KeyReused, "This %s belongs to another call: of another operation, or with other parameters. Use a new key for each call, and the same for its repetitions.", keyHeader)
		default:
			if err := s.reopen(tx, &now); err != nil || now.Status != 0 {
				return err
			}
			if unsure = now.Intent != nil || now.Verdict != nil || now.Batch != ""; unsure {
				break // what became of it is found out, which is no other attempt
			}
			fresh.Attempts = now.Attempts + 1
			if fresh.Attempts > mostAttempts && !c.expires.IsZero() {
				return problem.New(schema.Poison, "This call was cut off %d times, by the end of a gateway or in its session, so that it is not made again.", fresh.Attempts)
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
		return s.replay(r, &now), nil
	}
	c.present, c.unsure = present, unsure
	c.kept(now)
	return nil, nil
}

// mayHaveKey refuses a new key of a caller that has too many.
func (s *Server) mayHaveKey(ctx context.Context, c *claim) error {
	if !c.expires.IsZero() {
		return nil
	}
	if _, err := s.keys.store.Get(ctx, keptKind, c.name); !errors.Is(err, store.ErrAbsent) {
		return err
	}
	wait, err := s.keys.count.full(ctx, c.caller)
	if err != nil || wait == 0 {
		return err
	}
	failed := problem.New(schema.RateLimited, "The credential has %d keys, which is the limit. The oldest ends in %s.", maxKeysPerCaller, wait.Round(time.Second))
	failed.RetryAfter = wait
	return failed
}

// keyOf returns the key of a request.
func keyOf(given []string) (string, error) {
	if len(given) > 1 {
		return "", invalidKey("is given %d times", len(given))
	}
	match := keyPattern.FindStringSubmatch(given[0])
	if match == nil {
		return "", invalidKey("must have 8 to 128 letters, digits, dots, colons, hyphens or underscores, such as a UUID")
	}
	return cmp.Or(match[1], match[2]), nil
}

func invalidKey(format string, args ...any) error {
	failed := problem.New(schema.InvalidRequest, keyHeader+" "+format+".", args...)
	failed.Details = []problem.Detail{{Field: keyHeader, Message: strings.TrimPrefix(failed.Message, keyHeader+" ")}}
	return failed
}

// keysUnavailable returns the refusal of a call whose key cannot be kept.
func keysUnavailable(err error) error {
	return call.StoreFault(err, "Keys cannot be kept at the moment, so that the call was not run. Try again later, or without %s.", keyHeader)
}

// replay returns the answer of an earlier call.
func (s *Server) replay(r *request, kept *keptCall) *call.Answer {
	r.replayed = true
	r.shown = kept.Change
	answer := call.Answer{
		Replayed: kept.RequestID, Server: kept.Server, Tag: kept.Tag, Kept: &call.Kept{Status: kept.Status, Body: kept.Body},
	}
	switch {
	case kept.Secret != "":
		answer.Warnings = []ps.Warning{notReplayed(kept.Secret)}
	case kept.Cut:
		answer.Warnings = []ps.Warning{{Code: "records_not_replayed", Message: "The first answer was too long to be kept: its records are left out."}}
	}
	return &answer
}

// notReplayed says that a member of the record, a generated secret, is not shown again.
func notReplayed(secret string) ps.Warning {
	return ps.Warning{Code: "secret_not_replayed", Target: secret, Message: "The generated secret was shown in the first answer only. If it is lost, set another one."}
}

// latest reads the call as the store has it now.
func (c *claim) latest(ctx context.Context) error {
	found, err := c.keys.store.Get(ctx, keptKind, c.name)
	if errors.Is(err, store.ErrAbsent) {
		c.call, c.present = keptCall{}, false
		return nil
	}
	var call keptCall
	if err == nil {
		err = store.Decode(c.keys.store, found.Value, &call)
	}
	if err == nil {
		c.call = call
	}
	return err
}

// owns reports, in an update, whether the store has the key as this call has read or put it.
func (c *claim) owns(tx *store.Tx) (bool, error) {
	call, err := store.Load[keptCall](tx, keptKind, c.name)
	if errors.Is(err, store.ErrAbsent) {
		return !c.present, nil
	}
	return c.present && call.Token == c.call.Token && call.Status == 0, err
}

// put keeps a call under the key, as a part of an update.
func (c *claim) put(tx *store.Tx, call keptCall) error {
	return store.Save(tx, keptKind, c.name, call, later(tx.Now().Add(c.keys.life), c.expires))
}

// end keeps a call under the key, as a part of an update, or nothing if next is nil. It does
// nothing if another call has the key by now.
func (c *claim) end(tx *store.Tx, next *keptCall) error {
	own, err := c.owns(tx)
	switch {
	case err != nil || !own:
		return err
	case next != nil:
		return c.put(tx, *next)
	case c.present:
		tx.Delete(keptKind, c.name)
	}
	return nil
}

// kept notes that the store has a call under the key.
func (c *claim) kept(call keptCall) {
	if !c.present {
		c.keys.count.add(c.caller, 1)
	}
	c.call, c.present = call, true
}

// forgotten notes that the store has nothing under the key any more.
func (c *claim) forgotten() {
	if c.present {
		c.keys.count.add(c.caller, -1)
		c.present = false
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// outcome returns what the request left behind; done if it succeeded.
func (r *request) outcome() ps.Outcome {
	if r.failure == nil {
		return ps.OutcomeDone
	}
	return cmp.Or(r.failure.Outcome, ps.OutcomeNone)
}

// release ends the claim of a request.
func (r *request) release() {
	if r.key != nil {
		r.gateway.unstored.leave(r.key)
	}
}

// enter reports whether no other call with the key is running.
func (k *keys) enter(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.active[name] {
		return false
	}
	k.active[name] = true
	return true
}

func (k *keys) leave(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.active, name)
}
