package story

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/test/systemtest"
)

func removeUser(name string, pairs ...string) systemtest.Call {
	return withParams(http.MethodDelete, "/api/ADUser/"+name, pairs)
}

func removeGroup(name string, pairs ...string) systemtest.Call {
	return withParams(http.MethodDelete, systemtest.GroupPath(name, "/Remove"), pairs)
}

func removeComputer(name string, pairs ...string) systemtest.Call {
	return withParams(http.MethodDelete, systemtest.ComputerPath(name)+"/Remove", pairs)
}

const devicesOfAnna = "CN=ExchangeActiveSyncDevices," + systemtest.SampleUserDN

// withDevices gives Anna the objects that Exchange stores below a user, which are a container and two devices
// in it.
func withDevices(s *systemtest.System) {
	s.AddObject(devicesOfAnna, "msExchActiveSyncDevices")
	s.AddObject("CN=iPhone\\C2\\A7one,"+devicesOfAnna, "msExchActiveSyncDevice")
	s.AddObject("CN=iPad\\C2\\A7two,"+devicesOfAnna, "msExchActiveSyncDevice")
}

func protect(t testing.TB, s *systemtest.System, dn string) {
	t.Helper()
	require.NoError(t, s.DC1().SetProtected(context.Background(), dn, true))
}

