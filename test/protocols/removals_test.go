package protocols_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/ps/sandbox"
	"adgateway/ps/session"
	"adgateway/test/systemtest"
)

// limited starts a system with a token that may remove the given number of objects per hour.
func limited(t *testing.T, removals int, overrides ...string) (s *systemtest.System, token string) {
	t.Helper()
	w, err := sandbox.NewWorld(t.Context(), sandbox.Options{})
	require.NoError(t, err)
	file := authn.File{Path: filepath.Join(t.TempDir(), "credentials.json")}
	require.NoError(t, file.Edit(t.Context(), func(d *authn.Document) error {
		account := authn.NewAccount("k8s", time.Now(), authn.Rights{
			Scopes: []string{"dns:read", "dns:write", "dns:delete", "dns:acme"},
			Limits: &identity.Limits{Zones: []string{"corp.example"}},
			Quota:  &identity.Quota{DeletionsPerHour: &removals},
		})
		token = account.AddToken(time.Now(), time.Now())
		d.Tokens = append(d.Tokens, account)
		return nil
	}))
	store, err := authn.OpenStore(authn.StoreOptions{File: file})
	require.NoError(t, err)
	return systemtest.NewWith(t, w, session.Config{Starter: w.Starter()},
		func(o *app.Options) { o.Auth = store }, overrides...), token
}

// tellAs sends changes with a token.
func tellAs(s *systemtest.System, token string, changes map[string][]set) systemtest.Answer {
	s.T.Helper()
	body, err := json.Marshal(changes)
	require.NoError(s.T, err)
	return send(s, "", http.MethodPost, webhook+"/records", string(body), "Content-Type", media, "Accept", media,
		"Auth-Token", "Bearer "+token)
}

func address(name string, targets ...string) set {
	return set{DNSName: name + ".corp.example", RecordType: "A", Targets: append([]string{}, targets...)}
}

func count(t *testing.T, s *systemtest.System, token, prefix string) (n int) {
	t.Helper()
	a := send(s, "", http.MethodGet, webhook+"/records", "", "Accept", media, "Auth-Token", "Bearer "+token)
	require.Equal(t, http.StatusOK, a.Status)
	var all []set
	require.NoError(t, json.Unmarshal(a.Body, &all))
	for _, one := range all {
		if len(one.DNSName) > len(prefix) && one.DNSName[:len(prefix)] == prefix {
			n++
		}
	}
	return n
}

// A call that removes a set needs the scope for removals, even if it is called an update. A call that leaves
// values in the set does not need the scope.
func TestWhatRemovesASetNeedsTheScope(t *testing.T) {
	s := systemtest.NewForDNS(t)
	applied(s, systemtest.UpsertUser,
		map[string][]set{"create": {address("ed1", "10.1.1.1", "10.1.1.2"), address("ed2", "10.1.1.3")}})
	for name, changes := range map[string]map[string][]set{
		"no targets":         {"updateOld": {address("ed1", "10.1.1.1", "10.1.1.2")}, "updateNew": {address("ed1")}},
		"null":               {"updateOld": {address("ed2", "10.1.1.3")}, "updateNew": {{DNSName: "ed2.corp.example", RecordType: "A"}}},
		"one of many":        {"create": {address("ed3", "10.1.1.4")}, "updateOld": {address("ed2", "10.1.1.3")}, "updateNew": {address("ed2")}},
		"delete":             {"delete": {address("ed2", "10.1.1.3")}},
		"another's spelling": {"updateOld": {{DNSName: "ED2.corp.example.", RecordType: "a", Targets: []string{"10.1.1.3"}}}, "updateNew": {{DNSName: "ed2.corp.example", RecordType: "A"}}},
	} {
		a := tell(s, systemtest.UpsertUser, "/records", changes)
		require.Equal(t, http.StatusForbidden, a.Status, "%s: %s", name, a.Body)
		assert.Contains(t, a.Envelope.Output, "dns:delete", name)
	}
	// The call names a value to keep that does not exist.
	a := tell(s, systemtest.UpsertUser, "/records", map[string][]set{
		"updateOld": {address("ed2", "10.1.1.3", "10.1.1.99")}, "updateNew": {address("ed2", "10.1.1.99")}})
	require.Equal(t, http.StatusInternalServerError, a.Status, "%s", a.Body)
	assert.Contains(t, a.Envelope.Error.Details[0].Message, "ed2.corp.example A")
	found := sets(s, systemtest.ClusterUser)
	assert.Equal(t, []string{"10.1.1.1", "10.1.1.2"}, found["ed1.corp.example A"].Targets)
	assert.Equal(t, []string{"10.1.1.3"}, found["ed2.corp.example A"].Targets)
	assert.NotContains(t, found, "ed3.corp.example A", "the call is refused as a whole")

	applied(s, systemtest.UpsertUser,
		map[string][]set{"updateOld": {address("ed1", "10.1.1.1", "10.1.1.2")},
			"updateNew": {address("ed1", "10.1.1.2")}})
	applied(s, systemtest.UpsertUser,
		map[string][]set{"updateOld": {address("ed2", "10.1.1.3")}, "updateNew": {address("ed2", "10.1.1.5")}})
	applied(s, systemtest.ClusterUser,
		map[string][]set{"updateOld": {address("ed1", "10.1.1.2")}, "updateNew": {address("ed1")}})
	assert.NotContains(t, sets(s, systemtest.ClusterUser), "ed1.corp.example A")
}

