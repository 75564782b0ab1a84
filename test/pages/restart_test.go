package pages

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
)

// TestWhoIsSignedInStaysSignedIn: after a restart of the gateway, people are still signed in, with the
// current rights of their accounts. People who have signed out remain signed out.
func TestWhoIsSignedInStaysSignedIn(t *testing.T) {
	store := "store.file=" + t.TempDir() + "/state.db"
	var person, token, gone *browser
	t.Run("before", func(t *testing.T) {
		s := start(t, store)
		person, token, gone = s.browser(t), s.browser(t), s.browser(t)
		person.signIn("helpdesk")
		person.person(t)
		require.Equal(t, 200, token.get("/ui/signin"))
		require.Equal(t, 303, token.submit("/ui/signin", "token", systemtest.ReadToken))
		gone.signIn("helpdesk")
		require.Equal(t, 200, gone.get("/ui/people?q=weber"))
		require.Equal(t, 303, gone.submit("/ui/signout"))
	})
	t.Run("after", func(t *testing.T) {
		s := start(t, store)
		for _, b := range []*browser{person, token, gone} {
			b.t, b.url = t, s.URL
		}
		require.Equal(t, 303, person.submit("/ui/do/user.disable"), "a form that was open is still good: %s",
			person.page)
		require.Equal(t, 200, person.get("/ui/people/"+lea))
		assert.Contains(t, person.page, "Disable account")
		require.Equal(t, 200, token.get("/ui/people/"+lea))
		assert.NotContains(t, token.page, "Disable account")
		assert.Equal(t, 401, gone.get("/ui/people/"+lea))
		person.get("/ui/people/" + lea)
		require.Equal(t, 303, person.submit("/ui/signout"))
	})
	t.Run("later", func(t *testing.T) {
		s := start(t, store)
		s.people.off["helpdesk"] = true
		for _, b := range []*browser{person, token} {
			b.t, b.url = t, s.URL
		}
		assert.Equal(t, 401, person.get("/ui/people/"+lea))
		assert.Equal(t, 200, token.get("/ui/people/"+lea))
	})
}

func TestOldestSessionEnds(t *testing.T) {
	s := start(t)
	var all []*browser
	for range 6 {
		b := s.browser(t)
		b.signIn("helpdesk")
		all = append(all, b)
	}
	assert.Equal(t, 401, all[0].get("/ui/people"))
	assert.Equal(t, 200, all[1].get("/ui/people"))
	assert.Equal(t, 200, all[5].get("/ui/people"))
}

// change sets the description of a person through the API.
