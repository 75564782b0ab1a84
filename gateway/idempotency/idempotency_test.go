package idempotency

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/call"
	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// process is one of several processes that have the same store, one after another or, while one of
// them stands still, at the same time.
type process struct {
	*Keys
	t *testing.T
}

func newProcess(t *testing.T, db *store.Sealed) process { return process{New(db, time.Hour, nil), t} }

var portal = &identity.Principal{ID: "7", Kind: identity.KindToken, Name: "portal"}

func (p process) take(requestID string) (*Claim, *call.Answer) {
	p.t.Helper()
	key := p.Of(portal, "user.disable", "one-of-the-keys")
	c, earlier, err := p.Take(p.t.Context(), key, requestID, []byte("call"))
	require.NoError(p.t, err)
	return c, earlier
}

func (p process) update(f func(tx *store.Tx) error) error { return p.store.Update(p.t.Context(), f) }

// begins stores the beginning of a change, and reports whether it may begin.
func (p process) begins(c *Claim, change string) bool {
	p.t.Helper()
	a := &write.Attempt{Intent: &ps.Intent{}, Token: "token of " + change, Record: &changes.Record{ID: change}}
	err := p.update(func(tx *store.Tx) error { return c.Begin(tx, a) })
	if err != nil {
		assert.Equal(p.t, schema.Unavailable, problem.Of(err).Code)
		return false
	}
	c.Begun()
	return true
}

// ends stores the end of a call that has succeeded.
func (p process) ends(c *Claim, body string) {
	p.t.Helper()
	end := c.End(Ended{Outcome: ps.OutcomeDone, Status: http.StatusOK, Body: []byte(body)})
	require.NotNil(p.t, end)
	require.NoError(p.t, p.update(end.Put))
	end.Stored()
}

// TestAStaleClaimBeginsNoChange: what a claim was taken for may not be so any more when its change
// begins, in this process or in another one.
func TestAStaleClaimBeginsNoChange(t *testing.T) {
	for name, between := range map[string]func(p process, c *Claim){
		"begun":                func(process, *Claim) {},
		"answered":             func(p process, c *Claim) { p.ends(c, `"first"`) },
		"made, and found out":  func(p process, c *Claim) { p.settle(c, ps.OutcomeDone) },
		"made, and not known":  func(p process, c *Claim) { p.settle(c, ps.OutcomeUnknown) },
		"made in part, and so": func(p process, c *Claim) { p.settle(c, ps.OutcomePartial) },
	} {
		t.Run(name, func(t *testing.T) {
			db := storetest.Seal(t, store.NewMemory(nil))
			first, second := newProcess(t, db), newProcess(t, db)
			one, _ := first.take("one")
			late, _ := second.take("late")
			require.True(t, first.begins(one, "ch_one"))
			between(first, one)
			assert.False(t, second.begins(late, "ch_late"))
			failed := problem.Of(TakenOver())
			assert.Nil(t, late.End(Ended{Outcome: ps.OutcomeNone, Failure: failed, Status: 503}))
		})
	}
}

// settle notes how a change has ended whose call did not.
func (p process) settle(c *Claim, outcome ps.Outcome) {
	p.t.Helper()
	record := &changes.Record{ID: c.Progress().Change, Key: c.Name()}
	end := &write.End{Verdict: write.Verdict{Outcome: outcome}}
	require.NoError(p.t, p.update(func(tx *store.Tx) error { return p.End(tx, record, end) }))
}

// TestAStaleClaimKeepsNoAnswer: the answer of another call stays.
func TestAStaleClaimKeepsNoAnswer(t *testing.T) {
	db := storetest.Seal(t, store.NewMemory(nil))
	first, second := newProcess(t, db), newProcess(t, db)
	one, _ := first.take("one")
	late, _ := second.take("late")
	require.True(t, first.begins(one, "ch_one"))
	first.ends(one, `"first"`)
	one.Release()
	second.ends(late, `"nothing had to be changed"`)
	late.Release()
	for _, p := range []process{first, second} {
		c, earlier := p.take("again")
		assert.Nil(t, c)
		require.NotNil(t, earlier)
		assert.Equal(t, "one", earlier.Replayed)
		assert.Equal(t, `"first"`, string(earlier.Kept.Body))
	}
}

// TestACallThatAnnouncesNothingStoresItsAnswerOnly: and one that fails stores nothing.
func TestACallThatAnnouncesNothingStoresItsAnswerOnly(t *testing.T) {
	p := newProcess(t, storetest.Seal(t, store.NewMemory(nil)))
	c, _ := p.take("one")
	failed := problem.New(schema.NotFound, "There is none.")
	assert.Nil(t, c.End(Ended{Outcome: ps.OutcomeNone, Failure: failed, Status: 404}))
	c.Release()
	c, _ = p.take("two")
	p.ends(c, `"nothing had to be changed"`)
	c.Release()
	_, earlier := p.take("three")
	require.NotNil(t, earlier)
	assert.Equal(t, "two", earlier.Replayed)
}

// TestAKeyThatWasTakenBeforeACallRan: as a version has kept it that takes keys in the store.
func TestAKeyThatWasTakenBeforeACallRan(t *testing.T) {
	p := newProcess(t, storetest.Seal(t, store.NewMemory(nil)))
	key := p.Of(portal, "user.disable", "one-of-the-keys")
	require.NoError(t, p.update(func(tx *store.Tx) error {
		left := kept{Fingerprint: []byte("call"), Token: "left", Progress: Progress{RequestID: "before"}}
		return store.Save(tx, kind, key.byName+key.rest, left, tx.Now().Add(time.Hour))
	}))
	c, _ := p.take("one")
	assert.False(t, c.Unsure())
	require.True(t, p.begins(c, "ch_one"))
	p.ends(c, `"done"`)
}

// TestTheCallOfAnItemIsCutOffOnlySoOften: its attempts are counted before it runs.
func TestTheCallOfAnItemIsCutOffOnlySoOften(t *testing.T) {
	db := storetest.Seal(t, store.NewMemory(nil))
	item := &call.Item{Key: "item-1", Expires: time.Now().Add(time.Hour)}
	for range mostAttempts + 1 {
		p := newProcess(t, db)
		_, _, err := p.Take(t.Context(), p.OfItem(item), "one", []byte("call"))
		require.NoError(t, err)
	}
	p := newProcess(t, db)
	_, _, err := p.Take(t.Context(), p.OfItem(item), "one", []byte("call"))
	assert.Equal(t, schema.Poison, problem.Of(err).Code)
}

// TestTheKeysOfACallerAreThoseByItsIDAndByItsName: together they must not be too many.
func TestTheKeysOfACallerAreThoseByItsIDAndByItsName(t *testing.T) {
	db := storetest.Seal(t, store.NewMemory(nil))
	p := newProcess(t, db)
	key := p.Of(portal, "user.disable", "one-of-the-keys")
	require.NotEqual(t, key.byID, key.byName)
	for at := range MostPerCaller / 100 {
		require.NoError(t, p.update(func(tx *store.Tx) error {
			for i := range 100 {
				prefix := key.byName
				if i < 50 {
					prefix = key.byID
				}
				name := fmt.Sprintf("%s%d-%d", prefix, at, i)
				if err := store.Save(tx, kind, name, kept{}, tx.Now().Add(time.Hour)); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	_, _, err := p.Take(t.Context(), key, "one", []byte("call"))
	assert.Equal(t, schema.RateLimited, problem.Of(err).Code)
	assert.EqualValues(t, 1, p.Refused())
	assert.Equal(t, MostPerCaller, p.Most())
}
