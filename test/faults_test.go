package test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/adcmd"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/dnscmd"
	"adgateway/ps/sandbox/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// faults let a test reach between the steps of a script: before a cmdlet runs,
// it can change the world under it.
type faults struct {
	mu    sync.Mutex
	calls map[string]int
	hooks map[string]func(call int)
}

// before has f called before each call of a cmdlet, with the number of the call
// since then. Nil takes the hook away.
func (f *faults) before(cmdlet string, hook func(call int)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[cmdlet], f.hooks[cmdlet] = 0, hook
}

func (f *faults) reach(cmdlet string) {
	f.mu.Lock()
	hook := f.hooks[cmdlet]
	f.calls[cmdlet]++
	n := f.calls[cmdlet]
	f.mu.Unlock()
	if hook != nil {
		hook(n)
	}
}

// newFaultySystem is a system whose cmdlets of the directory can be reached
// between.
func newFaultySystem(t testing.TB, world sandbox.Options, overrides ...string) (*system, *faults) {
	t.Helper()
	w, err := sandbox.NewWorld(context.Background(), world)
	require.NoError(t, err)
	f := &faults{calls: map[string]int{}, hooks: map[string]func(int){}}
	module := adcmd.Module(adcmd.Options{Domain: w.Directory, Culture: world.Culture, Account: "svc-adgateway$"})
	for _, command := range module.Commands {
		name, process := command.Decl.Name, command.Process
		command.Process = func(c *engine.Call) error {
			f.reach(name)
			return process(c)
		}
	}
	eng := engine.NewEngine(engine.Options{
		Modules:  []*engine.Module{sandbox.HostModule(), module, dnscmd.Module(dnscmd.Options{Store: w.DNS, Culture: world.Culture})},
		AutoLoad: true, Aliases: sandbox.Aliases, Culture: world.Culture, PID: os.Getpid(),
	})
	return newSystemOn(t, w, sandbox.NewStarter(eng, nil), overrides...), f
}

// switchDC turns the first controller on or off.
func (s *system) switchDC(on bool) {
	s.t.Helper()
	require.NoError(s.t, s.world.SetAlive("dc1", on))
}

// TestATreeThatGoesHalfWay has the directory begin with a tree before it
// refuses (facts E44): what is gone is told, what is left is protected again.
func TestATreeThatGoesHalfWay(t *testing.T) {
	s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
	root := s.grow(emptyOU)
	inner := "OU=Inner," + root
	gone := "CN=tree group 1," + inner
	f.before("Remove-ADOrganizationalUnit", func(int) {
		require.NoError(t, s.dc1().Delete(context.Background(), gone))
		s.denyTo(root, directory.RightDeleteTree, false)
	})
	a := s.do(removeOU(root, "Force", "true", "Recursive", "true"))
	require.Equal(t, http.StatusForbidden, a.status, "%s", a.body)
	assert.Equal(t, "directory_denied", a.envelope.Error.Code)
	assert.Equal(t, "partial", a.envelope.Error.Outcome)
	var told []string
	for _, detail := range a.envelope.Error.Details {
		told = append(told, detail.Message)
	}
	assert.Contains(t, told, "This remains: "+gone)
	for _, dn := range []string{root, inner} {
		assert.Equal(t, true, s.ok(readOU(dn), http.StatusOK)["protected"], dn)
	}
}

