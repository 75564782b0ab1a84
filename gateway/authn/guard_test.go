package authn

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

var elsewhere = netip.MustParseAddr("198.51.100.9")

func withUsers(t testing.TB, names ...string) *stored {
	return store(t, func(d *Document, now time.Time) {
		for _, name := range names {
			addUser(d, now, name, rights("ou:read"))
		}
	})
}

// login returns the code of a refused login, or "" if the login is accepted.
func (s *stored) login(user, password string, from netip.Addr) schema.Code {
	_, refused := s.basic(user, password, from)
	if refused == nil {
		return ""
	}
	return refused.Code
}

func TestLogin(t *testing.T) {
	s := withUsers(t, "anna", "jürgen", "Σίσυφος", "a%b")
	for _, c := range []struct {
		user, password string
		code           schema.Code
	}{
		{"anna", password, ""}, {"ANNA", password, ""}, {"ａｎｎａ", password, ""}, {"jürgen", password, ""}, {"ju\u0308rgen", password, ""},
		{"Σίσυφος", password, ""}, {"a%b", password, ""},
		{"anna", password + " ", schema.Unauthenticated}, {"anna", "", schema.Unauthenticated}, {"anna", strings.ToUpper(password), schema.Unauthenticated},
		{"berta", password, schema.Unauthenticated}, {"anna\x00", password, schema.Unauthenticated}, {"an\u200bna", password, schema.Unauthenticated}, {"anna\n", password, schema.Unauthenticated}, {"\xff", password, schema.Unauthenticated},
		{strings.Repeat("a", 60000), password, schema.Unauthenticated}, {"anna", strings.Repeat("a", 60000), schema.Unauthenticated}, {"anna", "\x00\x01\xff", schema.Unauthenticated},
	} {
		_, refused := s.basic(c.user, c.password, netip.AddrFrom4([4]byte{10, 0, 0, byte(len(c.user))}))
		if c.code == "" {
			assert.Nil(t, refused, "%.40q", c.user)
			continue
		}
		require.NotNil(t, refused, "%.40q", c.user)
		assert.Equal(t, c.code, refused.Code, "%.40q", c.user)
		assert.Equal(t, needed, refused.Message)
	}
}

func TestLockIsPerNameAndAddress(t *testing.T) {
	s := withUsers(t, "anna", "berta")
	for _, user := range []string{"anna", "nobody"} { // the same whether or not the user exists
		for range standardFailures {
			assert.Equal(t, schema.Unauthenticated, s.login(user, "wrong", here))
		}
		_, refused := s.basic(user, password, here)
		require.NotNil(t, refused)
		assert.Equal(t, schema.RateLimited, refused.Code)
		assert.Equal(t, firstLock, refused.RetryAfter)
		assert.Equal(t, "Too many attempts have failed. Try again in 30s.", refused.Message)
	}
	assert.Zero(t, s.login("anna", password, elsewhere), "the same user elsewhere")
	assert.Zero(t, s.login("berta", password, here), "another user at the same address")

	s.clock.step(firstLock)
	assert.Equal(t, schema.Unauthenticated, s.login("anna", "wrong", here), "one more attempt")
	_, refused := s.basic("anna", password, here)
	require.NotNil(t, refused)
	assert.Equal(t, 2*firstLock, refused.RetryAfter, "each lock is longer")
	for range 20 {
		s.clock.step(longestLock)
		s.login("anna", "wrong", here)
	}
	_, refused = s.basic("anna", password, here)
	require.NotNil(t, refused)
	assert.Equal(t, longestLock, refused.RetryAfter)
	s.clock.step(-24 * time.Hour)
	_, refused = s.basic("anna", password, here)
	require.NotNil(t, refused)
	assert.LessOrEqual(t, refused.RetryAfter, longestLock, "the clock was set back")
	s.clock.step(24*time.Hour + longestLock)
	assert.Zero(t, s.login("anna", password, here))
	for range standardFailures {
		assert.Equal(t, schema.Unauthenticated, s.login("anna", "wrong", here),
			"a right password clears the failures")
	}
}

