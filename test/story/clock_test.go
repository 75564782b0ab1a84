package story

import (
	"fmt"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/identity"
	"adgateway/gateway/store"
	"adgateway/ps/sandbox"
	"adgateway/ps/session"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

const day = 24 * time.Hour

// clocks contains the clocks of a gateway, which a test sets. The wall clock differs greatly from the clock
// of the process, so that a test notices code that uses the clock of the process.
type clocks struct {
	started time.Time

	mu     sync.Mutex
	far    time.Duration // time by which the wall clock is ahead of the process's clock
	set    time.Duration // how far the wall clock was set ahead
	passed time.Duration // time that passes in addition to real time
}

func newClocks(far time.Duration) *clocks { return &clocks{started: time.Now(), far: far} }

func (c *clocks) sources() store.ClockSources {
	return store.ClockSources{Wall: c.wall, Monotonic: func() time.Duration {
		c.mu.Lock()
		defer c.mu.Unlock()
		return time.Since(c.started) + c.passed
	}}
}

func (c *clocks) wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.far + c.set + c.passed).Round(0)
}

// jump sets the wall clock ahead, or back.
func (c *clocks) jump(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set = by
}

// pass makes time pass on both clocks.
func (c *clocks) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passed += d
}

// keeping is a gateway with a store. Its credentials expire after 45 minutes and may remove two objects an
// hour. The test removes one before and one after a jump of the clock.
type keeping struct {
	*systemtest.System
	tokens []string
}

// keepingFor returns a function that starts gateways with the same folder and world, one after another.
func keepingFor(t *testing.T, c *clocks, tokens int) func(t *testing.T) *keeping {
	t.Helper()
	folder, two, ends := t.TempDir(), 2, c.wall().Add(45*time.Minute)
	file := authn.File{Path: filepath.Join(folder, "credentials.json")}
	var all []string
	require.NoError(t, file.Edit(t.Context(), func(d *authn.Document) error {
		for i := range tokens {
			rights := authn.Rights{Scopes: []string{"*"}, Expires: &ends,
				Quota: &identity.Quota{DeletionsPerHour: &two}}
			account := authn.NewAccount(fmt.Sprintf("portal-%d", i), c.wall(), rights)
			all = append(all, account.AddToken(c.wall(), c.wall()))
			d.Tokens = append(d.Tokens, account)
		}
		return nil
	}))
	w, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	groups, err := w.AddPeople(t.Context())
	require.NoError(t, err)
	return func(t *testing.T) *keeping {
		accounts, err := authn.OpenStore(authn.StoreOptions{File: file})
		require.NoError(t, err)
		return &keeping{tokens: all,
			System: systemtest.NewWith(t, w, session.Config{Starter: w.Starter()}, func(o *app.Options) {
				o.Auth, o.Clock = authn.Chain{o.Auth.(authn.Source), accounts}, c.sources()
				o.People = &app.People{Roles: []signin.Role{{Group: groups[sandbox.OperatorGroup], Name: "Operators",
					Scopes: []identity.Scope{identity.All}}}}
			}, fast, "store.file="+filepath.Join(folder, "state.db"))}
	}
}

// kept is the data that the gateway keeps for one caller.
type kept struct {
	token   string
	call    systemtest.Call // a call with a key
	change  string
	plan    systemtest.Call // a call that applies a plan
	job     string          // a job that has ended
	session string
}

// keeps makes the gateway keep one item of each kind for a caller.
func (s *keeping) keeps(name, token string) *kept {
	s.T.Helper()
	k := &kept{token: token, call: keyed(update("aschmidt", map[string]any{"City": name}),
		"key-of-"+name).As(token)}
	made := s.Do(k.call)
	require.Equal(s.T, http.StatusOK, made.Status, "%s", made.Body)
	k.change = made.Header.Get("X-Change-Id")
	office := update("lweber", map[string]any{"Office": name})
	shown, _ := dryRun(s.System, office.As(token))
	k.plan = applying(office, shown).As(token)
	k.job = submitted(s.System, submit(csvMedia, "UserName,City\njkrueger,"+name+"\n", "Operation",
		"user.update").As(token))
	reached(s.System, k.job, "done")
	var err error
	link := s.Stack.Gate.Link(&signin.Person{SID: "S-1-" + name, Name: "operator"})
	k.session, err = s.Stack.Gate.UseLink(s.T.Context(), link, netip.MustParseAddr("127.0.0.1"))
	require.NoError(s.T, err)
	return k
}

// signedIn reports whether a session is still valid.
func (s *keeping) signedIn(k *kept) bool {
	s.T.Helper()
	found, err := s.Stack.Gate.Find(s.T.Context(), k.session)
	require.NoError(s.T, err)
	return found != nil
}

// has asserts that all items are still stored. It uses up the plan.
func (s *keeping) has(k *kept) {
	s.T.Helper()
	again := s.Do(k.call)
	assert.Equal(s.T, http.StatusOK, again.Status, "%s", again.Body)
	assert.Equal(s.T, "true", again.Header.Get("Idempotency-Replayed"), "the key")
	assert.Equal(s.T, http.StatusOK, s.Do(getChange(k.change, nil)).Status, "the change")
	assert.Equal(s.T, "done", jobOf(s.System, k.job)["state"])
	assert.True(s.T, s.signedIn(k), "the session")
	applied := s.Do(k.plan)
	assert.Equal(s.T, http.StatusOK, applied.Status, "the plan: %s", applied.Body)
}

