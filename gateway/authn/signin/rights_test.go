package signin

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
)

// changing is a directory that gives the answers that a test sets.
type changing struct {
	directory
	groups []string
	err    error
	asked  int
}

func (d *changing) Groups(_ context.Context, sid string) (*Person, error) {
	d.asked++
	if d.err != nil {
		return nil, d.err
	}
	return &Person{SID: sid, Name: "anna", Groups: d.groups}, nil
}

// TestWhatAPersonMayDoWithoutASession: the directory is asked by SID, its answer is remembered only
// for a moment, and a failure to answer is not remembered.
func TestWhatAPersonMayDoWithoutASession(t *testing.T) {
	d := &changing{groups: []string{"desk", "readers", "nobody's"}}
	g, _, now, _ := gate(func(o *Options) {
		o.Directory = d
		readers := Role{Group: "readers", Name: "Readers", Scopes: []identity.Scope{identity.GroupRead}}
		o.Roles = append(o.Roles, readers)
	})
	may := func() (scopes [][]identity.Scope) {
		t.Helper()
		all, err := g.Rights(t.Context(), "S-1-5-21-7")
		require.NoError(t, err)
		for _, p := range all {
			assert.Equal(t, identity.ID{Kind: identity.KindPerson, ID: "S-1-5-21-7"}, p.Identity())
			assert.Equal(t, "anna", p.Name)
			scopes = append(scopes, p.Scopes)
		}
		return scopes
	}
	desk := []identity.Scope{identity.UserRead, identity.UserPassword}
	readers := []identity.Scope{identity.GroupRead}
	assert.Equal(t, [][]identity.Scope{desk, readers}, may())
	for _, c := range []struct {
		groups []string
		err    error
		want   [][]identity.Scope
	}{
		{[]string{"readers"}, nil, [][]identity.Scope{readers}},
		{nil, nil, nil},
		{[]string{"desk"}, ErrRefused, nil},
		{[]string{"desk"}, nil, [][]identity.Scope{desk}},
	} {
		before, asked := may(), d.asked
		d.groups, d.err = c.groups, c.err
		*now = now.Add(rightsLife - time.Millisecond)
		assert.Equal(t, before, may(), "a moment later it is as it was")
		assert.Equal(t, asked, d.asked)
		*now = now.Add(time.Millisecond)
		assert.Equal(t, c.want, may())
		assert.Equal(t, asked+1, d.asked)
	}
	d.err = errors.New("the directory is away")
	*now = now.Add(rightsLife)
	for range 2 {
		_, err := g.Rights(t.Context(), "S-1-5-21-7")
		assert.ErrorIs(t, err, d.err)
	}
	d.err = nil
	assert.Equal(t, [][]identity.Scope{desk}, may())
	nobody := NewGate(Options{})
	all, err := nobody.Rights(t.Context(), "S-1-5-21-7")
	assert.NoError(t, err)
	assert.Empty(t, all)
}
