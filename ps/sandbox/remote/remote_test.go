package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"

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

// newServer returns a server for the built-in domain.
func newServer(t testing.TB) (*Server, *sandbox.World) {
	t.Helper()
	world, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
	require.NoError(t, err)
	s, err := NewServer(world)
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
			want := sandbox.Serve(t.Context(), sessionArgs, os.Getpid(),
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
	_, stderr, code := run(t, []string{env[0], KeyVariable + "=wrong"}, sessionArgs, "'x'\n")
	assert.Contains(t, stderr, "did not accept the key")
	assert.Equal(t, exitLost, code)
	stdout, stderr, code := run(t, env, sessionArgs, "'x'\n")
	assert.Equal(t, "x\n", stdout)
	assert.Empty(t, stderr)
	assert.Zero(t, code)
	_, stderr, code = run(t, env, sessionArgs, "'x'\n")
	assert.Contains(t, stderr, "did not accept the key")
	assert.Equal(t, exitLost, code)
}

func TestAProcessWithWrongArguments(t *testing.T) {
	s, _ := newServer(t)
	_, stderr, code := run(t, s.Issue(), []string{"-File", "x.ps1"}, "")
	assert.Contains(t, stderr, "is not simulated")
	assert.Equal(t, 64, code)
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

// A process that is suspended writes nothing until it goes on, and nothing more once it has ended.
func TestACommandNeedsItsProcess(t *testing.T) {
	s, world := newServer(t)
	city := func() any {
		dc := world.Directory.DCs()[0]
		found, err := dc.Search(t.Context(), directory.SearchRequest{Scope: directory.ScopeSubtree,
			Filter: "(sAMAccountName=aschmidt)", Attributes: []string{"l"}})
		require.NoError(t, err)
		return found[0].String("l")
	}
	before := city()
	for _, goesOn := range []bool{false, true} {
		conn, err := net.Dial("tcp", s.listener.Addr().String())
		require.NoError(t, err)
		w := newWire(conn)
		key := strings.TrimPrefix(s.Issue()[1], KeyVariable+"=")
		_, err = w.first(conn, &frame{F: "session", Key: key, Args: sessionArgs, PID: 4711})
		require.NoError(t, err)
		hear := func() *frame {
			f, err := w.read(MaxFrame)
			require.NoError(t, err)
			return f
		}
		require.Equal(t, "read", hear().F)
		require.NoError(t, w.send(&frame{F: "in", Data: []byte("$PID; Set-ADUser aschmidt -City Rome; 'set'\n")}))
		require.Equal(t, "4711\n", string(hear().Data))
		asked := hear()
		require.Equal(t, "alive", asked.F)
		assert.Equal(t, before, city())
		if goesOn {
			require.NoError(t, w.send(asked))
			require.Equal(t, "set\n", string(hear().Data))
			assert.Equal(t, "Rome", city())
		}
		require.NoError(t, conn.Close())
		require.Eventually(t, func() bool { return s.Connections() == 0 }, patience, time.Millisecond)
		assert.Equal(t, goesOn, city() == "Rome")
	}
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

// nodes are values of parameters as PowerShell sends them, and as the server understands them.
var nodes = map[string]any{
	`null`: nil, ``: nil, `true`: true, `"x"`: "x", `"= \u00e4"`: "= ä", ` -2147483648`: int32(math.MinInt32),
	`{"t":"units","v":[0,55357]}`:            "\x00\xed\xa0\xbd",
	`{"t":"long","v":"4611686018427387904"}`: int64(1 << 62), `{"t":"byte","v":"255"}`: uint8(255),
	`{"t":"sbyte","v":"-128"}`: int8(-128), `{"t":"short","v":"-1"}`: int16(-1),
	`{"t":"ushort","v":"65535"}`: uint16(65535), `{"t":"uint","v":"2147483648"}`: uint32(1 << 31),
	`{"t":"ulong","v":"9223372036854775808"}`: uint64(1 << 63), `{"t":"double","v":"1.5"}`: 1.5,
	`{"t":"datetime","v":["638000000000000001",2]}`: dotnet.DateTime{Ticks: 638000000000000001, Kind: dotnet.Local},
	`{"t":"timespan","v":"-1"}`:                     dotnet.TimeSpan(-1),
	`{"t":"guid","v":"00000001-0002-0003-0400-000000000000"}`: func() any {
		v, _ := dotnet.Convert("00000001-0002-0003-0400-000000000000", dotnet.TGuid)
		return v
	}(),
	`{"t":"bytes","v":"AP8="}`: &dotnet.Bytes{B: []byte{0, 255}},
	`{"t":"array","n":"System.String","v":["x",{"t":"array","n":"System.Object","v":[]}]}`: &dotnet.Array{
		Elem: dotnet.TString, Items: []any{"x", &dotnet.Array{Elem: dotnet.TObject, Items: []any{}}}},
	`{"t":"instance","n":"System.Object","x":"shown","id":7,"v":["a",1]}`: func() any {
		o := dotnet.NewInstance(dotnet.TObject, "a", int32(1))
		o.Text, o.Data = "shown", "kept"
		return o
	}(),
}

func TestParameters(t *testing.T) {
	d := &decoder{types: map[string]*dotnet.Type{}, kept: map[uint64]any{7: "kept"}}
	for text, want := range nodes {
		v, err := d.decode(json.RawMessage(text))
		require.NoError(t, err, text)
		assert.Equal(t, want, v, text)
	}
	v, err := d.decode(json.RawMessage(
		`{"t":"table","n":"System.Collections.Hashtable","v":["a",1,{"t":"long","v":"2"},null]}`))
	require.NoError(t, err)
	table := v.(*dotnet.Hashtable)
	key, value := table.At(1)
	assert.Equal(t, 2, table.Len())
	assert.Equal(t, []any{int64(2), nil}, []any{key, value})
	v, err = d.decode(json.RawMessage(`{"t":"credential","v":["u",{"t":"secret","v":"cMOk"}]}`))
	require.NoError(t, err)
	assert.Equal(t, "pä", v.(*dotnet.PSCredential).Password.Reveal())
	v, err = d.decode(json.RawMessage(`{"t":"parsed","n":"System.Net.IPAddress","v":"10.0.0.1"}`))
	require.NoError(t, err)
	assert.Equal(t, "10.0.0.1", dotnet.ToText(v))
}

// The scripts of the proxies read these forms (ps/sandbox/proxies/shared.ps1).
func TestResults(t *testing.T) {
	thrown := dotnet.ExceptionNamed("System.ArgumentException", "bad")
	thrown.Inner, thrown.HResult = dotnet.ExceptionNamed("System.FormatException", "worse"), -5
	thrown.Props.Set("ParamName", "p")
	record := dotnet.NewError(thrown, "Id,Class", dotnet.InvalidArgument, &struct{ unknown int }{})
	record.Reason, record.Details = "Reason", "Details"
	instance := dotnet.NewInstance(dotnet.TObject, "list", dotnet.NewArray("x", nil))
	instance.Text, instance.Data = "shown", "kept"
	table := dotnet.NewOrdered()
	table.Set("a", int32(1))
	e := &encoder{keep: func(*dotnet.Instance) (uint64, bool) { return 7, false }}
	for want, v := range map[string]any{
		`null`: nil, `true`: true, `"="`: "", `"=ä😀\u0000\u003c"`: "ä😀\x00<", `5`: int32(5),
		`{"t":"units","v":[108,55296]}`: "l\xed\xa0\x80", `{"t":"long","v":"-1"}`: int64(-1),
		`{"t":"byte","v":"255"}`: uint8(255), `{"t":"sbyte","v":"-128"}`: int8(-128), `{"t":"short","v":"-1"}`: int16(-1),
		`{"t":"ushort","v":"65535"}`: uint16(65535), `{"t":"uint","v":"1"}`: uint32(1), `{"t":"ulong","v":"1"}`: uint64(1),
		`{"t":"double","v":"1e+300"}`: 1e300, `{"t":"datetime","v":["5",1]}`: dotnet.DateTime{Ticks: 5, Kind: dotnet.UTC},
		`{"t":"timespan","v":"-1"}`: dotnet.TimeSpan(-1), `{"t":"version","v":"1.2"}`: dotnet.Version{Major: 1, Minor: 2, Build: -1, Revision: -1},
		`{"t":"bytes","v":"AP8="}`: &dotnet.Bytes{B: []byte{0, 255}}, `{"t":"secret","v":"cw=="}`: dotnet.NewSecureString("s"),
		`{"t":"enum","n":"System.DateTimeKind","v":"2"}`:                                                       dotnet.EnumOf(dotnet.Lookup("System.DateTimeKind"), "Local"),
		`{"t":"list","n":"System.Collections.ArrayList","v":[1]}`:                                              &dotnet.List{Type: dotnet.TArrayList, Items: []any{int32(1)}},
		`{"t":"instance","n":"System.Object","v":["=list",{"t":"array","v":["=x",null]}],"x":"=shown","id":7}`: instance,
		`{"t":"table","n":"` + table.Type.Name + `","v":["=a",1]}`:                                             table,
		`{"t":"record","v":[{"t":"exception","n":"System.ArgumentException","v":["=bad",-5,{"t":"exception","n":"System.FormatException","v":["=worse",` +
			fmt.Sprint(thrown.Inner.HResult) + `,null]},"=ParamName","=p"]},"=Id,Class",` + fmt.Sprint(int(dotnet.InvalidArgument)) +
			`,"=` + dotnet.ToText(record.Target) + `","=Reason","=Details"]}`: record,
	} {
		text, err := e.encode(v)
		require.NoError(t, err, "%T", v)
		assert.Equal(t, want, string(text))
	}
}

func TestValuesThatCannotTravel(t *testing.T) {
	loop := dotnet.NewArray(nil)
	loop.Items[0] = loop
	for _, v := range []any{loop, &struct{ unknown int }{}, dotnet.NewArray(&struct{ unknown int }{})} {
		_, err := (&encoder{}).encode(v)
		require.Error(t, err)
	}
}

// FuzzDecode decodes any text. The result is an error, or a value that can be shown.
func FuzzDecode(f *testing.F) {
	for text := range nodes {
		f.Add(text)
	}
	for _, text := range []string{
		`1.5`, `[]`, `{}`, `{"t":"table","v":[null,1]}`, `{"t":"instance","n":"A[]","v":["a",1]}`, `{"t":"parsed","n":"System.Guid","v":"x"}`,
		`{"t":"instance","v":[1,1]}`, `{"t":"datetime","v":["-1",9]}`, `{"t":"credential","v":["u"]}`, `{"t":"parsed","n":"No.Such","v":"x"}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		d := &decoder{types: map[string]*dotnet.Type{}}
		if v, err := d.decode(json.RawMessage(text)); err == nil {
			_ = dotnet.ToText(v)
		}
	})
}
