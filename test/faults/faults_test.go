// Package faults changes the world between the steps of a script, and cuts scripts off between and inside
// their frames. An answer must state only the known facts about the change.
package faults

import (
	"context"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/adcmd"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/dnscmd"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/test/systemtest"
)

// faults runs hooks before cmdlets, so that a test can change the world between
// the steps of a script.
type faults struct {
	mu    sync.Mutex
	calls map[string]int
	hooks map[string]func(call int)
	fails map[string]func(call int) *dotnet.ErrorRecord
	types map[string]*dotnet.Type // types of the module, by full name
}

// before sets a hook that runs before each call of a cmdlet. The hook receives the number of the call,
// counted from 1. A nil hook removes the previous one.
func (f *faults) before(cmdlet string, hook func(call int)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[cmdlet], f.hooks[cmdlet] = 0, hook
}

// raise makes calls of a cmdlet fail with the result of fail, unless the result is nil. fail receives the
// number of the call, counted from 1. If fail is nil, calls no longer fail.
func (f *faults) raise(cmdlet string, fail func(call int) *dotnet.ErrorRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[cmdlet], f.fails[cmdlet] = 0, fail
}

func (f *faults) reach(cmdlet string) *dotnet.ErrorRecord {
	f.mu.Lock()
	hook, fail := f.hooks[cmdlet], f.fails[cmdlet]
	f.calls[cmdlet]++
	n := f.calls[cmdlet]
	f.mu.Unlock()
	if hook != nil {
		hook(n)
	}
	if fail != nil {
		return fail(n)
	}
	return nil
}

// newFaultySystem returns a system and the hooks of its cmdlets.
func newFaultySystem(t testing.TB, world sandbox.Options, overrides ...string) (*systemtest.System, *faults) {
	t.Helper()
	f := &faults{
		calls: map[string]int{}, hooks: map[string]func(int){},
		fails: map[string]func(int) *dotnet.ErrorRecord{}, types: map[string]*dotnet.Type{},
	}
	for _, module := range sandbox.Declarations() {
		for _, declared := range module.Types {
			f.types[declared.Name] = declared
		}
	}
	return newHookedSystem(t, world,
		func(cmdlet string, process func(*engine.Call) error) func(*engine.Call) error {
			return func(c *engine.Call) error {
				if failure := f.reach(cmdlet); failure != nil {
					return c.Throw(failure)
				}
				return process(c)
			}
		}, overrides...), f
}

// newHookedSystem returns a system in which hook may replace each cmdlet.
func newHookedSystem(t testing.TB, world sandbox.Options,
	hook func(cmdlet string, process func(*engine.Call) error) func(*engine.Call) error,
	overrides ...string) *systemtest.System {
	t.Helper()
	w, err := sandbox.NewWorld(context.Background(), world)
	require.NoError(t, err)
	modules := []*engine.Module{
		adcmd.Module(adcmd.Options{Domain: w.Directory, Culture: world.Culture, Account: "svc-adgateway$"}),
		dnscmd.Module(dnscmd.Options{Store: w.DNS, Culture: world.Culture}),
	}
	for _, module := range modules {
		for _, command := range module.Commands {
			command.Process = hook(command.Decl.Name, command.Process)
		}
	}
	eng := engine.NewEngine(engine.Options{
		Modules:  append([]*engine.Module{sandbox.HostModule()}, modules...),
		AutoLoad: true, Aliases: sandbox.Aliases, Culture: world.Culture, PID: os.Getpid(),
	})
	return systemtest.NewOn(t, w, sandbox.NewStarter(eng, nil), overrides...)
}

// TestATreeIsRemovedInPart: the directory removes part of a tree and then fails (facts E44). The answer lists
// the removed objects, and the remaining objects are protected again.
func TestATreeIsRemovedInPart(t *testing.T) {
	s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
	root := s.CreateTree(systemtest.EmptyOU)
	inner := "OU=Inner," + root
	gone := "CN=tree group 1," + inner
	f.before("Remove-ADOrganizationalUnit", func(int) {
		require.NoError(t, s.DC1().Delete(context.Background(), gone))
		s.DenyEveryone(root, directory.RightDeleteTree, false)
	})
	a := s.Do(systemtest.RemoveOU(root, "Force", "true", "Recursive", "true"))
	require.Equal(t, http.StatusForbidden, a.Status, "%s", a.Body)
	assert.Equal(t, "directory_denied", a.Envelope.Error.Code)
	assert.Equal(t, "partial", a.Envelope.Error.Outcome)
	var messages []string
	for _, detail := range a.Envelope.Error.Details {
		messages = append(messages, detail.Message)
	}
	assert.Contains(t, messages, "This remains: "+gone)
	for _, dn := range []string{root, inner} {
		assert.Equal(t, true, s.OK(systemtest.ReadOU(dn), http.StatusOK)["protected"], dn)
	}
}

