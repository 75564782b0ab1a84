package story_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/app"
	"adgateway/gateway/authn"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/gateway/schema"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/session"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// namesAccount reports whether a parameter names a user, a group or a computer.
func namesAccount(p *ops.Param) bool {
	return slices.Contains([]schema.Kind{schema.Identity, schema.Reference, schema.GUIDOrSID}, p.Kind)
}

// account finds an object by its account name, with or without the $ of a computer, or by
// its GUID.
func account(s *systemtest.System, name string) *directory.Object {
	s.T.Helper()
	object, err := s.DC1().Get(s.T.Context(), "<GUID="+name+">")
	if err == nil {
		return object
	}
	found, err := s.DC1().Search(s.T.Context(), directory.SearchRequest{Scope: directory.ScopeSubtree,
		Filter: "(|(sAMAccountName=" + name + ")(sAMAccountName=" + name + "$))"})
	require.NoError(s.T, err)
	require.Len(s.T, found, 1, name)
	return found[0]
}

// others contains further objects by class: an object that only privileged callers may change, and one
// outside a limited token's OU.
var others = map[string][]string{
	"user": {"Administrator", "krbtgt", "nioannidis"}, "group": {"Domain Admins", "Administrators", "Project Phoenix"}, "computer": {"DC1", "WEB1"},
}

// A SID is accepted wherever a GUID is, with the same answer, limits and guard. A normal test run tries a
// share of the parameters.
func TestASIDIsAcceptedWhereverAGUIDIs(t *testing.T) {
	rows := 0
	for _, op := range opstest.Own() {
		for i := range op.Params {
			p := &op.Params[i]
			if !namesAccount(p) {
				continue
			}
			rows++
			if !thorough.OneOf(6, op.ID, p.Name) {
				continue
			}
			t.Run(op.ID+" "+p.Name, func(t *testing.T) {
				t.Parallel()
				s := systemtest.New(t, sandbox.Options{Seed: 1})
				s.Prepare(op)
				bySID(s, op, p)
			})
		}
	}
	assert.Greater(t, rows, 40)
}

func bySID(s *systemtest.System, op *ops.Operation, p *ops.Param) {
	call := func(token, text string, dry bool) systemtest.Answer {
		params := maps.Clone(op.Sample)
		params[p.Name] = text
		if dry {
			params[ops.DryRun] = true
		}
		c := systemtest.CallFor(op, params)
		c.Token = token
		return s.Do(c)
	}
	text := systemtest.Text(op.Sample[p.Name])
	if op.Sample[p.Name] == nil {
		text = systemtest.Text(p.Kind.Doc().Example)
	}
	named := account(s, text)
	class := "user"
	for _, other := range []string{"group", "computer"} {
		if named.Is(other) {
			class = other
		}
	}
	writes := op.Effect.Writes()
	objects := []*directory.Object{named}
	for _, name := range others[class] {
		objects = append(objects, account(s, name))
	}
	if !writes || op.Param(ops.DryRun) != nil {
		for _, token := range []string{systemtest.AllToken, systemtest.PlainToken, systemtest.LimitedToken,
			systemtest.DeskToken} {
			for _, object := range objects {
				guid, sid := object.String("objectGUID"), object.String("objectSid")
				want, got := call(token, guid, writes), call(token, sid, writes)
				what := op.ID + " " + p.Name + " " + object.DN + " " + token
				assert.Equal(s.T, want.Status, got.Status, "%s: %s / %s", what, want.Body, got.Body)
				if want.Envelope.Error != nil && got.Envelope.Error != nil {
					assert.Equal(s.T, want.Envelope.Error.Code, got.Envelope.Error.Code, what)
				}
				if !writes {
					assert.Equal(s.T, want.Envelope.Result, got.Envelope.Result, what)
				}
			}
		}
	}
	a := call(systemtest.AllToken, named.String("objectSid"), false)
	assert.Equal(s.T, systemtest.GoodStatus(op), a.Status, "%s", a.Body)
}

func TestASIDOfABuiltInGroup(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for _, sid := range []string{"S-1-5-32-544", "s-1-5-32-544"} {
		assert.Equal(t, "Administrators",
			s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADGroups/" + sid}, http.StatusOK)["samName"])
	}
	s.Rejects(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/S-1-5-32-544/Details"},
		http.StatusNotFound, "not_found")
	for _, bad := range []string{"S-1-5", "S-1-5-21-1-2-3-", "S-2-5-32-544", "S-1-5-32-4294967296",
		"S-1-5-32-544)(objectClass=*", "S-1-5-*"} {
		s.Rejects(systemtest.Call{Method: http.MethodGet, Path: "/api/ADGroups/" + url.PathEscape(bad)},
			http.StatusNotFound, "not_found")
		a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUserGuid",
			Params: map[string]any{"UserGuid": bad}})
		assert.Equal(t, strings.HasSuffix(bad, "6"), a.Status == http.StatusNotFound, "%s: %s", bad, a.Body)
	}
}

// A limit to groups can name them by SID.
func TestALimitNamesAGroupByItsSID(t *testing.T) {
	w, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	found, err := w.Directory.DCs()[0].Search(t.Context(),
		directory.SearchRequest{Scope: directory.ScopeSubtree, Filter: "(sAMAccountName=VPN Users)"})
	require.NoError(t, err)
	require.Len(t, found, 1)
	static := authn.NewStatic(authn.Header{})
	require.NoError(t, static.AddToken(systemtest.GroupToken,
		&identity.Principal{Name: systemtest.GroupToken, Scopes: []identity.Scope{identity.All},
			Limits: identity.Limits{Groups: []string{found[0].String("objectSid")}}}))
	s := systemtest.NewWith(t, w, session.Config{Starter: w.Starter()}, func(o *app.Options) { o.Auth = static })
	do := func(method, path string) systemtest.Answer {
		return s.Do(systemtest.Call{Method: method, Path: path, Token: systemtest.GroupToken})
	}
	assert.Equal(t, http.StatusOK, do(http.MethodGet, "/api/ADGroups/VPN%20Users").Status)
	assert.Equal(t, http.StatusNotFound, do(http.MethodGet, "/api/ADGroups/Help%20Desk").Status)
	listed := do(http.MethodGet, "/api/ADGroups/All")
	require.Len(t, listed.Envelope.Result, 1, "%s", listed.Body)
	assert.Equal(t, "VPN Users", listed.Envelope.Result[0]["samName"])
	a := do(http.MethodPut, "/api/ADGroups/VPN%20Users/Rename/Dial%20In")
	assert.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	a = do(http.MethodDelete, "/api/ADGroups/Dial%20In/Remove")
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	bin := do(http.MethodGet, "/api/RecycleBin")
	assert.Len(t, bin.Envelope.Result, 1, "%s", bin.Body)
}
