package story

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops/opstest"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
	"adgateway/test/thorough"
)

// page is more than the number of objects in one page of the directory.
const page = 300

// serviceAccount is the account of the sandbox's sessions.
const serviceAccount = "svc-adgateway$"

// crowded starts a system over a world in which every list has several pages: OUs,
// containers, users, groups, computers, and objects below an OU and a computer.
func crowded(t *testing.T, overrides ...string) (s *systemtest.System, tree string) {
	s = systemtest.New(t, sandbox.Options{Seed: 1, Users: page}, overrides...)
	tree = "OU=Crowd,OU=Corp,DC=corp,DC=example"
	s.AddObject(tree, "organizationalUnit")
	s.AddObject("CN=CROWD,"+tree, "computer", "sAMAccountName", "CROWD$")
	for i := range page {
		s.AddObject(fmt.Sprintf("OU=ou%d,%s", i, tree), "organizationalUnit")
		s.AddObject(fmt.Sprintf("CN=CROWD%dPC,%s", i, tree), "computer", "sAMAccountName",
			fmt.Sprintf("CROWD%dPC$", i))
		s.AddObject(fmt.Sprintf("CN=share%d,CN=CROWD,%s", i, tree), "serviceConnectionPoint")
	}
	for i := range 2 * page { // more than a script projects at a time
		s.AddObject(fmt.Sprintf("CN=crowd%d,%s", i, tree), "group", "sAMAccountName", fmt.Sprintf("crowd%d", i))
	}
	return s, tree
}

// occupy opens connections of the service account to every controller until only the given number of
// connections is free.
func occupy(t *testing.T, s *systemtest.System, free int) {
	for _, dc := range s.World.Directory.DCs() {
		for range 5 - free {
			release, err := dc.Connect(serviceAccount)
			require.NoError(t, err)
			t.Cleanup(release)
		}
	}
}

// lists are reads of many objects.
func lists() []systemtest.Call {
	calls := []systemtest.Call{{Method: http.MethodGet, Path: "/api/OU/All",
		Params: map[string]any{"ListContainers": "true"}}, systemtest.ListComputers()}
	for _, path := range []string{"/api/OU/All", "/api/ADUser/ListUsers", "/api/ADGroups", "/api/ADGroups/All",
		"/api/ADGroups/Security/All", "/api/ADGroups/Distribution/All"} {
		calls = append(calls, systemtest.Call{Method: http.MethodGet, Path: path})
	}
	return calls
}

// TestASessionNeedsOneConnection: no operation opens a second connection to the directory
// while it has one, however long the lists are (facts D19). The number of connections
// therefore never exceeds the number of sessions. A plain run tries one row in four.
func TestASessionNeedsOneConnection(t *testing.T) {
	t.Parallel()
	s, tree := crowded(t, "pool.directorySessions=1", "limits.bulkDelete=100000")
	occupy(t, s, 1)
	for _, op := range opstest.Own() {
		if thorough.OneOf(4, op.ID) {
			t.Run(op.ID, func(t *testing.T) { s.In(t).GoodCall(op) })
		}
	}
	for _, list := range lists() {
		for _, token := range []string{"", systemtest.CorpToken, systemtest.DeskToken, systemtest.GroupToken} {
			a := s.Do(list.As(token)) // limits are read on the same connection
			require.Equal(t, http.StatusOK, a.Status, "%s %s %s", list.Path, token, a.Body)
		}
	}
	listed := s.Get("/api/OU/All")
	assert.Greater(t, len(listed.Envelope.Result), page)
	s.OK(systemtest.RemoveComputer("CROWD"), http.StatusOK)
	some := map[string]any{"OUPath": tree, "WildCard": "CROWD1*PC"}
	assert.Greater(t, len(s.ComputerNames(systemtest.Call{Method: http.MethodDelete,
		Path: "/api/Computers/Remove", Params: some})), 100)
	s.OK(systemtest.RemoveOU(tree, "Force", "true", "Recursive", "true"), http.StatusOK)
}

// TestDefaultSessionsFitTheConnections: with the default settings, long lists and changes in all
// sessions together stay below the limit of connections.
func TestDefaultSessionsFitTheConnections(t *testing.T) {
	t.Parallel()
	s, tree := crowded(t)
	var wait sync.WaitGroup
	var done atomic.Int32
	requests := append(lists(), systemtest.RenameOU("OU=ou1,"+tree, "ou1"))
	for client := range 8 {
		wait.Go(func() {
			for i := range 6 {
				name := fmt.Sprintf("busy%d", client)
				a := s.Do(requests[(client+i)%len(requests)])
				for _, write := range []systemtest.Call{
					systemtest.CreateOU(name, tree),
					systemtest.UpdateOU("OU="+name+","+tree, "IsProtected", "true"),
					systemtest.RemoveOU("OU="+name+","+tree, "Force", "true"),
				} {
					if a.Status < 400 {
						a = s.Do(write)
					}
				}
				if assert.Less(t, a.Status, 400, "%s", a.Body) {
					done.Add(1)
				}
			}
		})
	}
	wait.Wait()
	assert.EqualValues(t, 8*6, done.Load())
	assert.Zero(t, s.DC1().Connections(serviceAccount), "all connections are returned")
}

// TestNoConnectionLeft: without a free connection, the refusal is marked as temporary, and
// nothing has changed.
func TestNoConnectionLeft(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	s.OK(systemtest.ReadOU(systemtest.EmptyOU), http.StatusOK)
	occupy(t, s, 0)
	for _, c := range []systemtest.Call{
		systemtest.ReadOU(systemtest.EmptyOU), systemtest.CreateOU("x", systemtest.EmptyOU), systemtest.RemoveOU(systemtest.EmptyOU),
		{Method: http.MethodGet, Path: "/api/ADUser/ListUsers"}, {Method: http.MethodPost, Path: "/api/ADUser/x"},
		{Method: http.MethodGet, Path: "/api/ADGroups"}, systemtest.RemoveComputer("FS1"),
	} {
		a := s.Rejects(c, http.StatusServiceUnavailable, "unavailable")
		assert.NotEmpty(t, a.Header.Get("Retry-After"))
		assert.Contains(t, []string{"", "none"}, a.Envelope.Error.Outcome)
	}
	_, err := s.DC1().Get(context.Background(), systemtest.EmptyOU)
	require.NoError(t, err)
}
