package authn

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

const patience = 3 * time.Minute

// cheap is a low cost for tests. The hashing itself is the library's business.
var cheap = Cost{Memory: 8, Time: 1, Threads: 1}

// clock is a clock that tests advance.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// stored is a store over its own file, with its clock.
type stored struct {
	*Store
	t     testing.TB
	file  File
	clock *clock
}

// password is the password of every user.
const password = "Corr3ct:Horse-ä"

var here = netip.MustParseAddr("192.0.2.7")

// store returns a store over a file that write fills.
func store(t testing.TB, write func(*Document, time.Time)) *stored {
	t.Helper()
	s := &stored{t: t, file: File{Path: filepath.Join(t.TempDir(), "credentials.json")}, clock: newClock()}
	s.edit(func(d *Document) { write(d, s.clock.Now()) })
	s.open()
	return s
}

func (s *stored) open() {
	s.t.Helper()
	var err error
	s.Store, err = OpenStore(StoreOptions{File: s.file, Now: s.clock.Now, Cost: cheap, Poll: time.Millisecond})
	require.NoError(s.t, err)
}

func (s *stored) edit(change func(*Document)) {
	s.t.Helper()
	require.NoError(s.t, s.file.Edit(s.t.Context(), func(d *Document) error {
		change(d)
		return nil
	}))
}

func rights(scopes ...string) Rights {
	if len(scopes) == 0 {
		scopes = []string{"user:read"}
	}
	return Rights{Scopes: scopes}
}

// addToken adds an account with a token, and returns the token.
func addToken(d *Document, now time.Time, name string, r Rights) string {
	a := NewAccount(name, now, r)
	token := a.AddToken(now, now)
	d.Tokens = append(d.Tokens, a)
	return token
}

func addUser(d *Document, now time.Time, name string, r Rights) {
	a := NewAccount(name, now, r)
	a.Password = HashPassword(password, cheap)
	d.Users = append(d.Users, a)
}

func (s *stored) ask(credential string, from netip.Addr) (*identity.Principal, *Refusal) {
	s.t.Helper()
	p, err := s.Authenticate(s.t.Context(), Credential{AuthToken: []string{credential}, Client: from})
	var refused *Refusal
	if err != nil {
		require.True(s.t, errors.As(err, &refused), "%v", err)
	}
	return p, refused
}

func (s *stored) bearer(token string) (*identity.Principal, *Refusal) {
	return s.ask("Bearer "+token, here)
}

func (s *stored) basic(user, password string, from netip.Addr) (*identity.Principal, *Refusal) {
	return s.ask("Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+password)), from)
}

func TestTokenFormat(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		token := NewToken()
		assert.Regexp(t, `^adgw_[0-9A-Za-z]{49}$`, token)
		assert.False(t, seen[token])
		seen[token] = true
		_, ok := digestOf(token)
		require.True(t, ok)
	}
	token := NewToken()
	var sum uint64
	for _, digit := range token[len(token)-sumLength:] {
		sum = sum*62 + uint64(strings.IndexRune(base62, digit))
	}
	assert.EqualValues(t, crc32.ChecksumIEEE([]byte(token[len(TokenPrefix):len(token)-sumLength])), sum)
	for i := len(TokenPrefix); i < len(token); i++ {
		for _, other := range []byte{'0', 'x', '_', 0, 0xff} {
			wrong := token[:i] + string([]byte{other}) + token[i+1:]
			_, ok := digestOf(wrong)
			assert.Equal(t, wrong == token, ok, "one letter changed")
		}
	}
	for _, wrong := range []string{"", "adgw_", token[1:], token[:len(token)-1], token + "0", " " + token,
		strings.ToUpper(token), strings.Repeat(token, 1000)} {
		_, ok := digestOf(wrong)
		assert.False(t, ok, "%.80q", wrong)
	}
}