// TestChangesBetweenGuardAndWrite changes the world between the guards of a script and its write.
// The directory's own rules decide, and protection that the script has lifted is restored.
func TestChangesBetweenGuardAndWrite(t *testing.T) {
	s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
	ctx := context.Background()
	t.Run("a child appears in an empty OU", func(t *testing.T) {
		s := s.In(t)
		f.before("Remove-ADOrganizationalUnit",
			func(int) { s.AddObject("CN=late,"+systemtest.ProtectedOU, "container") })
		onlyChanged(s, systemtest.RemoveOU(systemtest.ProtectedOU, "Force", "true"), http.StatusConflict,
			"not_empty", "AD:8213", "+ CN=late,"+systemtest.ProtectedOU)
		f.before("Remove-ADOrganizationalUnit", nil)
		require.NoError(t, s.DC1().Delete(ctx, "CN=late,"+systemtest.ProtectedOU))
	})
	t.Run("a name is taken", func(t *testing.T) {
		s := s.In(t)
		f.before("Move-ADObject", func(call int) {
			if call == 1 {
				s.AddObject("OU=Protected empty,"+systemtest.EmptyOU, "organizationalUnit")
			}
		})
		onlyChanged(s, systemtest.MoveOU(systemtest.ProtectedOU, systemtest.EmptyOU), http.StatusConflict,
			"conflict", "AD:8305", "+ OU=Protected empty,"+systemtest.EmptyOU)
		f.before("Move-ADObject", nil)
		assert.Equal(t, true, s.OK(systemtest.ReadOU(systemtest.ProtectedOU), http.StatusOK)["protected"])
		f.before("Rename-ADObject", func(call int) {
			if call == 1 {
				s.AddObject("OU=Late,"+systemtest.CorpOU, "organizationalUnit")
			}
		})
		onlyChanged(s, systemtest.RenameOU(systemtest.ProtectedOU, "Late"), http.StatusConflict, "conflict",
			"AD:8305", "+ OU=Late,"+systemtest.CorpOU)
		f.before("New-ADOrganizationalUnit",
			func(int) { s.AddObject("OU=Later,"+systemtest.CorpOU, "organizationalUnit") })
		onlyChanged(s, systemtest.CreateOU("Later", systemtest.CorpOU), http.StatusConflict, "conflict", "AD:8305",
			"+ OU=Later,"+systemtest.CorpOU)
		f.before("Rename-ADObject", func(call int) {
			if call == 1 {
				s.AddObject("CN=LATE,"+systemtest.ServersOU, "container")
			}
		})
		onlyChanged(s, systemtest.RenameComputer("WEB1", "LATE"), http.StatusConflict, "conflict", "AD:8305",
			"+ CN=LATE,"+systemtest.ServersOU)
		f.before("Rename-ADObject", nil)
		assert.Equal(t, "WEB1$", s.OK(systemtest.ReadComputer("WEB1"), http.StatusOK)["samName"])
		f.before("New-ADComputer", func(
			int) {
			s.AddObject("CN=LATE2,"+systemtest.ServersOU, "computer", "sAMAccountName", "LATE2$")
		})
		onlyChanged(s, systemtest.RegisterComputer("LATE2"), http.StatusConflict, "conflict", "AD:1316",
			"+ CN=LATE2,"+systemtest.ServersOU)
	})
	t.Run("a key appears below a computer", func(t *testing.T) {
		s := s.In(t)
		f.before("Remove-ADComputer", func(int) {
			s.AddObject("CN=Key,CN=WEB2,"+systemtest.ServersOU, "msFVE-RecoveryInformation", systemtest.RecoveryKey...)
		})
		onlyChanged(s, systemtest.RemoveComputer("WEB2"), http.StatusConflict, "not_empty", "AD:8213",
			"+ CN=Key,CN=WEB2,"+systemtest.ServersOU)
		f.before("Remove-ADComputer", nil)
	})
	t.Run("a computer goes", func(t *testing.T) {
		s := s.In(t)
		f.before("Remove-ADComputer", func(call int) {
			if call == 1 {
				require.NoError(t, s.DC1().Delete(ctx, "CN=BR-PC02,"+systemtest.BranchesOU))
			}
		})
		a := s.Do(systemtest.RemoveComputers("OUPath", systemtest.BranchesOU))
		assert.Equal(t, http.StatusMultiStatus, a.Status, "%s", a.Body)
		assert.Len(t, a.Envelope.Result, 5)
		require.Len(t, a.Envelope.Error.Details, 1)
		assert.Contains(t, a.Envelope.Error.Details[0].Message, "CN=BR-PC02,")
	})
}

