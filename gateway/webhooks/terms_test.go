package webhooks

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"adgateway/gateway/store"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// copied is a copy of a store that accepts no changes while another one leads.
type copied struct {
	store.Store
	follows bool
}

func (c *copied) Apply(ctx context.Context, all ...store.Change) (store.Revision, error) {
	if c.follows {
		return 0, fmt.Errorf("%w: %w", store.ErrFollows, store.ErrNotSent)
	}
	return c.Store.Apply(ctx, all...)
}

// TestTheLeaderOfEachTermGoesOn: the leader of each term continues where the previous leader
// stopped, and no message is sent twice. A gateway that does not lead can also be started.
func TestTheLeaderOfEachTermGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := newPlace(t), &receiver{}
		shared, key := p.store.Store, p.store.Key
		var copies []*copied
		var all []*Webhooks
		for range 2 {
			own := &copied{shared, true}
			sealed, err := store.Seal(own, key)
			require.NoError(t, err)
			w, err := Open(t.Context(), Options{
				Targets: []Target{p.target()}, Store: sealed, History: p.history, Log: func(string, map[string]any) {},
			})
			require.NoError(t, err)
			copies, all = append(copies, own), append(all, w)
		}
		var want []string
		for _, leads := range []int{0, 1, 0} {
			copies[leads].follows = false
			stop := start(all[leads], r)
			synctest.Wait()
			want = append(want, p.change("g"))
			synctest.Wait()
			assert.Equal(t, want, r.ids())
			stop()
			copies[leads].follows = true
			want = append(want, p.change("g")) // the next leader sends it
		}
		stop := start(all[0], r)
		synctest.Wait()
		stop()
		assert.Equal(t, want[:len(want)-1], r.ids(), "who does not lead sends nothing")
	})
}

// TestWhatANewerGatewayHasSent: a gateway that cannot read where a later version has stopped sends
// nothing in its term, leaves the stored position unchanged, and reports this.
func TestWhatANewerGatewayHasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := newPlace(t), &receiver{}
		w := p.open(p.target())
		found, err := p.store.Get(t.Context(), kind, "chat")
		require.NoError(t, err)
		newer := bytes.Replace(found.Value, []byte(`"v":1`), []byte(`"v":2`), 1)
		require.NotEqual(t, found.Value, newer)
		_, err = p.store.Apply(t.Context(),
			store.Change{Kind: kind, Key: "chat", Expect: found.Revision, Value: newer})
		require.NoError(t, err)
		defer start(w, r)()
		p.change("g")
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Empty(t, r.ids())
		assert.Contains(t, w.Status()[0].Reason, "later version")
		p.open() // with settings that lack the target
		found, err = p.store.Get(t.Context(), kind, "chat")
		require.NoError(t, err)
		assert.Equal(t, string(newer), string(found.Value))
	})
}
