package signin

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/authn"
	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
)

// ticketing is a directory that accepts a single ticket and knows its account.
type ticketing struct {
	directory
	inTicket []string // groups in the ticket
	now      *Person
	err      error // returned by Groups
	asked    int
	uses     int
}

func (d *ticketing) Accept(_ context.Context, token negotiate.Token) (*Person, []byte, error) {
	switch string(token.Value) {
	case "ticket":
		d.uses++
		use := []byte(strconv.Itoa(d.uses))
		return &Person{SID: "S-1-5-21-7", Name: "anna", Groups: d.inTicket, Use: use}, []byte("proof"), nil
	case "again":
		return &Person{SID: "S-1-5-21-7", Name: "anna", Groups: d.inTicket, Use: []byte("again")}, nil, nil
	case "ntlm":
		return nil, nil, negotiate.Refuse(negotiate.NotKerberos, "NTLM")
	case "lost":
		return nil, nil, errors.New("no domain")
	}
	return nil, nil, negotiate.Refuse(negotiate.Expired, "it has expired")
}

func (d *ticketing) Groups(context.Context, string) (*Person, error) {
	d.asked++
	return d.now, d.err
}

func ticketGate(t *testing.T) (*Gate, *ticketing, *time.Time, *[]Event) {
	t.Helper()
	d := &ticketing{now: &Person{SID: "S-1-5-21-7", Name: "anna", Groups: []string{"desk", "readers"}}}
	g, _, now, events := gate(func(o *Options) {
		o.Directory, o.Tickets = d, true
		readers := Role{Group: "readers", Name: "Readers", Scopes: []identity.Scope{identity.GroupRead}}
		o.Roles = append(o.Roles, readers)
	})
	return g, d, now, events
}

func token(text string) negotiate.Token {
	return negotiate.Token{Value: []byte(text), Client: client}
}

func scopesOf(all []*identity.Principal) (scopes []identity.Scope) {
	for _, p := range all {
		scopes = append(scopes, p.Scopes...)
	}
	return scopes
}

func TestATicketStartsASession(t *testing.T) {
	g, _, _, events := ticketGate(t)
	assert.True(t, g.Tickets())
	id, reply, err := g.Ticket(t.Context(), token("ticket"))
	require.NoError(t, err)
	assert.Equal(t, "proof", string(reply))
	s := find(t, g, id)
	require.NotNil(t, s)
	assert.Equal(t, identity.ID{Kind: identity.KindPerson, ID: "S-1-5-21-7"}, s.Identity)
	assert.Equal(t, Event{
		What: "signed in", Name: "anna", Kind: identity.KindPerson, SID: "S-1-5-21-7", ID: "S-1-5-21-7",
		Client: client,
	}, (*events)[len(*events)-1])
}

// TestGroupsOfATicket: a group counts if the ticket names it and the account is still a member. A
// ticket without groups gets the groups from the directory.
func TestGroupsOfATicket(t *testing.T) {
	desk := []identity.Scope{identity.UserRead, identity.UserPassword}
	reader := []identity.Scope{identity.GroupRead}
	for name, c := range map[string]struct {
		inTicket, now []string
		want          []identity.Scope
	}{
		"in both":               {[]string{"desk", "readers"}, []string{"desk", "readers"}, append(append([]identity.Scope{}, desk...), reader...)},
		"removed since":         {[]string{"desk", "readers"}, []string{"readers"}, reader},
		"added since":           {[]string{"readers"}, []string{"desk", "readers"}, reader},
		"of another forest":     {[]string{"foreign", "desk"}, []string{"readers"}, nil},
		"the ticket names none": {nil, []string{"desk"}, desk},
		"in none":               {[]string{}, []string{"desk"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g, d, _, _ := ticketGate(t)
			d.inTicket, d.now = c.inTicket, &Person{SID: "S-1-5-21-7", Name: "anna", Groups: c.now}
			all, reply, err := g.Caller(t.Context(), token("ticket"))
			require.NoError(t, err)
			assert.Equal(t, "proof", string(reply))
			require.NotEmpty(t, all, "without a role there is somebody to refuse")
			assert.Equal(t, c.want, scopesOf(all))
			for _, p := range all {
				assert.Equal(t, identity.ID{Kind: identity.KindPerson, ID: "S-1-5-21-7"}, p.Identity())
				assert.Equal(t, identity.Standard, p.Dialect)
			}
		})
	}
}