// Removed sets count against the hourly limit of the credential. Sets that were not removed do not count.
func TestRemovedSetsAreCounted(t *testing.T) {
	s, token := limited(t, 2)
	var all, none []set
	for i := range 6 {
		all, none = append(all, address(fmt.Sprint("many-", i), "10.2.2.2")), append(none,
			address(fmt.Sprint("many-", i)))
	}
	require.Equal(t, http.StatusNoContent, tellAs(s, token, map[string][]set{"create": all}).Status)
	gone := []set{address("never", "10.2.2.2")}
	require.Equal(t, http.StatusNoContent, tellAs(s, token, map[string][]set{"delete": gone}).Status)

	a := tellAs(s, token, map[string][]set{"create": {address("created", "10.2.2.3")}, "updateOld": all[:3],
		"updateNew": none[:3]})
	require.Equal(t, http.StatusInternalServerError, a.Status, "%s", a.Body)
	require.Len(t, a.Envelope.Error.Details, 1)
	assert.Contains(t, a.Envelope.Error.Details[0].Message, "many-2.corp.example A")
	assert.Equal(t, 4, count(t, s, token, "many-"))
	assert.Equal(t, 1, count(t, s, token, "created"), "the others are made")
	for name, changes := range map[string]map[string][]set{"update": {"updateOld": all[3:],
		"updateNew": none[3:]}, "delete": {"delete": all[3:]}} {
		a := tellAs(s, token, changes)
		require.Equal(t, http.StatusServiceUnavailable, a.Status, "%s: %s", name, a.Body)
		assert.NotEmpty(t, a.Header.Get("Retry-After"))
	}
	assert.Equal(t, 4, count(t, s, token, "many-"))
	require.Equal(t, http.StatusNoContent,
		tellAs(s, token, map[string][]set{"create": {address("new2", "10.2.2.3")}}).Status)
}

// One request removes at most limits.bulkDelete sets, and the following loops remove the rest.
func TestOneRequestRemovesAtMostTheLimit(t *testing.T) {
	s, token := limited(t, 1000, "limits.bulkDelete=5")
	var all []set
	for i := range 12 {
		all = append(all, address(fmt.Sprintf("many-%02d", i), "10.2.2.2"))
	}
	require.Equal(t, http.StatusNoContent, tellAs(s, token, map[string][]set{"create": all}).Status)
	for _, left := range []int{7, 2} {
		a := tellAs(s, token, map[string][]set{"delete": all})
		require.Equal(t, http.StatusInternalServerError, a.Status, "%s", a.Body)
		assert.Contains(t, a.Envelope.Error.Details[0].Message, "limits.bulkDelete")
		assert.Equal(t, left, count(t, s, token, "many-"))
	}
	require.Equal(t, http.StatusNoContent, tellAs(s, token, map[string][]set{"delete": all}).Status)
	assert.Zero(t, count(t, s, token, "many-"))
}

