package syntax

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// body is a typical function of a script, with some 25 lines.
const body = `
# Reads one object.
function Get-GatewayThingNUMBER {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Name,
        [AllowNull()] [string[]] $Field = @('name', 'dn'),
        [ValidateSet('Global', 'Universal')] [string] $Scope
    )
    $filter = '(&(objectCategory=person)(sAMAccountName=' + (Get-Escaped -Value $Name) + '))'
    $found = @(Get-ADUser -LDAPFilter $filter -Properties 'displayName', 'manager' -Server $Server)
    if ($found.Count -eq 0) { throw "there is no $Name in $($Field -join ', ')" }
    foreach ($user in $found) {
        $record = [ordered]@{
            guid    = [string]$user.ObjectGUID
            enabled = [bool]$user.Enabled
            created = $user.whenCreated.ToUniversalTime().ToString('o', [System.Globalization.CultureInfo]::InvariantCulture)
        }
        if ($Scope -eq 'Global') { $record['scope'] = 1 }
        else { $record['scope'] = ($record.Count - 1) * 2 }
        try { Write-Output -InputObject $record } catch { $failed = $_ } finally { $i++ }
    }
}
`

func benchScript(lines int) string {
	var b strings.Builder
	for n := 0; strings.Count(b.String(), "\n") < lines; n++ {
		b.WriteString(strings.ReplaceAll(body, "NUMBER", strings.Repeat("x", n%5)))
	}
	return b.String()
}

func BenchmarkParse(b *testing.B) {
	for _, size := range []struct {
		name  string
		lines int
	}{{"1000 lines", 1000}, {"10000 lines", 10000}} {
		b.Run(size.name, func(b *testing.B) {
			text := benchScript(size.lines)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, errs := Parse("", text); errs != nil {
					b.Fatal(errs[0])
				}
			}
		})
	}
}

func BenchmarkPrint(b *testing.B) {
	script, errs := Parse("", benchScript(1000))
	require.Empty(b, errs)
	for b.Loop() {
		Print(script)
	}
}

// TestScriptsOfTheProject: every script that sessions load can be parsed.
func TestScriptsOfTheProject(t *testing.T) {
	count := 0
	root := filepath.Join("..", "..", "scripts")
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".ps1" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		count++
		t.Run(filepath.Base(path), func(t *testing.T) {
			script, errs := Parse(path, string(data))
			require.Empty(t, errs)
			checkRoundTrip(t, script)
		})
		return nil
	})
	require.NoError(t, err)
	require.Positive(t, count)
}