func TestStoreAuthenticatesTokens(t *testing.T) {
	now := newClock().Now()
	soon := now.Add(time.Hour)
	var token, limited, placed string
	s := store(t, func(d *Document, now time.Time) {
		token = addToken(d, now, "portal",
			Rights{Scopes: []string{"user:read", "ou:read"}, Dialect: identity.Classic,
				Limits: &identity.Limits{OUs: []string{"OU=a,DC=b"}}})
		limited = addToken(d, now, "soon", Rights{Scopes: []string{"*"}, Expires: &soon})
		placed = addToken(d, now, "placed",
			Rights{Scopes: []string{"*"}, Networks: []string{"10.0.0.0/8", "2001:db8::/32", "192.0.2.1"}})
	})
	p, refused := s.bearer(token)
	require.Nil(t, refused)
	assert.Equal(t, "token 'portal'", p.String())
	assert.Equal(t, identity.Limits{OUs: []string{"OU=a,DC=b"}}, p.Limits)
	assert.Equal(t, identity.Classic, p.Dialect)
	assert.True(t, p.Has(identity.OURead))
	assert.False(t, p.Has(identity.UserWrite))
	assert.NotEmpty(t, p.ID)

	text, err := os.ReadFile(s.file.Path)
	require.NoError(t, err)
	assert.NotContains(t, string(text), token[len(TokenPrefix):], "no token is stored")

	for name, wrong := range map[string]string{"unknown": NewToken(), "checksum": token[:len(token)-1] + "_",
		"foreign": "ghp_abc"} {
		_, refused := s.bearer(wrong)
		require.NotNil(t, refused, name)
		assert.Equal(t, schema.Unauthenticated, refused.Code, name)
		assert.Equal(t, needed, refused.Message, "the same message for all")
		assert.NotEmpty(t, refused.Reason)
		assert.NotContains(t, refused.Reason, wrong, name)
	}

	for from, want := range map[string]bool{"10.1.2.3": true, "192.0.2.1": true, "192.0.2.2": false,
		"2001:db8:1::5": true, "2001:db9::1": false, "": false} {
		address, _ := netip.ParseAddr(from)
		_, refused := s.ask("Bearer "+placed, address)
		assert.Equal(t, want, refused == nil, from)
	}

	_, refused = s.bearer(limited)
	require.Nil(t, refused)
	s.clock.step(time.Hour)
	_, refused = s.bearer(limited)
	require.NotNil(t, refused, "expired")
	assert.Contains(t, refused.Reason, "the token 'soon' expired at 2026-11-22T11:00:00Z")
	s.clock.step(-time.Second)
	_, refused = s.bearer(limited)
	assert.Nil(t, refused, "the clock was set back")
}

// follow runs the store until the test ends.
func (s *stored) follow() {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx)
	}()
	s.t.Cleanup(func() {
		stop()
		<-ended
	})
}

func TestRunningStoreFollowsChanges(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Run("store", func(t *testing.T) {
		var token, other string
		s := store(t, func(d *Document, now time.Time) {
			token = addToken(d, now, "portal", rights())
			addUser(d, now, "anna", rights())
		})
		s.follow()
		p, _ := s.bearer(token)
		_, refused := s.basic("anna", password, here)
		require.Nil(t, refused)

		s.edit(func(d *Document) { d.Tokens[0].Rights = rights("dns:read") })
		s.eventually(func() bool { p, _ = s.bearer(token); return p.Has(identity.DNSRead) }, "rights change")
		assert.False(t, p.Has(identity.UserRead))

		s.edit(func(d *Document) { other = d.Tokens[0].AddToken(s.clock.Now(), s.clock.Now().Add(time.Minute)) })
		s.eventually(func() bool { _, refused := s.bearer(other); return refused == nil }, "a rotation")
		_, refused = s.bearer(token)
		assert.Nil(t, refused, "the old token is in its grace period")
		s.clock.step(time.Minute)
		_, refused = s.bearer(token)
		assert.NotNil(t, refused, "the grace period is over")

		s.edit(func(d *Document) { d.Users[0].Password = HashPassword("another password", cheap) })
		s.eventually(func() bool { _, refused := s.basic("anna", password, here); return refused != nil },
			"a new password")

		s.edit(func(d *Document) { d.Tokens = nil })
		s.eventually(func() bool { _, refused := s.bearer(other); return refused != nil }, "a revocation")
	})
}

func (s *stored) eventually(condition func() bool, what string) {
	s.t.Helper()
	require.Eventually(s.t, condition, patience, time.Millisecond, what)
}

// broken returns ways to make the file unusable while the store runs.
func (s *stored) broken() map[string]func() {
	write := func(change func(good string) string) func() {
		return func() {
			good, err := os.ReadFile(s.file.Path)
			require.NoError(s.t, err)
			require.NoError(s.t, os.WriteFile(s.file.Path, []byte(change(string(good))), 0o600))
		}
	}
	remove := func() { require.NoError(s.t, os.Remove(s.file.Path)) }
	return map[string]func(){
		"truncated": write(func(good string) string { return good[:len(good)/2] }),
		"empty":     write(func(string) string { return "" }),
		"nonsense":  write(func(string) string { return "hello" }),
		"a fault":   write(func(good string) string { return strings.Replace(good, "user:read", "user:reed", 1) }),
		"missing":   remove,
		"unreadable": func() {
			remove()
			require.NoError(s.t, os.Mkdir(s.file.Path, 0o700))
		},
	}
}

