package session_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"adgateway/ps"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/session"
	"adgateway/scripts"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// The PowerShell scripts of the tests.
var sandboxScripts = []ps.Source{
	{Name: "Get-TestEcho", Text: `[CmdletBinding()]
param([AllowNull()] [string] $Text, [AllowNull()] [string[]] $List, [bool] $Flag, [int] $Number, [AllowNull()] [securestring] $Secret)
[ordered]@{ text = [string]$Text; list = [string[]]@($List); flag = [bool]$Flag; number = [int]$Number; length = [int]$Secret.Length }`},
	{Name: "Get-TestMany", Text: `[CmdletBinding()]
param([int] $Count)
for ($i = 0; $i -lt $Count; $i++) { [ordered]@{ n = [int]$i } }`},
	{Name: "New-TestThing", Text: `[CmdletBinding()]
param()
Complete-GatewayStep -Label 'create thing' -Guid 'g-1' -Dn 'CN=x'
Complete-GatewayChange -Effect 'created'
Add-GatewayChange -Guid 'g-1' -Dn 'CN=x' -Before $null -After ([ordered]@{ name = 'x' })
[ordered]@{ guid = 'g-1' }`},
	{Name: "New-TestAnnounced", Text: `[CmdletBinding()]
param()
New-GatewayIntent -Creates -Account 'x' -Name 'x' -Parent 'DC=y'
Write-GatewayIntent -Effect 'created'
Complete-GatewayStep -Label 'create thing' -Guid 'g-5' -Dn 'CN=x,DC=y'
Complete-GatewayChange -Effect 'created'
[ordered]@{ guid = 'g-5' }`},
	{Name: "New-TestHalf", Text: `[CmdletBinding()]
param()
Set-GatewayStep -Label 'create thing'
Complete-GatewayStep -Label 'create thing' -Guid 'g-2' -Dn 'CN=y'
Set-GatewayStep -Label 'name thing' -Arg 'Name'
Stop-Gateway -Code 'conflict' -Arg 'Name' -Message 'taken'`},
	{Name: "Get-TestUnread", Text: `[CmdletBinding()]
param()
$fields = @('guid', 'enabled', 'passwordLastSet', 'accountExpires', 'created', 'modified')
$shown = ConvertFrom-GatewayUserField -Field $fields
$bare = @(@{ ObjectGUID = 'g-1' })
ConvertTo-GatewayUser -User $bare -Field $shown
ConvertTo-GatewayGroup -Group $bare
ConvertTo-GatewayComputer -Computer $bare
ConvertTo-GatewayContainer -Container $bare
ConvertTo-GatewayUser -User @(@{ accountExpires = [long]9223372036854775806 }) -Field $shown`},
	{Name: "Wait-TestForever", Text: `[CmdletBinding()]
param()
while ($true) { $x = 1 }`},
	{Name: "Wait-TestAfterStep", Text: `[CmdletBinding()]
param()
Complete-GatewayStep -Label 'create thing' -Guid 'g-3' -Dn 'CN=z'
while ($true) { $x = 1 }`},
}

// newSandbox starts a session on the sandbox engine with the real prelude.
func newSandbox(t testing.TB) *session.Session {
	t.Helper()
	eng := engine.NewEngine(engine.Options{
		Aliases: sandbox.Aliases, Culture: "de-DE",
		Modules: []*engine.Module{{Name: "ActiveDirectory", Version: "1.0.1.0"}},
	})
	s, err := session.Start(t.Context(), session.Config{
		Starter: sandbox.NewStarter(eng, nil), StartTimeout: patience,
		Boot: session.Boot{
			Prelude: scripts.Prelude(ps.Directory), Module: "ActiveDirectory",
			Scripts: append(scripts.Sources(ps.Directory), sandboxScripts...),
		},
	})
	require.NoError(t, err)
	return s
}

