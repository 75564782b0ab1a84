package engine

import "testing"

// TestHabits: lines that administrators write every day have PowerShell's answers.
func TestHabits(t *testing.T) {
	runTable(t, map[string]scriptTest{
		"plus equals":                {"$a = @(); $a += 1; $a += 2, 3; $a.Count; $b = $null; $b += 'x'; $b; $b.GetType().Name", "3|x|String"},
		"arrays do not nest by plus": {"$a = @(1) + , @(2, 3); $a.Count; $a[1].Count", "2|2"},
		"empty array is false":       {"[bool]@(); [bool]@(0); [bool]@(0, 0); [bool]@($null); [bool]@('a'); [bool]@{}", "False|False|True|False|True|True"},
		"null on the left":           {"$null -eq @(); (@(1, $null, 2) -ne $null).Count; @() -eq $null; 'after'", "False|2|after"},
		"filtering comparison":       {"(1, 2, 3, 2) -eq 2 -join ','; ('a', 'B', 'b') -ceq 'b'; ('abc', 'xbc', 'q') -like '*bc' -join ','", "2,2|b|abc,xbc"},
		"unrolling of one":           {"function Get-One { , @(1) }; (Get-One).GetType().Name; function Get-Two { @(1) }; (Get-Two).GetType().Name; @(Get-Two).Count", "Object[]|Int32|1"},
		"count of scalars":           {"(5).Count; 'abc'.Count; $null.Count; @().Count; (1, 2).Length; 'abc'.Length; @{ a = 1; b = 2 }.Count", "1|1|0|0|2|3|2"},
		"table access":               {"$h = @{ a = 1 }; $h.b; $h['A']; $h.ContainsKey('B'); $h.Keys.Count; $h.c = 3; $h.Count", "|1|False|1|2"},
		"ordered":                    {"$o = [ordered]@{ z = 1; a = 2 }; $o.Keys -join ''; $o[0]; $o['a']", "za|1|2"},
		"local copies":               {"$x = 1; function Set-It { $x = 2; $x }; Set-It; $x; function Set-That { $script:x = 3 }; Set-That; $x", "2|1|3"},
		"plus equals in a function":  {"$n = 5; function Add-It { $n += 1; $n }; Add-It; $n", "1|5"},
		"blocks and scopes":          {"$x = 1; & { $x = 2 }; $x; . { $x = 3 }; $x; 1 | ForEach-Object { $x = 4 }; $x; if ($true) { $y = 1 }; $y", "1|3|4|1"},
		"return gives all output":    {"function Get-It { 1; return 2; 3 }; (Get-It) -join ','", "1,2"},
		"return in try with finally": {"function Get-It { try { 'a'; return 'b' } catch { } finally { 'c' }; 'd' }; (Get-It) -join ','", "a,b,c"},
		"error in finally":           {"try { try { throw 'a' } finally { throw 'b' } } catch { \"$_\" }", "b"},
		"interpolation":              {"$a = 1, 2; $h = @{ k = 'v' }; \"$a $h.k $($h.k) ${a} `$a $($a[1]) $a[1]\"", "1 2 System.Collections.Hashtable.k v 1 2 $a 2 1 2[1]"},
		"output of statements":       {"$a = if ($false) { 1 }; $null -eq $a; $b = foreach ($i in @()) { 1 }; $null -eq $b; $c = @(if ($true) { 1; 2 }); $c.Count", "True|True|2"},
		"error record of throw":      {"try { throw 'x' } catch { $_.FullyQualifiedErrorId; $_.CategoryInfo.Category; $_.Exception.GetType().Name; $_.TargetObject }", "x|OperationStopped|RuntimeException|x"},
	})
}
