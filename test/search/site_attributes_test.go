package search

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

const withSite = `directory.userAttributes=[{attribute: roomNumber, field: rooms, values: 3, limit: 8}, ` +
	`{attribute: personalTitle}, {attribute: altSecurityIdentities, values: 5}, ` +
	`{attribute: msDS-cloudExtensionAttribute1, field: cloud1, unique: true}]`

const allUsers = "/api/ADUser/ListUsers/All"

// call returns a call with parameters.
func call(method, path string, pairs ...any) systemtest.Call {
	params := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		params[pairs[i].(string)] = pairs[i+1]
	}
	return systemtest.Call{Method: method, Path: path, Params: params}
}

// TestAttributesOfASiteAreLikeThoseOfTheTable: the attributes in the settings of a site can be written, shown
// on request, filtered, planned and undone without additional code.
func TestAttributesOfASiteAreLikeThoseOfTheTable(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, withSite)
	start := s.Snapshot()
	path := "/api/ADUser/" + systemtest.SampleUser
	params := map[string]any{"Rooms": []string{"A-1", "B,2"}, "PersonalTitle": "Dr.", "Cloud1": "x-1"}
	a := s.Do(systemtest.Call{Method: http.MethodPut, Path: path, Params: params})
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.NotContains(t, string(a.Body), "personalTitle", "records are as they were")

	record := s.Record(s.Get(path + "/Details?ShowFields=username,rooms,personalTitle,cloud1"))
	assert.Equal(t, map[string]any{
		"username": systemtest.SampleUser, "rooms": []any{"A-1", "B,2"}, "personalTitle": "Dr.", "cloud1": "x-1",
	}, record)
	for _, filter := range []string{`rooms eq "b,2"`, `personalTitle sw "D"`, `cloud1 pr`} {
		found := s.Do(call(http.MethodGet, allUsers, "Filter", filter, "ShowFields", "username"))
		require.Len(t, found.Envelope.Result, 1, "%s: %s", filter, found.Body)
		assert.Equal(t, systemtest.SampleUser, found.Envelope.Result[0]["username"], filter)
	}
	s.Rejects(call(http.MethodPut, "/api/ADUser/lweber", "Cloud1", "X-1"), http.StatusConflict, "conflict")
	tooLong := call(http.MethodPut, path, "Rooms", "123456789")
	refused := s.Rejects(tooLong, http.StatusBadRequest, "invalid_request")
	assert.Contains(t, refused.Envelope.Output, "Rooms")

	undone := s.Do(call(http.MethodPost, "/api/Changes/"+a.Header.Get("X-Change-Id")+"/Undo"))
	require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
	assert.Empty(t, start.Compare(s.Snapshot()))

	made := s.Do(call(http.MethodPost, "/api/ADUser/site.made", "PersonalTitle", "Prof."))
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Body)
	record = s.Record(s.Get("/api/ADUser/site.made/Details?ShowFields=personalTitle"))
	assert.Equal(t, "Prof.", record["personalTitle"])
}

// TestAnAttributeOfASiteThatLeadsToRightsIsGuarded: an attribute that can grant rights is
// guarded even if the settings do not guard it.
func TestAnAttributeOfASiteThatLeadsToRightsIsGuarded(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, withSite)
	mapped := "X509:<I>CN=CA<S>CN=jane"
	change := call(http.MethodPut, "/api/ADUser/"+systemtest.SampleUser, "AltSecurityIdentities", mapped)
	a := s.Rejects(change.As(systemtest.PlainToken), http.StatusForbidden, "forbidden")
	assert.Contains(t, a.Envelope.Output, "privileged")
	a = s.Do(change)
	assert.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
}

// TestAnAttributeThatTheForestLacksIsNoFault: if the forest lacks an attribute of the settings, the answer is
// not an internal error, and it names the attribute.
func TestAnAttributeThatTheForestLacksIsNoFault(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "directory.userAttributes=[{attribute: acme-CostCentre}]")
	path := "/api/ADUser/" + systemtest.SampleUser
	for name, asking := range map[string]systemtest.Call{
		"written":  call(http.MethodPut, path, "AcmeCostCentre", "4711"),
		"read":     call(http.MethodGet, path+"/Details", "ShowFields", "acmeCostCentre"),
		"filtered": call(http.MethodGet, allUsers, "Filter", `acmeCostCentre eq "1"`),
		"created":  call(http.MethodPost, "/api/ADUser/cost.centre", "AcmeCostCentre", "4711"),
	} {
		t.Run(name, func(t *testing.T) {
			a := s.In(t).Do(asking)
			if name == "filtered" { // LDAP allows filters on attributes that no object has
				assert.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
				assert.Empty(t, a.Envelope.Result)
				return
			}
			assert.Equal(t, http.StatusUnprocessableEntity, a.Status, "%s", a.Body)
			assert.Contains(t, a.Envelope.Output, "The directory does not know an attribute of these: acme-CostCentre")
		})
	}
}
