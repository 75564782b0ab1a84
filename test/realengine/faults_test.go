package realengine

import (
	"context"
	"fmt"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps"
	"adgateway/test/systemtest"
)

// scriptFaults contains ways in which a script can harm its session, with the kind of the resulting error, or
// "" if the request succeeds.
var scriptFaults = []struct {
	name, text string
	kind       ps.Kind
	survives   bool // the session accepts the next request
	steps      int
}{
	{"throws", "throw 'thrown'", ps.KindScript, true, 0},
	{"fails in .NET", "[int]'x'", ps.KindScript, true, 0},
	{"writes an error", "Get-DnsServerZone -Name 'nowhere.example' -ComputerName 'dc1.corp.example'", ps.KindScript, true, 0},
	{"says more", "$out = [Console]::OpenStandardOutput(); $out.Write([byte[]]@(110, 111), 0, 2); [ordered]@{ n = [int]1 }; $out.Write([byte[]]@(109, 13, 10), 0, 3)", "", true, 0},
	{"floods stderr", "for ($i = 0; $i -lt 2000; $i++) { [Console]::Error.WriteLine('e'.PadRight(1000)) }; [ordered]@{ n = [int]1 }", "", true, 0},
	{"answers much", "for ($i = 1; $i -le 3000; $i++) { [ordered]@{ n = [int]$i; text = [string]'x'.PadRight(200) } }", "", true, 0},
	{"does not end", "while ($true) { $x = 1 }", ps.KindTimeout, false, 0},
	{"ends the process", "exit 3", ps.KindDied, false, 0},
	{"ends it after a step", "Complete-GatewayStep -Label 'half' -Guid 'g' -Dn 'd'; exit 3", ps.KindDied, false, 1},
	{"breaks a frame", "$bytes = [byte[]]@(30, 120, 10); $GatewayStdout.Write($bytes, 0, 3); $GatewayStdout.Flush(); while ($true) { $x = 1 }", ps.KindDied, false, 0},
	{"answers for another", "Write-GatewayFrame -Id 'other' -Kind 'end' -Payload '{}'; while ($true) { $x = 1 }", ps.KindDied, false, 0},
	{"cuts a frame off", "$bytes = $GatewayUtf8.GetBytes([string][char]30 + $script:GatewayId + ' records 999' + [string][char]10 + '[{'); $GatewayStdout.Write($bytes, 0, $bytes.Length); $GatewayStdout.Flush(); exit 3", ps.KindDied, false, 0},
}

// faultsOf checks that a failure in a process results in a typed error in time, and that the next session
// serves requests.
func faultsOf(t *testing.T, path string) {
	starter := powerShell(t, path, stillWorld(t))
	var sources []ps.Source
	for i, f := range scriptFaults {
		sources = append(sources, ps.Source{Name: fmt.Sprintf("Test-GatewayFault%d", i),
			Text: "[CmdletBinding()]\nparam()\n" + f.text + "\n"})
	}
	s := sessionWith(t, starter, sources...)
	whole := t
	for i, f := range scriptFaults {
		t.Run(f.name, func(t *testing.T) {
			limit := systemtest.Patience
			if f.kind == ps.KindTimeout {
				limit = time.Second
			}
			_, err := s.Run(t.Context(), ps.Request{Script: sources[i].Name, Limit: limit, Write: f.steps > 0})
			if f.kind == "" {
				require.NoError(t, err)
			} else {
				require.Error(t, err)
				failure := ps.AsError(err)
				assert.Equal(t, f.kind, failure.Kind, "%v", err)
				assert.Len(t, failure.Steps, f.steps)
			}
			if !f.survives {
				require.NotNil(t, s.Dead())
				s = sessionWith(whole, starter, sources...)
			}
			records, err := ask(t, s, "Get-GatewayZoneList",
				ps.Args{"Form": ps.Text("Reverse"), "ComputerName": ps.Text("dc1.corp.example")})
			require.NoError(t, err)
			assert.NotEmpty(t, records)
		})
	}
	t.Run("the caller leaves", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(200*time.Millisecond, cancel)
		_, err := s.Run(ctx, ps.Request{Script: "Test-GatewayFault6", Limit: systemtest.Patience})
		assert.Equal(t, ps.KindCancelled, ps.AsError(err).Kind, "%v", err)
	})
	t.Run("is killed", func(t *testing.T) {
		s := sessionWith(t, starter, sources...)
		time.AfterFunc(200*time.Millisecond, s.Kill)
		_, err := s.Run(t.Context(), ps.Request{Script: "Test-GatewayFault6", Limit: systemtest.Patience})
		assert.Error(t, err)
	})
}

// longestSecret is the maximum length of a SecureString in characters, minus one.
const longestSecret = 65535

// readSecret returns statements that read a secret into $plain as text. On a real engine they use Marshal,
// because NetworkCredential.Password ends at a NUL. The sandbox has no Marshal, but its Password does not end
// at a NUL.
func readSecret(standIn bool) string {
	if standIn {
		return "$plain = [System.Net.NetworkCredential]::new('', $Secret).Password"
	}
	return `$place = [System.Runtime.InteropServices.Marshal]::SecureStringToBSTR($Secret)
try { $plain = [System.Runtime.InteropServices.Marshal]::PtrToStringBSTR($place) }
finally { [System.Runtime.InteropServices.Marshal]::ZeroFreeBSTR($place) }`
}

// textsArrive checks that texts and secrets survive the round trip unchanged.
func textsArrive(t *testing.T, path string, standIn bool) {
	s := sessionWith(t, powerShell(t, path, stillWorld(t)), ps.Source{Name: "Test-GatewayEcho", Text: `[CmdletBinding()]
param([Parameter(Mandatory)] [AllowEmptyString()] [string] $Text, [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $List, [Parameter(Mandatory)] [securestring] $Secret)
` + readSecret(standIn) + `
[ordered]@{
    text   = [string]$Text
    length = [int]$Text.Length
    list   = [string[]]@($List)
    secret = [string]$plain
}
`})
	for name, value := range systemtest.HostileValues {
		if !utf8.ValidString(value) {
			continue // rejected earlier: not valid in JSON
		}
		t.Run(name, func(t *testing.T) {
			secret := value
			if secret == "" {
				secret = "x"
			}
			secret = secret[:min(len(secret), longestSecret)]
			records, err := ask(t, s, "Test-GatewayEcho",
				ps.Args{"Text": ps.Text(value), "List": ps.List([]string{"a" + value, "b"}), "Secret": ps.Secret(secret)})
			require.NoError(t, err)
			require.Len(t, records, 1)
			assert.True(t, records[0]["text"] == value, "%.100q is not %.100q", records[0]["text"], value)
			assert.True(t, records[0]["secret"] == secret, "secret %.100q", records[0]["secret"])
			assert.Equal(t, []any{"a" + value, "b"}, records[0]["list"])
			assert.EqualValues(t, len(utf16.Encode([]rune(value))), records[0]["length"])
		})
	}
	require.NoError(t, s.Close(t.Context()))
}
