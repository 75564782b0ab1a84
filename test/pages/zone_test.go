package pages

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
)

// TestTimesAreInTheZoneOfTheReader: pages show times in the gateway's zone, or in the zone that the person
// has chosen. The last day of an account is always a day in the gateway's zone.
func TestTimesAreInTheZoneOfTheReader(t *testing.T) {
	s := start(t, "time.zone=America/New_York", "audit.file="+t.TempDir()+"/audit.jsonl")
	call := systemtest.Call{Method: "PUT", Path: "/api/ADUser/aschmidt/Expiry"}
	call.Params = map[string]any{"AccountExpires": "2035-12-31"}
	record := s.OK(call, 200)
	require.Equal(t, "2036-01-01T05:00:00Z", record["accountExpires"])
	guid := record["guid"].(string)
	created, err := time.Parse(time.RFC3339, record["created"].(string))
	require.NoError(t, err)
	in := func(name string) string {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		return created.In(zone).Format("2 Jan 2006, 15:04 MST")
	}
	b := s.browser(t)
	b.signIn("operator")
	require.Equal(t, 200, b.get("/ui/people/"+guid))
	facts := b.facts()
	assert.Contains(t, facts["Account expires"], "1 Jan 2036, 00:00 EST")
	assert.Contains(t, facts["Created"], in("America/New_York"))
	require.Equal(t, 200, b.get("/ui/do/user.expiry?Username="+guid))
	assert.Contains(t, b.page, `value="2035-12-31"`)

	chosen := func(zone string) {
		t.Helper()
		require.Equal(t, 303, b.submitFrom("/ui/people/"+guid, "/ui/look", "zone", zone, "theme", ""))
		require.Equal(t, 200, b.get("/ui/people/"+guid))
		facts = b.facts()
	}
	for _, zone := range []string{"Asia/Tokyo", "UTC", "Australia/Adelaide"} {
		chosen(zone)
		assert.Contains(t, facts["Created"], in(zone))
		assert.Contains(t, b.page, `<option value="`+zone+`" selected>`)
	}
	chosen("Asia/Tokyo")
	assert.Contains(t, facts["Account expires"], "1 Jan 2036, 14:00 JST")
	require.Equal(t, 200, b.get("/ui/do/user.expiry?Username="+guid))
	assert.Contains(t, b.page, `value="2035-12-31"`, "the day is one of the gateway's zone")
	require.Equal(t, 200, b.get("/ui/audit"))
	assert.Contains(t, b.page, "zone Asia/Tokyo")
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	require.NoError(t, err)
	assert.Contains(t, b.page, `name="day" value="`+time.Now().In(tokyo).Format(time.DateOnly)+`"`)
	for _, wrong := range []string{"Mars/Base", "Local", "../UTC", ""} {
		chosen(wrong)
		assert.Contains(t, facts["Created"], in("America/New_York"), wrong)
	}
}
