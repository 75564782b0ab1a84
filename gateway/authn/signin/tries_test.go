package signin

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	home     = netip.MustParseAddr("192.0.2.10")
	stranger = netip.MustParseAddr("198.51.100.1")
)

// withThreshold returns a gate of a domain that locks out accounts at threshold wrong passwords.
func withThreshold(threshold int) (g *Gate, d *directory, now *time.Time) {
	g, d, now, _ = gate(func(o *Options) {
		o.Policy = func(_ context.Context, name string) (Policy, error) {
			return Policy{SID: "S-" + name, Account: name, Threshold: threshold, Window: StandardWindow}, nil
		}
	})
	return g, d, now
}

func tryAt(t *testing.T, g *Gate, from netip.Addr, password string) error {
	t.Helper()
	_, err := g.Password(t.Context(), "anna", []byte(password), from, "")
	return err
}

// TestStrangersKeepNobodyOut: wrong passwords of strangers do not prevent a person from signing in at an
// address where the person signed in recently.
func TestStrangersKeepNobodyOut(t *testing.T) {
	g, d, now := withThreshold(5)
	require.NoError(t, tryAt(t, g, home, "right"))
	*now = now.Add(24 * time.Hour)
	attack := func() {
		d.asked = nil
		for range 10 {
			require.Error(t, tryAt(t, g, stranger, "wrong"))
		}
		require.Len(t, d.asked, 3)
	}
	attack()
	var tooMany *TooMany
	require.ErrorAs(t, tryAt(t, g, netip.MustParseAddr("203.0.113.7"), "right"), &tooMany,
		"elsewhere nobody is known")
	assert.Equal(t, StandardWindow, tooMany.Wait)
	require.NoError(t, tryAt(t, g, home, "right"))
	*now = now.Add(StandardWindow)
	attack()
	require.ErrorIs(t, tryAt(t, g, home, "wrong"), ErrRefused)
	require.ErrorIs(t, tryAt(t, g, home, "right"), ErrTooMany, "one more would lock the account out")
	assert.Len(t, d.asked, 4)

	*now = now.Add(trustPlace)
	attack()
	require.ErrorIs(t, tryAt(t, g, home, "right"), ErrTooMany, "it is too long ago")
}

// TestTriesCountBySID: a renamed account keeps its tries, and a new account with its old name has
// none. Tries that an earlier version counted by name still count.
func TestTriesCountBySID(t *testing.T) {
	sids := map[string]string{"anna": ""} // as counted by an earlier version
	g, d, now, _ := gate(func(o *Options) {
		o.Policy = func(_ context.Context, name string) (Policy, error) {
			account, _, _ := strings.Cut(name, "@")
			return Policy{SID: sids[account], Account: account, Threshold: 9, Window: StandardWindow}, nil
		}
	})
	try := func(name string) error {
		*now = now.Add(lookupLife)
		_, err := g.Password(t.Context(), name, []byte("wrong"), client, "")
		return err
	}
	require.ErrorIs(t, try("anna"), ErrRefused)
	sids["anna"] = "S-1-5-21-1-2-3-1001"
	require.ErrorIs(t, try("anna@corp.example"), ErrRefused)
	sids["berta"], sids["anna"] = sids["anna"], "S-1-5-21-1-2-3-1002"
	require.ErrorIs(t, try("berta"), ErrRefused)
	require.ErrorIs(t, try("berta"), ErrTooMany, "it is the third one of the account")
	for range standardTries {
		require.ErrorIs(t, try("anna"), ErrRefused, "it is another account")
	}
	require.ErrorIs(t, try(`CORP\anna`), ErrTooMany)
	assert.Len(t, d.asked, 2*standardTries)
}

// TestGatesShareKnownAddresses: the address where an account signed in is known to all gateways of
// a cluster, and after a restart.
func TestGatesShareKnownAddresses(t *testing.T) {
	n := newThree(t)
	_, err := n.gates[0].Password(t.Context(), "anna", []byte("right"), home, "")
	require.NoError(t, err)
	for range 10 {
		require.Error(t, tryAt(t, n.gates[1], stranger, "wrong"))
	}
	require.ErrorIs(t, tryAt(t, n.gates[2], stranger, "right"), ErrTooMany)
	require.NoError(t, tryAt(t, n.gates[2], home, "right"))
}

// TestPlacesAreFew: only a limited number of addresses per account is stored.
func TestPlacesAreFew(t *testing.T) {
	g, _, _ := withThreshold(5)
	for i := range placesEach + 1 {
		require.NoError(t, tryAt(t, g, netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), "right"))
	}
	for range 3 {
		require.ErrorIs(t, tryAt(t, g, stranger, "wrong"), ErrRefused)
	}
	assert.ErrorIs(t, tryAt(t, g, netip.AddrFrom4([4]byte{192, 0, 2, 0}), "right"), ErrTooMany,
		"the oldest is forgotten")
	assert.NoError(t, tryAt(t, g, netip.AddrFrom4([4]byte{192, 0, 2, 1}), "right"))
}

// TestTriesStayBelowEveryThreshold: fewer wrong passwords are passed on than the domain's threshold, for
// every threshold.
func TestTriesStayBelowEveryThreshold(t *testing.T) {
	for threshold := 1; threshold <= 12; threshold++ {
		g, d, _ := withThreshold(threshold)
		if threshold > 1 {
			require.NoError(t, tryAt(t, g, home, "right"), threshold)
			d.asked = nil
		}
		for i := range 20 {
			require.Error(t, tryAt(t, g, []netip.Addr{stranger, home}[i%2], "wrong"))
		}
		assert.Less(t, len(d.asked), threshold, "threshold %d", threshold)
		for tries := 1; tries <= 10; tries++ {
			most, trusted := allowed(tries, threshold)
			assert.LessOrEqual(t, most, trusted)
			assert.Less(t, trusted, threshold)
		}
	}
	g, d, _ := withThreshold(1)
	require.ErrorIs(t, tryAt(t, g, home, "right"), ErrTooMany)
	assert.Empty(t, d.asked, "the first wrong one would lock the account out")
}

