package idempotency

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/bounds"
	"adgateway/gateway/identity"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/gateway/write"
	"adgateway/ps"
)

// process is one of several processes that use the same store, one after another.
type process struct {
	*Keys
	t *testing.T
}

func newProcess(t *testing.T, db *store.Sealed) process {
	return process{New(db, time.Hour, nil, Limits{}), t}
}

var portal = &identity.Principal{ID: "7", Kind: identity.KindToken, Name: "portal"}

func (p process) update(f func(tx *store.Tx) error) error { return p.store.Update(p.t.Context(), f) }

// TestCutOffCallsOfAnItemAreLimited: an item's call may be cut off only a limited number of times,
// and each attempt is counted before it runs.
func TestCutOffCallsOfAnItemAreLimited(t *testing.T) {
	db := storetest.Seal(t, store.NewMemory(nil))
	expires := time.Now().Add(time.Hour)
	for range mostAttempts + 1 {
		p := newProcess(t, db)
		_, _, err := p.Take(t.Context(), p.OfItem("item-1", expires, true), "one", []byte("call"))
		require.NoError(t, err)
	}
	p := newProcess(t, db)
	_, _, err := p.Take(t.Context(), p.OfItem("item-1", expires, true), "one", []byte("call"))
	assert.Equal(t, schema.Poison, problem.Of(err).Code)
}

// TestKeysOfItemsAreForgotten: ForgetItems removes the named keys, and no others.
func TestKeysOfItemsAreForgotten(t *testing.T) {
	db := storetest.Seal(t, store.NewMemory(nil))
	p := newProcess(t, db)
	var given []string
	for i := range 3 {
		given = append(given, fmt.Sprintf("item-%d", i))
		_, _, err := p.Take(t.Context(), p.OfItem(given[i], time.Now().Add(time.Hour), true), "one", []byte("call"))
		require.NoError(t, err)
	}
	kept := func() (n int) {
		require.NoError(t, db.Store.Range(t.Context(), kind, "", func(store.Entry) bool { n++; return true }))
		return n
	}
	require.Equal(t, len(given), kept())
	forget := func(given ...string) {
		changes, err := p.ForgetItems(t.Context(), given)
		require.NoError(t, err)
		_, err = db.Apply(t.Context(), changes...)
		require.NoError(t, err)
	}
	forget(append(given[1:], "item-unknown")...)
	assert.Equal(t, 1, kept())
	forget(given...)
	assert.Zero(t, kept())
}

// TestTheKeyOfAnItemKeepsWhichObjectItWas: the key of an item stores the identity of the object instead of
// the whole record, because a job has many items.
func TestTheKeyOfAnItemKeepsWhichObjectItWas(t *testing.T) {
	db := storetest.Seal(t, store.NewMemory(nil))
	p := newProcess(t, db)
	key := p.OfItem("item-1", time.Now().Add(time.Hour), true)
	c, _, err := p.Take(t.Context(), key, "one", []byte("call"))
	require.NoError(t, err)
	end := c.End(Ended{
		Outcome: ps.OutcomeDone, Status: 200, Change: "ch_1",
		Body: []byte(`{"output":"Done.","result":[{"guid":"g-1","city":"Rome"}],"warnings":[{"code":"raced"}]}`),
	})
	require.NoError(t, p.update(end.Put))
	end.Stored()
	c.Release()
	_, earlier, err := p.Take(t.Context(), key, "two", []byte("call"))
	require.NoError(t, err)
	require.NotNil(t, earlier)
	assert.Equal(t, []any{"ch_1", 200}, []any{earlier.Change, earlier.Status})
	for _, kept := range []string{"Done.", "g-1", "raced"} {
		assert.Contains(t, string(earlier.Body), kept)
	}
	assert.NotContains(t, string(earlier.Body), "Rome")
}

// TestKeysByIDAndKeysByNameCountTogether: together they must not be too many.
func TestKeysByIDAndKeysByNameCountTogether(t *testing.T) {
	db := storetest.Seal(t, store.NewMemory(nil))
	p := newProcess(t, db)
	key := p.Of(portal, "user.disable", "one-of-the-keys")
	require.NotEqual(t, key.byID, key.byName)
	for at := range bounds.Keys.Own / 100 {
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
	assert.Equal(t, bounds.Keys.Own, p.Most())
}

// TestTheKeysOfANamesakeDoNotCount: another caller's keys do not count, even if they are stored
// under a name that both share.
func TestTheKeysOfANamesakeDoNotCount(t *testing.T) {
	db := storetest.Seal(t, store.NewMemory(nil))
	p := newProcess(t, db)
	key := p.Of(portal, "user.disable", "one-of-the-keys")
	require.NoError(t, p.update(func(tx *store.Tx) error {
		for i := range 10 {
			of := kept{Account: "token of a namesake"}
			name := fmt.Sprintf("%s%d", key.byName, i)
			if err := store.Save(tx, kind, name, of, tx.Now().Add(time.Hour)); err != nil {
				return err
			}
		}
		return nil
	}))
	claim, _, err := p.Take(t.Context(), key, "one", []byte("call"))
	require.NoError(t, err)
	require.NoError(t, p.begin(claim))
	assert.Equal(t, 1, p.Most())
}

// begin stores the beginning of a change in a key.
func (p process) begin(c *Claim) error {
	a := &write.Attempt{Intent: &ps.Intent{}, Token: "a token"}
	err := p.update(func(tx *store.Tx) error { return c.Begin(tx, a) })
	if err == nil {
		c.Begun()
	}
	return err
}

// TestAKeyIsOfTheCallThatBeginsFirst: a call that found no key makes no change, and is not answered,
// if another process has used the key meanwhile.
func TestAKeyIsOfTheCallThatBeginsFirst(t *testing.T) {
	for name, begins := range map[string]bool{"it begins a change": true, "it changes nothing": false} {
		t.Run(name, func(t *testing.T) {
			db := storetest.Seal(t, store.NewMemory(nil))
			first, second := newProcess(t, db), newProcess(t, db)
			key := first.Of(portal, "user.disable", "a-key")
			early, _, err := first.Take(t.Context(), key, "one", []byte("call"))
			require.NoError(t, err)
			late, _, err := second.Take(t.Context(), key, "two", []byte("call"))
			require.NoError(t, err)
			require.NoError(t, first.begin(early))
			if begins {
				assert.Equal(t, schema.Unavailable, problem.Of(second.begin(late)).Code)
			} else {
				end := late.End(Ended{Outcome: ps.OutcomeDone, Status: 200, Body: []byte("{}")})
				require.NoError(t, second.update(end.Put))
				end.Stored()
			}
			assert.True(t, late.Unchecked())
			assert.False(t, early.Unchecked())
			end := early.End(Ended{Outcome: ps.OutcomeDone, Status: 200, Body: []byte(`{"first":true}`)})
			require.NoError(t, first.update(end.Put))
			end.Stored()
			late.Release()
			_, answer, err := second.Take(t.Context(), key, "two", []byte("call"))
			require.NoError(t, err)
			assert.JSONEq(t, `{"first":true}`, string(answer.Body))
		})
	}
}