// TestANeighborDoesNotLockOutAKnownCaller: while others behind the same address fail in every way, a caller
// that recently signed in from there is still let in, with and without the cache of correct passwords.
// Guesses at that caller's password stay limited.
func TestANeighborDoesNotLockOutAKnownCaller(t *testing.T) {
	for name, fail := range map[string]func(s *stored){
		"a client with an expired token": func(s *stored) {
			for range addressBurst + 5 {
				s.bearer(NewToken())
			}
		},
		"wrong passwords of the same name": func(s *stored) {
			for range standardFailures {
				assert.Equal(t, schema.Unauthenticated, s.login("carol", "wrong", here))
			}
		},
		"wrong passwords of many names": func(s *stored) {
			for i := range addressBurst + 5 {
				s.login(fmt.Sprintf("user%d", i), "wrong", here)
			}
		},
		"the name guessed from everywhere": func(s *stored) {
			for i := range nameBurst + 5 {
				s.login("carol", "wrong", netip.AddrFrom4([4]byte{10, 1, 0, byte(i)}))
			}
		},
	} {
		for _, cached := range []bool{true, false} {
			s := withUsers(t, "carol")
			require.Zero(t, s.login("carol", password, here))
			fail(s)
			if !cached {
				s.clock.step(2 * remember)
				fail(s)
			}
			assert.Zero(t, s.login("carol", password, here), "%s, cached: %v", name, cached)
		}
	}
	s := withUsers(t, "carol", "dave")
	for range addressBurst + 5 {
		s.bearer(NewToken())
	}
	assert.Zero(t, s.login("dave", password, here),
		"wrong tokens are not wrong passwords, even for who is new there")
}

func TestGuessingANameThatWasRightIsLimited(t *testing.T) {
	s := withUsers(t, "anna")
	require.Zero(t, s.login("anna", password, here))
	guesses := 0
	for guesses = 0; s.login("anna", "wrong", here) == schema.Unauthenticated; guesses++ {
		require.Less(t, guesses, 100)
	}
	assert.Equal(t, standardFailures+spareBurst, guesses)
	assert.Equal(t, schema.RateLimited, s.login("anna", password, here),
		"the cache of right passwords does not bypass a lock")
	for range 24 * 60 * 2 {
		s.clock.step(30 * time.Second)
		for s.login("anna", "wrong", here) == schema.Unauthenticated {
			guesses++
		}
	}
	assert.Less(t, guesses, 3100, "guesses in a day")
	s.clock.step(time.Hour)
	require.Zero(t, s.login("anna", password, here))
	more := 0
	for s.login("anna", "wrong", here) == schema.Unauthenticated {
		more++
	}
	assert.LessOrEqual(t, more, standardFailures+spareBurst, "being right gives no new spare attempts")
	for s.login("anna", "wrong", here) == schema.Unauthenticated {
		more++
	}
	assert.Equal(t, schema.RateLimited, s.login("anna", password, here))
}

func TestFailuresOfAnAddressAreLimited(t *testing.T) {
	var token string
	s := store(t, func(d *Document, now time.Time) {
		token = addToken(d, now, "portal", rights())
		addUser(d, now, "anna", rights())
	})
	for i := range addressBurst {
		assert.Equal(t, schema.Unauthenticated, s.login(fmt.Sprintf("user%d", i), "wrong", here))
	}
	assert.Equal(t, schema.RateLimited, s.login("another", "wrong", here))
	assert.Equal(t, schema.RateLimited, s.login("anna", password, here))
	for range addressBurst {
		_, refused := s.bearer(NewToken())
		require.NotNil(t, refused)
		assert.Equal(t, schema.Unauthenticated, refused.Code, "guessed tokens count separately")
	}
	_, refused := s.bearer(NewToken())
	require.NotNil(t, refused)
	assert.Equal(t, schema.RateLimited, refused.Code)
	_, refused = s.bearer(token)
	assert.Nil(t, refused, "a valid token is accepted: its holder is not guessing")
	assert.Zero(t, s.login("anna", password, elsewhere))
	s.clock.step(5 * time.Second)
	assert.Zero(t, s.login("anna", password, here))

	// The addresses of an IPv6 /64 network count as one.
	for i := range addressBurst {
		s.login(fmt.Sprintf("user%d", i), "wrong", netip.MustParseAddr(fmt.Sprintf("2001:db8::%x", i+1)))
	}
	assert.Equal(t, schema.RateLimited, s.login("another", "wrong", netip.MustParseAddr("2001:db8::ffff")))
	assert.Equal(t, schema.Unauthenticated, s.login("another", "wrong", netip.MustParseAddr("2001:db8:0:1::1")))
}

