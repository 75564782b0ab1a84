package hostile

import (
	"net/http"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/test/systemtest"
)

// orNull returns a text in the form in which answers show it, which is null for an empty text.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

var storedOU = map[string]storedCheck{
	"ou.create": func(s *systemtest.System, g *guard, p *ops.Param, name, value string, a systemtest.Answer) {
		made := s.Record(a)
		read := s.Expect(http.StatusOK, http.MethodGet, "/api/OU/Guid/Details",
			map[string]any{"OUGuid": made["guid"]})
		assert.Equal(s.T, made, read, name)
		byPath := s.Expect(http.StatusOK, http.MethodGet, "/api/OU/Path/Details",
			map[string]any{"OUPath": made["path"]})
		assert.Equal(s.T, made, byPath, name)
		switch p.Name {
		case "OUName":
			assert.Equal(s.T, value, made["name"], name)
		case "OUDescription":
			assert.Equal(s.T, orNull(value), made["description"], name)
		case "IsProtected":
			assert.Equal(s.T, true, made["protected"], "%s: given or by default", name)
		default:
			s.T.Errorf("%s is accepted as %s: %s", name, p.Name, a.Body)
		}
		s.Expect(http.StatusOK, http.MethodDelete, "/api/OU/Path/Remove",
			map[string]any{"OUPath": made["path"], "Force": "true"})
		g.changedOnly(s, systemtest.EmptyOU, name) // protection modifies the parent, too (facts E38)
	},
	"ou.update": func(s *systemtest.System, g *guard, p *ops.Param, name, value string, a systemtest.Answer) {
		now := s.Record(a)
		switch p.Name {
		case "OUDescription":
			assert.Equal(s.T, orNull(value), now["description"], name)
		case "IsProtected":
			assert.Equal(s.T, value != "", now["protected"], name)
		default:
			s.T.Errorf("%s is accepted as %s: %s", name, p.Name, a.Body)
		}
		assert.Equal(s.T, now, s.Expect(http.StatusOK, http.MethodGet, "/api/OU/Path/Details",
			map[string]any{"OUPath": systemtest.EmptyOU}), name)
		s.Expect(http.StatusOK, http.MethodPut, "/api/OU",
			map[string]any{"OUPath": systemtest.EmptyOU, "OUDescription": "Nothing in it", "IsProtected": false})
		g.changedOnly(s, systemtest.CorpOU, name)
	},
	"ou.rename": func(s *systemtest.System, g *guard, p *ops.Param, name, value string, a systemtest.Answer) {
		require.Equal(s.T, "OUNewName", p.Name, "%s: %s", name, a.Body)
		now := s.Record(a)
		assert.Equal(s.T, value, now["name"], name)
		assert.Equal(s.T, true, now["protected"], name)
		back := s.Expect(http.StatusOK, http.MethodPut, "/api/OU/Rename",
			map[string]any{"OUPath": now["path"], "OUNewName": "Protected empty"})
		assert.Equal(s.T, systemtest.ProtectedOU, back["path"], name)
		g.changedOnly(s, systemtest.ProtectedOU, name)
	},
	"ou.delete": func(s *systemtest.System, g *guard, p *ops.Param, name, value string, a systemtest.Answer) {
		require.Contains(s.T, "Force Recursive", p.Name, "%s: %s", name, a.Body)
		s.Undo(opstest.Find("ou.delete"))
		g.changedOnly(s, systemtest.EmptyOU, name)
	},
}

var storedComputer = map[string]storedCheck{
	"computer.register": func(s *systemtest.System, g *guard, p *ops.Param, name, value string, a systemtest.Answer) {
		made := s.Record(a)
		path := "/api/Computers/" + made["computerName"].(string)
		assert.Equal(s.T, made, s.Record(s.Get(path)), name)
		switch p.Name {
		case "ADComputerName":
			assert.Equal(s.T, value, made["computerName"], name)
		case "ADComputerDescription":
			assert.Equal(s.T, orNull(value), made["description"], name)
		default:
			if value == "" {
				break // the parameter was not sent
			}
			s.T.Errorf("%s is accepted as %s: %s", name, p.Name, a.Body)
		}
		s.Expect(http.StatusOK, http.MethodDelete, path+"/Remove", nil)
	},
	"computer.delete": func(s *systemtest.System, g *guard, p *ops.Param, name, value string, a systemtest.Answer) {
		require.Contains(s.T, removing, p.Name, "%s: %s", name, a.Body)
		s.Undo(opstest.Find("computer.delete"))
		g.base = s.Snapshot()
	},
	"computer.rename": func(s *systemtest.System, g *guard, p *ops.Param, name, value string, a systemtest.Answer) {
		require.Equal(s.T, "NewADComputerName", p.Name, "%s: %s", name, a.Body)
		assert.Equal(s.T, value, s.Record(a)["computerName"], name)
		s.Expect(http.StatusOK, http.MethodPut, "/api/Computers/"+value+"/Rename/WEB1", nil)
		g.changedOnly(s, "CN=WEB1,", name)
	},
	"computer.update": func(s *systemtest.System, g *guard, p *ops.Param, name, value string, a systemtest.Answer) {
		require.Equal(s.T, "ComputerDescription", p.Name, "%s: %s", name, a.Body)
		assert.Equal(s.T, orNull(value), s.Record(a)["description"], name)
		assert.Equal(s.T, s.Record(a), s.Record(s.Get("/api/Computers/FS1")), name)
		s.Expect(http.StatusOK, http.MethodPut, "/api/Computers/FS1/Update",
			map[string]any{"ComputerDescription": "File server"})
		g.changedOnly(s, "CN=FS1,", name)
	},
	"computer.deleteMany": func(s *systemtest.System, g *guard, p *ops.Param, name, value string, a systemtest.Answer) {
		if p.Name == "WildCard" {
			assert.Empty(s.T, a.Envelope.Result, "%s: %s", name, a.Body)
			return
		}
		require.Equal(s.T, "Recursive", p.Name, "%s: %s", name, a.Body)
		assert.Equal(s.T, "WEB3", s.Record(a)["computerName"], name)
		s.Expect(http.StatusCreated, http.MethodPost, "/api/Computers/WEB3/Register", nil)
		g.changedOnly(s, "CN=WEB3,", name)
	},
}
