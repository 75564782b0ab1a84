package search

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestSuffixesThatAnAdministratorAdded: like a domain name, an added suffix is valid for a UPN in any letter
// case, until it is removed. After that, an undo can still restore a UPN with the suffix.
func TestSuffixesThatAnAdministratorAdded(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1, LDIF: []string{"../story/testdata/forest.ldif"}})
	const partitions = "CN=Partitions,CN=Configuration,DC=corp,DC=example"
	s.SetAttribute(partitions, "uPNSuffixes", "mail.example", "Kunden.example")
	path := "/api/ADUser/" + systemtest.SampleUser
	was := systemtest.Text(s.Record(s.Get(path + "/Details"))["userPrincipalName"])
	for _, upn := range []string{"anna@mail.example", "anna@KUNDEN.example", "anna@emea.corp.example", was} {
		shown := s.Put(path, map[string]any{"UserPrincipalName": upn})
		assert.Equal(t, upn, shown["userPrincipalName"])
	}
	made := s.Expect(http.StatusCreated, http.MethodPost, "/api/ADUser/new.suffix",
		map[string]any{"UserPrincipalName": "new@mail.example"})
	assert.Equal(t, "new@mail.example", made["userPrincipalName"])
	moved := s.Do(call(http.MethodPut, "/api/ADUser/new.suffix", "UserPrincipalName", "new.suffix@corp.example"))
	require.Equal(t, http.StatusOK, moved.Status, "%s", moved.Body)

	s.SetAttribute(partitions, "uPNSuffixes", "Kunden.example")
	gone := call(http.MethodPut, path, "UserPrincipalName", "anna@mail.example")
	refused := s.Rejects(gone, http.StatusUnprocessableEntity, "unprocessable")
	for _, suffix := range []string{"corp.example", "emea.corp.example", "kunden.example"} {
		assert.Contains(t, refused.Envelope.Output, suffix)
	}
	undone := s.Do(call(http.MethodPost, "/api/Changes/"+moved.Header.Get("X-Change-Id")+"/Undo"))
	require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
	back := s.Record(s.Get("/api/ADUser/new.suffix/Details"))
	assert.Equal(t, "new@mail.example", back["userPrincipalName"])
}
