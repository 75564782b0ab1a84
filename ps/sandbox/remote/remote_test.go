package remote

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/test/conformance"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// patience limits every wait of the tests.
const patience = 3 * time.Minute

// childVariable makes the test binary run as a stand-in process.
const childVariable = "REMOTE_TEST_ENGINE"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(Engine(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// childEnvironment makes a process of the test binary run as a stand-in.
func childEnvironment() []string {
	return []string{childVariable + "=1", "GORACE=atexit_sleep_ms=0"}
}

var sessionArgs = []string{"-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text",
	"-ExecutionPolicy", "Bypass", "-Command", "-"}

// run runs a stand-in process on an input until it exits.
func run(t testing.TB, env, args []string, input string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(append(os.Environ(), childEnvironment()...), env...)
	cmd.Stdin = strings.NewReader(input)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	require.NoError(t, ctx.Err(), "the process does not end")
	var exit *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &exit)
		code = exit.ExitCode()
	}
	return out.String(), errs.String(), code
}

// The output for the inputs of the transcripts (recorded on PowerShell 7.6.5; see
// ps/sandbox/testdata) equals the real engine's, except for the listed differences.
func TestTranscripts(t *testing.T) {
	outside, err := os.ReadFile(filepath.Join("..", "testdata", "session_outside.txt"))
	require.NoError(t, err)
	var file struct {
		Cases []struct {
			Name                  string
			Args                  []string
			Stdin, Stdout, Stderr string
			Exit                  int
		}
	}
	require.NoError(t, conformance.Read("session", &file))
	matched := 0
	for _, c := range file.Cases {
		if strings.Contains("\n"+string(outside), "\n"+c.Name+"\t") {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			stdout, stderr, code := run(t, nil, c.Args, c.Stdin)
			assert.Equal(t, c.Stdout, stdout)
			assert.Equal(t, c.Stderr, stderr)
			if assert.Equal(t, c.Exit, code) {
				matched++
			}
		})
	}
	assert.GreaterOrEqual(t, matched, 24)
}

// newServer returns a server for the built-in domain.
func newServer(t testing.TB) (*Server, *sandbox.World) {
	t.Helper()
	world, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	modules, culture := world.Modules()
	s, err := NewServer(Options{Modules: modules, Declared: sandbox.Declarations(), Culture: culture})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, world
}

