package signin

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
)

// namesakes is a directory of two domains, each of which has an account with the same name.
type namesakes struct{ directory }

func (d *namesakes) Check(_ context.Context, domain, name string, _ []byte) (*Person, error) {
	return &Person{SID: "S-" + domain, Name: name, Groups: []string{"desk"}}, nil
}

// TestSessionsOfANamesakeAreAnothers: the sessions of another domain's account with the same name neither
// count towards a person's limit nor are ended by it.
func TestSessionsOfANamesakeAreAnothers(t *testing.T) {
	g, _, _, _ := gate(func(o *Options) { o.Directory = &namesakes{} })
	var all []string
	for range sessionsEach {
		for _, name := range []string{`ONE\anna`, `TWO\anna`} {
			id, err := g.Password(t.Context(), name, []byte("right"), client, "")
			require.NoError(t, err)
			all = append(all, id)
		}
	}
	owners := map[identity.ID]int{}
	for _, id := range all {
		s := find(t, g, id)
		require.NotNil(t, s)
		owners[s.Identity]++
	}
	assert.Equal(t, map[identity.ID]int{
		{Kind: identity.KindPerson, ID: "S-ONE"}: sessionsEach, {Kind: identity.KindPerson, ID: "S-TWO"}: sessionsEach,
	}, owners)
}