func TestTheRealPreludeOnTheSandboxEngine(t *testing.T) {
	defer goleak.VerifyNone(t)
	s := newSandbox(t)
	assert.Equal(t, "ActiveDirectory", s.Ready().Module)
	assert.Equal(t, "FullLanguage", s.Ready().LanguageMode)
	assert.Equal(t, "de-DE", s.Ready().Culture)

	hostile := "O'Brien’s $(1) `x\" 日本 😀\r\n\x1e1 end 2\n{}\n'; exit; '"
	got := records(t, s, ps.Request{Script: "Get-TestEcho", Args: ps.Args{
		"Text": ps.Text(hostile), "List": ps.List([]string{"a", "2024-01-02T03:04:05Z"}),
		"Flag": ps.Bool(true), "Number": ps.Int(-3), "Secret": ps.Secret("geheim")}})
	want, err := json.Marshal([]any{map[string]any{"text": hostile,
		"list": []string{"a", "2024-01-02T03:04:05Z"}, "flag": true, "number": -3, "length": 6}})
	require.NoError(t, err)
	assert.JSONEq(t, string(want), got)

	got = records(t, s, ps.Request{Script: "Get-TestMany", Args: ps.Args{"Count": ps.Int(1501)}})
	assert.Equal(t, 1501, strings.Count(got, `"n"`))
	assert.Equal(t, 4, strings.Count(got, "]"), "in batches of 500")

	result, err := s.Run(t.Context(), ps.Request{Script: "New-TestThing", Write: true})
	require.NoError(t, err)
	assert.Equal(t, ps.EffectCreated, result.Effect)
	assert.Equal(t, []ps.Step{{Label: "create thing", GUID: "g-1", DN: "CN=x"}}, result.Steps)
	require.Len(t, result.Changes, 1)
	assert.JSONEq(t, `"x"`, string(result.Changes[0].After["name"]))

	_, err = s.Run(t.Context(), ps.Request{Script: "New-TestHalf", Write: true})
	e := ps.AsError(err)
	assert.Equal(t, ps.KindScript, e.Kind)
	assert.Equal(t, "conflict", e.Gateway)
	assert.Equal(t, "Name", e.Arg)
	assert.Equal(t, ps.OutcomePartial, e.Outcome)
	assert.Equal(t, []ps.Object{{GUID: "g-2", DN: "CN=y"}}, e.Remains)

	for _, c := range []struct{ name, id string }{
		{"No-SuchScript", "CommandNotFoundException"},
		{"Get-TestMany; exit", "CommandNotFoundException"},
	} {
		_, err = s.Run(t.Context(), ps.Request{Script: c.name})
		assert.Equal(t, c.id, ps.AsError(err).ID)
	}
	_, err = s.Run(t.Context(), ps.Request{Script: "Get-TestMany", Args: ps.Args{"Count": ps.Text("many")}})
	assert.Contains(t, ps.AsError(err).ID, "ParameterArgumentTransformationError")
	require.NoError(t, s.Close(t.Context()))
}

// PowerShell 7 loads a module made for Windows PowerShell as a proxy. The mark of implicit remoting
// identifies a proxy.
func TestAProxyModuleIsRejected(t *testing.T) {
	defer goleak.VerifyNone(t)
	eng := engine.NewEngine(engine.Options{Aliases: sandbox.Aliases,
		Modules: []*engine.Module{{Name: "ActiveDirectory", Version: "1.0"}}})
	prelude := scripts.Prelude(ps.Directory)
	prelude.Text += `
function Get-Module {
    param([string] $Name)
    @{ Name = 'ActiveDirectory'; Version = '1.0'; PrivateData = @{ ImplicitRemoting = $true } }
}`
	_, err := session.Start(t.Context(), session.Config{
		Starter: sandbox.NewStarter(eng, nil), StartTimeout: patience,
		Boot: session.Boot{Prelude: prelude, Module: "ActiveDirectory", Scripts: sandboxScripts},
	})
	require.Error(t, err)
	assert.Contains(t, err.Error(), "in a Windows PowerShell behind it")
}

// An account that can see an object may not be allowed to read all of its properties, and
// stored values may be malformed.
func TestRecordsOfUnreadableProperties(t *testing.T) {
	defer goleak.VerifyNone(t)
	s := newSandbox(t)
	var got []map[string]any
	require.NoError(t, json.Unmarshal([]byte(records(t, s, ps.Request{Script: "Get-TestUnread"})), &got))
	require.Len(t, got, 5)
	for _, record := range got {
		for _, field := range []string{"created", "modified", "accountExpires", "lastLogon", "description"} {
			if value, there := record[field]; there {
				assert.Empty(t, value, "%s of %v", field, record)
			}
		}
	}
	require.NoError(t, s.Close(t.Context()))
}