// A script has the same output in another process as in the process with the stores.
func TestScriptsHaveTheSameOutputInAnotherProcess(t *testing.T) {
	s, world := newServer(t)
	for _, script := range []string{
		"Import-Module ActiveDirectory; (Get-Module ActiveDirectory).Version.ToString()",
		"Get-ADUser -Identity aschmidt -Properties * | ForEach-Object { $_.PSObject.Properties | ForEach-Object { $_.Name + '=' + $_.Value + ' ' + $_.TypeNameOfValue } }",
		"(Get-ADUser aschmidt).SID.Value; (Get-ADUser aschmidt).SID.ToString()",
		"(Get-ADUser aschmidt -Properties memberOf).memberOf.Count; (Get-ADUser aschmidt -Properties memberOf).memberOf.Value",
		"Get-ADUser -LDAPFilter '(sn=*)' | ForEach-Object { $_.Name }; 'next'",
		"$u = Get-ADUser aschmidt; (Get-ADUser $u).SamAccountName; $u.GetType().FullName",
		"try { Get-ADUser nobody } catch { $_.FullyQualifiedErrorId; $_.Exception.Message; $_.CategoryInfo.ToString(); $_.Exception.GetType().FullName; $_.InvocationInfo.ScriptLineNumber }",
		"Get-ADUser nobody; 'after'",
		"Get-ADUser aschmidt -Nonsense 1",
		"Get-DnsServerZone | ForEach-Object { $_.ZoneName }; Get-DnsServerZone nowhere.example, corp.example | ForEach-Object { $_.ZoneName }; $error.Count; $error[0].FullyQualifiedErrorId; $error[0].Exception.NativeErrorCode",
		"Get-DnsServerZone nowhere.example, corp.example -ErrorAction Stop; 'never'",
		"Get-DnsServerZone nowhere.example -ErrorAction SilentlyContinue; $Error.Count",
		"Get-DnsServerResourceRecord -ZoneName corp.example -RRType CName | ForEach-Object { $_.HostName + ' ' + $_.RecordData.HostNameAlias + ' ' + $_.TimeToLive }",
		"Add-DnsServerResourceRecordCName -ZoneName corp.example -Name r1 -HostNameAlias dc1.corp.example. -PassThru | ForEach-Object { $_.RecordData.HostNameAlias }; " +
			"$o = Get-DnsServerResourceRecord -ZoneName corp.example -Name r1 -RRType CName; " +
			"Remove-DnsServerResourceRecord -InputObject $o -ZoneName corp.example -Force; Get-DnsServerResourceRecord -ZoneName corp.example -Name r1 -RRType CName -ErrorAction SilentlyContinue",
		"Set-ADUser aschmidt -Description 'y' -Confirm:$false; (Get-ADUser aschmidt -Properties description).description; Set-ADUser aschmidt -Clear description",
		"Remove-ADUser aschmidt; (Get-ADUser aschmidt).Name",
		"$p = [System.Security.SecureString]::new(); 'Secret-123456'.ToCharArray() | ForEach-Object { $p.AppendChar($_) }; New-ADUser -Name 'r u' -SamAccountName ru -AccountPassword $p -Enabled $true; (Get-ADUser ru).Enabled; Remove-ADUser ru -Confirm:$false",
		"Set-ADUser -Instance (Get-ADUser aschmidt)",
		"$e = New-Object -TypeName System.DirectoryServices.DirectoryEntry -ArgumentList ('LDAP://dc1.corp.example/' + (Get-ADUser aschmidt).DistinguishedName); $e.RefreshCache([string[]]@('description')); " +
			"$e.Properties.Item('description').Value; $e.Properties.Item('description').Value = 'ldap'; $e.CommitChanges(); (Get-ADUser aschmidt -Properties description).description; $e.Dispose(); try { $e.CommitChanges() } catch { $_.Exception.InnerException.GetType().FullName }; $e.Path; Set-ADUser aschmidt -Clear description",
		"try { (New-Object -TypeName System.DirectoryServices.DirectoryEntry -ArgumentList 'LDAP://x').RefreshCache([string[]]@('cn')) } catch { $_.Exception.Message; $_.Exception.InnerException.HResult }",
		"Get-ADUser -LDAPFilter '(sAMAccountName=as*)' | ForEach-Object { (Get-ADUser $_.SamAccountName).Name }; 'next'",
		"'key ' + $env:" + KeyVariable,
	} {
		t.Run(script[:min(len(script), 60)], func(t *testing.T) {
			var out, errs strings.Builder
			modules, culture := world.Modules()
			want := sandbox.Serve(t.Context(), sessionArgs,
				engine.Console{Stdin: strings.NewReader(script + "\n"), Stdout: &out, Stderr: &errs}, culture, modules...)
			stdout, stderr, code := run(t, s.Issue(), sessionArgs, script+"\n")
			assert.Equal(t, out.String(), stdout)
			assert.Equal(t, errs.String(), stderr)
			assert.Equal(t, want, code)
			assert.NotContains(t, stdout+stderr, "cannot be forwarded")
		})
	}
	require.Eventually(t, func() bool { return s.Connections() == 0 }, patience, time.Millisecond)
}

func TestAKeyIsGoodForOneConnection(t *testing.T) {
	s, _ := newServer(t)
	env := s.Issue()
	address, key := strings.TrimPrefix(env[0], AddressVariable+"="), strings.TrimPrefix(env[1], KeyVariable+"=")
	_, err := Dial(t.Context(), address, "wrong", nil)
	require.ErrorContains(t, err, "did not accept the key")
	c, err := Dial(t.Context(), address, key, sandbox.Declarations())
	require.NoError(t, err)
	assert.Len(t, c.Modules(), len(sandbox.Declarations()))
	_, err = Dial(t.Context(), address, key, nil)
	require.ErrorContains(t, err, "did not accept the key")
	_, stderr, code := run(t, env, sessionArgs, "'x'\n")
	assert.Contains(t, stderr, "did not accept the key")
	assert.Equal(t, exitLost, code)
	require.NoError(t, c.Close())
}

