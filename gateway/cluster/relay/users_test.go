package relay

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/audit"
	"adgateway/gateway/auditmirror"
	"adgateway/gateway/authn"
	"adgateway/gateway/cluster/choice"
	"adgateway/gateway/credentials"
	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
	"adgateway/ps"
)

// TestAccountsOfAFollower: all gateways share the accounts, and any of them may change them. The
// accounts become outdated while nobody leads.
func TestAccountsOfAFollower(t *testing.T) {
	t.Parallel()
	p := pairFor(t, nil)
	var now atomic.Int64
	now.Store(time.Now().UnixNano())
	follower := credentials.New(credentials.Options{
		StaleMax: 15 * time.Minute, Probe: tick, Now: func() time.Time { return time.Unix(0, now.Load()) },
	})
	require.NoError(t, follower.Attach(t.Context(), storetest.Seal(t, p.store)))
	ctx, stop := context.WithCancel(t.Context())
	var following sync.WaitGroup
	following.Go(func() { follower.Follow(ctx, func() {}) })
	defer following.Wait()
	defer stop()

	account := authn.NewAccount("portal", time.Now(), authn.Rights{Scopes: []string{"user:read"}})
	account.AddToken(time.Now(), time.Now())
	has := func(n int) func() bool {
		return func() bool {
			document, _, err := follower.Read()
			return err == nil && len(document.Tokens) == n
		}
	}
	require.NoError(t, follower.Edit(t.Context(), func(d *authn.Document) error {
		d.Tokens = append(d.Tokens, account)
		return nil
	}))
	require.Eventually(t, has(1), patience, tick)

	command := p.client()
	defer command.Close()
	require.NoError(t, credentials.Edit(t.Context(), storetest.Seal(t, command), func(d *authn.Document) error {
		d.Tokens = nil
		return nil
	}))
	require.Eventually(t, has(0), patience, tick)

	now.Add(int64(time.Hour))
	require.Eventually(t, func() bool { return follower.Age() == 0 }, patience, tick, "the leader is there")
	p.leader.elect("", "")
	require.ErrorIs(t, p.store.Reach(t.Context()), store.ErrUnreachable) // and earlier requests have ended
	now.Add(int64(16 * time.Minute))
	assert.GreaterOrEqual(t, follower.Age(), 16*time.Minute)
	require.ErrorIs(t, follower.State(), credentials.ErrUnreached)
	p.leader.elect("gw1", p.address)
	require.Eventually(t, func() bool { return follower.State() == nil }, patience, tick)
}

// TestTheAuditOfAFollower: the audit is copied, even if an answer is lost or nobody leads for a
// while, and its end is reported.
func TestTheAuditOfAFollower(t *testing.T) {
	t.Parallel()
	p := pairFor(t, nil)
	file := filepath.Join(t.TempDir(), "audit.log")
	log, err := audit.Open(audit.Options{File: file})
	require.NoError(t, err)
	defer log.Close()
	sealed := storetest.Seal(t, p.store)
	mirror := auditmirror.New(auditmirror.Options{
		Gateway: "gw2", Store: sealed, Log: log, File: file, Keep: time.Hour,
	})
	require.NoError(t, mirror.Send(t.Context()))
	for range 20 {
		require.NoError(t, log.Alone("a line"))
		p.leading.Follow() // no gateway accepts it
		gone, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		require.Error(t, mirror.Send(gone))
		cancel()
		p.leading.Lead(p.journal)
		// A batch that was given up may still be written and conflict with the next one, which is then sent again.
		require.Eventually(t, func() bool { return mirror.Send(t.Context()) == nil }, patience, tick)
	}
	assert.Zero(t, mirror.Stats().Behind)
	assert.False(t, mirror.Stats().Forked)
	copied := 0
	far := storetest.Seal(t, p.leading)
	each := func(auditmirror.Copy) error { copied++; return nil }
	require.NoError(t, auditmirror.Read(t.Context(), far, "gw2", each))
	assert.EqualValues(t, log.Head().Seq, copied)

	witness := auditmirror.NewWitness(auditmirror.WitnessOptions{
		Gateway: "gw2", Store: sealed, Log: log, Interval: time.Hour,
	})
	for range 2 {
		require.NoError(t, witness.Tell(t.Context()))
	}
	heads, err := auditmirror.Heads(t.Context(), far)
	require.NoError(t, err)
	assert.Equal(t, log.Head(), heads["gw2"].Head)
}

// TestACommandChangesKeyAndServer: a command changes the key and the server in the store that the
// gateways read.
func TestACommandChangesKeyAndServer(t *testing.T) {
	t.Parallel()
	p := pairFor(t, nil)
	path := filepath.Join(t.TempDir(), "cluster.key")
	require.NoError(t, keyring.CreateKeyFile(path))
	wrapper, err := keyring.KeyFile(path)
	require.NoError(t, err)
	require.NoError(t, keyring.Create(t.Context(), p.leading, wrapper))
	require.NoError(t, p.store.Reach(t.Context()))
	open := func(db store.Store) *keyring.Ring {
		ring, err := keyring.Open(t.Context(), db, wrapper, store.Newest)
		require.NoError(t, err)
		return ring
	}
	command := p.client()
	defer command.Close()
	leading := open(NewLocal(func() *store.File { return p.leading }))
	following, asked := open(p.store), open(command)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { following.Follow(ctx, nil) })
	running.Go(func() {
		live := func() []keyring.Gateway { return []keyring.Gateway{{Name: "gw2", Version: following.Version()}} }
		leading.Run(ctx, keyring.RunOptions{Gateway: "gw1", Kinds: choice.Kinds, Every: tick, Live: live})
	})
	defer running.Wait()
	defer stop()
	number, err := asked.Rotate(t.Context())
	require.NoError(t, err)
	require.NoError(t, asked.Await(t.Context(), number, nil, nil))
	require.NoError(t, choice.Move(t.Context(), asked.Sealed(), ps.Directory, "dc1"))
	require.NoError(t, p.store.Reach(t.Context()))
	server, _ := choice.New(choice.Options{Store: following.Sealed()}).Pinned(t.Context(), ps.Directory)
	assert.Equal(t, "dc1", server)
}