// onlyChanged sends a request that the directory rejects with directoryCode (facts D2, E43, E46). It expects
// that the only change is the given one, which another writer made.
func onlyChanged(s *systemtest.System, c systemtest.Call, status int, code, directoryCode, change string) {
	s.T.Helper()
	start := s.Snapshot()
	a := s.Do(c)
	require.Equal(s.T, status, a.Status, "%s", a.Body)
	assert.Equal(s.T, code, a.Envelope.Error.Code)
	assert.Equal(s.T, directoryCode, a.Envelope.Error.DirectoryCode)
	assert.Equal(s.T, "none", a.Envelope.Error.Outcome)
	assert.Equal(s.T, []string{change}, start.Compare(s.Snapshot()))
}

// TestTheServerGoesAwayDuringAChange switches the domain controller off during changes. The answer must state
// only the known facts.
func TestTheServerGoesAwayDuringAChange(t *testing.T) {
	t.Run("while many are removed", func(t *testing.T) {
		s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
		f.before("Remove-ADComputer", func(call int) { s.SwitchDC(call < 3) })
		a := s.Do(systemtest.RemoveComputers("OUPath", systemtest.BranchesOU))
		f.before("Remove-ADComputer", nil)
		s.SwitchDC(true)
		require.Equal(t, http.StatusMultiStatus, a.Status, "%s", a.Body)
		assert.Equal(t, []string{"BR-PC01", "BR-PC02"}, systemtest.NamesOfComputers(a))
		require.Len(t, a.Envelope.Error.Details, 4)
		for i, name := range []string{"BR-PC03", "BR-PC04", "BR-PC05", "BR-PC06"} {
			assert.True(t, strings.HasPrefix(a.Envelope.Error.Details[i].Message, "'CN="+name+","),
				a.Envelope.Error.Details[i].Message)
		}
		assert.Len(t, s.ComputerNames(systemtest.ListComputers("OUPath", systemtest.BranchesOU)), 4)
	})
	t.Run("before the first is removed", func(t *testing.T) {
		s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
		f.before("Remove-ADComputer", func(int) { s.SwitchDC(false) })
		a := s.Do(systemtest.RemoveComputers("OUPath", systemtest.BranchesOU))
		f.before("Remove-ADComputer", nil)
		s.SwitchDC(true)
		require.Equal(t, http.StatusServiceUnavailable, a.Status, "%s", a.Body)
		assert.NotEmpty(t, a.Header.Get("Retry-After"))
		assert.Equal(t, "unknown", a.Envelope.Error.Outcome)
		assert.Len(t, s.ComputerNames(systemtest.ListComputers("OUPath", systemtest.BranchesOU)), 6)
	})
	t.Run("while an OU is protected", func(t *testing.T) {
		s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
		f.before("Set-ADObject", func(int) { s.SwitchDC(false) })
		a := s.Do(systemtest.CreateOU("Cut", systemtest.EmptyOU))
		f.before("Set-ADObject", nil)
		s.SwitchDC(true)
		require.Equal(t, http.StatusServiceUnavailable, a.Status,
			"its error has the number 0, as that about access lists has: %s", a.Body)
		assert.Equal(t, "partial", a.Envelope.Error.Outcome)
	})
	t.Run("while an OU is moved", func(t *testing.T) {
		s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
		f.before("Move-ADObject", func(int) { s.SwitchDC(false) })
		a := s.Do(systemtest.MoveOU(systemtest.ProtectedOU, systemtest.EmptyOU))
		f.before("Move-ADObject", nil)
		s.SwitchDC(true)
		require.Equal(t, http.StatusServiceUnavailable, a.Status, "%s", a.Body)
		assert.Equal(t, "partial", a.Envelope.Error.Outcome, "the protection was lifted and could not be restored")
		require.NotEmpty(t, a.Envelope.Error.Details)
		assert.Contains(t, a.Envelope.Error.Details[len(a.Envelope.Error.Details)-1].Message,
			systemtest.ProtectedOU)
		assert.Equal(t, false, s.OK(systemtest.ReadOU(systemtest.ProtectedOU), http.StatusOK)["protected"])
	})
}

// TestConcurrentCreates sends the same create request several times at once. Exactly one of them must
// succeed.
func TestConcurrentCreates(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for name, c := range map[string]systemtest.Call{
		"OU":       systemtest.CreateOU("Twice", systemtest.EmptyOU),
		"computer": systemtest.RegisterComputer("TWICE"),
	} {
		t.Run(name, func(t *testing.T) {
			const clients = 4
			answers := make([]systemtest.Answer, clients)
			var all sync.WaitGroup
			for i := range clients {
				all.Go(func() { answers[i] = s.Do(c) })
			}
			all.Wait()
			created := 0
			for _, a := range answers {
				if a.Status == http.StatusCreated {
					created++
					continue
				}
				assert.Equal(t, http.StatusConflict, a.Status, "%s", a.Body)
				assert.Equal(t, "conflict", a.Envelope.Error.Code)
				assert.Equal(t, "none", a.Envelope.Error.Outcome)
			}
			assert.Equal(t, 1, created)
		})
	}
}
