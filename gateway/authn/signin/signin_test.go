package signin

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/identity"
)

// directory accepts one password for all accounts.
type directory struct {
	mu    sync.Mutex
	err   error // returned by Groups
	asked []string
	last  []byte
}

func (d *directory) Check(_ context.Context, domain, name string, password []byte) (*Person, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked, d.last = append(d.asked, domain+"/"+name), password
	if string(password) != "right" {
		return nil, ErrRefused
	}
	return &Person{SID: "S-" + name, Name: name, Groups: []string{"desk"}}, nil
}

func (d *directory) Accept(context.Context, negotiate.Token) (*Person, []byte, error) {
	return nil, nil, ErrUnsupported
}

func (d *directory) Groups(_ context.Context, sid string) (*Person, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &Person{SID: sid, Name: sid[2:], Groups: []string{"desk"}}, d.err
}

var client = netip.MustParseAddr("192.0.2.1")

// gate returns a gate with its own clock.
func gate(adjust func(*Options)) (g *Gate, d *directory, now *time.Time, events *[]Event) {
	d, now, events = &directory{}, new(time.Time), &[]Event{}
	*now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	o := Options{
		Directory: d, Roles: []Role{{Group: "desk", Name: "Desk",
			Scopes: []identity.Scope{identity.UserRead, identity.UserPassword}}},
		Now: func() time.Time { return *now }, Record: func(e Event) { *events = append(*events, e) },
	}
	adjust(&o)
	return NewGate(o), d, now, events
}

func find(t *testing.T, g *Gate, id string) *Session {
	t.Helper()
	s, err := g.Find(t.Context(), id)
	require.NoError(t, err)
	return s
}

func in(t *testing.T, g *Gate, name string) string {
	t.Helper()
	id, err := g.Password(t.Context(), name, []byte("right"), client, "")
	require.NoError(t, err)
	return id
}

func TestSessionsEnd(t *testing.T) {
	g, _, now, events := gate(func(*Options) {})
	idle := in(t, g, "anna")
	*now = now.Add(14 * time.Minute)
	require.NotNil(t, find(t, g, idle))
	*now = now.Add(14 * time.Minute)
	require.NotNil(t, find(t, g, idle), "each request keeps it")
	*now = now.Add(15 * time.Minute)
	assert.Nil(t, find(t, g, idle), "without one it ends")

	busy := in(t, g, "anna")
	for range 8*6 - 1 {
		*now = now.Add(10 * time.Minute)
		require.NotNil(t, find(t, g, busy))
	}
	*now = now.Add(10 * time.Minute)
	assert.Nil(t, find(t, g, busy), "after eight hours it ends in any case")

	out := in(t, g, "anna")
	require.NoError(t, g.End(t.Context(), out))
	require.NoError(t, g.End(t.Context(), out))
	assert.Nil(t, find(t, g, out))
	assert.Nil(t, find(t, g, ""))
	assert.Nil(t, find(t, g, "made up"))
	assert.NotEqual(t, idle, busy, "each sign-in has an id of its own")
	assert.Equal(t, Event{What: "signed out", Name: "anna", Kind: identity.KindPerson, SID: "S-anna",
		ID: "S-anna", Client: client}, (*events)[len(*events)-1])
}

// TestPeekingDoesNotKeepASession: a page that is left open asks for news, which does not count as a
// use of its session.
func TestPeekingDoesNotKeepASession(t *testing.T) {
	g, d, now, _ := gate(func(*Options) {})
	id := in(t, g, "anna")
	for range 4 {
		*now = now.Add(3 * time.Minute)
		s, err := g.Peek(t.Context(), id)
		require.NoError(t, err)
		require.NotNil(t, s)
	}
	*now = now.Add(3 * time.Minute)
	s, err := g.Peek(t.Context(), id)
	require.NoError(t, err)
	assert.Nil(t, s, "it ends as if nobody had asked")
	assert.Nil(t, find(t, g, id))

	id = in(t, g, "anna")
	d.err = ErrRefused
	*now = now.Add(6 * time.Minute)
	s, err = g.Peek(t.Context(), id)
	require.NoError(t, err)
	assert.Nil(t, s, "it is checked all the same whether the person may still log on")
}

func TestEachPersonHasFiveSessions(t *testing.T) {
	g, _, now, _ := gate(func(*Options) {})
	var ids []string
	for range sessionsEach + 1 {
		*now = now.Add(time.Second)
		ids = append(ids, in(t, g, "Anna"))
	}
	other := in(t, g, "bert")
	assert.Nil(t, find(t, g, ids[0]), "the oldest ended")
	for _, id := range append(ids[1:], other) {
		assert.NotNil(t, find(t, g, id))
	}
}

