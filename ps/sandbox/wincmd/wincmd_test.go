package wincmd_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/sandbox/wincmd"
)

const berlin = ",OU=Berlin,OU=Workstations,OU=Devices,OU=Corp,DC=corp,DC=example"

// lab is a domain with the modules over it.
type lab struct {
	domain  *directory.Domain
	log     wincmd.Log
	lacking bool
	session *engine.Session
}

func newLab(t *testing.T, account string) *lab {
	t.Helper()
	l := &lab{}
	var err error
	l.domain, err = directory.BuiltIn(directory.Options{Seed: 1, OnLockout: l.log.Add})
	require.NoError(t, err)
	modules := wincmd.Modules(wincmd.Options{
		Domain: l.domain, Log: &l.log, Account: account, Location: time.UTC,
		NoLAPS: func() bool { return l.lacking },
	})
	l.session = engine.NewEngine(engine.Options{Modules: modules, AutoLoad: true}).NewSession(engine.Console{})
	return l
}

// run runs a script and returns its output as texts.
func (l *lab) run(t *testing.T, script string) (out []string) {
	t.Helper()
	err := l.session.Run(context.Background(), "test", script, engine.Streams{Output: func(v any) error {
		out = append(out, dotnet.ToText(v))
		return nil
	}})
	require.NoError(t, err)
	return out
}

const shown = `foreach ($one in @($found)) { [string]$one.Source + ' ' + [string]$one.DecryptionStatus` +
	` + ' ' + [string]$one.Account + ' ' + [string]($null -ne $one.Password) + ' ' + [string]($null -ne $one.PasswordUpdateTime) }`

// asked returns a call that requests the password of a computer.
func asked(computer string) string {
	return "Get-LapsADPassword -Identity 'CN=" + computer + berlin + "' -DomainController 'dc1.corp.example'"
}

// TestPasswords: facts S41 and S42 hold.
func TestPasswords(t *testing.T) {
	l := newLab(t, "svc-adgateway$")
	for computer, want := range map[string][]string{
		"PC01": {"CleartextPassword NotApplicable Administrator True True"},
		"PC02": {"LegacyLapsCleartextPassword NotApplicable  True False"},
		"PC03": {
			"EncryptedPassword Success Administrator True True",
			"EncryptedPasswordHistory Success Administrator True True",
		},
		"PC04": {"EncryptedPassword Unauthorized  False False"},
		"PC05": nil,
	} {
		assert.Equal(t, want, l.run(t, "$found = "+asked(computer)+" -IncludeHistory\n"+shown), computer)
	}
	one := "(" + asked("PC04") + ")"
	assert.Equal(t, []string{`CORP\Domain Admins`}, l.run(t, one+".AuthorizedDecryptor"))
	stranger := newLab(t, "nobody$")
	got := stranger.run(t, "$found = "+asked("PC03")+"\n"+shown)
	assert.Equal(t, []string{"EncryptedPassword Unauthorized  False False"}, got)

	l.lacking = true
	caught := "try { " + one + " } catch { [string]$_.FullyQualifiedErrorId }"
	got = l.run(t, caught)
	require.Len(t, got, 1)
	assert.Regexp(t, "^CommandNotFoundException", got[0])
}

// TestConfidentialAttributes: without the control access right, confidential attributes
// appear empty, also to filters (facts S40).
func TestConfidentialAttributes(t *testing.T) {
	l := newLab(t, "svc-adgateway$")
	dc, dn := l.domain.DCs()[0], "CN=PC01"+berlin
	held := func() (value string, matches int) {
		o, err := dc.Get(t.Context(), dn, "msLAPS-Password")
		require.NoError(t, err)
		found, err := dc.Search(t.Context(), directory.SearchRequest{
			Scope: directory.ScopeSubtree, Filter: "(&(name=PC01)(msLAPS-Password=*))",
		})
		require.NoError(t, err)
		return o.String("msLAPS-Password"), len(found)
	}
	value, matches := held()
	assert.Contains(t, value, "Sandbox-Local-PC01")
	assert.Equal(t, 1, matches)
	for _, right := range []directory.Rights{directory.RightControlAccess, directory.RightReadProperty} {
		ace := directory.ACE{Trustee: directory.Everyone, Rights: right}
		require.NoError(t, dc.SetACL(t.Context(), dn, []directory.ACE{ace}))
		value, matches = held()
		assert.Empty(t, value, right)
		assert.Zero(t, matches, right)
	}
}

const events = `foreach ($one in @(Get-WinEvent -ComputerName 'dc1.corp.example' -LogName 'Security'` +
	` -MaxEvents 2 -FilterXPath $xpath)) { [string]$one.Properties[0].Value + ' ' + [string]$one.Properties[1].Value }`

// TestLockouts: facts S43 to S45 hold.
func TestLockouts(t *testing.T) {
	l := newLab(t, "svc-adgateway$")
	dc := l.domain.DCs()[0]
	user, err := dc.Search(t.Context(), directory.SearchRequest{
		Scope: directory.ScopeSubtree, Filter: "(sAMAccountName=aschmidt)",
	})
	require.NoError(t, err)
	find := "$xpath = \"*[System[EventID=4740 and TimeCreated[timediff(@SystemTime) <= 3600000]] and " +
		"EventData[Data[@Name='TargetSid']='" + user[0].SID.String() + "']]\"\n"
	caught := find + "try { " + events + " } catch { [string]$_.FullyQualifiedErrorId }"
	stop := "$ErrorActionPreference = 'Stop'\n"
	const none = "NoMatchingEventsFound,Microsoft.PowerShell.Commands.GetWinEventCommand"
	assert.Equal(t, []string{none}, l.run(t, stop+caught))
	for range 20 {
		_ = dc.Logon(directory.WithSource(t.Context(), "PC07"), "aschmidt", "not it") // counts as a failed logon
	}
	assert.Equal(t, []string{"aschmidt PC07"}, l.run(t, stop+caught))

	l.log.Deny(true)
	got := l.run(t, stop+find+"try { "+events+" } catch { [string]$_.Exception.GetType().FullName }")
	assert.Equal(t, []string{"System.UnauthorizedAccessException"}, got)
	l.log.Deny(false)
	dc.SetAlive(false)
	got = l.run(t, stop+caught)
	require.Len(t, got, 1)
	assert.Contains(t, got[0], "RPC server")
	dc.SetAlive(true)
	for _, query := range []string{"*", "*[System[EventID=4625]]"} {
		got = l.run(t, stop+"$xpath = '"+query+"'\ntry { "+events+" } catch { [string]$_.FullyQualifiedErrorId }")
		assert.True(t, slices.ContainsFunc(got, func(id string) bool { return id != "" }), query)
	}
}
