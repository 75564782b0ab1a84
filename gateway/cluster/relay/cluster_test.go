package relay

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/cluster"
	"adgateway/gateway/cluster/clustertest"
	"adgateway/gateway/cluster/replica"
	"adgateway/gateway/journal"
	"adgateway/gateway/journal/journaltest"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
)

// gateway is a gateway of a cluster within this process: its replica, its listener and its store.
type gateway struct {
	name    string
	replica *replica.Replica
	client  *journaltest.Client
	store   *store.Sealed // through the relay
	relay   *Store
}

// memberLeader is a member's knowledge of the leader.
type memberLeader struct {
	*cluster.Member
	name string
}

func (l memberLeader) Leader() (name, address string, term uint64, ok bool) {
	s := l.Status()
	return s.Leader, s.Hop, s.Term, s.Leader == l.name || s.Leader != "" && s.Hop != ""
}

// startCluster starts three gateways with empty stores.
func startCluster(t *testing.T) (all []*gateway) {
	t.Helper()
	names := []string{"gw1", "gw2", "gw3"}
	certificates, nodes, folder := newCertificates(t, names...), journaltest.NewMemory(), t.TempDir()
	first, _, err := store.Open(store.Options{Path: filepath.Join(folder, "first")})
	require.NoError(t, err)
	require.NoError(t, first.Close())
	mail := clustertest.NewMail(names...)
	for _, name := range names {
		path := filepath.Join(folder, name)
		require.NoError(t, copyFile(filepath.Join(folder, "first"), path))
		clock := store.NewClock(time.Time{}, store.ClockSources{})
		file, _, err := store.Open(store.Options{Path: path, Clock: clock, Follows: true})
		require.NoError(t, err)
		g, l := &gateway{name: name, client: nodes.Client()}, listen(t)
		g.replica = replica.New(replica.Options{
			File: file, Stream: g.client, Journal: journaltest.Options(), Clock: clock,
			Member: cluster.Options{
				Self: journal.Process{Gateway: name, Start: "1"}, Gateways: names, Reads: 1,
				Hop: l.Addr().String(), Peers: mail.Peers(name), Formats: clustertest.NoFormats{},
				SettleDelay: time.Second,
			},
		})
		leader := memberLeader{g.replica.Member(), name}
		leads := func() bool { _, ok := g.replica.Member().Leads(); return ok }
		end := certificates.serve(name, l, leader, &Handler{File: g.replica.File, Leader: leader, Leads: leads})
		g.relay = New(Options{
			File: g.replica.File, Gateway: name, Leader: leader, Leads: leads, TLS: certificates.client(name),
		})
		g.store = storetest.Seal(t, g.relay)
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { g.replica.Run(ctx, clustertest.NoAttempts{}) })
		t.Cleanup(func() {
			assert.NoError(t, g.relay.Close())
			end()
			cancel()
			running.Wait()
			assert.NoError(t, g.replica.File().Close())
		})
		all = append(all, g)
	}
	return all
}

// count is a counter that several writers increment, together with the number of increments of each writer.
type count struct {
	Sum int            `json:"sum"`
	Of  map[string]int `json:"of"`
}

func readCount(ctx context.Context, s *store.Sealed) (c count, at store.Revision, err error) {
	c.Of = map[string]int{}
	found, err := s.Get(ctx, "k", "count")
	if errors.Is(err, store.ErrAbsent) {
		return c, store.Absent, nil
	}
	if err == nil {
		err = json.Unmarshal(found.Value, &c)
	}
	return c, found.Revision, err
}

// TestTwoCountWhileLeadersChange: none of the writers' steps is lost or made twice, no matter which gateway
// leads, and even if answers are lost.
func TestTwoCountWhileLeadersChange(t *testing.T) {
	t.Parallel()
	const steps = 200
	all := startCluster(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var writers sync.WaitGroup
	var outcomes [4]atomic.Int64 // made, conflicts, not sent, unknown
	for _, g := range all[:2] {
		writers.Go(func() {
			for own := 0; own < steps && ctx.Err() == nil; {
				c, at, err := readCount(ctx, g.store)
				if !assert.NoError(t, err) {
					return
				}
				if own = max(own, c.Of[g.name]); own == steps {
					return
				}
				c.Sum++
				c.Of[g.name]++
				text, _ := json.Marshal(c)
				_, err = g.store.Apply(ctx, store.Change{Kind: "k", Key: "count", Expect: at, Value: text})
				switch {
				case err == nil:
					outcomes[0].Add(1)
				case errors.Is(err, store.ErrConflict):
					outcomes[1].Add(1)
				case errors.Is(err, store.ErrNotSent):
					outcomes[2].Add(1)
				default:
					outcomes[3].Add(1)
					assert.ErrorIs(t, err, store.ErrUnreachable)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { defer close(done); writers.Wait() }()
	changes := 0
	for over := false; !over; {
		select {
		case <-done:
			over = true
		case <-time.After(time.Second):
			for _, g := range all {
				if _, leads := g.replica.Member().Leads(); leads {
					if changes++; changes%2 == 0 {
						g.client.Cut()
						go func() { time.Sleep(time.Second); g.client.Mend() }()
					} else {
						_ = g.replica.Member().HandOver(ctx) // there may be no gateway to take over
					}
				}
			}
		}
	}
	require.NoError(t, ctx.Err())
	t.Logf("%d changes of the leader; made %d, conflicts %d, not sent %d, not known %d", changes,
		outcomes[0].Load(), outcomes[1].Load(), outcomes[2].Load(), outcomes[3].Load())
	for _, g := range all {
		require.Eventually(t, func() bool { return g.relay.Reach(ctx) == nil }, patience, tick)
		c, _, err := readCount(ctx, g.store)
		require.NoError(t, err)
		assert.Equal(t, count{2 * steps, map[string]int{"gw1": steps, "gw2": steps}}, c)
	}
}
