package signin

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/authn"
	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
)

// ticketGates returns gates that share a store, and the mirror of the store that each of them
// reads.
func ticketGates(t *testing.T, n int) (gates []*Gate, mirrors []*mirror, now *time.Time) {
	t.Helper()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now = &start
	clock := func() time.Time { return *now }
	db := store.NewMemory(clock)
	d := &ticketing{now: &Person{SID: "S-1-5-21-7", Name: "anna", Groups: []string{"desk"}}}
	for range n {
		m := &mirror{Store: db}
		g, _, _, _ := gate(func(o *Options) {
			o.Directory, o.Tickets, o.Now, o.Store = d, true, clock, storetest.Seal(t, m)
		})
		gates, mirrors = append(gates, g), append(mirrors, m)
	}
	return gates, mirrors, now
}

func replayed(t *testing.T, err error) {
	t.Helper()
	var refused *negotiate.Refusal
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, negotiate.Replayed, refused.Reason)
	assert.NotEmpty(t, refused.Cause)
}

// TestATicketIsUsedOnce: a ticket can be used only once at all gateways of a cluster, even at a
// gateway that lacks the newest values of the store, and whether it comes with a call or with a
// sign-in.
func TestATicketIsUsedOnce(t *testing.T) {
	gates, mirrors, now := ticketGates(t, 3)
	_, _, err := gates[0].Caller(t.Context(), token("again"))
	require.NoError(t, err)
	mirrors[1].behind.Store(true)
	for _, g := range gates {
		_, _, err = g.Ticket(t.Context(), token("again"))
		replayed(t, err)
		_, _, err = g.Caller(t.Context(), token("again"))
		var refusal *authn.Refusal
		require.ErrorAs(t, err, &refusal)
		assert.Equal(t, schema.Unauthenticated, refusal.Code)
		assert.Contains(t, refusal.Message, "was already used")
	}
	_, _, err = gates[1].Caller(t.Context(), token("ticket"))
	require.NoError(t, err, "another authenticator")

	// The client's clock may be ahead of one gateway's by the skew, and that of another gateway
	// behind by the skew.
	*now = now.Add(2 * negotiate.Skew)
	_, _, err = gates[2].Ticket(t.Context(), token("again"))
	replayed(t, err)
	*now = now.Add(2 * time.Minute)
	_, _, err = gates[2].Ticket(t.Context(), token("again"))
	require.NoError(t, err, "by now its time refuses it")
}

// TestAUsedTicketStaysUsedAfterARestart: a used ticket is refused after a restart. A ticket whose
// use the store could not keep is refused until the restart.
func TestAUsedTicketStaysUsedAfterARestart(t *testing.T) {
	r := newRestarts(t)
	d := &ticketing{now: &Person{SID: "S-1-5-21-7", Name: "anna", Groups: []string{"desk"}}}
	start := func() *Gate {
		g := r.gate()
		g.o.Tickets, g.o.Directory = true, d
		return g
	}
	g := start()
	_, _, err := g.Ticket(t.Context(), token("again"))
	require.NoError(t, err)
	_, _, err = start().Ticket(t.Context(), token("again"))
	replayed(t, err)

	*r.now = r.now.Add(time.Hour)
	r.plain.fails = context.DeadlineExceeded
	g = start()
	_, _, err = g.Caller(t.Context(), token("again"))
	require.NoError(t, err)
	assert.NotEmpty(t, r.faults, "the log says that it ends with the gateway")
	r.plain.fails = nil
	_, _, err = g.Caller(t.Context(), token("again"))
	require.Error(t, err)
}

// TestWithoutTheStoreOfTheClusterNoTicketIsAccepted: if a gateway cannot use the store, it accepts
// no ticket, because another gateway may have accepted the same one.
func TestWithoutTheStoreOfTheClusterNoTicketIsAccepted(t *testing.T) {
	gates, mirrors, _ := ticketGates(t, 2)
	mirrors[0].lost.Store(true)
	_, _, err := gates[0].Ticket(t.Context(), token("ticket"))
	require.ErrorIs(t, err, ErrStore)
	_, _, err = gates[0].Caller(t.Context(), token("ticket"))
	var refusal *authn.Refusal
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, schema.Unavailable, refusal.Code)
	assert.Contains(t, refusal.Message, "store")
	all, _, err := gates[1].Caller(t.Context(), token("ticket"))
	require.NoError(t, err)
	assert.Equal(t, []identity.Scope{identity.UserRead, identity.UserPassword}, scopesOf(all))
}
