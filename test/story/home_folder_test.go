package story

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// TestHomeFolders: the home folder and its drive are two attributes that can be changed independently. The
// parameter for the home folder has two names.
func TestHomeFolders(t *testing.T) {
	const path, directory, drive = "HomeFolderPath", "HomeFolderDirectory", "HomeFolderDrive"
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADUser/home",
		Params: map[string]any{path: `\\fs1\home`, drive: "H:"}}, http.StatusCreated)
	for i, c := range []struct {
		params  map[string]any
		folder  any
		drive   any
		refused bool
	}{
		{params: map[string]any{}, folder: `\\fs1\home`, drive: "H:"},
		{params: map[string]any{directory: "", drive: ""}},
		{params: map[string]any{drive: "H:"}, drive: "H:"},
		{params: map[string]any{path: `C:\home`}, folder: `C:\home`, drive: "H:"},
		{params: map[string]any{directory: `\\fs1\home`}, folder: `\\fs1\home`, drive: "H:"},
		{params: map[string]any{drive: "Z:"}, folder: `\\fs1\home`, drive: "Z:"},
		{params: map[string]any{directory: `\\fs2\home`, path: ""}, folder: `\\fs2\home`, drive: "Z:"},
		{params: map[string]any{directory: "", path: `\\fs3\home`}, folder: `\\fs3\home`, drive: "Z:"},
		{params: map[string]any{directory: `\\fs4\home`, path: `\\fs4\home`, drive: ""}, folder: `\\fs4\home`},
		{params: map[string]any{directory: `\\fs4\home`, path: `\\fs5\home`}, refused: true},
		{params: map[string]any{drive: "H"}, refused: true},
		{params: map[string]any{path: ""}},
		{params: map[string]any{directory: `\\fs6\home`, drive: "Y:"}, folder: `\\fs6\home`, drive: "Y:"},
		{params: map[string]any{directory: ""}, drive: "Y:"},
	} {
		put := systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/home", Params: c.params}
		if c.refused {
			s.Rejects(put, http.StatusBadRequest, "invalid_request")
			continue
		}
		got := s.OK(put, http.StatusOK)
		assert.Equal(t, []any{c.folder, c.folder, c.drive},
			[]any{got["homeFolderPath"], got["homeFolderDirectory"], got["homeFolderDrive"]}, "step %d", i)

		classic := func(fields string) map[string]any {
			var answer struct{ Result map[string]any }
			a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/home/Details?ShowFields=" + fields,
				Token: systemtest.ClassicToken})
			require.NoError(t, json.Unmarshal(a.Body, &answer), "%s", a.Body)
			return answer.Result
		}
		want := []any{nil, c.folder, c.drive}
		if c.drive == nil {
			want = []any{c.folder, nil, nil}
		}
		got = classic("*")
		assert.Equal(t, want, []any{got["homeFolderPath"], got["homeFolderDirectory"], got["homeFolderDrive"]},
			"classic, step %d", i)
		got = classic("HomeFolderPath")
		assert.Equal(t, want[0], got["homeFolderPath"], "classic without the drive, step %d", i)
		assert.NotContains(t, got, "homeFolderDrive")
		assert.NotContains(t, got, "homeFolderDirectory")
	}
}

// TestNeverExpiresWins: a user whose password never expires is not forced to change it, and the answer
// reports that.
func TestNeverExpiresWins(t *testing.T) {
	const never, change = "PasswordNeverExpired", "ChangePasswordNextLogon"
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for i, c := range []struct {
		method, path string
		params       map[string]any
		warned       bool
		never, must  bool
	}{
		{http.MethodPost, "a", map[string]any{never: true}, false, true, false},
		{http.MethodPost, "b", map[string]any{never: true, change: true}, true, true, false},
		{http.MethodPost, "c", map[string]any{never: true, change: true, "Password": systemtest.GoodPassword}, true, true, false},
		{http.MethodPost, "d", map[string]any{never: false, change: true}, false, false, true},
		{http.MethodPut, "a", map[string]any{change: true, "City": "x"}, true, true, false},
		{http.MethodPut, "d", map[string]any{change: true, never: true}, true, true, false},
		{http.MethodPut, "d", map[string]any{never: false, change: true}, false, false, true},
		{http.MethodPut, "c/ResetPassword", map[string]any{"newPassword": "An0ther-Secret", "ChangePassword": true}, true, true, false},
		{http.MethodPut, "c", map[string]any{never: false, change: true, "Password": "Y3t-another-one"}, false, false, true},
	} {
		a := s.Do(systemtest.Call{Method: c.method, Path: "/api/ADUser/" + c.path, Params: c.params})
		assert.Less(t, a.Status, 300, "%s", a.Body)
		var codes []string
		for _, warning := range a.Envelope.Warnings {
			codes = append(codes, warning.Code)
		}
		assert.Equal(t, c.warned, len(codes) == 1 && codes[0] == "never_expires", "step %d: %s", i, a.Body)
		record := s.Record(a)
		assert.Equal(t, []any{c.never, c.must},
			[]any{record["passwordNeverExpired"], record["changePasswordNextLogon"]}, "step %d", i)
	}
}

