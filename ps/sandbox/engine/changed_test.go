package engine

import "testing"

// TestChangedWhileEnumerated changes collections that a loop or a pipeline is
// going through: the enumerators of .NET refuse to go on, even after the last item.
func TestChangedWhileEnumerated(t *testing.T) {
	const (
		modified = "System.InvalidOperationException: Collection was modified; enumeration operation may not execute."
		bad      = "BadEnumeration: An error occurred while enumerating through a collection: Collection was modified; enumeration operation may not execute.."
		table    = "$h = @{ a = 1; b = 2 }; "
		list     = "$l = [System.Collections.Generic.List[object]](1, 2, 3); "
	)
	runTable(t, map[string]scriptTest{
		"keys removed":            {table + "foreach ($k in $h.Keys) { $h.Remove($k) }; $h.Count", "ERROR: " + modified + "|1"},
		"value set":               {table + "foreach ($k in $h.Keys) { $h[$k] = 5 }", "ERROR: " + modified},
		"value set in an ordered": {"$h = [ordered]@{ a = 1; b = 2 }; foreach ($k in $h.Keys) { $h[$k] = 5 }", "ERROR: " + modified},
		"entries":                 {table + "foreach ($e in $h.GetEnumerator()) { $h.Remove($e.Key) }", "ERROR: " + modified},
		"values":                  {table + "foreach ($v in $h.Values) { $h['x'] = $v }", "ERROR: " + modified},
		"copied keys":             {table + "foreach ($k in @($h.Keys)) { $h.Remove($k) }; $h.Count", "0"},
		"cloned":                  {table + "foreach ($k in $h.Clone().Keys) { $h.Remove($k) }; $h.Count", "0"},
		"left in time":            {table + "foreach ($k in $h.Keys) { $h.Remove($k); break }; $h.Count", "1"},
		"list added to":           {list + "foreach ($i in $l) { $l.Add(1) }; $l.Count", "ERROR: " + modified + "|4"},
		"list removed from":       {list + "foreach ($i in $l) { [void]$l.Remove($i) }; $l.Count", "ERROR: " + modified + "|2"},
		"removed from at the end": {list + "foreach ($i in $l) { if ($i -eq 3) { [void]$l.Remove($i) } }; $l.Count", "ERROR: " + modified + "|2"},
		"list item set":           {list + "foreach ($i in $l) { $l[0] = 7 }", "ERROR: " + modified},
		"list changed twice":      {list + "foreach ($i in $l) { $l.RemoveAt(0); $l.Add(9) }", "ERROR: " + modified},
		"list sorted":             {list + "foreach ($i in $l) { $l.Sort() }", "ERROR: " + modified},
		"array list":              {"$l = New-Object -TypeName System.Collections.ArrayList; [void]$l.Add(1); foreach ($i in $l) { [void]$l.Add(1) }", "ERROR: " + modified},
		"queue":                   {"$q = New-Object -TypeName System.Collections.Queue; $q.Enqueue(1); $q.Enqueue(2); foreach ($i in $q) { [void]$q.Dequeue() }", "ERROR: " + modified},
		"set":                     {"$s = New-Object -TypeName 'System.Collections.Generic.HashSet[int]'; [void]$s.Add(1); foreach ($i in $s) { [void]$s.Add($i + 1) }", "ERROR: " + modified},
		"array item set":          {"$a = 1, 2; foreach ($i in $a) { $a[1] = 9; $i }", "1|9"},
		"variable set anew":       {list + "foreach ($i in $l) { $l = 5; $i }", "1|2|3"},
		"pipeline":                {table + "$h.Keys | ForEach-Object { $h.Remove($_) }; $h.Count", "ERROR: " + bad + "|1"},
		"pipeline of a list":      {list + "$l | ForEach-Object { $l.Add($_) }; $l.Count", "ERROR: " + bad + "|4"},
		"pipeline of a command":   {list + "& { $l } | ForEach-Object { $l.Add($_) }; $l.Count", "ERROR: " + bad + "|4"},
		"pipeline caught":         {table + "try { $h.Keys | ForEach-Object { $h.Remove($_) } } catch { $_.Exception.InnerException.Message }", "Collection was modified; enumeration operation may not execute."},
		"kept keys follow":        {table + "$k = $h.Keys; $v = $h.Values; $h['c'] = 3; $k.Count; $v.Count; $k -join ','; [bool]$k; $h.Clear(); $k.Count; [bool]$k", "3|3|a,b,c|True|0|False"},
		"kept keys of an ordered": {"$h = [ordered]@{ a = 1 }; $v = $h.Values; $h['a'] = 7; $v; ConvertTo-Json -Compress -InputObject $v", "7|[7]"},
		"kept keys, then changed": {table + "$k = $h.Keys; $h['c'] = 3; foreach ($x in $k) { $h.Remove($x) }", "ERROR: " + modified},
	})
}
