package search

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/attributes"
	"adgateway/test/systemtest"
)

const (
	aschmidt = "/api/ADUser/aschmidt"
	lweber   = "/api/ADUser/lweber"
)

// exampleOf returns a value of an attribute, both in the form of an input and in the form in which records
// show it.
func exampleOf(a *attributes.Attribute) (given string, shown any) {
	given = a.Example
	if given == "" {
		given = "one value"
	}
	switch {
	case a.Most > 0:
		return given, []any{given}
	case a.Form == attributes.Integer:
		return given, float64(10000)
	}
	return given, given
}

// changeUser changes a user. The change must succeed.
func changeUser(s *systemtest.System, path string, params map[string]any) systemtest.Answer {
	s.T.Helper()
	a := s.Do(putCall("", path, params))
	require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
	return a
}

// takeBack undoes the change in an answer.
func takeBack(s *systemtest.System, of systemtest.Answer) systemtest.Answer {
	s.T.Helper()
	path := "/api/Changes/" + of.Header.Get("X-Change-Id") + "/Undo"
	return s.Do(systemtest.Call{Method: http.MethodPost, Path: path})
}

// detailsOf returns a user with the given fields.
func detailsOf(s *systemtest.System, path, fields string) map[string]any {
	s.T.Helper()
	params := map[string]any{"ShowFields": fields}
	a := s.Do(systemtest.Call{Method: http.MethodGet, Path: path + "/Details", Params: params})
	require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
	return a.Envelope.Result[0]
}

// TestEveryAttributeIsWrittenReadAndFiltered tests every attribute of the table. A written value is shown
// only if the attribute is requested. It is found by a filter, can be cleared, and is restored by an undo.
func TestEveryAttributeIsWrittenReadAndFiltered(t *testing.T) {
	s := newSystem(t, 0)
	for _, a := range attributes.Users {
		t.Run(a.LDAP, func(t *testing.T) {
			given, shown := exampleOf(a)
			value, literal := any(given), `"`+given+`"`
			if a.Form == attributes.Integer {
				given, literal = "10000", "10000"
				value = 10000
			}
			written := changeUser(s, aschmidt, map[string]any{a.Input: value, "ShowFields": "*," + a.Field})
			assert.Equal(t, shown, written.Envelope.Result[0][a.Field])
			assert.NotContains(t, s.Get(aschmidt + "/Details").Envelope.Result[0], a.Field)
			assert.Equal(t, shown, detailsOf(s, aschmidt, "username,"+a.Field)[a.Field])
			filter := map[string]any{"Filter": a.ShownAs() + " eq " + literal}
			assert.Equal(t, []string{"aschmidt"}, names(list(s, users, filter)))
			again := s.Do(putCall("", aschmidt, map[string]any{a.Input: value}))
			assert.Contains(t, again.Envelope.Output, "nothing was changed")

			cleared := changeUser(s, aschmidt, map[string]any{a.Input: ""})
			assert.Empty(t, detailsOf(s, aschmidt, a.Field)[a.Field])
			undone := takeBack(s, cleared)
			require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
			assert.Equal(t, shown, detailsOf(s, aschmidt, a.Field)[a.Field])
		})
	}
}