func TestDistributedGuessingSlowsANameDown(t *testing.T) {
	s := withUsers(t, "anna")
	require.Zero(t, s.login("anna", password, here))
	for i := range nameBurst {
		assert.Equal(t, schema.Unauthenticated,
			s.login("anna", "wrong", netip.AddrFrom4([4]byte{10, 1, 0, byte(i)})))
	}
	_, refused := s.basic("anna", password, elsewhere)
	require.NotNil(t, refused)
	assert.Equal(t, 10*time.Second, refused.RetryAfter)
	require.Nil(t, s.guard.refuses("anna", here))
	s.verifier.known.Purge()
	assert.Zero(t, s.login("anna", password, here), "accepted where the password was right recently")
	s.clock.step(10 * time.Second)
	assert.Zero(t, s.login("anna", password, elsewhere), "elsewhere accepted after a while")
}

func TestGuardMemoryIsBounded(t *testing.T) {
	s := withUsers(t)
	for i := range guarded + 100 {
		address := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		attempt, refused := s.guard.attempt(fmt.Sprintf("user%d", i), address)
		require.Nil(t, refused)
		attempt.failed()
	}
	assert.Equal(t, guarded, s.guard.pairs.Len())
	assert.Equal(t, guarded, s.guard.passwords.Len())
	assert.Equal(t, guarded, s.guard.names.Len())
}

// TestConcurrentAttempts: concurrent attempts cannot get around the lock, and a client that opens
// many connections with the correct password does not lock itself out.
func TestConcurrentAttempts(t *testing.T) {
	s := withUsers(t, "anna")
	count := func(many int, password func(int) string) map[schema.Code]int {
		var mu sync.Mutex
		var all sync.WaitGroup
		got := map[schema.Code]int{}
		for i := range many {
			all.Go(func() {
				code := s.login("anna", password(i), here)
				mu.Lock()
				defer mu.Unlock()
				got[code]++
			})
		}
		all.Wait()
		return got
	}
	wrong := func(i int) string { return fmt.Sprint("wrong", i) }
	got := count(20, wrong)
	assert.LessOrEqual(t, got[schema.Unauthenticated], standardFailures)
	assert.Equal(t, 20, got[schema.Unauthenticated]+got[schema.RateLimited])
	s.clock.step(forgetFailures)
	assert.Equal(t, map[schema.Code]int{"": 40}, count(40, func(int) string { return password }))
	got = count(40, wrong)
	assert.LessOrEqual(t, got[schema.Unauthenticated], standardFailures+spareBurst,
		"where the password was right lately")
	assert.Equal(t, 40, got[schema.Unauthenticated]+got[schema.RateLimited])
}

func TestConcurrentPasswordChecksAreLimited(t *testing.T) {
	s := withUsers(t, "anna")
	ctx := t.Context()
	require.NoError(t, s.verifier.turns.taken.Acquire(ctx, atOnce), "all places are taken")
	require.NoError(t, s.verifier.turns.asked.Acquire(ctx, waiting), "and all that wait")
	_, refused := s.basic("anna", password, here)
	require.NotNil(t, refused)
	assert.Equal(t, schema.Overloaded, refused.Code)
	s.verifier.turns.asked.Release(waiting)
	_, refused = s.basic("anna", password, here)
	require.NotNil(t, refused)
	assert.Equal(t, schema.Overloaded, refused.Code, "the wait is bounded, as no place becomes free")
	s.verifier.turns.taken.Release(atOnce)
	for range 2 * standardFailures {
		require.Zero(t, s.login("anna", password, here), "what was not checked is no failure")
	}
}

func TestPasswordCache(t *testing.T) {
	s := withUsers(t, "anna")
	require.Zero(t, s.login("anna", password, here))
	key := s.verifier.keyOf("anna", password, here)
	hash := s.accounts.Load().users["anna"].Password
	assert.True(t, s.verifier.remembered(key, hash))
	assert.False(t, s.verifier.remembered(key, hash+"x"), "not after the user has changed")
	assert.False(t, s.verifier.remembered(s.verifier.keyOf("anna", "wrong", here), hash))
	s.clock.step(remember)
	assert.False(t, s.verifier.remembered(key, hash))
	assert.NotEqual(t, key, s.verifier.keyOf("anna", password, elsewhere))
	assert.NotEqual(t, key, newVerifier(s.clock.Now, cheap).keyOf("anna", password, here),
		"keys differ between processes")
}

