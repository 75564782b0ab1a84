package engine

import (
	"errors"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// deepValues create values that contain themselves or are deeply nested.
var deepValues = map[string]string{
	"list in itself":        "$x = [System.Collections.Generic.List[object]]::new(); $x.Add($x)",
	"list in itself, twice": "$x = [System.Collections.Generic.List[object]]::new(); $x.Add($x); $x.Add($x)",
	"table in itself":       "$x = @{}; $x.self = $x",
	"ordered in itself":     "$x = [ordered]@{ a = 1 }; $x.self = $x",
	"array in itself":       "$x = @(1, 2); $x[0] = $x; $x[1] = $x",
	"two in each other":     "$x = @{}; $y = [System.Collections.Generic.List[object]]::new(); $y.Add($x); $x.y = $y",
	"deep arrays":           "$x = 1; for ($i = 0; $i -lt 100000; $i++) { $x = , $x }",
	"deep arrays of two":    "$x = 1; for ($i = 0; $i -lt 100000; $i++) { $x = $x, 1 }",
	"deep lists":            "$x = 1; for ($i = 0; $i -lt 100000; $i++) { $l = [System.Collections.Generic.List[object]]::new(); $l.Add($x); $x = $l }",
	"deep tables":           "$x = 1; for ($i = 0; $i -lt 100000; $i++) { $x = @{ x = $x } }",
}

// deepUses are the operations that may traverse a value.
var deepUses = []string{
	`"$x"`, `[string]$x`, `$x.ToString()`, `[string[]]$x`, `[object[]]$x`, `[bool]$x`, `if ($x) { 1 }`, `-not $x`, `[int]$x`, `[int[]]$x`, `[hashtable]$x`,
	`[System.Collections.ArrayList]$x`, `[System.Collections.Generic.List[string]]$x`, `[char]$x`, `[datetime]$x`, `[byte[]]$x`, `[double]$x`, `[decimal]$x`, `[guid]$x`, `[type]$x`, `[regex]$x`, `[scriptblock]$x`,
	`$x -eq $x`, `$x -eq 1`, `1 -eq $x`, `'a' -eq $x`, `$x -lt $x`, `$x -lt 1`, `1 -lt $x`, `'a' -gt $x`, `$x -like '*'`, `'a' -like $x`, `$x -match 'a'`, `'a' -match $x`, `$x -replace 'a', 'b'`, `'a' -replace 'a', $x`,
	`$x -contains $x`, `$x -join ','`, `$x + $x`, `$x * 2`, `$x -is [string]`, `$x -band 1`,
	`$x.Nope`, `$x.Count`, `$x.x.x`, `$x.Nope()`, `$x.Equals($x)`, `$x.Equals(@(1))`, `$x.GetHashCode()`, `$x.GetType().FullName`, `$x[0]`, `$x['x']`, `$x.Contains($x)`, `$x.ContainsKey($x)`, `$x.ContainsValue($x)`, `$x.IndexOf($x)`, `$x.Clone()`,
	`$x.ToUpper()`, `$x.Sort()`, `$x.ToArray()`, `$x.GetEnumerator()`, `$x.Where({ $true })`, `$x.ForEach({ $_ })`, `$x.ForEach([string])`, `[array]::IndexOf(@($x), $x)`, `[string]::Join(',', $x)`, `[string]::Concat($x)`, `[string]::Format('{0}', $x)`,
	`[object]::Equals($x, $x)`, `[object]::ReferenceEquals($x, $x)`, `[math]::Max($x, $x)`, `[Convert]::ToString($x)`, `@{ $x = 1 }`, `$h = @{}; $h[$x] = 1; $h[$x]`, `[System.Collections.Generic.HashSet[object]]::new(@($x, $x))`,
	`foreach ($i in $x) { $i | Out-Null }`, `$x | Out-String`, `$x | Out-Null`, `$x | Sort-Object`, `$x, $x | Sort-Object -Unique`, `$x, $x | Group-Object`, `$x | Select-Object *`, `$x | Select-Object -Property x, self -ExpandProperty x`, `$x, $x | Select-Object -Unique`,
	`$x | Measure-Object`, `$x | Measure-Object -Property x -Sum`, `$x | Where-Object x -EQ 1`, `$x | ForEach-Object x`, `$x | ForEach-Object ToString`, `Compare-Object -ReferenceObject $x -DifferenceObject $x`, `$x | Get-Member`,
	`ConvertTo-Json -InputObject $x -Depth 100 -Compress`, `ConvertTo-Json -InputObject $x`, `$x | ConvertTo-Json -Depth 100`, `Write-Host $x`, `Write-Warning $x`, `Write-Verbose $x -Verbose`, `Write-Error $x`, `Write-Output $x`, `Write-Information $x`, `throw $x`,
	`try { throw $x } catch { "$_"; $_.ToString() }`, `New-Object -TypeName System.Collections.ArrayList -ArgumentList $x`, `New-Object -TypeName psobject -Property $x`,
	`function Get-It { param([string]$a, [int[]]$b) $a }; Get-It $x`, `function Get-It { param([int[]]$a) $a }; Get-It $x`, `function Get-It { param([Parameter(ValueFromPipelineByPropertyName)]$x) process { $x } }; $x | Get-It`,
	`function Get-It { param([ValidateSet('a')]$a) $a }; Get-It $x`, `Write-Output @x`, `& $x`,
	`"$(, $x)"`, `$x.Exception.ToString()`, `$x.GetBaseException().Message`, `[System.Text.Encoding]::UTF8.GetBytes($x)`, `Set-Variable -Name $x -Value 1`, `Import-Module $x`, `Start-Sleep -Seconds $x`, `1 | Sort-Object -Property $x`, `1 | Select-Object -Property $x`,
	`$e = [System.Management.Automation.ErrorRecord]::new([System.Exception]::new('m'), 'id', 'NotSpecified', $x); "$e"; $e | Out-String; Write-Error -ErrorRecord $e`, `[Console]::Out.WriteLine($x)`, `[Console]::Out.Write($x)`,
}

// TestDeepValues: every use of an endless value results in a value, an error or a limit. A
// Go stack overflow could not be recovered: it would end the process with all its sessions.
func TestDeepValues(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(24 << 20))
	for name, value := range deepValues {
		t.Run(name, func(t *testing.T) {
			s := NewEngine(Options{Limits: Limits{OutputBytes: 1 << 20, WallTime: time.Hour}}).NewSession(Console{})
			require.NoError(t, s.Run(t.Context(), "", value, Streams{}))
			for _, use := range deepUses {
				err := s.Run(t.Context(), "", "& { "+use+" }", Streams{Output: func(v any) error { return nil }})
				var thrown *ThrownError
				var limit *LimitError
				var parse *ParseError
				if errors.As(err, &limit) {
					require.NotContains(t, []string{"WallTime", "context"}, limit.Limit, "%s: %v", use, err)
				} else if err != nil {
					require.False(t, errors.As(err, &parse), "%s: %v", use, err)
					require.True(t, errors.As(err, &thrown), "%s: %v", use, strings.ToValidUTF8(err.Error(), "?"))
				}
			}
		})
	}
}