// TestBrokenFileShutsTheStore: while the file cannot be used, the previous accounts remain valid
// for a moment, in which an editor may finish saving. After that everyone is rejected.
func TestBrokenFileShutsTheStore(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys((&stored{}).broken())) {
		t.Run(name, func(t *testing.T) {
			var token string
			s := store(t, func(d *Document, now time.Time) {
				token = addToken(d, now, "portal", Rights{Scopes: []string{"user:read"}})
				d.Tokens = append(d.Tokens, NewAccount("pipeline", now, rights()))
				d.Tokens[1].Subject = "CN=portal"
				addUser(d, now, "anna", rights())
			})
			var logged []string
			s.options.Log = func(problem bool, message string, fields map[string]any) {
				if problem {
					logged = append(logged, fmt.Sprint(message, ": ", fields["cause"]))
				}
			}
			portal := chainOf(t, subject(t, "CN=portal"), "CA", nil)
			answers := func() string {
				_, byToken := s.bearer(token)
				_, byPassword := s.basic("anna", password, here)
				_, byCertificate := s.byCertificate(portal, here)
				_, wrong := s.bearer(NewToken())
				_, none := s.ask("", here)
				text := ""
				for _, err := range []error{byToken, byPassword, byCertificate, wrong, none} {
					code := schema.Code("ok")
					if refused, _ := err.(*Refusal); refused != nil {
						code = refused.Code
					}
					text += fmt.Sprint(code, " ")
				}
				return text
			}
			const open, closed = "ok ok ok unauthenticated unauthenticated ", "unavailable unavailable unavailable " +
				"unavailable unauthenticated "
			good, err := os.ReadFile(s.file.Path)
			require.NoError(t, err)

			s.broken()[name]()
			s.Store.follow()
			assert.Equal(t, open, answers(), "an editor may be about to save again")
			shut, err := s.State()
			assert.False(t, shut)
			assert.ErrorContains(t, err, s.file.Path)
			require.Len(t, logged, 1)
			assert.Contains(t, logged[0], "remain valid for 2s: ")
			assert.Contains(t, logged[0], s.file.Path)

			s.clock.step(grace - time.Nanosecond)
			s.Store.follow()
			assert.Equal(t, open, answers())
			s.clock.step(time.Nanosecond)
			assert.Equal(t, closed, answers(), "without waiting for the next poll")
			for range 3 {
				s.Store.follow()
			}
			require.Len(t, logged, 2, "each is logged once")
			assert.Contains(t, logged[1], "everyone is rejected")
			_, refused := s.bearer(token)
			assert.Equal(t, schema.Unavailable, refused.Code)
			assert.Positive(t, refused.RetryAfter)
			assert.Contains(t, refused.Message, "cannot be read")
			assert.NotContains(t, refused.Message, s.file.Path)
			assert.Contains(t, refused.Reason, s.file.Path)
			s.clock.step(-time.Hour)
			assert.Equal(t, closed, answers(), "the clock was set back")
			_, err = OpenStore(StoreOptions{File: s.file})
			assert.ErrorContains(t, err, s.file.Path, "a gateway does not start with it")

			require.NoError(t, os.RemoveAll(s.file.Path))
			require.NoError(t, os.WriteFile(s.file.Path, good, 0o600))
			s.Store.follow()
			assert.Equal(t, open, answers(), "repaired")
			_, err = s.State()
			assert.NoError(t, err)
		})
	}
}

// TestFileThatBecomesReadableIsLoaded: a file that becomes readable again counts as repaired,
// although its metadata has not changed.
func TestFileThatBecomesReadableIsLoaded(t *testing.T) {
	var token string
	s := store(t, func(d *Document, now time.Time) { token = addToken(d, now, "portal", rights()) })
	aside := s.file.Path + ".aside"
	require.NoError(t, os.Rename(s.file.Path, aside))
	s.Store.follow()
	s.clock.step(grace)
	_, refused := s.bearer(token)
	require.NotNil(t, refused)
	require.NoError(t, os.Rename(aside, s.file.Path))
	s.Store.follow()
	_, refused = s.bearer(token)
	assert.Nil(t, refused)
}