// A removed challenge counts like a removed record.
func TestRemovedChallengesAreCounted(t *testing.T) {
	s, token := limited(t, 1)
	do := func(action, value string) systemtest.Answer {
		return post(s, "", action, challenge("_acme-challenge.www.corp.example.", digest(value)), "Auth-Token",
			"Bearer "+token)
	}
	for _, value := range []string{"a", "b"} {
		require.Equal(t, http.StatusOK, do(present, value).Status)
	}
	require.Equal(t, http.StatusOK, do(cleanup, "none").Status, "nothing is removed")
	require.Equal(t, http.StatusOK, do(cleanup, "a").Status)
	require.Equal(t, http.StatusTooManyRequests, do(cleanup, "b").Status)
	assert.Len(t, s.Texts("_acme-challenge.www.corp.example", "corp.example"), 1)
	assert.Equal(t, http.StatusTooManyRequests, tellAs429(s, token), "the limit is that of the API")
}

// tellAs429 returns the status of a removal over the gateway's own API.
func tellAs429(s *systemtest.System, token string) int {
	return s.Do(systemtest.Call{Method: http.MethodDelete, Path: "/api/DnsRecordSet", Token: token,
		Params: map[string]any{"ZoneName": "corp.example", "DNS_HostName": "_acme-challenge.www",
			"Type": "TXT"}}).Status
}

// TestARefusedSetIsAFailedSet: ExternalDNS stops at every 4xx, so a set that needs the scope privileged must
// not cause a 4xx, regardless of the other sets in the call.
func TestARefusedSetIsAFailedSet(t *testing.T) {
	s := systemtest.NewForDNS(t)
	wildcard, controller := address("*.app", "10.3.3.3"), address("dc1", "10.3.3.3")
	here := address("ok", "10.3.3.3")
	applied(s, systemtest.ClusterUser, map[string][]set{"create": {here}})
	for name, c := range map[string]struct {
		changes map[string][]set
		named   string
	}{
		"alone":              {map[string][]set{"create": {wildcard}}, "*.app.corp.example A"},
		"beside what is":     {map[string][]set{"create": {here, wildcard}}, "*.app.corp.example A"},
		"beside what is new": {map[string][]set{"create": {address("new", "10.3.3.3"), wildcard}}, "*.app.corp.example A"},
		"update":             {map[string][]set{"updateOld": {wildcard}, "updateNew": {address("*.app", "10.3.3.4")}}, "*.app.corp.example A"},
		"delete":             {map[string][]set{"delete": {controller}}, "dc1.corp.example A"},
	} {
		a := tell(s, systemtest.ClusterUser, "/records", c.changes)
		require.Equal(t, http.StatusInternalServerError, a.Status, "%s: %s", name, a.Body)
		require.Len(t, a.Envelope.Error.Details, 1, name)
		assert.Contains(t, a.Envelope.Error.Details[0].Message, "'"+c.named+"'", name)
		assert.Contains(t, a.Envelope.Error.Details[0].Message, "privileged", name)
	}
}

// TestChallengesBelowOtherZones: a challenge in a zone that is not primary causes a conflict, like any other
// record there.
func TestChallengesBelowOtherZones(t *testing.T) {
	s := systemtest.NewForDNS(t)
	for zone, kind := range map[string]string{"supplier.example": "a secondary zone",
		"partner.example": "a forwarder"} {
		for _, action := range []string{present, cleanup} {
			a := post(s, systemtest.EveryUser, action, challenge("_acme-challenge."+zone+".", digest("x")))
			require.Equal(t, http.StatusConflict, a.Status, "%s: %s", zone, a.Body)
			assert.Equal(t, "conflict", a.Envelope.Error.Code)
			assert.Contains(t, a.Envelope.Output, "is not a primary zone", kind)
		}
	}
	a := post(s, systemtest.EveryUser, present, challenge("_acme-challenge.www.invalid.", digest("x")))
	assert.Equal(t, http.StatusNotFound, a.Status)
}