func TestAccountsThatMayNotLogOn(t *testing.T) {
	for name, change := range map[string]func(*ticketing){
		"disabled or expired": func(d *ticketing) { d.err = ErrRefused },
		"locked out":          func(d *ticketing) { d.now.Locked = true },
	} {
		t.Run(name, func(t *testing.T) {
			g, d, now, events := ticketGate(t)
			before := *d.now
			change(d)
			var refused *negotiate.Refusal
			_, _, err := g.Ticket(t.Context(), token("ticket"))
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, negotiate.NotAllowed, refused.Reason)
			last := (*events)[len(*events)-1]
			assert.Equal(t, "refused", last.What)
			assert.Equal(t, "anna", last.Name, "the log says who it was")
			_, _, err = g.Caller(t.Context(), token("ticket"))
			var refusal *authn.Refusal
			require.ErrorAs(t, err, &refusal)
			assert.Equal(t, schema.Unauthenticated, refusal.Code)
			assert.NotEmpty(t, refusal.Reason)

			d.err, d.now = nil, &before
			*now = now.Add(rightsLife)
			_, _, err = g.Caller(t.Context(), token("ticket"))
			require.NoError(t, err, "an administrator has put it right")
		})
	}
}

func TestCallsAskTheDirectoryAsOftenAsSessionsDo(t *testing.T) {
	g, d, now, _ := ticketGate(t)
	for range 10 {
		_, _, err := g.Caller(t.Context(), token("ticket"))
		require.NoError(t, err)
	}
	assert.Equal(t, 1, d.asked)
	*now = now.Add(5 * time.Minute)
	d.now = &Person{SID: "S-1-5-21-7", Name: "anna"}
	all, _, err := g.Caller(t.Context(), token("ticket"))
	require.NoError(t, err)
	assert.Empty(t, scopesOf(all))
	*now = now.Add(5 * time.Minute)
	d.err = errors.New("no controller answers")
	_, _, err = g.Caller(t.Context(), token("ticket"))
	var refusal *authn.Refusal
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, schema.Unavailable, refusal.Code, "nobody knows whether the account may still log on")
	_, _, err = g.Ticket(t.Context(), token("lost"))
	var refused *negotiate.Refusal
	assert.False(t, errors.As(err, &refused))
	require.Error(t, err)
}

// TestBadTicketsAreCounted: invalid tickets are counted per address, except tokens that browsers
// send by themselves. Valid tickets are accepted again after a while.
func TestBadTicketsAreCounted(t *testing.T) {
	g, _, now, _ := ticketGate(t)
	for range 2 * failuresAtOnce {
		_, _, err := g.Ticket(t.Context(), token("ntlm"))
		var refused *negotiate.Refusal
		require.ErrorAs(t, err, &refused)
	}
	for range failuresAtOnce {
		_, _, err := g.Caller(t.Context(), token("expired"))
		var refusal *authn.Refusal
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, schema.Unauthenticated, refusal.Code)
	}
	_, _, err := g.Ticket(t.Context(), token("ticket"))
	var tooMany *TooMany
	require.ErrorAs(t, err, &tooMany)
	assert.Positive(t, tooMany.Wait)
	_, _, err = g.Caller(t.Context(), token("ticket"))
	var refusal *authn.Refusal
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, schema.RateLimited, refusal.Code)
	_, _, err = g.Ticket(t.Context(), negotiate.Token{Value: []byte("ticket")})
	require.NoError(t, err, "from elsewhere")
	*now = now.Add(tooMany.Wait)
	_, _, err = g.Ticket(t.Context(), token("ticket"))
	require.NoError(t, err)
}

func TestWaysToSignIn(t *testing.T) {
	g, _, _, _ := gate(func(o *Options) { o.Tickets, o.TicketsOnly = true, true })
	assert.False(t, g.Passwords())
	_, err := g.Password(t.Context(), "anna", []byte("right"), client, "")
	assert.ErrorIs(t, err, ErrUnsupported)
	g, _, _, _ = gate(func(*Options) {})
	assert.False(t, g.Tickets())
	_, _, err = g.Ticket(t.Context(), token("ticket"))
	assert.ErrorIs(t, err, ErrUnsupported)
}
