package search

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
)

// put makes a change and returns the record in the answer.
func put(s *systemtest.System, path string, params map[string]any) map[string]any {
	s.T.Helper()
	a := s.Do(systemtest.Call{Method: http.MethodPut, Path: path, Params: params})
	require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
	require.Len(s.T, a.Envelope.Result, 1)
	return a.Envelope.Result[0]
}

// refused sends a request that must be refused, and returns the error message.
func refused(s *systemtest.System, status int, code string, c systemtest.Call) string {
	s.T.Helper()
	a := s.Do(c)
	require.Equal(s.T, status, a.Status, "%s", a.Body)
	require.NotNil(s.T, a.Envelope.Error)
	assert.Equal(s.T, code, a.Envelope.Error.Code, "%s", a.Body)
	return a.Envelope.Output
}

func putCall(token, path string, params map[string]any) systemtest.Call {
	return systemtest.Call{Method: http.MethodPut, Path: path, Params: params, Token: token}
}

const mailGroup = "/api/ADGroups/Q%20Mail"

func TestGroupsChange(t *testing.T) {
	s := newSystem(t, 0)
	got := put(s, mailGroup, map[string]any{
		"GroupDescription": "for all", "GroupEmail": "", "ManagedBy": "aschmidt", "GroupScope": "Global", "OUPath": systemtest.LimitedOU, "NewDisplayName": "Everybody",
	})
	assert.Equal(t, "for all", got["description"])
	assert.Nil(t, got["email"])
	assert.Equal(t, systemtest.SampleUserDN, got["managedBy"])
	assert.Equal(t, "Global", got["scope"])
	assert.Equal(t, systemtest.LimitedOU, got["ouPath"])
	assert.Equal(t, []string{"Q Mail"}, names(list(s, groups, map[string]any{"Text": "everyb"})),
		"the display name is stored")

	// through universal
	got = put(s, mailGroup, map[string]any{"GroupScope": "Domain_Local", "ManagedBy": "Q Empty"})
	assert.Equal(t, "Domain_Local", got["scope"])
	assert.Equal(t, "CN=Q Empty,"+place, got["managedBy"])
	got = put(s, mailGroup, map[string]any{"ManagedBy": ""})
	assert.Nil(t, got["managedBy"])

	for _, params := range []map[string]any{{}, {"GroupDescription": "for all"},
		{"GroupScope": "Domain_Local", "OUPath": systemtest.LimitedOU}} {
		a := s.Do(putCall("", mailGroup, params))
		assert.Equal(t, http.StatusOK, a.Status)
		assert.Contains(t, a.Envelope.Output, "nothing was changed")
	}

	refused(s, http.StatusUnprocessableEntity, "unprocessable",
		putCall("", mailGroup, map[string]any{"ManagedBy": "nobody.here"}))
	refused(s, http.StatusUnprocessableEntity, "unprocessable",
		putCall("", mailGroup, map[string]any{"OUPath": "OU=None,DC=corp,DC=example"}))
	refused(s, http.StatusConflict, "protected",
		putCall("", "/api/ADGroups/Administrators", map[string]any{"GroupScope": "Universal"}))
	refused(s, http.StatusForbidden, "forbidden",
		putCall(systemtest.PlainToken, "/api/ADGroups/Domain%20Admins", map[string]any{"GroupDescription": "x"}))
	refused(s, http.StatusForbidden, "forbidden",
		putCall(systemtest.PlainToken, mailGroup,
			map[string]any{"OUPath": "OU=Domain Controllers,DC=corp,DC=example"}))
	refused(s, http.StatusNotFound, "not_found",
		putCall(systemtest.LimitedToken, "/api/ADGroups/Q%20Empty", map[string]any{"GroupDescription": "x"}))
	refused(s, http.StatusForbidden, "limit",
		putCall(systemtest.LimitedToken, mailGroup, map[string]any{"OUPath": place}))
	refused(s, http.StatusUnprocessableEntity, "unprocessable",
		putCall(systemtest.LimitedToken, mailGroup, map[string]any{"ManagedBy": "q.recent"}))

	// A group that is a member of a universal group cannot become domain local. The description stays unchanged.
	refused(s, http.StatusUnprocessableEntity, "unprocessable",
		putCall("", "/api/ADGroups/Q%20Inner",
			map[string]any{"GroupDescription": "half", "GroupScope": "Domain_Local"}))
	inner := s.Get("/api/ADGroups/Q%20Inner").Envelope.Result[0]
	assert.Nil(t, inner["description"])
	assert.Equal(t, "Global", inner["scope"])
}

