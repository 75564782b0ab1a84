package odd

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

const (
	oddObjects = "../../ps/sandbox/testdata/odd/objects.ldif"
	oddOU      = "OU=Odd,DC=corp,DC=example"
)

// kind is a class of objects and their names in the API.
type kind struct {
	list    systemtest.Call
	name    string // field with the name that lists show
	dn      string // field with the distinguished name
	path    func(name, rest string) string
	read    string            // rest of the path for reading an object
	change  string            // rest of the path for changing an object
	remove  string            // rest of the path for removing an object
	text    string            // input for the description
	written map[string]string // inputs by field, to which the shown values are written back
}

func below(path string) systemtest.Call { return call(http.MethodGet, path, "OUPath", oddOU) }

// call returns a call with parameters.
func call(method, path string, pairs ...any) systemtest.Call {
	params := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		params[pairs[i].(string)] = pairs[i+1]
	}
	return systemtest.Call{Method: method, Path: path, Params: params}
}

// withAddresses selects all fields of users, and proxyAddresses, which is not shown by default.
const withAddresses = "*,proxyAddresses"

var kinds = map[string]kind{
	"user": {
		list: call(http.MethodGet, "/api/ADUser/ListUsers", "OUPath", oddOU, "ShowFields", withAddresses),
		name: "username", dn: "distinguishedName",
		path: func(name, rest string) string { return "/api/ADUser/" + url.PathEscape(name) + rest },
		read: "/Details?ShowFields=" + withAddresses, text: "Description",
		written: map[string]string{
			"name": "Name", "userPrincipalName": "UserPrincipalName", "description": "Description",
			"streetAddress": "Street", "streetPoBox": "POBox", "ouPath": "OUPath", "displayName": "DisplayName",
			"proxyAddresses": "ProxyAddresses",
		},
	},
	"group": {
		list: below("/api/ADGroups"), name: "samName", dn: "distinguishedName",
		path: systemtest.GroupPath, remove: "/Remove", text: "GroupDescription",
		written: map[string]string{"description": "GroupDescription", "ouPath": "OUPath", "scope": "GroupScope"},
	},
	"computer": {
		list: below("/api/Computers"), name: "samName", dn: "distinguishedName",
		path:   func(name, rest string) string { return systemtest.ComputerPath(name) + rest },
		change: "/Update", remove: "/Remove", text: "ComputerDescription",
		written: map[string]string{"description": "ComputerDescription"},
	},
}

// objectsOf lists the odd objects of a class, with all fields that are written back.
func (k kind) objectsOf(s *systemtest.System) []map[string]any {
	a := s.Do(k.list)
	require.Equal(s.T, http.StatusOK, a.Status, "%s", a.Body)
	return a.Envelope.Result
}

// TestWhatAListOfObjectsShowsIsNamedByIt: every odd object can be read by its name in the list, its GUID, its
// SID and its distinguished name. Each of these finds the same object. The object can be changed, written
// back as shown, and removed.
func TestWhatAListOfObjectsShowsIsNamedByIt(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1, LDIF: []string{oddObjects}})
	tried := 0
	for class, k := range kinds {
		for _, shown := range k.objectsOf(s) {
			tried++
			name := systemtest.Text(shown[k.name])
			t.Run(class+" "+name, func(t *testing.T) { k.try(s.In(t), name, shown) })
		}
		assert.Empty(t, k.objectsOf(s), "all have been removed")
	}
	assert.GreaterOrEqual(t, tried, 60)
}

