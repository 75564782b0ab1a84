package odd

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestOddContactsAreMembersByAllTheirNames: the API has no operations on contacts, but
// groups can contain them. Each contact is added by its distinguished name, listed by it,
// removed by its GUID, and restored by an undo.
func TestOddContactsAreMembersByAllTheirNames(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1, LDIF: []string{oddObjects}})
	group := s.Expect(http.StatusCreated, http.MethodPost, "/api/ADGroups/Contacts/Distribution",
		map[string]any{"GroupScope": "Universal"})
	path := "/api/ADGroups/" + url.PathEscape(systemtest.Text(group["samName"])) + "/Members"
	contacts := []string{`CN=contact\, odd,` + oddOU}
	for _, name := range []string{
		"Ärger", "İstanbul", "太郎 contact", "O’Neil", `a\+b`, `\#hash`, `semi\;colon`, `quote\"d`, `back\\slash`,
		`trailing\ `, "user@mail.example", "a/b", "(paren)*", "$dollar", "-",
	} {
		dn := "CN=" + name + " c," + oddOU
		s.AddObject(dn, "contact", "displayName", name)
		contacts = append(contacts, s.Stored(dn).DN)
	}
	for _, contact := range contacts {
		t.Run(contact, func(t *testing.T) {
			s := s.In(t)
			start := s.Snapshot()
			added := s.Do(call(http.MethodPost, path, "Members", []string{contact}))
			require.Equal(t, http.StatusCreated, added.Status, "%s", added.Body)
			list := s.Do(call(http.MethodGet, path))
			require.Len(t, list.Envelope.Result, 1, "%s", list.Body)
			shown := list.Envelope.Result[0]
			assert.Equal(t, "contact", shown["type"])
			assert.Equal(t, contact, shown["distinguishedName"])
			guid := systemtest.Text(shown["guid"])
			removed := s.Do(call(http.MethodDelete, path, "Members", guid))
			require.Equal(t, http.StatusOK, removed.Status, "%s", removed.Body)
			assert.Empty(t, start.Compare(s.Snapshot()))
			undone := s.Do(call(http.MethodPost, "/api/Changes/"+removed.Header.Get("X-Change-Id")+"/Undo"))
			require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
			again := s.Do(call(http.MethodDelete, path, "Members", guid))
			require.Equal(t, http.StatusOK, again.Status, "%s", again.Body)
		})
	}
}
