package story

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestANameIsUniqueAmongSiblings: an OU, a user, a group and a computer in one container
// need different names, although their distinguished names would differ.
func TestANameIsUniqueAmongSiblings(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	const root = "DC=corp,DC=example"
	taken := func(c systemtest.Call) {
		t.Helper()
		a := s.Rejects(c, http.StatusConflict, "conflict")
		assert.Contains(t, []string{"AD:8305", ""}, a.Envelope.Error.DirectoryCode,
			"the directory's error, or the script's own")
	}
	for _, name := range []string{"Users", "Computers", "Builtin", "System", "USERS", "Üsers"} {
		taken(systemtest.CreateOU(name, root))
	}
	place := "OU=Twins," + root
	in := map[string]any{"OUPath": place}
	s.OK(systemtest.CreateOU("Twins", root), http.StatusCreated)
	s.OK(systemtest.CreateOU("Y1", place), http.StatusCreated)
	taken(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/Y1", Params: in})
	taken(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupPath("y1", "/Security"), Params: in})
	taken(systemtest.RegisterComputer("Y1", "OUPath", place))

	s.Expect(http.StatusCreated, http.MethodPost, "/api/ADUser/anna", in)
	taken(systemtest.CreateOU("Anna", place))
	taken(systemtest.RenameOU("OU=Y1,"+place, "anna"))
	s.Expect(http.StatusCreated, http.MethodPost, systemtest.GroupPath("team y", "/Security"), in)
	s.OK(systemtest.CreateOU("Team Z", place), http.StatusCreated)
	taken(systemtest.Call{Method: http.MethodPut, Path: systemtest.GroupPath("team y", "/Rename/Team%20Z")})

	s.OK(systemtest.CreateOU("Y1", systemtest.EmptyOU), http.StatusCreated)
	taken(systemtest.MoveOU("OU=Y1,"+systemtest.EmptyOU, place))

	s.OK(systemtest.RemoveOU("OU=Y1,"+place, "Force", "true"), http.StatusOK)
	s.Expect(http.StatusCreated, http.MethodPost, "/api/ADUser/Y1", in)
}

// TestNamesWithAHash: the directory writes # with a backslash anywhere in a name, but accepts it without.
func TestNamesWithAHash(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	place := `OU=O \#1,` + systemtest.LimitedOU
	for _, token := range []string{systemtest.LimitedToken, systemtest.AllToken} {
		made := s.OK(systemtest.CreateOU("O #1", systemtest.LimitedOU).As(token), http.StatusCreated)
		assert.Equal(t, place, made["path"])
		for _, written := range []string{place, "OU=O #1," + systemtest.LimitedOU, `ou=o \231,` + systemtest.LimitedOU} {
			user := s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/u1",
				Params: map[string]any{"OUPath": written, "DisplayName": "U #1"}, Token: token}, http.StatusCreated)
			assert.Equal(t, place, user["ouPath"], written)
			listed := s.Do(systemtest.Call{Method: http.MethodGet,
				Path: "/api/ADUser/ListUsers?OUPath=" + url.QueryEscape(written), Token: token})
			require.Equal(t, http.StatusOK, listed.Status, "%s", listed.Body)
			require.Len(t, listed.Envelope.Result, 1, written)
			assert.Equal(t, user["distinguishedName"], listed.Envelope.Result[0]["distinguishedName"])
			s.OK(systemtest.Call{Method: http.MethodDelete, Path: "/api/ADUser/u1", Token: token}, http.StatusOK)
		}
		group := s.OK(systemtest.Call{Method: http.MethodPost, Path: systemtest.GroupPath("C# Devs", "/Security"),
			Params: map[string]any{"OUPath": place}, Token: token}, http.StatusCreated)
		assert.Equal(t, `CN=C\# Devs,`+place, group["distinguishedName"])
		s.OK(systemtest.Call{Method: http.MethodDelete, Path: systemtest.GroupPath("C# Devs", "/Remove"),
			Token: token}, http.StatusOK)
		s.OK(systemtest.RemoveOU("OU=O #1,"+systemtest.LimitedOU, "Force", "true").As(token), http.StatusOK)
	}
}

// TestWidthAndKanaAreOneName: names that differ only in the width of characters or in the
// kind of kana are equal.
func TestWidthAndKanaAreOneName(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	user := func(name string) string { return "/api/ADUser/" + url.PathEscape(name) }
	for _, names := range [][2]string{{"wabc1", "ｗａｂｃ１"}, {"やまだ", "ヤマダ"}} {
		s.Expect(http.StatusCreated, http.MethodPost, user(names[0]), nil)
		s.Rejects(systemtest.Call{Method: http.MethodPost, Path: user(names[1])}, http.StatusConflict, "conflict")
		assert.Equal(t, true, s.OK(systemtest.Call{Method: http.MethodGet, Path: user(names[1]) + "/Exists"},
			http.StatusOK)["exists"])
		s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: user(names[1])}, http.StatusNotFound,
			"not_found")
	}
	s.OK(systemtest.CreateOU("Vertrieb", systemtest.EmptyOU), http.StatusCreated)
	s.Rejects(systemtest.CreateOU("Ｖertrieb", systemtest.EmptyOU), http.StatusConflict, "conflict")
}

// TestSymbolsOfPasswords: the complexity rule counts only the symbols in its list.
func TestSymbolsOfPasswords(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	s.Expect(http.StatusCreated, http.MethodPost, "/api/ADUser/pwsp", nil)
	reset := func(password string) systemtest.Call {
		return systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/pwsp/ResetPassword",
			Params: map[string]any{"newPassword": password}}
	}
	for _, weak := range []string{"aaaaaa1 b", "aaaaaaa1€", "aaaaaaa1😀", "aaaaaaa1 "} {
		s.Rejects(reset(weak), http.StatusUnprocessableEntity, "policy")
	}
	for _, symbol := range "~!@#$%^&*_-+=`|\\(){}[]:;\"'<>,.?/" {
		s.OK(reset("aaaaaaa1"+string(symbol)), http.StatusOK)
	}
}
