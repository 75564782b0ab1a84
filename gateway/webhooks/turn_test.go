package webhooks

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/changes"
	"adgateway/gateway/keep"
)

// fellowship is the gateways of a test; the names of those that have ended are set.
type fellowship struct {
	mu   sync.Mutex
	gone map[string]bool
}

func (f *fellowship) end(name string) { f.mu.Lock(); defer f.mu.Unlock(); f.gone[name] = true }

// fellow is a gateway of a fellowship.
type fellow struct {
	*fellowship
	name string
}

func (f fellow) Name() string        { return f.name }
func (f fellow) Incarnation() string { return "1" }

func (f fellow) Gone(name, _ string, _ time.Duration) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gone[name]
}

// away is a store that its gateway cannot write any more.
type away struct {
	keep.Store
	mu   sync.Mutex
	away bool
}

func (a *away) Apply(ctx context.Context, changes ...keep.Change) (keep.Revision, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.away {
		return 0, errors.New("the store cannot be reached")
	}
	return a.Store.Apply(ctx, changes...)
}

func (a *away) leave() { a.mu.Lock(); defer a.mu.Unlock(); a.away = true }

// gateway opens the webhooks of a gateway on the store of a place.
func (p *place) gateway(f *fellowship, name string, targets ...Target) (*Webhooks, *away) {
	p.t.Helper()
	key, err := keep.NewKey(make([]byte, keep.KeyLength))
	require.NoError(p.t, err)
	store := &away{Store: p.store.Store}
	sealed, err := keep.Seal(store, key)
	require.NoError(p.t, err)
	history, err := changes.Open(p.t.Context(), sealed, 90*24*time.Hour, 1<<30)
	require.NoError(p.t, err)
	w, err := Open(p.t.Context(), Options{Targets: targets, Store: sealed, History: history, Cluster: fellow{f, name}, Log: func(string, map[string]any) {}})
	require.NoError(p.t, err)
	return w, store
}

// TestOneGatewaySends: of two gateways one sends, and the other one goes on where it ends.
func TestOneGatewaySends(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(f *fellowship, store *away, stop func())
		twice int // messages that may come twice
	}{
		"stopped": {func(_ *fellowship, _ *away, stop func()) { stop() }, 0},
		"killed": {func(f *fellowship, store *away, stop func()) {
			store.leave()
			stop()
			f.end("gw1")
		}, 0},
		"cut off": {func(f *fellowship, store *away, _ func()) {
			store.leave()
			f.end("gw1")
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, r, f := newPlace(t), &receiver{}, &fellowship{gone: map[string]bool{}}
				first, store := p.gateway(f, "gw1", p.target(Change))
				second, _ := p.gateway(f, "gw2", p.target(Change))
				stopFirst, stopSecond := start(first, r), start(second, r)
				defer stopFirst()
				defer stopSecond()
				var want []string
				for range 20 {
					want = append(want, p.change("g"))
				}
				synctest.Wait()
				assert.Equal(t, want, r.ids(), "no message comes twice")
				assert.Equal(t, "gw1", second.Status()[0].Elsewhere)
				assert.Zero(t, second.Status()[0].Delivered)

				c.end(f, store, sync.OnceFunc(stopFirst))
				for range 20 {
					want = append(want, p.change("g"))
				}
				time.Sleep(2 * turnAgain) // of the clock of the test
				synctest.Wait()
				got := r.ids()
				assert.LessOrEqual(t, len(got), len(want)+c.twice)
				seen := map[string]bool{}
				got = slices.DeleteFunc(got, func(id string) bool { twice := seen[id]; seen[id] = true; return twice })
				assert.Equal(t, want, got, "in order, and none is left out")
				assert.Empty(t, second.Status()[0].Elsewhere)
			})
		})
	}
}

// TestTheTurnIsKeptWhileATargetIsDown: tries and pauses are those of one sender.
func TestTheTurnIsKeptWhileATargetIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, f := newPlace(t), &fellowship{gone: map[string]bool{}}
		r := &receiver{answer: func(try int) (*http.Response, error) {
			if try < 3 {
				return status(http.StatusServiceUnavailable), nil
			}
			return status(http.StatusNoContent), nil
		}}
		first, _ := p.gateway(f, "gw1", p.target())
		second, _ := p.gateway(f, "gw2", p.target())
		defer start(first, r)()
		defer start(second, r)()
		id := p.change("g")
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, []string{id, id, id}, r.ids())
		assert.Equal(t, uint64(1), first.Status()[0].Delivered)
	})
}

// TestTargetsOfOtherSettings: a gateway whose settings lack a target does not end it for
// one that sends to it.
func TestTargetsOfOtherSettings(t *testing.T) {
	p, f := newPlace(t), &fellowship{gone: map[string]bool{}}
	_, _ = p.gateway(f, "gw1", p.target())
	_, _ = p.gateway(f, "gw2")
	_, err := p.store.Get(t.Context(), kind, "chat")
	require.NoError(t, err)
	f.end("gw1")
	_, _ = p.gateway(f, "gw2")
	_, err = p.store.Get(t.Context(), kind, "chat")
	assert.ErrorIs(t, err, keep.ErrAbsent)
}

// TestWhatANewerGatewayHasSent: a gateway that cannot read where another one has ended sends
// nothing, leaves that as it is, and says so; it starts nevertheless.
func TestWhatANewerGatewayHasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r, f := newPlace(t), &receiver{}, &fellowship{gone: map[string]bool{"gw1": true}}
		_, _ = p.gateway(f, "gw1", p.target())
		found, err := p.store.Get(t.Context(), kind, "chat")
		require.NoError(t, err)
		newer := bytes.Replace(found.Value, []byte(`"v":1`), []byte(`"v":2`), 1)
		require.NotEqual(t, found.Value, newer)
		_, err = p.store.Apply(t.Context(), keep.Change{Kind: kind, Key: "chat", Expect: found.Revision, Value: newer})
		require.NoError(t, err)

		second, _ := p.gateway(f, "gw2", p.target())
		defer start(second, r)()
		p.change("g")
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Empty(t, r.ids())
		assert.Contains(t, second.Status()[0].Reason, "later version")
		_, _ = p.gateway(f, "gw3") // whose settings do not have it
		found, err = p.store.Get(t.Context(), kind, "chat")
		require.NoError(t, err)
		assert.Equal(t, string(newer), string(found.Value))
	})
}
