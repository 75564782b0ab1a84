package adcmd

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

const openAlice = `$e = New-Object -TypeName System.DirectoryServices.DirectoryEntry -ArgumentList ('LDAP://dc1.corp.example/<GUID=' + (Get-ADUser alice).ObjectGUID + '>');`

// Facts F20: an attribute is read and written over LDAP.
func TestDirectoryEntry(t *testing.T) {
	l := newLab(t, "en-US")
	out := func(script string) []any {
		t.Helper()
		values, thrown := l.try("$ErrorActionPreference = 'Stop'; " + script)
		require.Nil(t, thrown, script)
		return values
	}
	// A string may contain any character, including control characters.
	text := "CtxCfgPresent" + strings.Repeat(" ", 35) + "P\x01\x1a\x08\x01\u3030\u6666\x02" + "😀"
	l.session.SetVariable("text", text)
	out(openAlice + `$e.RefreshCache([string[]]@('userParameters')); $e.Properties['userParameters'].Value = $text; $e.CommitChanges(); $e.Dispose()`)
	o, err := l.dc.Get(t.Context(), "CN=alice,OU=Staff,DC=corp,DC=example", "userParameters")
	require.NoError(t, err)
	assert.Equal(t, text, o.String("userParameters"))
	assert.Equal(t, []any{text, int32(1)}, out(openAlice+`$e.Properties['userParameters'].Value; $e.Properties['USERPARAMETERS'].Count`))

	// Nothing is written before CommitChanges. RefreshCache discards changes.
	out(openAlice + `$e.Properties['userParameters'].Value = 'x'; $e.RefreshCache([string[]]@('userParameters')); $e.CommitChanges()`)
	assert.Equal(t, []any{text}, out(openAlice+`$e.Properties['userParameters'].Value`))
	out(openAlice + `$e.Properties['userParameters'].Clear(); $e.CommitChanges()`)
	assert.Equal(t, []any{int32(0), true}, out(openAlice+`$e.Properties['userParameters'].Count; $null -eq $e.Properties['userParameters'].Value`))
	assert.Equal(t, []any{"O'Brien", int32(514)}, out(openAlice+`$e.Properties['sn'].Value; $e.Properties['userAccountControl'].Value`))
	assert.Equal(t, []any{"1 2"}, out(openAlice+`"$($e.Properties['otherMobile'].Value)"`))
}

// The HRESULT of an error contains the Win32 code of the directory.
func TestDirectoryEntryErrors(t *testing.T) {
	for _, culture := range []string{"en-US", "de-DE"} {
		l := newLab(t, culture)
		ace := directory.ACE{Trustee: directory.Everyone, Rights: directory.RightWriteProperty}
		require.NoError(t, l.dc.SetACL(t.Context(), "CN=bob,OU=Sales,OU=Staff,DC=corp,DC=example",
			[]directory.ACE{ace}))
		for script, want := range map[string]struct {
			typ  string
			code int32
		}{
			`$e = New-Object System.DirectoryServices.DirectoryEntry 'LDAP://dc9.corp.example/CN=alice,OU=Staff,DC=corp,DC=example'; $e.RefreshCache([string[]]@('sn'))`:                         {"COMException", -2147016646},
			`$e = New-Object System.DirectoryServices.DirectoryEntry 'LDAP://dc1.corp.example/CN=nobody,DC=corp,DC=example'; $e.RefreshCache([string[]]@('sn'))`:                                 {"COMException", -2147016656},
			`$e = New-Object System.DirectoryServices.DirectoryEntry 'WinNT://x'; $e.RefreshCache([string[]]@('sn'))`:                                                                            {"COMException", -2147463168},
			`$e = New-Object System.DirectoryServices.DirectoryEntry 'LDAP://dc1.corp.example/CN=bob,OU=Sales,OU=Staff,DC=corp,DC=example'; $e.Properties['sn'].Value = 'x'; $e.CommitChanges()`: {"COMException", -2147016552},
			openAlice + `$e.Properties['pwdLastSet'].Value = 'x'; $e.CommitChanges()`:                                                                                                            {"NotSupportedException", 0},
			openAlice + `$e.Dispose(); $e.CommitChanges()`:                                       {"ObjectDisposedException", 0},
			openAlice + `$e.Properties['sn'].Value = [datetime]'2024-01-02'; $e.CommitChanges()`: {"NotSupportedException", 0},
			openAlice + `$e.Properties['objectSid'].Value`:                                       {"NotSupportedException", 0},
		} {
			_, rec := l.try("$ErrorActionPreference = 'Stop'; " + script)
			require.NotNil(t, rec, script)
			e := rec.Exception
			for e.Inner != nil {
				e = e.Inner
			}
			assert.Equal(t, want.typ, e.Type.ShortName(), "%s: %s", script, e.Message)
			if want.code != 0 {
				code, _ := e.Props.Get("ErrorCode")
				assert.Equal(t, any(want.code), code, script)
			}
			assert.NotEqual(t, dotnet.LimitsExceeded, rec.Category)
		}
	}
}

// PowerShell's adapter connects when any member is looked up, even one that every object
// has. The ADSI error is inside a look-up error.
func TestAnyMemberOfADirectoryEntryBinds(t *testing.T) {
	for _, member := range []string{"RefreshCache([string[]]@('sn'))", "GetType()", "ToString()", "Path",
		"Dispose()", "Properties"} {
		l := newLab(t, "en-US")
		_, rec := l.try("$ErrorActionPreference = 'Stop'; $e = New-Object " +
			"System.DirectoryServices.DirectoryEntry 'LDAP://dc9.corp.example/CN=alice,DC=corp,DC=example'; $e." +
			member)
		require.NotNil(t, rec, member)
		assert.Equal(t, "CatchFromBaseGetMember", rec.ErrorID, member)
		assert.Equal(t, "ExtendedTypeSystemException", rec.Exception.Type.ShortName())
		require.NotNil(t, rec.Exception.Inner)
		assert.Equal(t, "COMException", rec.Exception.Inner.Type.ShortName())
	}
	l := newLab(t, "en-US")
	values, rec := l.try(openAlice + `$e.Path; $e.Dispose()`)
	require.Nil(t, rec)
	assert.Len(t, values, 1)
}

// The operations of a directory entry end with the run that uses it.
func TestDirectoryEntryIsCancelled(t *testing.T) {
	l := newLab(t, "")
	m := Module(Options{Domain: l.domain})
	at := slices.IndexFunc(m.Types,
		func(typ *dotnet.Type) bool { return typ.Name == entryNamespace+"DirectoryEntry" })
	require.GreaterOrEqual(t, at, 0)
	ctx, cancel := context.WithCancel(t.Context())
	e, err := dotnet.NewFor(func() context.Context { return ctx }, m.Types[at],
		[]any{"LDAP://dc1.corp.example/" + alice})
	require.NoError(t, err)
	names := &dotnet.Array{Elem: dotnet.TString, Items: []any{"sn"}}
	_, err = dotnet.CallMethod(e, "RefreshCache", []any{names})
	require.NoError(t, err)
	cancel()
	_, err = dotnet.CallMethod(e, "RefreshCache", []any{names})
	require.ErrorIs(t, err, context.Canceled)
}