func TestAnEndlessLoopIsStoppedOnTheSandboxEngine(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, c := range []struct {
		script  string
		steps   int
		outcome ps.Outcome
	}{{"Wait-TestForever", 0, ps.OutcomeNone}, {"Wait-TestAfterStep", 1, ps.OutcomeUnknown}} {
		var e *ps.Error
		// until the script gets that far
		for limit := time.Second; e == nil || len(e.Steps) < c.steps && limit < patience; limit *= 2 {
			s := newSandbox(t)
			_, err := s.Run(t.Context(), ps.Request{Script: c.script, Write: true, Limit: limit})
			e = ps.AsError(err)
			s.Kill()
		}
		assert.Equal(t, ps.KindTimeout, e.Kind)
		assert.Equal(t, c.outcome, e.Outcome)
		assert.Len(t, e.Steps, c.steps)
	}
}

// BenchmarkSandbox runs a request with one record through the prelude and the engine.
func BenchmarkSandbox(b *testing.B) {
	s := newSandbox(b)
	defer s.Kill()
	benchRequest(b, s, ps.Request{Script: "Get-TestEcho", Args: ps.Args{"Text": ps.Text("x")}})
}

// A script changes something only once its announcement has been accepted.
func TestAnAnnouncedChangeWaitsForLeave(t *testing.T) {
	defer goleak.VerifyNone(t)
	s := newSandbox(t)
	defer s.Kill()
	run := func(limit time.Duration, announced func(ps.Intent) error) (*ps.Result, *ps.Error) {
		result, err := s.Run(t.Context(),
			ps.Request{ID: "r", Script: "New-TestAnnounced", Write: true, Limit: limit, Announced: announced})
		if err != nil {
			return nil, ps.AsError(err)
		}
		return result, nil
	}
	result, failed := run(patience, nil)
	require.Nil(t, failed)
	assert.Len(t, result.Steps, 1)

	var heard []ps.Intent
	result, failed = run(patience, func(i ps.Intent) error { heard = append(heard, i); return nil })
	require.Nil(t, failed)
	assert.Len(t, result.Steps, 1)
	require.Len(t, heard, 1)
	assert.Equal(t, "x", heard[0].Objects[0].Account)

	full := errors.New("the disk is full")
	_, failed = run(patience, func(ps.Intent) error { return full })
	require.NotNil(t, failed)
	assert.Equal(t, ps.KindStopped, failed.Kind)
	assert.ErrorIs(t, failed, full)
	assert.Equal(t, ps.OutcomeNone, failed.Outcome)
	assert.Empty(t, failed.Steps, "nothing was done")
	assert.Nil(t, failed.Intent, "what was not allowed needs no settling")

	result, failed = run(patience, nil)
	require.Nil(t, failed, "the session goes on")
	assert.Equal(t, ps.EffectCreated, result.Effect)

	_, failed = run(300*time.Millisecond, func(ps.Intent) error { <-s.Dead(); return nil })
	require.NotNil(t, failed)
	assert.Equal(t, ps.KindTimeout, failed.Kind)
	assert.Equal(t, ps.OutcomeNone, failed.Outcome,
		"a session that was ended before it got leave has changed nothing")
}

// The reason why a change was refused is known even if the session ends before it receives the refusal.
func TestARefusedChangeStaysRefusedWithoutItsSession(t *testing.T) {
	defer goleak.VerifyNone(t)
	s := newSandbox(t)
	full := errors.New("the disk is full")
	_, err := s.Run(t.Context(), ps.Request{ID: "r", Script: "New-TestAnnounced", Write: true, Limit: patience,
		Announced: func(ps.Intent) error {
			go s.Kill()
			<-s.Dead()
			return full
		}})
	failed := ps.AsError(err)
	assert.Equal(t, ps.KindStopped, failed.Kind)
	assert.ErrorIs(t, failed, full)
	assert.Equal(t, ps.OutcomeNone, failed.Outcome)
	assert.Nil(t, failed.Intent)
}