// TestConsecutiveFaultsShareOneGracePeriod: every new mistake is logged, but does not extend the
// grace period.
func TestConsecutiveFaultsShareOneGracePeriod(t *testing.T) {
	var token string
	s := store(t, func(d *Document, now time.Time) { token = addToken(d, now, "portal", rights()) })
	logged := ""
	s.options.Log = func(_ bool, message string, _ map[string]any) { logged = message }
	for _, fault := range []struct{ text, logged string }{{"{", "remain valid for 2s"}, {"[", "still"},
		{"{", "still"}} {
		require.NoError(t, os.WriteFile(s.file.Path, []byte(fault.text), 0o600))
		s.Store.follow()
		assert.Contains(t, logged, fault.logged)
		_, refused := s.bearer(token)
		assert.Nil(t, refused)
		s.clock.step(grace / 3)
	}
	s.clock.step(grace / 3)
	_, refused := s.bearer(token)
	assert.NotNil(t, refused)
}

// TestRemovalByHandRevokes: removing an account from the file by hand revokes it, including its
// cached password.
func TestRemovalByHandRevokes(t *testing.T) {
	var kept, revoked string
	s := store(t, func(d *Document, now time.Time) {
		kept = addToken(d, now, "kept", rights())
		revoked = addToken(d, now, "revoked", rights())
		addUser(d, now, "anna", rights())
	})
	_, refused := s.bearer(revoked)
	require.Nil(t, refused)
	require.Zero(t, s.login("anna", password, here))
	d, _, err := s.file.Read()
	require.NoError(t, err)
	d.Tokens, d.Users = d.Tokens[:1], nil
	text, err := json.Marshal(d)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.file.Path, text, 0o600), "in place, as editors do")
	s.Store.follow()
	_, refused = s.bearer(revoked)
	require.NotNil(t, refused)
	assert.Equal(t, schema.Unauthenticated, refused.Code)
	assert.Equal(t, schema.Unauthenticated, s.login("anna", password, here))
	_, refused = s.bearer(kept)
	assert.Nil(t, refused)
	standard, err := OpenStore(StoreOptions{File: s.file})
	require.NoError(t, err)
	assert.LessOrEqual(t, standard.options.Poll, time.Second/2, "the file is checked often enough")
}

// TestStoreUsesTheMonotonicClock: locks, quotas and the password cache use the monotonic clock.
// Only expiries in the file are wall-clock times.
func TestStoreUsesTheMonotonicClock(t *testing.T) {
	s := withUsers(t, "anna")
	standard, err := OpenStore(StoreOptions{File: s.file})
	require.NoError(t, err)
	for _, now := range []func() time.Time{standard.options.Now, standard.guard.now, standard.verifier.now} {
		assert.Contains(t, now().String(), " m=")
	}
}

func TestConcurrentEdits(t *testing.T) {
	file := File{Path: filepath.Join(t.TempDir(), "new", "credentials.json")}
	var all sync.WaitGroup
	const writers = 20
	for i := range writers {
		all.Go(func() {
			assert.NoError(t, file.Edit(t.Context(), func(d *Document) error {
				addToken(d, time.Now(), fmt.Sprintf("t%d", i), rights())
				return nil
			}))
		})
	}
	all.Wait()
	d, warning, err := file.Read()
	require.NoError(t, err)
	assert.Empty(t, warning)
	assert.Len(t, d.Tokens, writers)
	info, err := os.Stat(file.Path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	left, err := filepath.Glob(filepath.Join(filepath.Dir(file.Path), "*.new-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestFailedEditChangesNothing(t *testing.T) {
	s := store(t, func(d *Document, now time.Time) { addToken(d, now, "portal", rights()) })
	before, err := os.ReadFile(s.file.Path)
	require.NoError(t, err)
	stop := errors.New("no")
	require.ErrorIs(t, s.file.Edit(t.Context(), func(d *Document) error { d.Tokens = nil; return stop }), stop)
	assert.ErrorContains(t, s.file.Edit(t.Context(), func(d *Document) error {
		addToken(d, s.clock.Now(), "PORTAL", rights("user:reed"))
		return nil
	}), "another token of this name")
	after, err := os.ReadFile(s.file.Path)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
}

func TestLastUsesAreSaved(t *testing.T) {
	var token string
	s := store(t, func(d *Document, now time.Time) {
		token = addToken(d, now, "portal", rights())
		addToken(d, now, "idle", rights())
	})
	p, _ := s.bearer(token)
	assert.Empty(t, s.file.LastUses(), "requests do not wait for it")
	s.flush()
	assert.Equal(t, map[string]time.Time{p.ID: s.clock.Now()}, s.file.LastUses())
	s.open()
	s.flush()
	assert.Len(t, s.file.LastUses(), 1, "a new server loads the times")
	require.NoError(t, os.WriteFile(s.file.Path+usesSuffix, []byte("broken"), 0o600))
	s.open()
	assert.Empty(t, s.file.LastUses(), "a broken file has no times")
}