func TestComputersAreDisabledAndMoved(t *testing.T) {
	s := newSystem(t, 0)
	assert.Equal(t, false, put(s, "/api/Computers/QFRESH/Disable", nil)["enabled"])
	again := s.Do(putCall("", "/api/Computers/QFRESH$/Disable", nil))
	assert.Contains(t, again.Envelope.Output, "is disabled already; nothing was changed")
	assert.Equal(t, true, put(s, "/api/Computers/QFRESH/Enable", nil)["enabled"])

	got := put(s, "/api/Computers/QFRESH/Move", map[string]any{"OUPath": systemtest.LimitedOU})
	assert.Equal(t, systemtest.LimitedOU, got["path"])
	again = s.Do(putCall("", "/api/Computers/QFRESH/Move", map[string]any{"OUPath": systemtest.LimitedOU}))
	assert.Contains(t, again.Envelope.Output, "is there already; nothing was changed")

	for _, path := range []string{"/Disable", "/Enable", "/Move"} {
		params := map[string]any{}
		if path == "/Move" {
			params["OUPath"] = place
		}
		refused(s, http.StatusConflict, "protected", putCall("", "/api/Computers/DC1"+path, params))
		refused(s, http.StatusForbidden, "forbidden",
			putCall(systemtest.PlainToken, "/api/Computers/DC1"+path, params))
		if path != "/Move" { // a DN gets another error if its text alone shows that it is outside the limits
			refused(s, http.StatusNotFound, "not_found",
				putCall(systemtest.LimitedToken, "/api/Computers/QSTALE"+path, params))
		}
	}
	refused(s, http.StatusForbidden, "forbidden",
		putCall(systemtest.PlainToken, "/api/Computers/QFRESH/Move",
			map[string]any{"OUPath": "OU=Domain Controllers,DC=corp,DC=example"}))
	refused(s, http.StatusUnprocessableEntity, "unprocessable",
		putCall("", "/api/Computers/QFRESH/Move", map[string]any{"OUPath": "OU=None,DC=corp,DC=example"}))
	refused(s, http.StatusUnprocessableEntity, "unprocessable",
		putCall("", "/api/Computers/QFRESH/Move", map[string]any{"OUPath": "CN=QFRESH," + systemtest.LimitedOU}))
	refused(s, http.StatusBadRequest, "invalid_request", putCall("", "/api/Computers/QFRESH/Move", nil))

	dc := s.World.Directory.DCs()[0]
	require.NoError(t, dc.SetProtected(t.Context(), "CN=QFRESH,"+systemtest.LimitedOU, true))
	refused(s, http.StatusConflict, "protected",
		putCall("", "/api/Computers/QFRESH/Move", map[string]any{"OUPath": place}))
}

func TestAccountsExpire(t *testing.T) {
	s := newSystem(t, 0)
	path := "/api/ADUser/q.recent/Expiry"
	for given, want := range map[string]any{
		"2035-06-30":                "2035-07-01T00:00:00Z",
		"2035-06-30T18:00:00+02:00": "2035-06-30T16:00:00Z",
		"2035-06-30T16:00:00.75Z":   "2035-06-30T16:00:00Z",
		"2020-01-01":                "2020-01-02T00:00:00Z",
	} {
		assert.Equal(t, want, put(s, path, map[string]any{"AccountExpires": given})["accountExpires"], given)
	}
	put(s, path, map[string]any{"AccountExpires": "2035-01-01"})
	a := s.Do(putCall("", path, map[string]any{"AccountExpires": "2020-01-01"}))
	assert.Equal(t, "The user 'q.recent' has expired at 2020-01-02T00:00:00Z, which takes effect now.",
		a.Envelope.Output)
	a = s.Do(putCall("", path, map[string]any{"AccountExpires": ""}))
	assert.Equal(t, "The user 'q.recent' never expires.", a.Envelope.Output)
	assert.Nil(t, a.Envelope.Result[0]["accountExpires"])
	for _, name := range []string{"q.endless", "q.endless2"} {
		a = s.Do(putCall("", "/api/ADUser/"+name+"/Expiry", map[string]any{"AccountExpires": ""}))
		assert.Contains(t, a.Envelope.Output, "nothing was changed", name)
	}
	for _, wrong := range []any{"tomorrow", "2035-06-30T18:00:00", "2035-02-30", "1500-01-01", "9999-12-31", 5,
		true, nil} {
		refused(s, http.StatusBadRequest, "invalid_request",
			putCall("", path, map[string]any{"AccountExpires": wrong}))
	}
	refused(s, http.StatusBadRequest, "invalid_request", putCall("", path, nil))
	refused(s, http.StatusForbidden, "forbidden",
		putCall(systemtest.PlainToken, "/api/ADUser/Administrator/Expiry",
			map[string]any{"AccountExpires": "2035-01-01"}))
	refused(s, http.StatusNotFound, "not_found",
		putCall(systemtest.LimitedToken, path, map[string]any{"AccountExpires": "2035-01-01"}))
}

// TestDaysEndInTheZoneOfTheGateway sets expiry dates by their last day, including days on
// which the clocks change.
func TestDaysEndInTheZoneOfTheGateway(t *testing.T) {
	s := newSystem(t, 0, "time.zone=America/New_York")
	path := "/api/ADUser/q.recent/Expiry"
	for given, want := range map[string]any{
		"2035-12-31":           "2036-01-01T05:00:00Z",
		"2035-06-30":           "2035-07-01T04:00:00Z",
		"2035-03-11":           "2035-03-12T04:00:00Z", // 23 hours long
		"2035-11-04":           "2035-11-05T05:00:00Z", // 25 hours long
		"2035-06-30T00:00:00Z": "2035-06-30T00:00:00Z",
	} {
		assert.Equal(t, want, put(s, path, map[string]any{"AccountExpires": given})["accountExpires"], given)
	}
}
