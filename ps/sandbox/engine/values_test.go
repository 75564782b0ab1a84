package engine

import "testing"

// TestValuesWithoutDetours: expressions that the engine evaluates on a fast path have the
// normal results: sequences of +, @(...) of one expression, foreach over a copy, constant
// keys, names and casts, and arguments of methods.
func TestValuesWithoutDetours(t *testing.T) {
	runTable(t, map[string]scriptTest{
		"sum of nothing":           {"$null + 'a' + 'b'; '' + '' + 'x'; '' + '' + ''; $null + $null + 1", "ab|x||1"},
		"sum of arrays":            {"(@(1) + 2 + 3).Count; @() + 'a' + @('b', 'c') -join '-'; 'x' + @(1, 2) + 'y'", "3|a-b-c|x1 2y"},
		"sum of halves":            {"$s = 'a' + [char]0xD83D + [char]0xDE00 + 'b'; $s.Length; $s", "4|a😀b"},
		"sum in parentheses":       {"1 + (2 + 'a'.Length) + 3; 'a' + (1 + 2) + 'b'", "7|a3b"},
		"array of one":             {"@($null).Count; @(5).Count; @('ab').Count; @(@{}).Count; @(@(1, 2)).Count; @(, @(1, 2)).Count", "1|1|1|1|2|1"},
		"array of none":            {"@(& { }).Count; @(@()).Count; $i = 1; @($i++).Count; $i; @([void]5).Count", "0|0|0|2|0"},
		"array is a copy":          {"$a = 1, 2, 3; $b = @($a); $b[0] = 9; $a[0]; $c = [int[]](1, 2); @($c).GetType().Name", "1|Object[]"},
		"array of a list":          {"$l = [System.Collections.Generic.List[object]]::new(); $l.Add(1); $l.Add(2); $a = @($l); $l.Add(3); $a.Count; @($l.ToArray()).Count; @('abc'.ToCharArray()).Count", "2|3|3"},
		"array of what fails, try": {"try { @(1 / 0).Count } catch { $_.Exception.GetType().Name }", "RuntimeException"},
		"array item":               {"@('x', 'y')[0]; @($null)[0]; @('z')[0]; @()[0]", "x||z|"},
		"loop over a copy":         {"$a = 1, 2, 3; foreach ($x in @($a)) { $a[2] = 9; $x }; foreach ($x in $a) { $x }", "1|2|3|1|2|9"},
		"loop over one":            {"foreach ($x in @($null)) { 'once' }; foreach ($x in @(5)) { $x }; foreach ($x in @()) { 'never' }; foreach ($x in $null) { 'never' }", "once|5"},
		"loop over what fails":     {"foreach ($x in @(1 / 0)) { 'never' }; 'after'", "ERROR: RuntimeException: Attempted to divide by zero.|after"},
		"loop over what stops":     {"$ErrorActionPreference = 'Stop'; try { foreach ($x in @(1 / 0)) { 'never' } } catch { 'caught ' + $_.InvocationInfo.ScriptLineNumber }", "caught 1"},
		"loop inside itself":       {"foreach ($x in @(1, 2)) { foreach ($y in @($x, 3)) { \"$x$y\" } }", "11|13|22|23"},
		"constant keys":            {"$h = @{ Ab = 1 }; $h['aB']; $h['ab'] = 2; $h.AB; $h['x']; $h.Count; $h.x = 3; $h['X']; $h['count'] = 7; $h.Count", "1|2||1|3|7"},
		"names of enumerations":    {"[System.StringComparison]::ordinal; [DateTimeKind]::utc", "Ordinal|Utc"},
		"arguments inside others":  {"'abc'.Replace('a', 'x'.Replace('x', 'abcdefgh'.Substring('ab'.Length, 'abc'.Length))); [string]::Concat('a', [string]::Concat('b', 'c', 'd', 'e'), 'f', 'g')", "cdebc|abcdefg"},
		"arguments that fail":      {"'abc'.Substring(9); 'abc'.Substring(1); 'abc'.Replace('a', (1 / 0)); 'abc'.Replace('a', 'b')", "ERROR: ArgumentOutOfRangeException: Exception calling \"Substring\" with \"1\" argument(s): \"startIndex cannot be larger than length of string. (Parameter 'startIndex')\"|bc|ERROR: RuntimeException: Attempted to divide by zero.|bbc"},
		"replace":                  {"'aXbX' -replace 'x', '-'; 'abc' -replace '^.'; 'abc' -replace 'z'; 'äbä' -replace 'ä', 'o'; 'abc' -replace 'b', '[$0]'; 'CN=a,OU=b' -replace '^(?:[^,\\\\]|\\\\.)+,', ''", "a-b-|bc|abc|obo|a[b]c|OU=b"},
		"like":                     {"'rdsPath' -like 'RDS*'; 'rd' -like 'rds*'; 'Rds' -clike 'rds*'; 'xrds' -like 'rds*'; 'äb' -like 'Ä*'; @('rds1', 'x', 'RDS2') -like 'rds*'; 'a[b' -like 'a`[*'; 'ab' -like 'a?'; '' -like '*'", "True|False|False|False|True|rds1|RDS2|True|True|True"},
		"JSON texts":               {`ConvertFrom-Json -InputObject '"a\u0041\n\"b\\c\u00e4 and more text"'; ConvertFrom-Json -InputObject '[1, 2]'; ConvertTo-Json -InputObject $null`, "aA\n\"b\\cä and more text|1|2|null"},
		"base64":                   {"[Convert]::FromBase64String('YWJj') -join ','; [Convert]::FromBase64String(\" YW`tJ`r`nj \") -join ','; [Convert]::FromBase64String('Y*') -join ','", "97,98,99|97,98,99|ERROR: FormatException: Exception calling \"FromBase64String\" with \"1\" argument(s): \"The input is not a valid Base-64 string as it contains a non-base 64 character, more than two padding characters, or an illegal character among the padding characters.\""},
		"split":                    {"'a,b,,c'.Split(',').Count; 'a b'.Split([char]32) -join '|'; ''.Split(',').Count; 'a,b,c'.Split([char[]]',b').Count", "4|a|b|1|4"},
	})
}
