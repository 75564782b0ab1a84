package engine

import (
	"bytes"
	"encoding/base64"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/engine/dotnet"
)

// stubStore is the store of the stub cmdlets behind testdata/exchange.json.
type stubStore struct {
	users map[string]*dotnet.PSObject
}

var typeStubComplexity = dotnet.Define(dotnet.Class{Name: "ADPasswordComplexityException", Base: dotnet.TException})

func stubParam(name, typ string) *cmdlets.Param {
	return &cmdlets.Param{Name: name, Type: typ, PerSet: []cmdlets.InSet{{Set: cmdlets.AllSets, Position: -1}}}
}

func stubCommand(name string, process func(c *Call) error, params ...*cmdlets.Param) *Command {
	return &Command{Process: process, Decl: &cmdlets.Cmdlet{Name: name, Sets: []string{cmdlets.AllSets}, DefaultSet: cmdlets.AllSets, Params: params}}
}

// stubModule is exchange-stubs.psm1 of the recording as Go doubles.
func stubModule() *Module {
	store := &stubStore{users: map[string]*dotnet.PSObject{}}
	guid := "11111111-2222-3333-4444-555555555555"
	text := func(name string) *cmdlets.Param { return stubParam(name, "String") }
	return &Module{Name: "Stubs", Commands: []*Command{
		stubCommand("Get-ADUser", store.get, text("LDAPFilter"), stubParam("Properties", "String[]"), text("Server")),
		stubCommand("New-ADUser", func(c *Call) error { return store.create(c, guid) },
			text("Name"), text("SamAccountName"), text("Server"), stubParam("PassThru", "SwitchParameter"), text("DisplayName")),
		stubCommand("Set-ADAccountPassword", func(c *Call) error {
			secret, _ := c.Bound("NewPassword")
			if len(secret.(*dotnet.SecureString).Reveal()) >= 8 {
				return nil
			}
			e := dotnet.NewException(typeStubComplexity, "The password does not meet the requirements.")
			e.Props.Set("ErrorCode", int32(1325))
			e.Props.Set("ServerErrorMessage", "0000052D")
			return c.Throw(dotnet.NewError(e, "ActiveDirectoryServer:1325", dotnet.InvalidData, c.String("Identity")))
		}, text("Identity"), stubParam("Reset", "SwitchParameter"), stubParam("NewPassword", "SecureString"), text("Server")),
		stubCommand("Enable-ADAccount", func(c *Call) error {
			if c.String("Identity") == guid {
				for _, user := range store.users {
					user.Props.Set("Enabled", true)
				}
			}
			return nil
		}, text("Identity"), text("Server")),
		{Decl: &cmdlets.Cmdlet{Name: "Remove-ADUser", Sets: []string{cmdlets.AllSets}, DefaultSet: cmdlets.AllSets, SupportsShouldProcess: true, PromptsByDefault: true,
			Params: []*cmdlets.Param{text("Identity"), text("Server")}},
			Process: func(c *Call) error {
				clear(store.users)
				return nil
			}},
	}}
}

func (s *stubStore) get(c *Call) error {
	_, name, ok := strings.Cut(c.String("LDAPFilter"), "sAMAccountName=")
	if !ok {
		return nil
	}
	name, _, _ = strings.Cut(name, ")")
	name = strings.NewReplacer(`\5c`, `\`, `\2a`, "*", `\28`, "(", `\29`, ")", `\00`, "\x00").Replace(name)
	if user := s.users[strings.ToLower(name)]; user != nil {
		return c.Write(user)
	}
	return nil
}

func (s *stubStore) create(c *Call, guid string) error {
	id, err := dotnet.Convert(guid, dotnet.TGuid)
	if err != nil {
		return err
	}
	created, err := dotnet.New(dotnet.TDateTime, []any{int32(2024), int32(1), int32(2), int32(3), int32(4), int32(5), "Utc"})
	if err != nil {
		return err
	}
	user := dotnet.NewPSObject("Name", c.String("Name"), "SamAccountName", c.String("SamAccountName"), "displayName", c.String("DisplayName"),
		"manager", nil, "Enabled", false, "ObjectGUID", id, "whenCreated", created)
	s.users[strings.ToLower(c.String("Name"))] = user
	if c.Bool("PassThru") {
		return c.Write(user)
	}
	return nil
}

type exchange struct {
	Line   string
	Stdout string
}

// bootLine defines the prototype's prelude and scripts from base64, as the
// recording did.
func bootLine(t testing.TB) string {
	encode := func(path string) string {
		text, err := os.ReadFile("testdata/prototype/" + path)
		require.NoError(t, err)
		return "[Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('" + base64.StdEncoding.EncodeToString(text) + "'))"
	}
	line := "Import-Module Stubs; . ([scriptblock]::Create(" + encode("prelude.ps1") + ")); "
	for _, script := range []struct{ name, path string }{
		{"Invoke-GatewayScriptGetUserDetails", "Get-UserDetails.ps1"}, {"Invoke-GatewayScriptNewUser", "New-User.ps1"},
	} {
		line += "Set-Item -LiteralPath 'function:global:" + script.name + "' -Value ([scriptblock]::Create(" + encode(script.path) + ")); "
	}
	return line + "Start-GatewayLoop"
}

// TestExchange runs the prototype prelude and scripts unchanged and compares
// every byte that comes back.
func TestExchange(t *testing.T) {
	var exchanges []exchange
	readJSON(t, "testdata/exchange.json", &exchanges)
	var in, want strings.Builder
	for _, x := range exchanges {
		in.WriteString(x.Line + "\n")
		want.WriteString(x.Stdout)
	}
	in.WriteString("#\n")
	var stdout, stderr bytes.Buffer
	s := NewEngine(Options{Modules: []*Module{stubModule()}}).NewSession(Console{Stdin: strings.NewReader(in.String()), Stdout: &stdout, Stderr: &stderr})
	var records []*dotnet.ErrorRecord
	err := s.Run(t.Context(), "", bootLine(t), Streams{Error: func(rec *dotnet.ErrorRecord) { records = append(records, rec) }})
	require.NoError(t, err)
	assert.Empty(t, records)
	assert.Empty(t, stderr.String())
	assert.Equal(t, want.String(), stdout.String())
}

// TestSessionsRunInParallel runs the exchange in sessions of one engine at once.
func TestSessionsRunInParallel(t *testing.T) {
	var exchanges []exchange
	readJSON(t, "testdata/exchange.json", &exchanges)
	boot := bootLine(t)
	line := exchanges[0].Line + "\n" + exchanges[6].Line + "\n#\n"
	e := NewEngine(Options{Modules: []*Module{stubModule()}})
	outputs := make([]bytes.Buffer, 8)
	var group sync.WaitGroup
	for i := range outputs {
		group.Go(func() {
			s := e.NewSession(Console{Stdin: strings.NewReader(line), Stdout: &outputs[i]})
			assert.NoError(t, s.Run(t.Context(), "", boot, Streams{}))
		})
	}
	group.Wait()
	for i := range outputs {
		assert.Equal(t, outputs[0].String(), outputs[i].String())
		assert.Equal(t, 2, strings.Count(outputs[i].String(), "\x1e"))
	}
}