// TestWrongAttributesAreRefused: the refusal names the limit, or the object that already has the value.
func TestWrongAttributesAreRefused(t *testing.T) {
	s := newSystem(t, 0)
	given := []string{"SMTP:anna@corp.example", "X500:/o=Corp, Ltd/cn=anna"}
	changeUser(s, aschmidt, map[string]any{"ProxyAddresses": given, "UidNumber": 4711})
	shown := detailsOf(s, aschmidt, "ProxyAddresses")["proxyAddresses"]
	assert.Equal(t, []any{given[0], given[1]}, shown)
	changeUser(s, aschmidt, map[string]any{"ServicePrincipalNames": "HTTP/a.corp.example"})

	for name, c := range map[string]struct {
		input   string
		value   any
		status  int
		code    string
		message string
	}{
		"too long":            {"EmployeeId", "12345678901234567", 400, "invalid_request", "at most 16 characters"},
		"no ASCII":            {"LoginShell", "/bin/bäsh", 400, "invalid_request", "ASCII"},
		"no number":           {"UidNumber", "x", 400, "invalid_request", "whole number from 0 to 2147483647"},
		"too large":           {"UidNumber", "2147483648", 400, "invalid_request", "whole number from 0 to 2147483647"},
		"no type":             {"ProxyAddresses", "anna@corp.example", 400, "invalid_request", "SMTP:jane@corp.example"},
		"a list":              {"EmployeeId", []string{"1", "2"}, 400, "invalid_request", ""},
		"address taken":       {"ProxyAddresses", "smtp:ANNA@corp.example", 409, "conflict", "CN=Anna Schmidt"},
		"number taken":        {"UidNumber", 4711, 409, "conflict", "CN=Anna Schmidt"},
		"SPN taken":           {"ServicePrincipalNames", "http/A.corp.example", 409, "conflict", "CN=Anna Schmidt"},
		"SPN of a controller": {"ServicePrincipalNames", "HOST/dc1.corp.example", 409, "conflict", "CN=DC1"},
		"unknown suffix":      {"UserPrincipalName", "l@elsewhere.example", 422, "unprocessable", "It has: corp.example"},
		"no UPN":              {"UserPrincipalName", "lweber", 400, "invalid_request", "a UPN suffix of the forest"},
		"UPN taken":           {"UserPrincipalName", "aschmidt@corp.example", 409, "conflict", "CN=Anna Schmidt"},
		"of Administrator":    {"UserPrincipalName", "Administrator@corp.example", 409, "conflict", "CN=Administrator"},
		"of a computer":       {"UserPrincipalName", "dc1@corp.example", 409, "conflict", "CN=DC1"},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.Do(putCall("", lweber, map[string]any{c.input: c.value}))
			assert.Equal(t, c.status, a.Status, "%s", a.Body)
			assert.Contains(t, string(a.Body), `"code":"`+c.code+`"`)
			assert.Contains(t, string(a.Body), c.message)
			assert.Contains(t, string(a.Body), `"field":"`+c.input+`"`)
		})
	}
	for _, value := range []string{"HTTP/b.corp.example", ""} {
		call := putCall(systemtest.PlainToken, lweber, map[string]any{"ServicePrincipalNames": value})
		refused(s, http.StatusForbidden, "forbidden", call)
	}
}

// TestUsersHaveNamesOfTheirOwn creates and changes the full name and the UPN, and undoes both.
func TestUsersHaveNamesOfTheirOwn(t *testing.T) {
	s := newSystem(t, 0)
	const jdoe, fields = "/api/ADUser/jdoe", "name,userPrincipalName"
	created := s.Do(systemtest.Call{Method: http.MethodPost, Path: jdoe, Params: map[string]any{
		"Name": "Doe, Jane", "UserPrincipalName": "jane.doe@corp.example", "EmployeeId": "7",
		"ShowFields": fields + ",distinguishedName,employeeId",
	}})
	require.Equal(t, http.StatusCreated, created.Status, "%s", created.Body)
	assert.Equal(t, map[string]any{
		"name": "Doe, Jane", "distinguishedName": `CN=Doe\, Jane,CN=Users,DC=corp,DC=example`,
		"userPrincipalName": "jane.doe@corp.example", "employeeId": "7",
	}, created.Envelope.Result[0])

	wanted := map[string]any{
		"Name": "Jane Roe", "UserPrincipalName": "jane.roe@corp.example", "ShowFields": fields,
	}
	changed := changeUser(s, jdoe, wanted)
	is := map[string]any{"name": "Jane Roe", "userPrincipalName": "jane.roe@corp.example"}
	assert.Equal(t, is, changed.Envelope.Result[0])
	undone := takeBack(s, changed)
	require.Equal(t, http.StatusOK, undone.Status, "%s", undone.Body)
	was := map[string]any{"name": "Doe, Jane", "userPrincipalName": "jane.doe@corp.example"}
	assert.Equal(t, was, detailsOf(s, jdoe, fields))

	changeUser(s, jdoe, map[string]any{"EmployeeId": "8"})
	drifted := takeBack(s, created)
	assert.Equal(t, http.StatusPreconditionFailed, drifted.Status, "%s", drifted.Body)
	assert.Contains(t, string(drifted.Body), "employeeId")
}