func TestLinks(t *testing.T) {
	g, _, now, events := gate(func(*Options) {})
	person := &Person{SID: "S-1", Name: "operator", Groups: []string{"desk"}}
	code := g.Link(person)
	id, err := g.UseLink(t.Context(), code, client)
	require.NoError(t, err)
	require.NotNil(t, find(t, g, id))
	_, err = g.UseLink(t.Context(), code, client)
	require.ErrorIs(t, err, ErrRefused, "it works once")
	late := g.Link(person)
	*now = now.Add(linkLife)
	_, err = g.UseLink(t.Context(), late, client)
	require.ErrorIs(t, err, ErrRefused, "and for ten minutes")
	_, err = g.UseLink(t.Context(), "", client)
	require.ErrorIs(t, err, ErrRefused)
	assert.Equal(t, "refused", (*events)[len(*events)-1].What)
}

func TestRecheck(t *testing.T) {
	g, d, now, events := gate(func(*Options) {})
	id := in(t, g, "anna")
	*now = now.Add(6 * time.Minute)
	d.err = errors.New("no domain controller")
	s := find(t, g, id)
	require.NotNil(t, s)
	principals, err := s.Principals(t.Context(), client)
	require.NoError(t, err)
	assert.Equal(t, []identity.Scope{identity.UserRead}, principals[0].Scopes,
		"while nobody answers it only reads")
	d.err = nil
	s = find(t, g, id)
	principals, _ = s.Principals(t.Context(), client)
	assert.Equal(t, []identity.Scope{identity.UserRead, identity.UserPassword}, principals[0].Scopes)

	d.err = errors.New("no domain controller")
	for range 3 {
		*now = now.Add(6 * time.Minute)
		require.NotNil(t, find(t, g, id))
	}
	*now = now.Add(6 * time.Minute)
	assert.Nil(t, find(t, g, id), "not for longer than a quarter of an hour")
	assert.Equal(t, "the directory did not answer for too long", (*events)[len(*events)-1].Reason)

	d.err = nil
	id = in(t, g, "anna")
	d.err = ErrRefused
	*now = now.Add(6 * time.Minute)
	assert.Nil(t, find(t, g, id), "an account that was disabled ends its sessions")
}