// removes creates a user, removes it, and returns the answer to the removal.
func (s *keeping) removes(name, token string) systemtest.Answer {
	s.T.Helper()
	s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/" + name}, http.StatusCreated)
	return s.Do(removal("/api/ADUser/" + name).As(token))
}

// TestNothingExpiresByAJumpOfTheWallClock: when the wall clock is set while the gateway runs, no item expires
// or becomes valid again. Items expire after their time has passed. After a restart, the wall clock decides.
func TestNothingExpiresByAJumpOfTheWallClock(t *testing.T) {
	t.Parallel()
	jumps := []time.Duration{time.Second, -time.Second, 30 * time.Second, -30 * time.Second, time.Hour,
		-time.Hour, 400 * day, -400 * day}
	for name, far := range map[string]time.Duration{"ahead": 1000 * day, "behind": -1000 * day} {
		if !thorough.OneOf(3, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			c := newClocks(far)
			start := keepingFor(t, c, len(jumps))
			var last *kept
			require.True(t, t.Run("jumps", func(t *testing.T) {
				s := start(t)
				later := submitted(s.System, submit(csvMedia, "UserName,City\nmwagner,Rome\n", "Operation", "user.update",
					"NotBefore", c.wall().Add(20*time.Minute).UTC().Format(time.RFC3339Nano)))
				for i, jump := range jumps {
					before := s.keeps(fmt.Sprintf("before-%d", i), s.tokens[i])
					assert.Equal(t, http.StatusOK, s.removes(fmt.Sprintf("first.%d", i), before.token).Status)
					c.jump(jump)
					s.has(before)
					during := s.keeps(fmt.Sprintf("during-%d", i), s.tokens[i])
					assert.Equal(t, http.StatusOK, s.removes(fmt.Sprintf("second.%d", i), before.token).Status,
						"what is left of a budget is not lost")
					refused := s.removes(fmt.Sprintf("third.%d", i), before.token)
					assert.Equal(t, http.StatusTooManyRequests, refused.Status, "%s: what was spent is not given back: %s",
						jump, refused.Body)
					s.wakes(later)
					c.jump(0)
					s.has(during)
					assert.Equal(t, http.StatusTooManyRequests,
						s.Do(removal(fmt.Sprintf("/api/ADUser/third.%d", i)).As(before.token)).Status)
				}
				held := reached(s.System, later, "held")
				assert.Equal(t, []any{"notBefore", nil}, []any{held["why"], held["started"]}, "no jump has let it begin")
				last = s.keeps("last", s.tokens[0])
				c.pass(25 * time.Minute)
				reached(s.System, later, "done")
				assert.False(t, s.signedIn(last), "it was idle for 15 minutes")
				c.pass(10 * time.Minute)
				assert.Equal(t, http.StatusGone, s.Do(last.plan).Status, "its 30 minutes are over")
				c.pass(30 * time.Minute)
				assert.Equal(t, http.StatusUnauthorized, s.Do(last.call).Status, "the token has expired")
				last = s.keeps("later", "")
			}))
			c.jump(400 * day)
			t.Run("after a restart", func(t *testing.T) {
				s := start(t)
				assert.Equal(t, http.StatusNotFound, s.Do(getChange(last.change, nil)).Status)
				assert.Equal(t, http.StatusNotFound, s.Get("/api/Jobs/"+last.job).Status)
				assert.Empty(t, s.Do(last.call).Header.Get("Idempotency-Replayed"))
				assert.False(t, s.signedIn(last))
			})
		})
	}
}

// wakes makes a waiting job check whether it may begin.
func (s *keeping) wakes(job string) {
	s.T.Helper()
	for _, action := range []string{"Pause", "Resume"} {
		s.OK(systemtest.Call{Method: http.MethodPut, Path: "/api/Jobs/" + job + "/" + action}, http.StatusOK)
	}
}

// TestAGatewayReportsAWrongWallClock: /readyz and the log report when the wall clock is wrong by more than a
// minute, and when it is right again.
func TestAGatewayReportsAWrongWallClock(t *testing.T) {
	t.Parallel()
	const degraded, passed = "degraded: requests are served", "a check of /readyz is passed again"
	c := newClocks(0)
	s := keepingFor(t, c, 0)(t)
	check := func() string {
		a := s.Get("/readyz")
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		return string(a.Body)
	}
	of := func(message string) (lines []string) {
		for _, line := range s.Log.Lines(message) {
			if strings.Contains(line, `"check":"clock"`) {
				lines = append(lines, line)
			}
		}
		return lines
	}
	require.Eventually(t, func() bool { return s.Get("/readyz").Status == http.StatusOK }, systemtest.Patience,
		time.Millisecond)
	c.jump(50 * time.Second)
	assert.NotContains(t, check(), "The wall clock was set")
	for i, jump := range []time.Duration{2 * time.Minute, -400 * day} {
		c.jump(jump)
		way := map[bool]string{true: " ahead of the time by which", false: " behind the time by which"}[jump > 0]
		assert.Contains(t, check(), way)
		require.Eventually(t, func() bool { return len(of(degraded)) == i+1 }, systemtest.Patience,
			time.Millisecond)
		assert.Contains(t, of(degraded)[i], way)
		c.jump(0)
		assert.NotContains(t, check(), "The wall clock was set")
		require.Eventually(t, func() bool { return len(of(passed)) == i+1 }, systemtest.Patience, time.Millisecond)
	}
}