func TestHashesAreUpgradedToTheCurrentCost(t *testing.T) {
	s := withUsers(t, "anna", "berta")
	dearer := Cost{Memory: 16, Time: 2, Threads: 1}
	s.options.Cost = dearer
	before, _, err := s.file.Read()
	require.NoError(t, err)
	require.Zero(t, s.login("anna", password, here))
	after, _, err := s.file.Read()
	require.NoError(t, err)
	assert.NotEqual(t, before.Users[0].Password, after.Users[0].Password)
	assert.Contains(t, after.Users[0].Password, "$m=16,t=2,p=1$")
	assert.Equal(t, before.Users[1].Password, after.Users[1].Password)
	require.NoError(t, s.read())
	assert.Zero(t, s.login("anna", password, here))
}

func TestInvalidHashes(t *testing.T) {
	good := HashPassword("x", cheap)
	_, err := parseHash(good)
	require.NoError(t, err)
	for _, wrong := range []string{
		"", "x", "$argon2i" + good[len("$argon2id"):], strings.Replace(good, "m=8", "m=8000000", 1), strings.Replace(good, "m=8", "m=-8", 1),
		strings.Replace(good, "t=1", "t=0", 1), strings.Replace(good, "t=1", "t=1000000", 1), strings.Replace(good, "p=1", "p=0", 1), strings.Replace(good, "p=1", "p=255", 1),
		strings.Replace(good, "v=19", "v=16", 1), strings.Replace(good, "m=8", "m=08", 1), good + "$", good[:len(good)-30], good + "=",
	} {
		_, err := parseHash(wrong)
		assert.Error(t, err, wrong)
	}
}

func TestUnknownUsersCostAsMuchWork(t *testing.T) {
	s := withUsers(t, "anna")
	assert.Equal(t, cheap, s.verifier.dummy.cost)
	assert.Len(t, s.verifier.dummy.sum, hashLength)
	assert.False(t, s.verifier.dummy.matches(""), "no password is that of the dummy")
	right, err := s.verifier.verify(t.Context(), nil, "")
	require.NoError(t, err)
	assert.False(t, right, "the dummy password is never right")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, s.verifier.turns.taken.Acquire(t.Context(), atOnce))
	defer s.verifier.turns.taken.Release(atOnce)
	_, err = s.verifier.verify(ctx, nil, "")
	assert.ErrorIs(t, err, errBusy)
}

func TestChainAsksInOrder(t *testing.T) {
	var token string
	s := store(t, func(d *Document, now time.Time) { token = addToken(d, now, "portal", rights()) })
	own := NewStatic(Header{})
	require.NoError(t, own.AddToken("own", &identity.Principal{Name: "own"}))
	require.NoError(t, own.AddCertificate("CN=own", &identity.Principal{Name: "certificate"}))
	chain := Chain{own, s.Store}
	for credential, want := range map[string]string{"Bearer own": "own", "Bearer " + token: "portal",
		"Bearer x": "401", "Basic " + base64.StdEncoding.EncodeToString([]byte("a:b")): "401"} {
		p, err := chain.Authenticate(t.Context(), Credential{AuthToken: []string{credential}, Client: here})
		if want == "401" {
			var refused *Refusal
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, schema.Unauthenticated, refused.Code)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, want, p.Name)
	}
	p, err := chain.Authenticate(t.Context(),
		Credential{Chains: chainOf(t, subject(t, "CN=own"), "CA", nil), Client: here})
	require.NoError(t, err)
	assert.Equal(t, "certificate", p.Name)
	_, err = chain.Authenticate(t.Context(),
		Credential{Chains: chainOf(t, subject(t, "CN=other"), "CA", nil), Client: here})
	assert.Error(t, err)
	_, err = Chain{}.Authenticate(t.Context(),
		Credential{Chains: chainOf(t, subject(t, "CN=other"), "CA", nil), Client: here})
	assert.Error(t, err)
}
