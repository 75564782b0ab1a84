package story

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/attributes"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/scripts"
	"adgateway/test/systemtest"
)

// TestAllFieldsAndSomeAreTheSame: a field has the same value in a record with all fields and in a record with
// some fields, although different lines of the script write these records.
func TestAllFieldsAndSomeAreTheSame(t *testing.T) {
	names := schema.User.All().Shown()
	assert.Contains(t, string(scripts.Prelude(ps.Directory).Text),
		fmt.Sprintf("$want.Count -eq %d ", len(names)), "what the script takes for all fields")

	s := systemtest.New(t, sandbox.Options{Seed: 1, Users: 50})
	list := func(fields ...string) []map[string]any {
		a := s.Do(systemtest.Call{Method: http.MethodGet,
			Path: "/api/ADUser/ListUsers/All?ShowFields=" + strings.Join(fields, ",")})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		return a.Envelope.Result
	}
	all, half, rest := list("*"), list(names[:23]...), list(names[23:]...)
	require.Greater(t, len(all), 50)
	for i := range all {
		maps.Copy(half[i], rest[i])
		require.Equal(t, half[i], all[i])
	}
}

// TestATagCoversFurtherAttributes: every additional attribute in the forest affects the tag of the
// user, in a single read, in a list and in If-Match.
func TestATagCoversFurtherAttributes(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	path := "/api/ADUser/" + systemtest.SampleUser
	tag := func() string {
		alone := s.Get(path + "/Details").Header.Get("ETag")
		require.NotEmpty(t, alone)
		assert.Equal(t, alone, s.Get(path+"/Details?ShowFields=username&WithETag=true").Header.Get("ETag"))
		assert.Equal(t, alone, s.Get(path+"/Details?ShowFields=*,employeeId&WithETag=true").Header.Get("ETag"))
		ou := url.QueryEscape("OU=Sales,OU=Berlin," + systemtest.StaffOU)
		list := s.Get("/api/ADUser/ListUsers?WithETag=true&OUPath=" + ou)
		assert.Contains(t, string(list.Body), strconv.Quote(alone))
		return alone
	}
	move := func(tag string) systemtest.Call {
		return systemtest.Call{Method: http.MethodPut, Path: path, Params: map[string]any{"City": "Bonn"},
			Headers: map[string]string{"If-Match": tag}}
	}
	seen := map[string]string{tag(): "none"}
	for _, a := range attributes.Users {
		value := "1"
		if a.Example != "" {
			value = a.Example
		}
		before := tag()
		made := s.Do(systemtest.Call{Method: http.MethodPut, Path: path, Params: map[string]any{a.Input: value}})
		require.Equal(t, http.StatusOK, made.Status, "%s: %s", a.Input, made.Body)
		now := tag()
		assert.Empty(t, seen[now], a.Input)
		seen[now] = a.Input
		s.Rejects(move(before), http.StatusPreconditionFailed, "precondition_failed")
	}
	s.OK(move(tag()), http.StatusOK)
}