// TestWhatComesBetween changes the world between the guards of a script and its
// change: the directory's own rules decide then, and what was lifted is restored.
func TestWhatComesBetween(t *testing.T) {
	s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
	ctx := context.Background()
	t.Run("a child appears in an empty OU", func(t *testing.T) {
		s := s.in(t)
		f.before("Remove-ADOrganizationalUnit", func(int) { s.add("CN=late,"+protectedOU, "container") })
		s.onlyChanged(removeOU(protectedOU, "Force", "true"), http.StatusConflict, "not_empty", "AD:8213", "+ CN=late,"+protectedOU)
		f.before("Remove-ADOrganizationalUnit", nil)
		require.NoError(t, s.dc1().Delete(ctx, "CN=late,"+protectedOU))
	})
	t.Run("a name is taken", func(t *testing.T) {
		s := s.in(t)
		f.before("Move-ADObject", func(call int) {
			if call == 1 {
				s.add("OU=Protected empty,"+emptyOU, "organizationalUnit")
			}
		})
		s.onlyChanged(moveOU(protectedOU, emptyOU), http.StatusConflict, "conflict", "AD:8305", "+ OU=Protected empty,"+emptyOU)
		f.before("Move-ADObject", nil)
		assert.Equal(t, true, s.ok(readOU(protectedOU), http.StatusOK)["protected"])
		f.before("Rename-ADObject", func(call int) {
			if call == 1 {
				s.add("OU=Late,"+corpOU, "organizationalUnit")
			}
		})
		s.onlyChanged(renameOU(protectedOU, "Late"), http.StatusConflict, "conflict", "AD:8305", "+ OU=Late,"+corpOU)
		f.before("New-ADOrganizationalUnit", func(int) { s.add("OU=Later,"+corpOU, "organizationalUnit") })
		s.onlyChanged(makeOU("Later", corpOU), http.StatusConflict, "conflict", "AD:8305", "+ OU=Later,"+corpOU)
		f.before("Rename-ADObject", func(call int) {
			if call == 1 {
				s.add("CN=LATE,"+serversOU, "container")
			}
		})
		s.onlyChanged(renameComputer("WEB1", "LATE"), http.StatusConflict, "conflict", "AD:8305", "+ CN=LATE,"+serversOU)
		f.before("Rename-ADObject", nil)
		assert.Equal(t, "WEB1$", s.ok(readComputer("WEB1"), http.StatusOK)["samName"])
		f.before("New-ADComputer", func(int) { s.add("CN=LATE2,"+serversOU, "computer", "sAMAccountName", "LATE2$") })
		s.onlyChanged(register("LATE2"), http.StatusConflict, "conflict", "AD:1316", "+ CN=LATE2,"+serversOU)
	})
	t.Run("a key appears below a computer", func(t *testing.T) {
		s := s.in(t)
		f.before("Remove-ADComputer", func(int) { s.add("CN=Key,CN=WEB2,"+serversOU, "msFVE-RecoveryInformation", recoveryKey...) })
		s.onlyChanged(removeComputer("WEB2"), http.StatusConflict, "not_empty", "AD:8213", "+ CN=Key,CN=WEB2,"+serversOU)
		f.before("Remove-ADComputer", nil)
	})
	t.Run("a computer goes", func(t *testing.T) {
		s := s.in(t)
		f.before("Remove-ADComputer", func(call int) {
			if call == 1 {
				require.NoError(t, s.dc1().Delete(ctx, "CN=BR-PC02,"+branchesOU))
			}
		})
		a := s.do(removeComputers("OUPath", branchesOU))
		assert.Equal(t, http.StatusMultiStatus, a.status, "%s", a.body)
		assert.Len(t, a.envelope.Result, 5)
		require.Len(t, a.envelope.Error.Details, 1)
		assert.Contains(t, a.envelope.Error.Details[0].Message, "CN=BR-PC02,")
	})
}

// onlyChanged sends a request that the directory must refuse with its code
// (facts D2, E43, E46), where something else has made one change meanwhile.
func (s *system) onlyChanged(c call, status int, code, directoryCode, change string) {
	s.t.Helper()
	start := s.snapshot()
	a := s.do(c)
	require.Equal(s.t, status, a.status, "%s", a.body)
	assert.Equal(s.t, code, a.envelope.Error.Code)
	assert.Equal(s.t, directoryCode, a.envelope.Error.DirectoryCode)
	assert.Equal(s.t, "none", a.envelope.Error.Outcome)
	assert.Equal(s.t, []string{change}, start.Compare(s.snapshot()))
}