// try makes the calls that are possible for every object of a class, with one object.
func (k kind) try(s *systemtest.System, name string, shown map[string]any) {
	for _, field := range []string{k.name, "guid", "sid", k.dn} {
		identity := systemtest.Text(shown[field])
		a := s.Get(k.path(identity, k.read))
		require.Equal(s.T, http.StatusOK, a.Status, "%s: %s", identity, a.Body)
		require.Equal(s.T, shown, s.Record(a), identity)
	}
	start := s.Snapshot()
	changed := s.Do(call(http.MethodPut, k.path(name, k.change), k.text, "changed, once"))
	require.Equal(s.T, http.StatusOK, changed.Status, "%s", changed.Body)
	assert.Equal(s.T, "changed, once", s.Record(changed)["description"])
	back := map[string]any{}
	for field, input := range k.written {
		if value := shown[field]; value != nil {
			back[input] = value
		} else {
			back[input] = ""
		}
	}
	written := s.Do(systemtest.Call{Method: http.MethodPut, Path: k.path(name, k.change), Params: back})
	require.Equal(s.T, http.StatusOK, written.Status, "%v: %s", back, written.Body)
	assert.Empty(s.T, start.Compare(s.Snapshot()), "written back unchanged")
	same := s.Do(systemtest.Call{Method: http.MethodPut, Path: k.path(name, k.change), Params: back})
	require.Equal(s.T, http.StatusOK, same.Status, "%s", same.Body)
	assert.Contains(s.T, same.Envelope.Output, "nothing was changed")

	removed := s.Do(systemtest.Call{Method: http.MethodDelete, Path: k.path(name, k.remove)})
	require.Equal(s.T, http.StatusOK, removed.Status, "%s", removed.Body)
	assert.Equal(s.T, shown["guid"], s.Record(removed)["guid"])
	gone := s.Get(k.path(systemtest.Text(shown["guid"]), k.read))
	assert.Equal(s.T, http.StatusNotFound, gone.Status, "%s", gone.Body)
}

// TestOddUnitsAreNamedByTheirPaths: every odd OU can be read, changed, written back as shown and removed by
// its distinguished name, which is its only name.
func TestOddUnitsAreNamedByTheirPaths(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1, LDIF: []string{oddObjects}})
	var units []map[string]any
	for _, unit := range s.Get("/api/OU/All").Envelope.Result {
		path := systemtest.Text(unit["path"])
		if len(path) > len(oddOU) && path[len(path)-len(oddOU):] == oddOU {
			units = append(units, unit)
		}
	}
	require.GreaterOrEqual(t, len(units), 9)
	for _, unit := range units {
		path := systemtest.Text(unit["path"])
		t.Run(path, func(t *testing.T) {
			s := s.In(t)
			shown := s.Record(s.Do(call(http.MethodGet, "/api/OU/Path/Details", "OUPath", path)))
			assert.Equal(t, unit, shown)
			start := s.Snapshot()
			for _, text := range []string{"changed, once", ""} {
				s.Put("/api/OU", map[string]any{"OUPath": path, "OUDescription": text})
			}
			assert.Empty(t, start.Compare(s.Snapshot()))
			a := s.Do(call(http.MethodDelete, "/api/OU/Path/Remove", "OUPath", path))
			require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		})
	}
}

// TestSIDsNameEveryObject: every user, group and computer of the built-in domain and of the odd objects is
// found by its SID in place of a GUID or a name. A SID of another class and an unknown SID are not found.
func TestSIDsNameEveryObject(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1, LDIF: []string{oddObjects}})
	lists := map[string]string{
		"user": "/api/ADUser/ListUsers/All?ShowFields=" + withAddresses, "group": "/api/ADGroups/All",
		"computer": "/api/Computers/All",
	}
	sids := map[string]string{}
	for class, list := range lists {
		records := s.Get(list).Envelope.Result
		require.NotEmpty(t, records)
		for i, shown := range records {
			sid := systemtest.Text(shown["sid"])
			require.NotEmpty(t, sid, "%v", shown)
			sids[class] = sid
			if i%7 != 0 && i > 60 {
				continue // only every seventh of many ordinary objects
			}
			a := s.Get(kinds[class].path(sid, kinds[class].read))
			require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
			require.Equal(t, shown, s.Record(a), sid)
		}
	}
	for class, k := range kinds {
		for other, sid := range sids {
			if other != class {
				a := s.Get(k.path(sid, k.read))
				assert.Equal(t, http.StatusNotFound, a.Status, "the SID of a %s is no %s", other, class)
			}
		}
		assert.Equal(t, http.StatusNotFound, s.Get(k.path("S-1-5-21-1-2-3-999999", k.read)).Status)
	}
}

// TestAnOddNameIsNotGivenToAnother: an odd value that an object may keep is refused for other objects.
func TestAnOddNameIsNotGivenToAnother(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1, LDIF: []string{oddObjects}})
	odd := map[string]string{"Name": " leading", "UserPrincipalName": "odd upn@corp.example"}
	for input, value := range odd {
		for _, dryRun := range []bool{true, false} {
			change := call(http.MethodPut, "/api/ADUser/comma.carl", input, value, "DryRun", dryRun)
			a := s.Rejects(change, http.StatusBadRequest, "invalid_request")
			assert.Contains(t, a.Envelope.Output, input+" must be")
		}
	}
}