func TestAProcessEndsWhenTheServerDoes(t *testing.T) {
	s, _ := newServer(t)
	starter := &Starter{Server: s, Env: childEnvironment}
	waiter, stdin, stdout, stderr, err := starter.StartProcess("", sessionArgs...)
	require.NoError(t, err)
	_, err = io.WriteString(stdin, "'up'; while ($true) { $x = 1 }\n")
	require.NoError(t, err)
	_, err = io.ReadFull(stdout, make([]byte, 3))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	done := make(chan error, 1)
	go func() { done <- waiter.Wait() }()
	select {
	case err := <-done:
		require.ErrorContains(t, err, "70")
	case <-time.After(patience):
		t.Fatal("the process lives on")
	}
	for _, pipe := range []any{stdin, stdout, stderr} {
		require.NoError(t, pipe.(io.Closer).Close())
	}
}

func TestAProcessEndsWithItsInput(t *testing.T) {
	s, _ := newServer(t)
	stdout, stderr, code := run(t, s.Issue(), sessionArgs, "(Get-ADUser aschmidt).SamAccountName")
	assert.Equal(t, "aschmidt\n", stdout)
	assert.Empty(t, stderr)
	assert.Zero(t, code)
	require.Eventually(t, func() bool { return s.Connections() == 0 }, patience, time.Millisecond)
}

// The server closes the connection on malformed frames and on frames out of order.
func TestTheServerEndsConnectionsThatBreakTheProtocol(t *testing.T) {
	s, _ := newServer(t)
	address := s.listener.Addr().String()
	for name, bytes := range map[string]string{
		"no hello":        "\x00\x00\x00\x02{}",
		"no JSON":         "\x00\x00\x00\x02{]",
		"too long":        "\xff\xff\xff\xff",
		"HTTP":            "GET / HTTP/1.1\r\n\r\n",
		"wrong key":       "\x00\x00\x00\x1b{\"f\":\"hello\",\"key\":\"wrong\"}",
		"cut off":         "\x00\x00\x00",
		"second hello":    "+{\"f\":\"hello\"}",
		"answer unasked":  "+{\"f\":\"answer\"}{\"f\":\"answer\"}",
		"unknown frame":   "+{\"f\":\"nonsense\"}",
		"server's frames": "+{\"f\":\"end\"}",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", address)
			require.NoError(t, err)
			defer conn.Close()
			require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
			if frames, ok := strings.CutPrefix(bytes, "+"); ok {
				w := newWire(conn)
				require.NoError(t, w.send(&frame{F: "hello", Key: strings.TrimPrefix(s.Issue()[1], KeyVariable+"=")}))
				_, err := w.read(MaxFrame)
				require.NoError(t, err)
				bytes = ""
				for _, text := range strings.SplitAfter(frames, "}") {
					if text != "" {
						bytes += string([]byte{0, 0, 0, byte(len(text))}) + text
					}
				}
			}
			_, err = io.WriteString(conn, bytes)
			require.NoError(t, err)
			if name == "cut off" {
				require.NoError(t, conn.(*net.TCPConn).CloseWrite())
			}
			_, err = io.ReadAll(conn)
			var timeout net.Error
			if err != nil && assert.ErrorAs(t, err, &timeout) {
				assert.False(t, timeout.Timeout(), "the server keeps the connection")
			}
		})
	}
	require.Eventually(t, func() bool { return s.Connections() == 0 }, patience, time.Millisecond)
}