// TestAUserIsRemovedWithWhatIsBelow: the devices that Exchange stores below a user do not prevent the
// removal. The removal is a single change, and one undo restores all objects from the Recycle Bin.
func TestAUserIsRemovedWithWhatIsBelow(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1}, "limits.bulkDelete=4")
	withDevices(s)
	protect(t, s, "CN=iPad\\C2\\A7two,"+devicesOfAnna)
	protect(t, s, systemtest.SampleUserDN)
	start := s.Snapshot()

	user := systemtest.SampleUser
	a := s.Rejects(removeUser(user), http.StatusConflict, "protected")
	assert.Contains(t, a.Envelope.Output, "Force=true lifts the protection.")
	a = s.Rejects(removeUser(user, "Force", "true"), http.StatusConflict, "not_empty")
	assert.Contains(t, a.Envelope.Output, "Recursive=true removes what is below it, too.")
	whole := removeUser(user, "Force", "true", "Recursive", "true")
	a = s.Rejects(whole.As(systemtest.NoTreeToken), http.StatusForbidden, "forbidden")
	assert.Contains(t, a.Envelope.Output, "user:delete-tree")
	require.NoError(t, s.DC1().SetProtected(context.Background(), systemtest.SampleUserDN, false))
	a = s.Rejects(removeUser(user, "Recursive", "true"), http.StatusConflict, "protected")
	assert.Contains(t, a.Envelope.Output, "Force=true lifts all protections below the user.")
	protect(t, s, systemtest.SampleUserDN)
	assert.Empty(t, start.Compare(s.Snapshot()), "nothing was changed so far")

	// The dry run lists every object that would be removed.
	a = s.Do(removeUser(user, "Force", "true", "Recursive", "true", "DryRun", "true"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	for _, dn := range []string{systemtest.SampleUserDN, devicesOfAnna, "iPhone", "iPad"} {
		assert.Contains(t, string(a.Body), strings.Split(dn, "\\")[0])
	}
	assert.Empty(t, start.Compare(s.Snapshot()))

	a = s.Do(whole)
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Contains(t, a.Envelope.Output, "The user 'aschmidt' was removed together with '"+devicesOfAnna+"'")
	s.Rejects(systemtest.Call{Method: http.MethodGet, Path: userNamed(user)}, http.StatusNotFound, "not_found")

	// One undo restores all objects, with their protections.
	change := a.Header.Get("X-Change-Id")
	require.NotEmpty(t, change)
	s.OK(post("/api/Changes/"+change+"/Undo"), http.StatusOK)
	for dn, protected := range map[string]bool{
		systemtest.SampleUserDN: true, devicesOfAnna: false, "CN=iPad\\C2\\A7two," + devicesOfAnna: true, "CN=iPhone\\C2\\A7one," + devicesOfAnna: false,
	} {
		on, err := s.DC1().Protected(context.Background(), dn)
		require.NoError(t, err, dn)
		assert.Equal(t, protected, on, dn)
	}

	// One more device would be too many.
	s.AddObject("CN=Watch,"+devicesOfAnna, "msExchActiveSyncDevice")
	a = s.Rejects(whole, http.StatusConflict, "too_many")
	assert.Contains(t, a.Envelope.Output, "would remove 5 objects; one request removes at most 4.")
}

// TestNothingGuardedGoesWithAUser: only privileged callers can remove a guarded object below
// an account, and nobody can remove a critical one.
func TestNothingGuardedGoesWithAUser(t *testing.T) {
	file := filepath.Join(t.TempDir(), "critical.ldif")
	text := "dn: " + devicesOfAnna + "\nobjectClass: msExchActiveSyncDevices\n\ndn: CN=Phone," + devicesOfAnna +
		"\nobjectClass: msExchActiveSyncDevice\nisCriticalSystemObject: TRUE\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	s := systemtest.New(t, sandbox.Options{Seed: 1, LDIF: []string{file}})
	whole := removeUser(systemtest.SampleUser, "Recursive", "true")
	a := s.Rejects(whole.As(systemtest.PlainToken), http.StatusForbidden, "forbidden")
	assert.Contains(t, a.Envelope.Output, "guarded objects lie below it")
	a = s.Rejects(whole, http.StatusConflict, "protected")
	assert.Contains(t, a.Envelope.Output, "it is never removed with what it lies below")
}

// TestAComputerIsRemovedWithItsRecoveryKey: a computer with a recovery key is removed only
// if the caller accepts the loss of the key.
func TestAComputerIsRemovedWithItsRecoveryKey(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	dn := "CN=WEB2," + systemtest.ServersOU
	key, queue := "CN=Key,"+dn, "CN=Laser,"+dn
	s.AddObject(key, "msFVE-RecoveryInformation", systemtest.RecoveryKey...)
	s.AddObject(queue, "printQueue", "printerName", "Laser", "serverName", "WEB2", "shortServerName", "WEB2",
		"uNCName", `\\WEB2\Laser`, "versionNumber", "4")
	protect(t, s, key)
	protect(t, s, queue)
	a := s.Rejects(removeComputer("WEB2"), http.StatusConflict, "not_empty")
	assert.Contains(t, a.Envelope.Output, "'"+key+"'. Recursive=true removes them, too.")
	a = s.Rejects(removeComputer("WEB2", "Recursive", "true"), http.StatusConflict, "protected")
	assert.Contains(t, a.Envelope.Output, "Force=true lifts")
	all := removeComputer("WEB2", "Recursive", "true")
	s.Rejects(all.As(systemtest.NoTreeToken), http.StatusForbidden, "forbidden")
	a = s.Do(removeComputer("WEB2", "Recursive", "true", "Force", "true"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	s.OK(post("/api/Changes/"+a.Header.Get("X-Change-Id")+"/Undo"), http.StatusOK)
	for _, back := range []string{key, queue} {
		on, err := s.DC1().Protected(context.Background(), back)
		require.NoError(t, err)
		assert.True(t, on, back)
	}
}

// TestProtectionOfEveryClass: protection can be set and lifted, prevents a removal while
// set, and is restored by an undo.
func TestProtectionOfEveryClass(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	s.OK(post("/api/ADUser/guard.ed"), http.StatusCreated)
	s.OK(post(systemtest.GroupPath("Guarded", "/Security")), http.StatusCreated)
	s.OK(systemtest.RegisterComputer("GUARDED"), http.StatusCreated)
	for _, c := range []struct {
		path         string
		move, remove systemtest.Call
	}{
		{"/api/ADUser/guard.ed", put("/api/ADUser/guard.ed", "OUPath", systemtest.EmptyOU), removeUser("guard.ed", "Force", "true")},
		{systemtest.GroupPath("Guarded", ""), put(systemtest.GroupPath("Guarded", ""), "OUPath", systemtest.EmptyOU), removeGroup("Guarded", "Force", "true")},
		{systemtest.ComputerPath("GUARDED"), put(systemtest.ComputerPath("GUARDED")+"/Move", "OUPath", systemtest.EmptyOU), removeComputer("GUARDED", "Force", "true")},
	} {
		lift := put(c.path+"/Protection", "IsProtected", "false")
		a := s.Do(put(c.path+"/Protection", "IsProtected", "true"))
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		assert.Contains(t, a.Envelope.Output, "was changed")
		refused := s.Rejects(c.move, http.StatusConflict, "protected")
		assert.Contains(t, refused.Envelope.Output, "Lift the protection first: PUT /api/")
		s.OK(post("/api/Changes/"+a.Header.Get("X-Change-Id")+"/Undo"), http.StatusOK)
		a = s.Do(lift)
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		assert.Contains(t, a.Envelope.Output, "nothing was changed")
		s.OK(put(c.path+"/Protection", "IsProtected", "true"), http.StatusOK)
		s.OK(c.remove, http.StatusOK)
	}
}

// TestARemovalThatTheDirectoryDeniesKeepsProtections: if a removal is denied, the
// protections that were lifted for it are set again.
func TestARemovalThatTheDirectoryDeniesKeepsProtections(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	withDevices(s)
	protect(t, s, devicesOfAnna)
	s.DenyEveryone(systemtest.SampleUserDN, directory.RightDeleteTree, false)
	// Force lifts the user's half of a protection, but an inherited denial remains.
	s.DenyEveryone("OU=Sales,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example", directory.RightDeleteTree, true)
	a := s.Do(removeUser(systemtest.SampleUser, "Force", "true", "Recursive", "true"))
	require.Equal(t, http.StatusForbidden, a.Status, "%s", a.Body)
	assert.Equal(t, "directory_denied", a.Envelope.Error.Code)
	assert.Equal(t, "partial", a.Envelope.Error.Outcome, "half a protection was made whole")
	on, err := s.DC1().Protected(context.Background(), devicesOfAnna)
	require.NoError(t, err)
	assert.True(t, on)
}

// TestAConflictObjectComesBack: a conflict object is restored under its name without the suffix that the
// directory added. If that name is in use, the answer reports that.
func TestAConflictObjectComesBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "twins.ldif")
	twin := func(name, account string) string {
		return "dn: CN=" + name + "\\0ACNF:4b98b030-c66a-4474-a63a-a26f4cebc7" + account +
			"," + systemtest.EmptyOU + "\nobjectClass: user\nsAMAccountName: twin" + account + "\n\n"
	}
	other := "dn: CN=other," + systemtest.EmptyOU + "\nobjectClass: user\nsAMAccountName: other\n\n"
	require.NoError(t, os.WriteFile(file, []byte(twin("alone", "aa")+twin("other", "ab")+other), 0o600))
	s := systemtest.New(t, sandbox.Options{Seed: 1, LDIF: []string{file}})
	restore := func(account string, pairs ...string) systemtest.Call {
		removed := s.Record(s.Do(removeUser("twin" + account)))
		return put("/api/RecycleBin/"+removed["guid"].(string)+"/Restore", pairs...)
	}
	a := s.Do(restore("aa"))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Equal(t, "CN=alone,"+systemtest.EmptyOU, s.Stored("CN=alone,"+systemtest.EmptyOU).DN)
	again := restore("ab")
	a = s.Rejects(again, http.StatusConflict, "conflict")
	assert.Contains(t, a.Envelope.Output, "The name 'other' is taken by 'CN=other,"+systemtest.EmptyOU+"'.")
	again.Params["NewName"] = "another"
	s.OK(again, http.StatusOK)
}