// TestAChangeOfNothing: a request that changes no value succeeds and reports that nothing was changed.
func TestAChangeOfNothing(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	guid := s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/aschmidt/Details"},
		http.StatusOK)["guid"]
	for _, c := range []systemtest.Call{
		{Path: "/api/ADUser/aschmidt"},
		{Path: "/api/ADUser/aschmidt", Params: map[string]any{"ShowFields": "name"}},
		{Path: "/api/ADUser/aschmidt", Params: map[string]any{"OUPath": "", "PasswordNeverExpired": "", "RdsAllowLogon": ""}},
		{Path: "/api/ADUserGuid", Params: map[string]any{"UserGuid": guid}},
		{Path: "/api/OU", Params: map[string]any{"OUPath": systemtest.StaffOU}},
		{Path: "/api/OU", Params: map[string]any{"OUPath": systemtest.StaffOU, "IsProtected": ""}},
		{Path: "/api/Computers/WEB1/Update"},
	} {
		c.Method = http.MethodPut
		s.ChangesNothing(c)
	}
	s.OK(systemtest.Call{Method: http.MethodPut, Path: "/api/Computers/WEB1/Update",
		Params: map[string]any{"ComputerDescription": "x"}}, http.StatusOK)
	assert.Nil(t, s.OK(systemtest.Call{Method: http.MethodPut, Path: "/api/Computers/WEB1/Update",
		Params: map[string]any{"ComputerDescription": ""}}, http.StatusOK)["description"], "empty clears")
	s.Rejects(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/nobody"}, http.StatusNotFound,
		"not_found")
	s.Rejects(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/krbtgt", Token: systemtest.PlainToken},
		http.StatusForbidden, "forbidden")
	s.Rejects(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/dvlachos",
		Token: systemtest.LimitedToken}, http.StatusNotFound, "not_found")
}

// TestEmptyValues: an empty value is treated as absent wherever that is harmless.
func TestEmptyValues(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	group := map[string]any{"GroupDescription": "", "OUPath": "", "GroupScope": "", "GroupEmail": ""}
	s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/ADGroups/empty/Security", Params: group},
		http.StatusCreated)
	s.OK(systemtest.Call{Method: http.MethodDelete, Path: "/api/ADGroups/empty/Remove?OUPath="}, http.StatusOK)
	s.OK(systemtest.Call{Method: http.MethodPost,
		Path: "/api/Computers/EMPTY/Register?ADComputerDescription=&OUPath="}, http.StatusCreated)
	s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/OU",
		Params: map[string]any{"OUName": "empty", "OUDestinationPath": systemtest.StaffOU, "IsProtected": ""}},
		http.StatusCreated)
	s.Rejects(systemtest.Call{Method: http.MethodDelete, Path: "/api/OU/Path/Remove",
		Params: map[string]any{"OUPath": "OU=empty," + systemtest.StaffOU, "Force": ""}}, http.StatusConflict,
		"protected")
	s.OK(systemtest.Call{Method: http.MethodDelete, Path: "/api/OU/Path/Remove",
		Params: map[string]any{"OUPath": "OU=empty," + systemtest.StaffOU, "Force": true, "Recursive": ""}},
		http.StatusOK)
	for _, c := range []systemtest.Call{
		{Method: http.MethodDelete, Path: "/api/Computers/Remove?WildCard=zz*&OUPath="},
		{Method: http.MethodDelete, Path: "/api/Computers/Remove?WildCard=&OUPath=" + "OU=Empty,OU=Corp,DC=corp,DC=example"},
		{Method: http.MethodPut, Path: "/api/ADUser/aschmidt/ResetPassword", Params: map[string]any{"newPassword": ""}},
		{Method: http.MethodPost, Path: "/api/ADUser/empty", Params: map[string]any{"Password": ""}},
		{Method: http.MethodPost, Path: "/api/OU", Params: map[string]any{"OUName": "", "OUDestinationPath": systemtest.StaffOU}},
	} {
		s.Rejects(c, http.StatusBadRequest, "invalid_request")
	}
	start := s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/ADUser/aschmidt/Details"}, http.StatusOK)
	reset := s.OK(systemtest.Call{Method: http.MethodPut, Path: "/api/ADUser/aschmidt/ResetPassword",
		Params: map[string]any{"newPassword": systemtest.GoodPassword, "ChangePassword": "", "ShowFields": ""}},
		http.StatusOK)
	assert.Equal(t, []any{start["guid"], false}, []any{reset["guid"], reset["changePasswordNextLogon"]})
}