// TestTheServerGoesAwayInBetween switches the controller off in the middle of
// changes: the answer tells what is known, and nothing that is not.
func TestTheServerGoesAwayInBetween(t *testing.T) {
	t.Run("while many are removed", func(t *testing.T) {
		s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
		f.before("Remove-ADComputer", func(call int) { s.switchDC(call < 3) })
		a := s.do(removeComputers("OUPath", branchesOU))
		f.before("Remove-ADComputer", nil)
		s.switchDC(true)
		require.Equal(t, http.StatusMultiStatus, a.status, "%s", a.body)
		assert.Equal(t, []string{"BR-PC01", "BR-PC02"}, computerNames(a))
		require.Len(t, a.envelope.Error.Details, 4)
		for i, name := range []string{"BR-PC03", "BR-PC04", "BR-PC05", "BR-PC06"} {
			assert.True(t, strings.HasPrefix(a.envelope.Error.Details[i].Message, "'CN="+name+","), a.envelope.Error.Details[i].Message)
		}
		assert.Len(t, s.names(listComputers("OUPath", branchesOU)), 4)
	})
	t.Run("before the first is removed", func(t *testing.T) {
		s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
		f.before("Remove-ADComputer", func(int) { s.switchDC(false) })
		a := s.do(removeComputers("OUPath", branchesOU))
		f.before("Remove-ADComputer", nil)
		s.switchDC(true)
		require.Equal(t, http.StatusServiceUnavailable, a.status, "%s", a.body)
		assert.NotEmpty(t, a.header.Get("Retry-After"))
		assert.Equal(t, "unknown", a.envelope.Error.Outcome)
		assert.Len(t, s.names(listComputers("OUPath", branchesOU)), 6)
	})
	t.Run("while an OU is protected", func(t *testing.T) {
		s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
		f.before("Set-ADObject", func(int) { s.switchDC(false) })
		a := s.do(makeOU("Cut", emptyOU))
		f.before("Set-ADObject", nil)
		s.switchDC(true)
		require.Equal(t, http.StatusServiceUnavailable, a.status, "its error has the number 0, as that about access lists has: %s", a.body)
		assert.Equal(t, "partial", a.envelope.Error.Outcome)
	})
	t.Run("while an OU is moved", func(t *testing.T) {
		s, f := newFaultySystem(t, sandbox.Options{Seed: 1})
		f.before("Move-ADObject", func(int) { s.switchDC(false) })
		a := s.do(moveOU(protectedOU, emptyOU))
		f.before("Move-ADObject", nil)
		s.switchDC(true)
		require.Equal(t, http.StatusServiceUnavailable, a.status, "%s", a.body)
		assert.Equal(t, "partial", a.envelope.Error.Outcome, "the protection was lifted and could not be restored")
		require.NotEmpty(t, a.envelope.Error.Details)
		assert.Contains(t, a.envelope.Error.Details[len(a.envelope.Error.Details)-1].Message, protectedOU)
		assert.Equal(t, false, s.ok(readOU(protectedOU), http.StatusOK)["protected"])
	})
}

// TestTwoAtOnce sends the same creates side by side: one is first.
func TestTwoAtOnce(t *testing.T) {
	s := newSystem(t, sandbox.Options{Seed: 1})
	for name, c := range map[string]call{
		"OU":       makeOU("Twice", emptyOU),
		"computer": register("TWICE"),
	} {
		t.Run(name, func(t *testing.T) {
			const clients = 4
			answers := make([]answer, clients)
			var all sync.WaitGroup
			for i := range clients {
				all.Go(func() { answers[i] = s.do(c) })
			}
			all.Wait()
			made := 0
			for _, a := range answers {
				if a.status == http.StatusCreated {
					made++
					continue
				}
				assert.Equal(t, http.StatusConflict, a.status, "%s", a.body)
				assert.Equal(t, "conflict", a.envelope.Error.Code)
				assert.Equal(t, "none", a.envelope.Error.Outcome)
			}
			assert.Equal(t, 1, made)
		})
	}
}
