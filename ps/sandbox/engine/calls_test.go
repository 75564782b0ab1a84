package engine

import (
	"fmt"
	"strings"
	"testing"
)

// TestCallsLeaveNothing: a call finds nothing of an earlier one whose memory it uses.
func TestCallsLeaveNothing(t *testing.T) {
	var many strings.Builder // so many variables that their scope has an index
	for i := range 2 * indexFrom {
		fmt.Fprintf(&many, "$v%d = %d; ", i, i)
	}
	sets := "function Get-Self { [CmdletBinding()] param([Parameter(ParameterSetName = 'a')] $x, " +
		"[Parameter(ParameterSetName = 'b')] $y) $PSCmdlet }; "
	runTable(t, map[string]scriptTest{
		"variables":  {"function Get-First { $a = 1; $a }; function Get-Second { \"<$a>\"; $b = 2; $b }; Get-First; Get-Second; Get-First", "1|<>|2|1"},
		"many":       {"function Get-Many { " + many.String() + "$v40 }; function Get-Few { \"<$v40>\"; $v40 = 'x'; $v40 }; Get-Many; Get-Few; Get-Many", "40|<>|x|40"},
		"parameters": {"function Get-It { [CmdletBinding()] param($a, [switch] $b) $PSBoundParameters }; $x = Get-It -a 1 -b; $y = Get-It -a 2; $x['a']; $x.Count; $y['a']; $y.Count", "1|2|2|1"},
		"cmdlet":     {sets + "$x = Get-Self -x 1; $y = Get-Self -y 1; $x.ParameterSetName; $y.ParameterSetName", "a|b"},
		"lists":      {"function Get-All { 1; 2; 3 }; $x = Get-All; $y = Get-All; $x[0] = 9; $y[0]; @(Get-All).Count; $(Get-All).Count", "1|3|3"},
		"recursion":  {"function Get-Sum { param($n) $m = $n; if ($n -gt 0) { $x = Get-Sum ($n - 1); return $x + $m }; 0 }; Get-Sum 5; Get-Sum 3", "15|6"},
		"errors":     {"function Get-Bad { [CmdletBinding()] param($a) throw $a }; function Get-Good { param($a) $a }; foreach ($i in 1, 2) { try { Get-Bad -a $i } catch { \"$_\" }; Get-Good $i }", "1|1|2|2"},
		"pipelines":  {"function Get-Each { param([Parameter(ValueFromPipeline)] $x) begin { $n = 0 } process { $n++; \"$n$x\" } }; 'a', 'b' | Get-Each; 'c' | Get-Each | ForEach-Object { $_ }", "1a|2b|1c"},
	})
}