func TestPasswords(t *testing.T) {
	g, d, _, events := gate(func(o *Options) { o.Domains = []string{"CORP", "corp.example"} })
	password := []byte("right")
	_, err := g.Password(t.Context(), `corp\anna`, password, client, "")
	require.NoError(t, err)
	assert.Equal(t, make([]byte, 5), password, "it is wiped")
	assert.Equal(t, []string{"corp/anna"}, d.asked)
	for _, name := range []string{"", " ", `\`, `other\anna`, "anna@other.example", "a*", "a\x00b", "(a)=b",
		string(make([]byte, 300))} {
		_, err := g.Password(t.Context(), name, []byte("right"), client, "")
		assert.ErrorIs(t, err, ErrRefused, "%q", name)
	}
	_, err = g.Password(t.Context(), "anna", nil, client, "")
	assert.ErrorIs(t, err, ErrRefused)
	assert.Len(t, d.asked, 1, "nobody was asked")
	for _, e := range *events {
		assert.NotContains(t, e.Reason+e.Name, "right")
	}
}

// TestTriesWithoutAnAccount: for an unknown account, the part before the @ counts as the name, and spellings
// that the directory does not distinguish count as the same name. So other spellings give no further tries.
func TestTriesWithoutAnAccount(t *testing.T) {
	for name, policy := range map[string]func(context.Context, string) (Policy, error){
		"no policy": nil,
		"nobody":    func(context.Context, string) (Policy, error) { return Policy{}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			g, d, now, events := gate(func(o *Options) { o.Policy = policy })
			for _, name := range []string{"anna", "anna@corp.example", "ANNA@CORP", "ánna@other", `CORP\ anna`, "ａnna", "anna"} {
				_, err := g.Password(t.Context(), name, []byte("wrong"), client, "")
				require.Error(t, err)
			}
			assert.Len(t, d.asked, standardTries)
			for _, e := range *events {
				assert.Empty(t, e.Name, "it may be a password in the wrong box")
			}
			*now = now.Add(StandardWindow)
			in(t, g, "anna")
		})
	}
}

// TestNoTriesWhileAccountsCannotBeRead: the directory is not asked while the account of a password,
// and the number of wrong passwords that lock it out, are unknown.
func TestNoTriesWhileAccountsCannotBeRead(t *testing.T) {
	away := errors.New("down")
	g, d, now, _ := gate(func(o *Options) {
		o.Policy = func(context.Context, string) (Policy,
			error) {
			return Policy{Account: "anna", Threshold: 9}, away
		}
	})
	for i := range 2 * addressTries {
		_, err := g.Password(t.Context(), "anna", []byte("right"), client, "")
		if i < addressTries/lookupRuns {
			require.ErrorIs(t, err, ErrUnread)
		} else {
			require.ErrorIs(t, err, ErrTooMany, "strangers cause only so much")
		}
	}
	assert.Empty(t, d.asked)
	away = nil
	*now = now.Add(time.Minute)
	in(t, g, "anna")
}

// TestLookups: a limited number of names is looked up for each address. Names that are already known do not
// count.
func TestLookups(t *testing.T) {
	runs := map[string]int{}
	g, d, now, _ := gate(func(o *Options) {
		o.Policy = func(_ context.Context, name string) (Policy, error) {
			runs[name]++
			if name[0] == 'x' {
				return Policy{}, nil
			}
			return Policy{Account: name, Window: time.Hour}, nil
		}
	})
	for i := range 100 {
		_, err := g.Password(t.Context(), fmt.Sprint("u", i), []byte("wrong"), client, "")
		require.Error(t, err)
	}
	assert.Len(t, runs, addressTries/lookupRuns)
	assert.Len(t, d.asked, addressTries/lookupRuns)
	other := netip.MustParseAddr("192.0.2.2")
	for range 10 {
		_, err := g.Password(t.Context(), "U1", []byte("wrong"), other, "")
		require.Error(t, err)
		_, err = g.Password(t.Context(), "x", []byte("wrong"), other, "")
		require.Error(t, err)
	}
	assert.Equal(t, 1, runs["u1"], "it is known")
	assert.Equal(t, 1, runs["x"], "so is that there is none")
	*now = now.Add(lookupLife)
	third := netip.MustParseAddr("192.0.2.3")
	for range 3 {
		_, _ = g.Password(t.Context(), "x", []byte("wrong"), third, "")
		_, err := g.Password(t.Context(), "anna", []byte("right"), third, "")
		require.NoError(t, err)
	}
	assert.Equal(t, 2, runs["x"], "an account may be made")
	assert.Equal(t, 1, runs["anna"])
}

// TestAFullOfficeSignsIn: an attempt with a correct password is not counted for the address.
func TestAFullOfficeSignsIn(t *testing.T) {
	g, _, _, _ := gate(func(o *Options) {
		o.Policy = func(_ context.Context, name string) (Policy, error) { return Policy{Account: name}, nil }
	})
	for i := range 5 * addressTries {
		in(t, g, fmt.Sprint("person", i))
	}
}

// slow is a directory that answers when a test lets it.
type slow struct {
	directory
	entered chan struct{}
	answer  chan struct{}
}

func (d *slow) Check(ctx context.Context, domain, name string, password []byte) (*Person, error) {
	d.entered <- struct{}{}
	<-d.answer
	return d.directory.Check(ctx, domain, name, password)
}

// TestTurns: only a limited number of people sign in at once, a few more wait, and all others are
// told to try again.
func TestTurns(t *testing.T) {
	d := &slow{entered: make(chan struct{}), answer: make(chan struct{})}
	g, _, _, _ := gate(func(o *Options) { o.Directory, o.Record = d, nil })
	ended := make(chan error)
	for i := range signInsAtOnce {
		go func() {
			_, err := g.Password(t.Context(), fmt.Sprint("person", i), []byte("right"), client, "")
			ended <- err
		}()
		<-d.entered
	}
	hasty, leave := context.WithCancel(t.Context())
	leave()
	_, err := g.Password(hasty, "anna", []byte("right"), client, "")
	require.ErrorIs(t, err, ErrBusy)
	close(d.answer)
	for range signInsAtOnce {
		require.NoError(t, <-ended)
	}
	go func() { <-d.entered }()
	in(t, g, "anna")
}

func TestFormTokensBelongToACookie(t *testing.T) {
	g, _, _, _ := gate(func(*Options) {})
	other, _, _, _ := gate(func(*Options) {})
	assert.True(t, g.FormValid("cookie", g.FormToken("cookie")))
	for _, forged := range []string{"", "x", g.FormToken("another"), other.FormToken("cookie")} {
		assert.False(t, g.FormValid("cookie", forged))
	}
	assert.False(t, g.FormValid("", g.FormToken("")), "nobody has the empty cookie")
}
