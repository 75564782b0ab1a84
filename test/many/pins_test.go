package many

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"adgateway/gateway/keep"
	peers "adgateway/gateway/members"
	"adgateway/gateway/pins"
	"adgateway/ps"
	"adgateway/test/histories"
	"adgateway/test/systemtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pinned is a gateway of a site whose changes are made on the pinned server.
type pinned struct {
	*pins.Pins
	self  *peers.Self
	store *keep.Sealed
	r     *histories.Recorder
	at    int
}

// change makes a change as a run does: it takes the server, and is allowed in one batch with
// a fence of its gateway.
func (p *pinned) change(ctx context.Context, n int) {
	begun := p.self.Begin()
	server, _ := p.Pinned(ctx, ps.Directory)
	call := p.r.Begin(histories.Op{Of: "site", At: p.at, Do: "change", Value: server})
	pass, err := p.self.Pass(ctx, begun)
	if err != nil {
		call.End(histories.Answer{Refused: true})
		return
	}
	defer pass.End()
	for {
		changes, err := pass.Changes()
		if err != nil {
			call.End(histories.Answer{Refused: true})
			return
		}
		revision, err := p.store.Apply(ctx, append(changes, keep.Change{Kind: valueKind, Key: fmt.Sprint(p.at, " ", n), Value: []byte(server)})...)
		switch {
		case err == nil:
			pass.Done(revision)
			call.End(histories.Answer{})
			return
		case !errors.Is(err, keep.ErrConflict):
			call.Forget() // it may have been made, at any time
			return
		}
		if err = pass.Refresh(ctx); err != nil {
			call.End(histories.Answer{Refused: true})
			return
		}
	}
}

// TestChangesAreMadeOnThePinnedServer: while a pin is moved and answers of the engine come
// twice or late, no change is made on a server after another one was pinned. HISTORY_S and
// SEED are for longer runs.
func TestChangesAreMadeOnThePinnedServer(t *testing.T) {
	seed := uint64(systemtest.Number(t, "SEED", 1))
	lasts := time.Duration(systemtest.Number(t, "HISTORY_S", 2)) * time.Second
	s := newShared(t)
	var r histories.Recorder
	var site []*pinned
	for i, store := range s.stores {
		self, err := peers.Join(t.Context(), store, peers.Options{Name: fmt.Sprint("gw", i+1), File: filepath.Join(t.TempDir(), "self"), Site: "Berlin", Version: "1"})
		require.NoError(t, err)
		site = append(site, &pinned{pins.New(pins.Options{Store: store, Members: func() *peers.Self { return self }, Site: "Berlin"}), self, store, &r, i})
	}
	first := r.Begin(histories.Op{Of: "site", Do: "move", Value: "dc0"})
	require.NoError(t, site[0].Pin(t.Context(), ps.Directory, "dc0"))
	first.End(histories.Answer{})

	ctx, cancel := context.WithTimeout(t.Context(), lasts)
	defer cancel()
	var working sync.WaitGroup
	for _, p := range site {
		working.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				within, end := context.WithTimeout(t.Context(), 15*time.Second)
				p.change(within, n)
				end()
				pause(ctx, time.Duration(n%5)*10*time.Millisecond) // else no move comes between
			}
		})
	}
	moved := 0
	working.Go(func() {
		random := rand.New(rand.NewPCG(seed, 3))
		for n := 1; ctx.Err() == nil; n++ {
			pause(ctx, time.Duration(random.IntN(60))*time.Millisecond)
			server := fmt.Sprint("dc", n%3)
			call := r.Begin(histories.Op{Of: "site", Do: "move", Value: server})
			if err := pins.Move(t.Context(), s.stores[random.IntN(len(s.stores))], "Berlin", ps.Directory, server); err == nil {
				call.End(histories.Answer{})
				moved++
			}
		}
	})
	happened := s.fail(ctx, rand.New(rand.NewPCG(seed, 99)), lasts)
	working.Wait()
	all, lost := r.Counts()
	t.Logf("seed %d: %d calls, %d of them without an answer, %d moves; %s", seed, all, lost, moved, strings.Join(happened, ", "))
	assert.NotZero(t, moved)
	r.Check(t, histories.Pins, fmt.Sprint("seed ", seed))
}