// TestEachTryRestartsTheWindow: a domain forgets wrong passwords once there was none for the length
// of the window, and the tries do the same. Otherwise a few at the start and a few at the end of
// the window would add up in the domain.
func TestEachTryRestartsTheWindow(t *testing.T) {
	g, d, now := withThreshold(5)
	wrong := func() error { return tryAt(t, g, stranger, "wrong") }
	require.ErrorIs(t, wrong(), ErrRefused)
	require.ErrorIs(t, wrong(), ErrRefused)
	*now = now.Add(StandardWindow - time.Minute)
	require.ErrorIs(t, wrong(), ErrRefused)
	*now = now.Add(2 * time.Minute)
	var tooMany *TooMany
	require.ErrorAs(t, wrong(), &tooMany)
	assert.Equal(t, StandardWindow-2*time.Minute, tooMany.Wait)
	assert.Len(t, d.asked, 3)
	*now = now.Add(tooMany.Wait)
	require.ErrorIs(t, wrong(), ErrRefused)
}

// TestAnAddressIsToldHowLongToWait: an address waits until its oldest try no longer counts.
func TestAnAddressIsToldHowLongToWait(t *testing.T) {
	g, _, now, _ := gate(func(*Options) {})
	for i := range addressTries {
		_, err := g.Password(t.Context(), "nobody"+string(rune('a'+i)), []byte("wrong"), stranger, "")
		require.ErrorIs(t, err, ErrRefused)
		*now = now.Add(time.Minute)
	}
	var tooMany *TooMany
	require.ErrorAs(t, tryAt(t, g, stranger, "right"), &tooMany)
	require.Equal(t, StandardWindow-addressTries*time.Minute, tooMany.Wait)
	*now = now.Add(tooMany.Wait)
	require.NoError(t, tryAt(t, g, stranger, "right"))
}

// TestOthersBehindAnAddressKeepNobodyOut: a person who recently signed in with a browser is not
// kept out by others behind the same address. The mark of that browser gives no other access.
func TestOthersBehindAnAddressKeepNobodyOut(t *testing.T) {
	asked := 0
	g, d, now, _ := gate(func(o *Options) {
		o.Policy = func(_ context.Context, name string) (Policy, error) {
			asked++
			return Policy{Account: name, Threshold: 10, Window: StandardWindow}, nil
		}
	})
	try := func(name, password, mark string) error {
		_, err := g.Password(t.Context(), name, []byte(password), home, mark)
		return err
	}
	require.NoError(t, try("anna", "right", ""))
	mark := g.Mark("anna")
	flood := func() {
		for i := range 3 * addressTries {
			_ = try("nobody"+string(rune('a'+i)), "wrong", "")
		}
		require.ErrorIs(t, try("berta", "right", ""), ErrTooMany)
	}
	flood()
	before := asked
	for name, c := range map[string][2]string{
		"no mark": {"anna", ""}, "of another": {"berta", mark}, "twice": {"anna", mark + mark},
		"cut": {"anna", mark[:40]}, "none": {"anna", "x"}, "turned": {"anna", mark[37:] + mark[:37]},
	} {
		require.ErrorIs(t, try(c[0], "right", c[1]), ErrTooMany, name)
	}
	assert.Equal(t, before, asked, "nothing is asked for them")
	require.NoError(t, try("Anna", "right", mark), "the case of a name does not matter")
	require.NoError(t, try("anna", "right", mark), "right ones do not count")

	d.asked = nil
	for range 10 {
		require.Error(t, try("anna", "wrong", mark))
	}
	assert.Len(t, d.asked, markTries, "then it is as without a mark")
	require.ErrorIs(t, try("anna", "right", mark), ErrTooMany)
	*now = now.Add(StandardWindow)
	flood()
	require.NoError(t, try("anna", "right", mark))
	*now = now.Add(MarkLife)
	flood()
	require.ErrorIs(t, try("anna", "right", mark), ErrTooMany, "it is too old")
	assert.Empty(t, g.Mark(""))
}

// TestMarkedTriesStayBelowEveryThreshold: wrong passwords with marks count for the account like all
// others.
func TestMarkedTriesStayBelowEveryThreshold(t *testing.T) {
	for threshold := 2; threshold <= 12; threshold++ {
		g, d, _ := withThreshold(threshold)
		require.NoError(t, tryAt(t, g, home, "right"))
		d.asked = nil
		for range 5 {
			mark := g.Mark("anna")
			for range markTries + 1 {
				_, err := g.Password(t.Context(), "anna", []byte("wrong"), home, mark)
				require.Error(t, err)
			}
		}
		assert.Less(t, len(d.asked), threshold, "threshold %d", threshold)
	}
}

// TestGatesShareMarks: all gateways of a cluster accept a mark.
func TestGatesShareMarks(t *testing.T) {
	n := newThree(t)
	mark := n.gates[0].Mark("anna")
	for i := range 2 * addressTries {
		_, _ = n.gates[1].Password(t.Context(), "nobody"+string(rune('a'+i)), []byte("wrong"), home, "")
	}
	require.ErrorIs(t, tryAt(t, n.gates[1], home, "right"), ErrTooMany)
	_, err := n.gates[1].Password(t.Context(), "anna", []byte("right"), home, mark)
	require.NoError(t, err)
}