// Values do not change when they are encoded and decoded.
func TestValues(t *testing.T) {
	enum := dotnet.EnumOf(dotnet.Lookup("System.DateTimeKind"), "Local")
	table := dotnet.NewOrdered()
	table.Set("a", int32(1))
	table.Set(int64(2), nil)
	object := &dotnet.PSObject{}
	object.Props.Set("A", int32(1))
	object.Props.Set("b", &dotnet.PSObject{})
	thrown := dotnet.ExceptionNamed("System.ArgumentException", "bad")
	thrown.Inner, thrown.HResult = dotnet.ExceptionNamed("System.FormatException", "worse"), -5
	thrown.Props.Set("ParamName", "p")
	record := dotnet.NewError(thrown, "Id,Class", dotnet.InvalidArgument, "target")
	record.Reason, record.Details = "Reason", "Details"
	instance := dotnet.NewInstance(dotnet.TObject, "Nested", dotnet.NewInstance(dotnet.TObject, "a", int32(1)),
		"list", dotnet.NewArray("x", nil))
	instance.Text = "shown"
	e, d := &encoder{}, &decoder{types: map[string]*dotnet.Type{}}
	for _, v := range []any{
		nil, true, false, "", "ä😀\x00<&>", "lone \xed\xa0\x80", int32(-1 << 31), int32(1<<31 - 1), int64(1 << 62), uint8(255), int8(-128), int16(-1), uint16(65535),
		uint32(1 << 31), uint64(1 << 63), 1.5, 1e300, 3.0, dotnet.Char(0xd800),
		dotnet.DateTime{Ticks: 638000000000000001, Kind: dotnet.Local}, dotnet.TimeSpan(-1), dotnet.Guid{1, 2, 3, 15: 16}, dotnet.Version{Major: 1, Minor: 2, Build: -1, Revision: -1},
		&dotnet.Bytes{B: []byte{0, 255}}, enum, dotnet.TString, &dotnet.Array{Elem: dotnet.TString, Items: []any{"x", "y"}}, dotnet.NewArray(int32(1), dotnet.NewArray()),
		&dotnet.List{Type: dotnet.TArrayList, Items: []any{int32(1)}}, table, object,
		instance, dotnet.NewSecureString("s\x00ä"), &dotnet.PSCredential{UserName: "u", Password: dotnet.NewSecureString("p")}, thrown, record,
	} {
		text, err := e.encode(v)
		require.NoError(t, err, "%T", v)
		back, err := d.decode(text)
		require.NoError(t, err, "%s", text)
		again, err := e.encode(back)
		require.NoError(t, err)
		assert.Equal(t, string(text), string(again))
		assert.IsType(t, v, back)
		assert.Equal(t, dotnet.ToText(v), dotnet.ToText(back), "%s", text)
		if v != nil {
			assert.Same(t, dotnet.TypeOf(v), dotnet.TypeOf(back), "%s", text)
		}
	}
}

func TestValuesThatCannotTravel(t *testing.T) {
	loop := dotnet.NewArray(nil)
	loop.Items[0] = loop
	for _, v := range []any{loop, &struct{ unknown int }{}, dotnet.NewArray(&struct{ unknown int }{})} {
		_, err := (&encoder{}).encode(v)
		require.Error(t, err)
	}
	record := dotnet.NewError(nil, "x", dotnet.NotSpecified, &struct{ unknown int }{})
	_, err := (&encoder{}).encode(record)
	require.NoError(t, err, "a target that cannot travel is shown as text")
}

// FuzzDecode decodes any text. The result is an error, or a value that can be encoded again.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		`null`, `1`, `1.5`, `"x"`, `[]`, `{}`, `{"t":"long","v":"5"}`, `{"t":"array","n":"System.String","v":["a"]}`, `{"t":"table","v":[null,1]}`,
		`{"t":"enum","n":"System.DateTimeKind","v":"3"}`, `{"t":"enum","n":"System.String","v":"3"}`, `{"t":"record","v":[null,"",0,null,"",""]}`,
		`{"t":"exception","n":"System.Exception","v":["m",0,null]}`, `{"t":"instance","n":"A[]","v":["a",1]}`, `{"t":"parsed","n":"System.Guid","v":"x"}`,
		`{"t":"datetime","v":["1",0]}`, `{"t":"datetime","v":["-1",9]}`, `{"t":"remote","id":1}`, `{"t":"credential","v":["u",{"t":"secret","v":"eA=="}]}`,
		`{"t":"set","n":"System.Collections.Generic.HashSet[int]","v":[1,1]}`, `{"t":"object","n":"a\nb","v":["x",{"t":"bytes","v":"AA=="}]}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := &decoder{types: map[string]*dotnet.Type{}}
		v, err := d.decode(json.RawMessage(text))
		if err != nil {
			return
		}
		if _, err := (&encoder{}).encode(v); err != nil {
			t.Errorf("%s: read but not written: %v", text, err)
		}
	})
}
