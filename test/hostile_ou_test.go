package test

import (
	"net/http"

	"adgateway/gateway/ops"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// record is the only record of an answer.
func (s *system) record(a answer) map[string]any {
	s.t.Helper()
	require.Len(s.t, a.envelope.Result, 1, "%s", a.body)
	return a.envelope.Result[0]
}

// done sends a request that must succeed with a status, and returns its only record.
func (s *system) done(status int, method, path string, params map[string]any) map[string]any {
	s.t.Helper()
	return s.ok(call{method: method, path: path, params: params}, status)
}

// orNull is how an answer shows a text.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

var storedOU = map[string]storedCheck{
	"ou.create": func(s *system, g *guard, p *ops.Param, name, value string, a answer) {
		made := s.record(a)
		read := s.done(http.StatusOK, http.MethodGet, "/api/OU/Guid/Details", map[string]any{"OUGuid": made["guid"]})
		assert.Equal(s.t, made, read, name)
		byPath := s.done(http.StatusOK, http.MethodGet, "/api/OU/Path/Details", map[string]any{"OUPath": made["path"]})
		assert.Equal(s.t, made, byPath, name)
		switch p.Name {
		case "OUName":
			assert.Equal(s.t, value, made["name"], name)
		case "OUDescription":
			assert.Equal(s.t, orNull(value), made["description"], name)
		case "IsProtected":
			assert.Equal(s.t, true, made["protected"], "%s: given or by default", name)
		default:
			s.t.Errorf("%s is accepted as %s: %s", name, p.Name, a.body)
		}
		s.done(http.StatusOK, http.MethodDelete, "/api/OU/Path/Remove", map[string]any{"OUPath": made["path"], "Force": "true"})
		g.changedOnly(s, emptyOU, name) // protection leaves a trace on the parent (facts E38)
	},
	"ou.update": func(s *system, g *guard, p *ops.Param, name, value string, a answer) {
		now := s.record(a)
		switch p.Name {
		case "OUDescription":
			assert.Equal(s.t, orNull(value), now["description"], name)
		case "IsProtected":
			assert.Equal(s.t, true, now["protected"], name)
		default:
			s.t.Errorf("%s is accepted as %s: %s", name, p.Name, a.body)
		}
		assert.Equal(s.t, now, s.done(http.StatusOK, http.MethodGet, "/api/OU/Path/Details", map[string]any{"OUPath": emptyOU}), name)
		s.done(http.StatusOK, http.MethodPut, "/api/OU", map[string]any{"OUPath": emptyOU, "OUDescription": "Nothing in it", "IsProtected": false})
		g.changedOnly(s, corpOU, name)
	},
	"ou.rename": func(s *system, g *guard, p *ops.Param, name, value string, a answer) {
		require.Equal(s.t, "OUNewName", p.Name, "%s: %s", name, a.body)
		now := s.record(a)
		assert.Equal(s.t, value, now["name"], name)
		assert.Equal(s.t, true, now["protected"], name)
		back := s.done(http.StatusOK, http.MethodPut, "/api/OU/Rename", map[string]any{"OUPath": now["path"], "OUNewName": "Protected empty"})
		assert.Equal(s.t, protectedOU, back["path"], name)
		g.changedOnly(s, protectedOU, name)
	},
	"ou.delete": func(s *system, g *guard, p *ops.Param, name, value string, a answer) {
		require.Contains(s.t, "Force Recursive", p.Name, "%s: %s", name, a.body)
		undo := samples["ou.delete"].undo
		s.done(http.StatusCreated, undo.method, undo.path, undo.params)
		g.changedOnly(s, emptyOU, name)
	},
}

var storedComputer = map[string]storedCheck{
	"computer.register": func(s *system, g *guard, p *ops.Param, name, value string, a answer) {
		made := s.record(a)
		path := "/api/Computers/" + made["computerName"].(string)
		assert.Equal(s.t, made, s.record(s.get(path)), name)
		switch p.Name {
		case "ADComputerName":
			assert.Equal(s.t, value, made["computerName"], name)
		case "ADComputerDescription":
			assert.Equal(s.t, value, made["description"], name)
		default:
			s.t.Errorf("%s is accepted as %s: %s", name, p.Name, a.body)
		}
		s.done(http.StatusOK, http.MethodDelete, path+"/Remove", nil)
	},
	"computer.rename": func(s *system, g *guard, p *ops.Param, name, value string, a answer) {
		require.Equal(s.t, "NewADComputerName", p.Name, "%s: %s", name, a.body)
		assert.Equal(s.t, value, s.record(a)["computerName"], name)
		s.done(http.StatusOK, http.MethodPut, "/api/Computers/"+value+"/Rename/WEB1", nil)
		g.changedOnly(s, "CN=WEB1,", name)
	},
	"computer.update": func(s *system, g *guard, p *ops.Param, name, value string, a answer) {
		require.Equal(s.t, "ComputerDescription", p.Name, "%s: %s", name, a.body)
		assert.Equal(s.t, orNull(value), s.record(a)["description"], name)
		assert.Equal(s.t, s.record(a), s.record(s.get("/api/Computers/FS1")), name)
		s.done(http.StatusOK, http.MethodPut, "/api/Computers/FS1/Update", map[string]any{"ComputerDescription": "File server"})
		g.changedOnly(s, "CN=FS1,", name)
	},
	"computer.deleteMany": func(s *system, g *guard, p *ops.Param, name, value string, a answer) {
		if p.Name == "WildCard" {
			assert.Empty(s.t, a.envelope.Result, "%s: %s", name, a.body)
			return
		}
		require.Equal(s.t, "Recursive", p.Name, "%s: %s", name, a.body)
		assert.Equal(s.t, "WEB3", s.record(a)["computerName"], name)
		s.done(http.StatusCreated, http.MethodPost, "/api/Computers/WEB3/Register", nil)
		g.changedOnly(s, "CN=WEB3,", name)
	},
}
